/* The I/O half of an informer: makes its source and its reflector on the I/O thread, and takes them apart
 * there. Owner: the shared factory, on the engine thread; `ready`, `changed` and `ended` are called on the
 * I/O thread, all else is called on the engine thread. */
#pragma once
#include "informer/reflect/reflector.h"
#include "kube/kinds/resource.h"
#include "net/loop.h"

struct feed;

struct feed_options {
    const char *name; /* copied */
    struct loop *io_loop;
    const struct resource *resource; /* must stay as long as the feed */
    struct lw_scope scope;           /* so must its texts */
    struct list_watch *(*new_source)(void *ctx, const struct resource *resource,
                                     const struct lw_scope *scope);
    void *source_ctx;
    struct delta_fifo *fifo; /* the feed takes its `ready` */
    struct reflector_tuning tuning;
    struct watch_list_memory *memory; /* must outlive the feed; used on the I/O thread */
    uint64_t seed;
    void (*ready)(void *ctx);   /* the queue was empty; once for all that a turn of the loop brings */
    void (*changed)(void *ctx); /* the reflector's status has, on the I/O thread */
    void (*ended)(void *ctx);   /* the I/O thread has let go */
    void *ctx;
};

struct feed *feed_start(const struct feed_options *options);
/* Makes source and reflector again, with what `resource` holds now: it must not change while that is under
 * way. The queue stays: the first list replaces what is known. */
void feed_restart(struct feed *feed);
bool feed_is_restarting(struct feed *feed);
/* Asks the I/O thread to let go. Once. */
void feed_stop(struct feed *feed);
bool feed_has_ended(struct feed *feed);
/* After feed_stop: until it has. The I/O loop must be running on another thread. */
void feed_wait(struct feed *feed);
void feed_free(struct feed *feed);
/* Leaves `out` alone until the I/O thread has made the reflector. */
void feed_get_status(struct feed *feed, struct reflector_status *out);
