/* Complete lines to stdout, stderr and a file, from a thread for each, so that a slow reader can never block
 * a loop (design, section 4; lua-api, `print-buffer`). The streams keep their own order and do not wait for
 * each other. Lines that cannot be written stay, if there is room, and are retried after 0.1 to 5 seconds;
 * the log reports when that begins, and how many lines were lost when it works again. Owner: the process. May
 * be called from any thread. Without writer_start, and after writer_stop, the caller writes lines itself, as
 * unit tests and short commands want; a line that fails is lost. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"

enum writer_stream { WRITER_STDOUT, WRITER_STDERR, WRITER_FILE };
enum writer_wait {
    WRITER_NEVER_WAIT, /* no room: the line is dropped and counted, returns false */
    /* Waits for room (`exec`), except while lines cannot be written for a reason that stays, or for longer
     * than OUTLET_TIMEOUT_MS (outlet.h) for one that may pass. */
    WRITER_WAIT,
};

struct metric;

enum { WRITER_BUFFER_DEFAULT = 8 << 20 };

/* Lines that were lost. */
struct writer_gap {
    uint64_t lines;
    int64_t since_us, until_us; /* wall time of the first one, and now */
    const char *reason;         /* borrowed */
};
/* Appends a line in the format of the file that reports a gap. On the writing thread. */
typedef void writer_gap_fn(struct buf *out, const struct writer_gap *gap);

/* Role of a file for its owner. */
struct writer_file {
    writer_gap_fn *put_gap;
    struct metric *dropped; /* counts the lines that are lost */
    const char *incomplete, *reopened,
        *refused; /* messages of the log, the last if it cannot be opened again */
};

/* Starts the threads. `buffer` bounds the bytes that wait in each stream; retries use the clock, which any of
 * the threads reads. */
void writer_start(size_t buffer, struct clock *clock);
/* Makes the process end, quietly and as by SIGPIPE, when stdout has no reader any more: `... | head`. Lines
 * that wait for stderr are written first. Call before writer_start. */
void writer_end_with_reader(void);
/* Opens the file; call before writing to it; it is created for its owner alone. If lines are lost, one of
 * `put_gap` records it; lines before that are lost too, so that there is a single gap. Borrows `file` for
 * ever. ERR_IO. */
bool writer_open_file(const char *path, const struct writer_file *file, struct err *err);
/* Opens the file again by its path, as it may have been moved, on its own thread, so that a disk that hangs
 * delays nothing else. If that fails the old one stays in use; the log reports both. */
void writer_reopen_file(void);
/* Writes waiting lines, for at most `timeout_ms`, then ends the threads. A failed write is retried once, then
 * its lines are lost. A second call is ignored. */
void writer_stop(int timeout_ms);
/* Puts one or more complete lines; copies them. */
bool writer_put(enum writer_stream stream, struct str text, enum writer_wait wait);
/* Likewise with a lower limit: with `most` bytes waiting there is no room. */
bool writer_put_within(enum writer_stream stream, struct str text, enum writer_wait wait, size_t most);
/* Returns the number of lines lost so far, for any reason. */
uint64_t writer_dropped(enum writer_stream stream);
/* Returns the errno for which lines were lost last; 0 if none were, except by a slow reader. */
int writer_error(enum writer_stream stream);
