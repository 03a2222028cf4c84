/* Whole lines to stdout, stderr and the audit log, from a thread for each, so that a reader who does not read
 * can never hold up a loop (design, section 4; lua-api, `print-buffer`). The streams keep their own order and
 * do not wait for each other. Owner: the process. May be called from any thread. Without writer_start, and
 * after writer_stop, lines are written at once by the caller: what unit tests and short commands want. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum writer_stream { WRITER_STDOUT, WRITER_STDERR, WRITER_AUDIT };
enum writer_wait {
    WRITER_NEVER_WAIT, /* no room: the line is dropped and counted, gives false */
    WRITER_WAIT,       /* no room: waits until there is some (`exec`) */
};

enum { WRITER_BUFFER_DEFAULT = 8 << 20 };

/* Starts the thread. `buffer` bounds the bytes that wait in each stream. */
void writer_start(size_t buffer);
/* From now on the process ends, quietly and as by SIGPIPE, when nobody reads stdout any more: `... | head`.
 * What waits for stderr is written first. Before writer_start. */
void writer_end_with_reader(void);
/* Opens the file of the audit log, to which nothing can be written before; it is made for its owner alone.
 * ERR_IO.
 */
bool writer_open_audit(const char *path, struct err *err);
/* Has it opened anew by its path, as it may have been moved, by the thread that writes it: a disk that hangs
 * holds up nobody else. When that fails the old one stays in use; the log tells of both. */
void writer_reopen_audit(void);
/* Writes what waits, for at most `timeout_ms`, then ends the thread. A second call is harmless. */
void writer_stop(int timeout_ms);
/* `text` is one or more whole lines, copied. */
bool writer_put(enum writer_stream stream, struct str text, enum writer_wait wait);
/* The same of a caller who may have less: with `most` bytes waiting there is no room for him. */
bool writer_put_within(enum writer_stream stream, struct str text, enum writer_wait wait, size_t most);
uint64_t writer_dropped(enum writer_stream stream);
/* The errno of the first write that failed for good, 0 when none did. */
int writer_error(enum writer_stream stream);
