/* One cache and its handlers: takes deltas from the DeltaFIFO, updates the store first, then calls every
 * handler, in order (contract I, Q-19, V1, V2). Owner: the shared factory, on the engine thread. Handlers may
 * add and remove handlers, their own included, and read the store, which already holds the objects of the
 * call. They must not free the informer. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "informer/reflect/delta_fifo.h"
#include "informer/shard/shard_filter.h"
#include "informer/shared/handler_options.h"
#include "informer/shared/transform.h"
#include "informer/shared/version_wait.h"
#include "informer/store/indexer.h"

/* An add or a delete of an object that is neither new nor deleted: its slot has another owner now. */
enum shard_event { SHARD_NO_EVENT, SHARD_GAINED, SHARD_LOST };

struct event_info {
    bool initial;             /* part of the initial list or of an initial delivery (I-5) */
    bool final_state_unknown; /* no event reported the delete, only its result (B-5) */
    bool resync, coalesced;
    bool warm;     /* of the cache that an earlier run stored: the server's state may be newer */
    bool filtered; /* an add or a delete because of the handler's filter: the object itself was updated (I-18)
                    */
    bool disowned; /* its slot was lost since: another replica is told of it, or this one anew */
    enum shard_event shard;
    int64_t received_us; /* wall time at which the bytes arrived; 0 if that was before the handler */
    /* Of a delete the object of the cache, borrowed like the last one, which may differ from it. NULL: the
     * cache did not have the key. */
    struct root *stored;
};

struct change;
struct ranges;

/* Functions of a handler; each is optional. Objects are borrowed for the call; take a reference to keep one.
 */
struct event_handler {
    void (*on_add)(void *ctx, struct root *object, const struct event_info *info);
    void (*on_update)(void *ctx, struct root *old_object, struct root *new_object,
                      const struct event_info *info);
    void (*on_delete)(void *ctx, struct root *last, const struct event_info *info);
    void *ctx;
    /* The owner, such as the script: handlers of one owner are notified of a change one after another.
     * NULL: its own. */
    const void *owner;
    /* Last part of the filter, called for objects that pass options->filter, at most once for each side of a
     * change. It must depend on the object alone. */
    bool (*passes)(void *ctx, struct root *object);
    /* Takes a change over before any filter, for registration_deliver_kept later, and returns true; NULL:
     * never. */
    bool (*keeps)(void *ctx, const struct change *change);
    /* NULL: the defaults of handler_options_new. A registration takes a reference of its own. */
    struct handler_options *options;
    bool from_now_on;  /* no initial delivery */
    bool knows_stored; /* it was notified of the stored cache's objects by the earlier run */
    /* Wall time from which on lists are new to the handler: only their objects have a `received_us` in the
     * initial delivery. */
    int64_t since_us;
};

struct shared_informer;
struct registration;

/* Creates an informer. `name` is for logs. `on_synced` (optional) is called once, when the store holds the
 * first list and every handler that was there has been notified. It must not free the informer. */
struct shared_informer *shared_informer_new(const char *name, void (*on_synced)(void *ctx), void *ctx);
void shared_informer_free(struct shared_informer *informer);
/* Returns the queue for a reflector's deltas; `ready` is called when shared_informer_process has work. */
struct delta_fifo *shared_informer_fifo(struct shared_informer *informer);
void shared_informer_set_ready(struct shared_informer *informer, void (*ready)(void *ctx), void *ctx);
/* Sets the callback after an initial delivery, for all handlers that waited for it together; it must not free
 * the informer. */
void shared_informer_set_initial_done(struct shared_informer *informer, void (*shown)(void *ctx), void *ctx);
/* Sets the series that observes the time of each delta; borrowed, may be NULL. */
struct series;
void shared_informer_set_latency(struct shared_informer *informer, struct series *latency);
/* Sets the clock of resync periods and slow calls; the real clock until then. Its origin must be that of the
 * producer's clock. */
void shared_informer_set_clock(struct shared_informer *informer, struct clock *clock);
/* Sets the transform of objects before they are stored; call before the first delta. */
void shared_informer_set_transform(struct shared_informer *informer, const struct transform *transform);

/* Makes it hold only objects of slots that are set from now on; call before the first delta. */
void shared_informer_share(struct shared_informer *informer, enum shard_by by);
/* Returns the slots of its cache, to be set between two calls of shared_informer_process: that takes objects
 * of lost ones out before anything else. NULL: all. */
struct ranges *shared_informer_ranges(const struct shared_informer *informer);
/* Returns whether the cache has the objects of the slot: not while the list that has them is transformed. */
bool shared_informer_has_slot(const struct shared_informer *informer, size_t slot);

/* Processes at most `max` deltas, or objects of one that has many, or initial objects of handlers that came
 * late; returns how many; where many handlers wait, 63 more. A list may be transformed in several turns, then
 * takes effect in the store at once, and may be delivered to handlers in several turns. Not from a handler.
 */
size_t shared_informer_process(struct shared_informer *informer, size_t max);
/* Finishes the delta or initial delivery in progress, so that no handler has seen a part of it. A handler
 * whose initial delivery has not begun keeps waiting. Not from a handler. */
void shared_informer_finish_delta(struct shared_informer *informer);
/* Returns whether something is left to process that does not wait for a turn of a script (transform.h). */
bool shared_informer_has_work(const struct shared_informer *informer);

/* Adds a handler; copies it. A late one receives the cached objects with `initial`, then continues without
 * gap or duplicate (I-5). It is never called from in here, but by the next turns of processing, before
 * anything else; a handler that is added during the initial delivery of others is called after deltas had as
 * much time as those. */
void shared_informer_add_handler(struct shared_informer *informer, const struct event_handler *handler,
                                 struct registration **registration);
/* Replaces the functions of a registration. The new ones continue at the same position, in the initial
 * delivery too. Copies the handler. Not from a handler. */
void shared_informer_replace_handler(struct shared_informer *informer, struct registration *registration,
                                     const struct event_handler *handler);
/* Removes a handler; no call follows. Call once: the registration is freed. */
void shared_informer_remove_handler(struct shared_informer *informer, struct registration *registration);
/* Returns whether the initial delivery is complete. A registration whose initial delivery has not begun waits
 * for it. */
bool registration_initial_done(const struct registration *registration);
/* Returns whether the initial delivery is complete and the cache is synced (I-6). */
bool registration_has_synced(const struct registration *registration);

/* Returns the waits for a version of the store (B-10). A wait ends when the store has that version by an
 * object, a list or a bookmark, and the handlers were notified of it. Callers that add a wait check first
 * whether that is so already (version_waits_version). */
struct version_waits *shared_informer_waits(struct shared_informer *informer);
/* Adds a second store that is kept equal to this informer's objects, and may hold more (mirrors.h); borrowed
 * until it is removed, which leaves its content unchanged. */
void shared_informer_add_mirror(struct shared_informer *informer, struct indexer *store);
void shared_informer_remove_mirror(struct shared_informer *informer, struct indexer *store);
/* Returns whether the store has the first list, and handlers that do not wait were notified of it (I-7,
 * better). */
bool shared_informer_has_synced(const struct shared_informer *informer);
struct indexer *shared_informer_indexer(struct shared_informer *informer);
/* Returns the counts of its transform; all 0 without one. Borrowed. */
const struct transform_counts *shared_informer_transform_counts(const struct shared_informer *informer);
const char *shared_informer_name(const struct shared_informer *informer);
