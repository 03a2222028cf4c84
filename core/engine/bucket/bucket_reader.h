/* Reads a bucket on a thread of its own, and delivers what comes on the thread of a loop: the last values of
 * all keys of a filter and then what is written, or only what is written behind a sequence. It ends with its
 * first failure: the owner decides what follows. Owner: a list of readers (struct bucket_readers), which
 * frees those that ended. On the loop's thread; callbacks are called there, and may stop the reader. */
#pragma once
#include <sys/queue.h>

#include "engine/bucket/bucket_target.h"
#include "net/loop.h"

struct bucket_reader;
LIST_HEAD(bucket_readers, bucket_reader);

struct bucket_reader_sink {
    /* The reading has begun, from a bucket that was created then. */
    void (*opened)(void *ctx, int64_t created);
    /* Borrowed. `is_initial`: of the state that was there at the beginning. */
    void (*message)(void *ctx, const struct bucket_message *message, bool is_initial);
    /* That state is complete, as of a sequence to read on from; not when it reads on itself. */
    void (*caught_up)(void *ctx, uint64_t sequence);
    /* Once, last, unless it was stopped. ERR_HTTP with reason "Expired": the sequence is too old, or the
     * reader was behind for so long that it may have missed deleted keys. */
    void (*ended)(void *ctx, const struct err *err);
};

struct bucket_reader_options {
    const struct bucket_module *module;
    const struct bucket_target *target; /* outlives the list */
    const char *filter;                 /* copied */
    uint64_t after;                     /* sequence; 0: from the last values */
    int64_t created;                    /* of the bucket with that sequence */
    int64_t behind_ms; /* so long it reads on without asking what it may have missed; 0: a minute */
    struct loop *loop;
    const struct bucket_reader_sink *sink; /* constant */
    void *ctx;
};

struct bucket_reader *bucket_reader_start(struct bucket_readers *list,
                                          const struct bucket_reader_options *options);
/* No callback follows. Does not wait for the thread. */
void bucket_reader_stop(struct bucket_reader *reader);
/* Stops and frees all, and waits for their threads, but not for NATS. The loop may have ended; not from a
 * callback. */
void bucket_readers_clear(struct bucket_readers *list);
