/* I/O half of an informer: creates its source and its reflector on the I/O thread, and frees them there.
 * Owner: the shared factory, on the engine thread. `ready`, `changed` and `ended` are called on the I/O
 * thread; call everything else on the engine thread. */
#pragma once
#include "informer/reflect/followed.h"
#include "informer/reflect/reflector.h"
#include "informer/shard/shard_filter.h"
#include "kube/kinds/resource.h"
#include "net/loop.h"

struct feed;

struct feed_options {
    const char *name; /* copied */
    struct loop *io_loop;
    const struct resource *resource; /* borrowed for the life of the feed */
    struct lw_scope scope;           /* its strings are borrowed for the life of the feed */
    struct list_watch *(*new_source)(void *ctx, const struct resource *resource,
                                     const struct lw_scope *scope);
    void *source_ctx;
    bool follows;            /* only namespaces that feed_join names; begins with feed_begin, not at once */
    enum shard_by shard_by;  /* only objects of slots that feed_set_slots names; begins with the first ones */
    struct delta_fifo *fifo; /* borrowed; the feed sets its `ready` */
    struct stored_list stored; /* taken; of the first reflector */
    struct reflector_tuning tuning;
    struct watch_list_memory *memory; /* must outlive the feed; used on the I/O thread */
    uint64_t seed;
    void (*ready)(void *ctx);   /* the queue was empty; called once for all events of a turn of the loop */
    void (*changed)(void *ctx); /* the reflector's status changed */
    void (*ended)(void *ctx);   /* the I/O thread no longer uses the feed */
    void *ctx;
};

struct feed *feed_start(const struct feed_options *options);
/* Makes source and reflector again, with what `resource` holds now: it must not change while that is under
 * way. The queue stays: the first list replaces what is known. */
void feed_restart(struct feed *feed);
/* Of a feed that follows namespaces: adds one, removes one, and begins with those that were added. The first
 * two are not for a halted feed. */
void feed_join(struct feed *feed, struct str ns);
void feed_leave(struct feed *feed, struct str ns);
void feed_begin(struct feed *feed);
/* Ends lists and watches, and queues an empty list; feed_begin begins anew. Of any feed. */
void feed_halt(struct feed *feed);
/* Of a feed with `shard_by`: replaces its slots. With another `generation` than before it lists again: those
 * of them that the cache lacks (`missing`) if its watch runs, else all. That list and later ones carry the
 * number (delta_fifo.h). Without slots it ends lists and watches. */
void feed_set_slots(struct feed *feed, const struct slot_set *slots, const struct slot_set *missing,
                    int64_t generation);
bool feed_is_restarting(struct feed *feed);
/* Makes the I/O thread stop using the feed. Call once. */
void feed_stop(struct feed *feed);
bool feed_has_ended(struct feed *feed);
/* Waits until the feed has ended; call after feed_stop. The I/O loop must be running on another thread. */
void feed_wait(struct feed *feed);
void feed_free(struct feed *feed);
/* Copies the reflector's status, with the error of the list of gained slots if it has none of its own. Leaves
 * `out` unchanged while there is no reflector. */
void feed_get_status(struct feed *feed, struct reflector_status *out);
/* Returns the counts of namespaces; 0 for a feed of all. */
struct followed_counts feed_get_followed(const struct feed *feed);
/* Likewise of objects of other slots. */
struct shard_counts feed_get_shard(const struct feed *feed);
