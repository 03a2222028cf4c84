/* Internals of a bucket: bucket.c reads what the publisher says of itself, bucket_record.c takes its records,
 * bucket_source.c is one list_watch.
 * On the I/O thread; see bucket.h. */
#pragma once
#include <pthread.h>

#include "base/buf.h"
#include "base/series/series.h"
#include "engine/bucket/bucket.h"
#include "engine/bucket/bucket_reader.h"

/* A kind that is published. */
struct published_kind {
    struct resource resource;
    char *version; /* of its list; "": it is not complete yet */
};

/* Called when more can be read than before. */
struct bucket_waiter {
    LIST_ENTRY(bucket_waiter) link;
    void (*fn)(void *ctx);
    void *ctx;
};

struct object_bucket {
    struct bucket_options options;
    struct bucket_readers readers;
    struct bucket_reader *about; /* of what the publisher says; NULL: not read */
    struct timer retry, tick;
    int64_t retry_ms;
    bool has_begun, was_lost, was_silent;
    int64_t heard_ms;
    struct published_kind *kinds;
    size_t kind_count;
    bool has_record;
    bool record_malformed, kinds_malformed; /* the last one was */
    struct buf catalogue;                   /* text of the key of kinds; empty: none came */
    struct err err;                         /* of the last try to read */
    LIST_HEAD(, bucket_waiter) waiters;
    void (*on_kinds)(void *ctx);
    void *on_kinds_ctx;
    void (*done)(void *ctx, struct catalogue *catalogue, const struct err *err); /* waits for kinds */
    void *done_ctx;
    struct series *silent;
    pthread_mutex_t lock; /* guards `status` */
    struct bucket_status status;
};

/* --- bucket_record.c */

void bucket_take_record(struct object_bucket *bucket, const struct bucket_message *message, bool is_initial);
void bucket_take_kinds(struct object_bucket *bucket, const struct bucket_message *message);
/* Answers who waits for kinds: with the last ones, or with an error. */
void bucket_give_kinds(struct object_bucket *bucket, const struct err *err);
void bucket_clear_kinds(struct object_bucket *bucket);

/* --- bucket.c */

void bucket_wake_waiters(struct object_bucket *bucket);
/* Begins to read what the publisher says, once. */
void bucket_begin(struct object_bucket *bucket);
/* Returns the version of the kind's complete list; NULL with an error: it cannot be read now. */
const char *bucket_listed(struct object_bucket *bucket, const struct resource *resource, struct err *err);
