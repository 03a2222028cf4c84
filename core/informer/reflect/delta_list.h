/* Deltas in order, which are compressed per key once they are too many (better: ). Owner:
 * the DeltaFIFO; no locks. What falls out by compression is handed to the caller, who releases it by
 * delta_run_clear outside of the lock. */
#pragma once
#include "informer/reflect/delta_fifo.h"

struct delta_run {
    struct delta *deltas;
    size_t count, cap;
    size_t listed;         /* objects in its lists */
    struct key_slot *keys; /* while it compresses: by key the place of its delta */
    size_t key_count, key_cap;
    size_t sync_at;      /* place, plus one, of the resync that later ones go into */
    size_t bookmark_at;  /* the same of the bookmark, while it compresses */
    struct root *merged; /* borrowed: the object that came last, when it went into an older delta */
};

/* Takes what the delta owns. */
void delta_run_append(struct delta_run *run, const struct delta *delta);

/* A resync that waits already becomes one of this instant: true, and `delta` is done with. False: none does.
 */
bool delta_run_join_resync(struct delta_run *run, const struct delta *delta);

static inline bool delta_run_compresses(const struct delta_run *run)
{
    return run->keys;
}
/* From now on there is one delta for each key, of those that are here too, and what comes before the last
 * list goes. Returns what fell out. */
struct delta_run delta_run_compress(struct delta_run *run);
/* Merges a delta (not a list) into a compressing run. Takes its content; `delta` then holds what the caller
 * must release. Returns true if it became a delta of its own. */
bool delta_run_merge(struct delta_run *run, struct delta *delta);
/* A list replaces all that came before it: returns that, and leaves an empty run that does not compress. */
struct delta_run delta_run_replace(struct delta_run *run, struct delta *list);
/* Before it is handed to the consumer: ends compression. The last version must be told although its object is
 * part of an older delta: true when that made one delta more. */
bool delta_run_finish(struct delta_run *run);

void delta_clear(struct delta *delta);
/* Releases the deltas from `from` on, and the run's memory. */
void delta_run_clear(struct delta_run *run, size_t from);
