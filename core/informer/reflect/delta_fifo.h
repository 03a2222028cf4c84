/* The boundary between the I/O thread and the engine thread: what a reflector saw, in order (contract Q, V5).
 * Up to a mark every delta is kept; above it they are compressed per key, so that memory is bounded by the
 * number of keys and the producer never waits (better: ).
 * Owner: the shared informer. One producer thread (add, replace, bookmark, resync, close), one consumer
 * thread (take, release); a mutex joins them, held only to append and to swap. Objects in it are references.
 */
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
    DELTA_REPLACED_ALL, /* a whole list, atomically */
    DELTA_SYNC_ALL,     /* resync */
    DELTA_BOOKMARK,     /* only the version moved */
};

struct delta {
    enum delta_type type;
    bool coalesced;      /* stands for more than one delta of its key, or what a list replaced */
    bool born;           /* of DELETED: its put is part of it; who does not know the key need not hear */
    bool initial;        /* the first list, before anything else was queued */
    struct root *object; /* of ADDED, UPDATED, DELETED */
    union {
        int64_t received_us; /* wall time at which its bytes came */
        int64_t tick_ms;     /* of SYNC_ALL: the instant of the resync on the producer's clock */
    };
    char *resource_version; /* of REPLACED_ALL and BOOKMARK; owned by the delta */
    struct root **objects;  /* of REPLACED_ALL, in list order; owned by the delta with its references */
    size_t count;
    struct delta_refused *refused; /* of REPLACED_ALL; owned by the delta; NULL: nothing was refused */
};

struct delta_fifo;

/* The mark: so many deltas of a slow consumer are kept as they are. */
enum { DELTA_FIFO_MARK = 10000, DELTA_FIFO_MANY = 64 };

/* `ready` is called on the producer's thread whenever the queue was empty and no longer is. A consumer that
 * stops while delta_fifo_len is not 0 has to come back by itself. */
struct delta_fifo *delta_fifo_new(void (*ready)(void *ctx), void *ctx);
/* Another `ready`; before the first delta. `many` is called likewise when DELTA_FIFO_MANY wait: for a `ready`
 * that takes its time. */
void delta_fifo_set_ready(struct delta_fifo *fifo, void (*ready)(void *ctx), void (*many)(void *ctx),
                          void *ctx);
/* Another mark; before the first delta. When more than so many wait that the consumer has not begun with,
 * they are one for each key until it does: Added+Updated = Added, Updated+Updated = the last, Deleted+Added =
 * Updated, and a delete stays, `born` when it swallowed a put. A list replaces all before it then, or when
 * the lists among them have as many objects. */
void delta_fifo_set_mark(struct delta_fifo *fifo, size_t mark);
/* Releases what is still queued. Both threads must be done with it. */
void delta_fifo_free(struct delta_fifo *fifo);

/* All take the references. */
void delta_fifo_add(struct delta_fifo *fifo, enum delta_type type, struct root *object, int64_t received_us);
/* Takes `objects` (malloc'ed) and the references in it; `refused` (malloc'ed), which may be NULL, are objects
 * of the list that were not taken. Whatever is queued before it stays, below the mark. */
void delta_fifo_replace(struct delta_fifo *fifo, const char *resource_version, struct root **objects,
                        size_t count, struct delta_refused *refused, int64_t received_us);
void delta_fifo_bookmark(struct delta_fifo *fifo, const char *resource_version);
/* The resync of the instant `tick_ms`: whoever keeps time asks for it each delta_fifo_resync_ms while a watch
 * runs. One that waits already becomes one of this instant, as the consumer may need longer for it
 * than the period is. */
void delta_fifo_resync(struct delta_fifo *fifo, int64_t tick_ms);
/* Nothing is accepted any more (it is released at once); what is queued can still be taken. From
 * either thread. */
void delta_fifo_close(struct delta_fifo *fifo);

/* Takes at most `max` deltas in order; returns how many are in `*batch`, which the caller hands to
 * delta_fifo_release when it has processed them, before it takes the next. The references stay with the
 * deltas. A batch ends with the first list. */
size_t delta_fifo_take(struct delta_fifo *fifo, size_t max, struct delta **batch);
void delta_fifo_release(struct delta_fifo *fifo, struct delta *batch, size_t count);
/* Deltas waiting; any thread. */
size_t delta_fifo_len(struct delta_fifo *fifo);
/* the first list was released, or single objects came without any. Any thread. */
bool delta_fifo_has_synced(struct delta_fifo *fifo);
/* Sets the period of resyncs (I-15); 0: never. It may change at any time. Any thread. */
void delta_fifo_set_resync(struct delta_fifo *fifo, int64_t period_ms);
int64_t delta_fifo_resync_ms(const struct delta_fifo *fifo);

/* --- Equality of two states of a key (B-4).
 * Owner: nothing; any thread that holds both. */

/* Another version of its group is another shape of the same object, although nothing was written. */
static inline bool same_api_version(const struct root *a, const struct root *b)
{
    struct text text_a, text_b;
    return str_eq(value_str(value_field(root_value(a), STR("apiVersion")), &text_a),
                  value_str(value_field(root_value(b), STR("apiVersion")), &text_b));
}

/* The same object, or one that only its version text and uid prove the same. */
static inline bool is_unchanged(const struct root *a, const struct root *b)
{
    struct text text_a, text_b;
    if (a == b) return true;
    struct str version = root_resource_version(a, &text_a);
    if (version.n == 0 || !str_eq(version, root_resource_version(b, &text_b))) return false;
    return str_eq(root_uid(a, &text_a), root_uid(b, &text_b)) && same_api_version(a, b);
}
