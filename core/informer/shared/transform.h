/* Transform of a script, applied to each object before it is stored, once for each version of an object
 * (R-35, better) and never for resyncs. A failed one costs that object only (Q-4, better): what the
 * cache holds of it stays. A list is transformed in slices, so that timers and other informers have their
 * turns meanwhile; the store takes it when all of it is done (V7). Owner: the claim that brings it. On the
 * engine thread, inside the processing of a delta: it may not touch the informer. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "informer/reflect/delta_fifo.h"
#include "informer/store/indexer.h"

enum transform_result {
    TRANSFORM_KEPT,
    TRANSFORM_DROPPED, /* it is not wanted: as if the server did not have it */
    TRANSFORM_FAILED,
};

/* Number of objects that it dropped, and for which it failed: each transformed version counts. */
struct transform_counts {
    uint64_t dropped, failed;
};

struct transform {
    /* `*out` is a new reference when it is kept: an object with the same key, uid and version. NULL: none. */
    enum transform_result (*fn)(void *ctx, struct root *object, struct root **out);
    void (*free)(void *ctx); /* when the claim ends; NULL: nothing to free */
    void *ctx;
    const char *owner; /* for names; borrowed */
};

/* Puts the result into the delta, in place of its object. `store` holds what earlier ones became. False:
 * nothing of it is left to be processed. What is not kept is added to `counts`. */
bool transform_delta(const struct transform *transform, const struct indexer *store, struct delta *delta,
                     struct transform_counts *counts);

/* Progress through a list. */
struct transform_progress {
    size_t at, kept; /* done; how many results there are */
    bool open;
};

/* The same for a list, at most `max` of its objects; returns how many. `progress` is opened by the caller and
 * closed when the last is done; the delta may be released before that, but not told. */
size_t transform_list(const struct transform *transform, const struct indexer *store, struct delta *delta,
                      struct transform_progress *progress, size_t max, struct transform_counts *counts);
