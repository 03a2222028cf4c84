/* Deltas in order, compressed per key once they are too many (better: ). Owner: the DeltaFIFO;
 * no locks. Deltas that compression drops are returned to the caller, who releases them by delta_run_clear
 * outside of the lock. */
#pragma once
#include "informer/reflect/delta_fifo.h"

struct delta_run {
    struct delta *deltas;
    size_t count, cap;
    size_t listed;         /* objects in its lists */
    struct key_slot *keys; /* while it compresses: index of each key's delta */
    size_t key_count, key_cap;
    size_t sync_at;      /* index, plus one, of the resync into which later ones are merged */
    size_t bookmark_at;  /* likewise of the bookmark, while it compresses */
    struct root *merged; /* borrowed: the newest object, if it was merged into an older delta */
};

/* Takes the content of the delta. */
void delta_run_append(struct delta_run *run, const struct delta *delta);

/* Moves a queued resync to the time of this one. Returns true if there was one, and `delta` is done; false if
 * there is none. */
bool delta_run_join_resync(struct delta_run *run, const struct delta *delta);

static inline bool delta_run_compresses(const struct delta_run *run)
{
    return run->keys;
}
/* Starts compression: from now on there is one delta for each key, and everything before the last list is
 * dropped. Returns the dropped deltas. */
struct delta_run delta_run_compress(struct delta_run *run);
/* Merges a delta (not a list of all) into a compressing run. Takes its content; `delta` then holds what the
 * caller must release. Returns true if it became a delta of its own. */
bool delta_run_merge(struct delta_run *run, struct delta *delta);
/* Replaces everything before a list: returns the dropped deltas, and leaves an empty run that does not
 * compress. */
struct delta_run delta_run_replace(struct delta_run *run, struct delta *list);
/* Ends compression; call before the consumer gets the deltas. If the newest object was merged into an older
 * delta, appends a bookmark with its version and returns true. */
bool delta_run_finish(struct delta_run *run);

void delta_clear(struct delta *delta);
/* Releases the deltas from `from` on, and the run's memory. */
void delta_run_clear(struct delta_run *run, size_t from);
