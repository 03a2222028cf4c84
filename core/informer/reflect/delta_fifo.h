/* Queue from the I/O thread to the engine thread: everything that a reflector saw, in order (contract Q, V5).
 * Up to a mark every delta is kept; above it they are compressed per key, so that memory is bounded by the
 * number of keys and the producer never waits (better: ). Owner: the shared informer. One
 * producer thread (add, replace, bookmark, resync, close), one consumer thread (take, release); a mutex
 * between them is held only to append and to swap. Objects in the queue are references. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "informer/reflect/refusals.h"
#include "object/pack/pool.h"
#include "object/value/value.h"

extern struct metric metric_deltas_coalesced;

/* */
enum delta_type {
    DELTA_ADDED,
    DELTA_UPDATED,
    DELTA_DELETED,
    DELTA_REPLACED_ALL, /* a complete list, or that of one namespace, atomically */
    DELTA_SYNC_ALL,     /* resync */
    DELTA_BOOKMARK,     /* only the version changed */
};

struct delta {
    enum delta_type type;
    bool coalesced; /* merged from several deltas of its key, or replaces queued deltas */
    bool born;      /* of DELETED: merged with the put of its key; handlers that do not know the key are not
                       notified */
    bool initial;   /* the first list, before anything else was queued */
    bool stored;    /* of REPLACED_ALL: of an earlier run, not of the server */
    int64_t generation;  /* of REPLACED_ALL: as set when it was queued */
    struct root *object; /* of ADDED, UPDATED, DELETED */
    union {
        int64_t received_us; /* wall time at which its bytes came */
        int64_t tick_ms;     /* of SYNC_ALL: time of the resync on the producer's clock */
    };
    char *resource_version; /* of REPLACED_ALL, without `part`, and BOOKMARK; owned by the delta */
    /* Of REPLACED_ALL: only this namespace is replaced; "": nothing is, the objects are those of slots that
     * were gained; owned by the delta; NULL: all. */
    char *part;
    struct root **objects; /* of REPLACED_ALL, in list order; owned by the delta with its references */
    size_t count;
    struct delta_refused *refused; /* of REPLACED_ALL; owned by the delta; NULL: no object was refused */
};

struct delta_fifo;

/* DELTA_FIFO_MARK: number of deltas that are kept uncompressed for a slow consumer. DELTA_FIFO_MANY: number
 * after which `many` is called. */
enum { DELTA_FIFO_MARK = 10000, DELTA_FIFO_MANY = 64 };

/* Creates a queue. `ready` is called on the producer's thread whenever the queue was empty and no longer is.
 * A consumer that stops while delta_fifo_len is not 0 must schedule itself again. */
struct delta_fifo *delta_fifo_new(void (*ready)(void *ctx), void *ctx);
/* Replaces `ready`; call before the first delta. `many` is called in addition when DELTA_FIFO_MANY deltas
 * wait: for a `ready` that is delayed. */
void delta_fifo_set_ready(struct delta_fifo *fifo, void (*ready)(void *ctx), void (*many)(void *ctx),
                          void *ctx);
/* Replaces the mark; call before the first delta. If more deltas than that wait and the consumer has not
 * taken any of them, they are merged to one for each key until it does: Added+Updated = Added,
 * Updated+Updated = the last, Deleted+Added = Updated, and a delete stays, `born` if it was merged with a
 * put. A list then replaces everything before it; so it does if the queued lists have as many objects. */
void delta_fifo_set_mark(struct delta_fifo *fifo, size_t mark);
/* Releases what is still queued. Both threads must be done with the queue. */
void delta_fifo_free(struct delta_fifo *fifo);

/* Takes the reference, as all functions of the producer do. */
void delta_fifo_add(struct delta_fifo *fifo, enum delta_type type, struct root *object, int64_t received_us);
/* Takes `objects` (malloc'ed) and the references in it, and `refused` (malloc'ed; may be NULL), the keys of
 * listed objects that were refused. Below the mark earlier deltas stay queued. */
void delta_fifo_replace(struct delta_fifo *fifo, const char *resource_version, struct root **objects,
                        size_t count, struct delta_refused *refused, int64_t received_us);
/* Sets the number that lists carry from now on. */
void delta_fifo_set_generation(struct delta_fifo *fifo, int64_t generation);
int64_t delta_fifo_generation(const struct delta_fifo *fifo);
/* The same for the objects of one namespace: those of others stay; "": all others stay, as these are of slots
 * that were gained. The version of the store does not change. Call after the first list. */
void delta_fifo_replace_part(struct delta_fifo *fifo, const char *ns, struct root **objects, size_t count,
                             struct delta_refused *refused, int64_t received_us);
/* Likewise for the objects of an earlier run, as the first list. */
void delta_fifo_restore(struct delta_fifo *fifo, const char *resource_version, struct root **objects,
                        size_t count);
void delta_fifo_bookmark(struct delta_fifo *fifo, const char *resource_version);
/* Queues a resync for the time `tick_ms`: call every delta_fifo_resync_ms while a watch runs. A resync
 * that is queued already moves to this time instead, as the consumer may need longer for one than the period.
 */
void delta_fifo_resync(struct delta_fifo *fifo, int64_t tick_ms);
/* Closes the queue: later deltas are released at once; queued ones can still be taken. From either
 * thread. */
void delta_fifo_close(struct delta_fifo *fifo);

/* Takes at most `max` deltas in order; returns how many are in `*batch`, which the caller hands to
 * delta_fifo_release when it has processed them, before it takes the next. The references stay with the
 * deltas. A batch ends with the first list. */
size_t delta_fifo_take(struct delta_fifo *fifo, size_t max, struct delta **batch);
void delta_fifo_release(struct delta_fifo *fifo, struct delta *batch, size_t count);
/* Returns the number of waiting deltas. Any thread. */
size_t delta_fifo_len(struct delta_fifo *fifo);
/* Returns whether the first list was released, or single objects came without any list. Any
 * thread. */
bool delta_fifo_has_synced(struct delta_fifo *fifo);
/* Sets the period of resyncs (I-15); 0: never. May be called at any time, from any thread. */
void delta_fifo_set_resync(struct delta_fifo *fifo, int64_t period_ms);
int64_t delta_fifo_resync_ms(const struct delta_fifo *fifo);

/* Returns whether the delta stands for everything before it. */
static inline bool delta_is_whole_list(const struct delta *delta)
{
    return delta->type == DELTA_REPLACED_ALL && !delta->part;
}

/* --- Equality of two states of a key (B-4).
 * Owner: nothing; any thread that holds both. */

/* Returns whether both have the same apiVersion: in another one the same object has another shape, although
 * nothing was written. */
static inline bool same_api_version(const struct root *a, const struct root *b)
{
    struct text text_a, text_b;
    return str_eq(value_str(value_field(root_value(a), STR("apiVersion")), &text_a),
                  value_str(value_field(root_value(b), STR("apiVersion")), &text_b));
}

/* Returns whether both are the same state of an object. Versions can be equal by chance after a restore of
 * etcd, so the uid counts too. */
static inline bool is_unchanged(const struct root *a, const struct root *b)
{
    struct text text_a, text_b;
    if (a == b) return true;
    struct str version = root_resource_version(a, &text_a);
    if (version.n == 0 || !str_eq(version, root_resource_version(b, &text_b))) return false;
    return str_eq(root_uid(a, &text_a), root_uid(b, &text_b)) && same_api_version(a, b);
}
