/* Applies deltas: first the transform of a script, then the store and its mirrors, then the handlers (Q-19,
 * V1, V2, V7). Owner: the shared informer that embeds it, on the engine thread; it passes the deltas one
 * after another, and reads the members. Handlers may add and remove handlers meanwhile. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "informer/reflect/delta_fifo.h"
#include "informer/shared/handler_list.h"
#include "informer/shared/mirrors.h"
#include "informer/shared/ranges.h"
#include "informer/shared/transform.h"

struct applier {
    struct indexer *store;
    struct mirrors mirrors;
    struct handler_list handlers;
    struct ranges *ranges; /* NULL: the cache holds objects of all slots */
    struct transform transform;
    struct transform_counts transform_counts;
    struct transform_progress transforming; /* of the delta in progress: a list, before it takes effect */
    struct cursor cursor;                   /* of that delta, while handlers are called in slices */
    int64_t delta_ns;                       /* of late, for a delta among many */
};

void applier_init(struct applier *applier);
void applier_clear(struct applier *applier);
/* Applies at most `max` objects of the delta in progress, or of `delta` if none is; returns how many, 1 for a
 * delta without objects. `delta` must stay unchanged until applier_has_begun returns false. */
size_t applier_run(struct applier *applier, struct delta *delta, size_t max);
/* Returns how many deltas to take at once, `max` unless there are many owners of handlers. */
size_t applier_batch(const struct applier *applier, size_t max);
/* Applies as many of the deltas from `deltas` on as change one object each, `max` at most, at once, and only
 * then notifies the handlers, those of one owner after those of another: with many owners that is much
 * cheaper than delta by delta. Returns how many, 0 where it must be delta by delta. */
size_t applier_run_all(struct applier *applier, const struct delta *deltas, size_t max);
/* Takes out objects of slots that were lost, or puts back the restorable ones, and notifies the handlers, at
 * most `max` of them; returns how many, at least 1. Call while there are some (ranges_are_moving), between
 * two deltas or while that is in progress. */
size_t applier_move(struct applier *applier, size_t max);
/* Returns whether a delta is in progress. */
bool applier_has_begun(const struct applier *applier);
