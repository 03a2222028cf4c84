/* Complete lines into a descriptor whose writes may fail for a while: a full disk, a missing reader. Lines
 * stay until they are written; a cut line is continued where it was cut, or ended and written again. Tells
 * when to retry, on its clock. Owner: a stream of the writer. Has no lock: outlet_write is the only function
 * that takes long, and reads nothing that changes before outlet_note. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/clock.h"

/* Pause after a failed write, doubled each time; and the longest wait for room of a caller that may wait,
 * while nothing can be written. */
enum { OUTLET_RETRY_FIRST_MS = 100, OUTLET_RETRY_MOST_MS = 5000, OUTLET_TIMEOUT_MS = 30000 };

struct outlet;

/* File that an outlet writes to. Outlets that end in the same file share one, so that lines stay complete. */
struct outlet_file {
    pthread_mutex_t lock;
    bool is_incomplete; /* its last line may lack its end */
    const struct outlet
        *incomplete_by; /* outlet that can continue that line, unless it gave it up; NULL: none */
    int64_t size;       /* when it was torn; -1: no regular file */
};

struct outlet {
    int fd; /* owned only where outlet_move is used */
    struct outlet_file *file;
    struct clock *clock; /* NULL: the real one */
    struct buf lines;    /* to be written now */
    atomic_size_t done;  /* bytes of them that are */
    int error;           /* errno of the last try; 0: it succeeded */
    int64_t failing_ms;  /* by the clock, since the first of the tries that failed */
    int64_t retry_ms, delay_ms;
};

/* Returns the number of complete lines in `text`. */
uint64_t outlet_count(struct str text);

/* Takes the content of `lines`; the outlet must have none. */
void outlet_load(struct outlet *outlet, struct buf *lines);
/* Tries to write the remaining lines. Returns 0 or an errno; call outlet_note after it. Waits for a
 * descriptor that other processes made non-blocking. */
int outlet_write(struct outlet *outlet);
/* Notes the result of a write: 0 drops the lines, else they stay for the next try. */
void outlet_note(struct outlet *outlet, int error);
/* Milliseconds until the next try is due; 0: it is. */
int64_t outlet_wait_ms(const struct outlet *outlet);
/* Milliseconds since the first of the tries that failed; 0 while it works. */
int64_t outlet_failing_ms(const struct outlet *outlet);
/* Returns false while it fails with an error that does not pass by itself, or has failed for
 * OUTLET_TIMEOUT_MS: a caller should not wait for room. */
bool outlet_may_recover(const struct outlet *outlet);
/* Returns the number of lines that are not completely in the file. While outlet_write runs on another thread:
 * at most so many. */
uint64_t outlet_left(const struct outlet *outlet);
/* Drops those lines; returns how many. Does not wait for a writer of the file. */
uint64_t outlet_drop(struct outlet *outlet);
/* Continues in `fd`, which it takes, immediately; closes the previous descriptor, and ends its last line if
 * possible. A last line without its end in the new file, perhaps of another process, is ended before anything
 * else. */
void outlet_move(struct outlet *outlet, int fd);
