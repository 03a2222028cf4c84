/* Whole lines to stdout, stderr and a file, from a thread for each, so that a reader who does not read
 * can never hold up a loop: it only fills the room that lines have here (of scripts, the limit print-buffer).
 * The streams keep their own order and do not wait for each other. What cannot be written stays, as long as
 * there is room, and is tried again after 0.1 to 5 seconds; the log says when that begins, and when it works
 * again how many lines were lost. Owner: the process. May be called from any thread. Without writer_start,
 * and after writer_stop, lines are written at once by the caller: what unit tests and short commands want;
 * one that fails is lost. */
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
    /* No room: waits until there is some (`exec`), though not while lines cannot be written for a reason that
     * stays, nor beyond OUTLET_TIMEOUT_MS (outlet.h) for one that may pass. */
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
/* Appends a line in the format of the file that tells of a gap. On the thread that writes. */
typedef void writer_gap_fn(struct buf *out, const struct writer_gap *gap);

/* Role of a file for its owner. */
struct writer_file {
    writer_gap_fn *put_gap;
    struct metric *dropped; /* counts the lines that are lost */
    const char *incomplete, *reopened,
        *refused; /* what the log says, the last if it cannot be opened again */
};

/* Starts the threads. `buffer` bounds the bytes that wait in each stream; by the clock, which any of the
 * threads asks, they try again. */
void writer_start(size_t buffer, struct clock *clock);
/* From now on the process ends, quietly and as by SIGPIPE, when nobody reads stdout any more: `... | head`.
 * What waits for stderr is written first. Before writer_start. */
void writer_end_with_reader(void);
/* Opens the file, to which nothing can be written before; it is made for its owner alone. Where lines are
 * lost, one of `put_gap` says so; those that come before it is written are lost too, so that it is a gap and
 * no sieve. Borrows `file` for good. ERR_IO. */
bool writer_open_file(const char *path, const struct writer_file *file, struct err *err);
/* Has it opened again by its path, as it may have been moved, by the thread that writes it: a disk that hangs
 * holds up nobody else. When that fails the old one stays in use; the log tells of both. */
void writer_reopen_file(void);
/* Writes what waits, for at most `timeout_ms`, then ends the threads. What fails is tried once more, then its
 * lines are lost. A second call is harmless. */
void writer_stop(int timeout_ms);
/* `text` is one or more whole lines, copied. */
bool writer_put(enum writer_stream stream, struct str text, enum writer_wait wait);
/* The same for a caller with a lower limit: with `most` bytes waiting there is no room for it. */
bool writer_put_within(enum writer_stream stream, struct str text, enum writer_wait wait, size_t most);
/* Returns the number of lines lost so far, for any reason. */
uint64_t writer_dropped(enum writer_stream stream);
/* The errno for which lines were lost last; 0 when none were, but for a slow reader. */
int writer_error(enum writer_stream stream);
