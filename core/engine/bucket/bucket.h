/* Objects of a cluster from a bucket instead of its API server: lists and watches of kinds that `kubelua
 * publish` wrote there, and the kinds themselves. Owner: the cluster. On the I/O thread, but for what says
 * otherwise.
 */
#pragma once
#include "engine/bucket/bucket_target.h"
#include "kube/api/list_watch.h"
#include "kube/kinds/resource.h"
#include "net/loop.h"

struct object_bucket;

struct bucket_options {
    const struct bucket_place *place; /* borrowed; outlives the bucket */
    struct loop *io_loop;
    struct kube_client *client; /* by its packer objects are packed */
};

/* Of the publisher, as far as is known here. */
struct bucket_status {
    const char *shown;        /* "nats://HOST/BUCKET"; borrowed */
    unsigned part, parts;     /* as of the place */
    char publisher[128];      /* "" before its first sign */
    int64_t heard_us;         /* wall time of its last sign; 0: none */
    char error[ERR_TEXT_MAX]; /* why the bucket is not read now; "": it is */
};

/* On any thread, before the I/O thread runs. */
struct object_bucket *bucket_new(const struct bucket_options *options);
/* The bucket's kinds have changed, or come for the first time. Before the I/O thread runs; `fn` is called on
 * it. */
void bucket_on_kinds(struct object_bucket *bucket, void (*fn)(void *ctx), void *ctx);
/* Calls `done` once, perhaps at once, as discovery_start does. */
void bucket_fetch_kinds(struct object_bucket *bucket,
                        void (*done)(void *ctx, struct catalogue *catalogue, const struct err *err),
                        void *ctx);
/* Any thread. */
void bucket_get_status(struct object_bucket *bucket, struct bucket_status *out);
/* A source of a reflector. The bucket outlives it. */
struct list_watch *bucket_source_new(struct object_bucket *bucket, const struct resource *resource,
                                     const struct lw_scope *scope);
/* Call when the I/O thread has ended. NULL is allowed. */
void bucket_free(struct object_bucket *bucket);
