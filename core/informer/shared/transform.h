/* Transform of a script, applied to each object before it is stored, once for each version of an object
 * (R-35, better) and never for resyncs. A failure concerns that object only (Q-4, better): its stored
 * state stays. A list is transformed in slices, so that timers and other informers have their turns
 * meanwhile; the store takes it when all of it is done (V7). Owner: the claim that brings it. On the engine
 * thread, inside the processing of a delta: it must not touch the informer. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "informer/reflect/delta_fifo.h"
#include "informer/store/indexer.h"

enum transform_result {
    TRANSFORM_KEPT,
    TRANSFORM_DROPPED, /* not wanted: as if the server did not have it */
    TRANSFORM_FAILED,
};

/* Number of objects dropped and failed; each transformed version counts. */
struct transform_counts {
    uint64_t dropped, failed;
};

struct transform {
    /* Sets `*out` to a new reference if it returns TRANSFORM_KEPT: an object with the same key, uid and
     * version. NULL: no transform. */
    enum transform_result (*fn)(void *ctx, struct root *object, struct root **out);
    void (*free)(void *ctx); /* called when the claim ends; NULL: nothing to free */
    void *ctx;
    /* Returns whether the informer has to wait, because the script has used up its time: no delta is
     * processed until shared_factory_go_on. NULL: never. */
    bool (*later)(void *ctx);
    const char *owner; /* for names; borrowed */
};

/* Replaces the object of the delta by the result. `store` holds earlier results. Returns false if nothing is
 * left to process. Adds dropped and failed objects to `counts`. */
bool transform_delta(const struct transform *transform, const struct indexer *store, struct delta *delta,
                     struct transform_counts *counts);

/* Progress through a list. */
struct transform_progress {
    size_t at, kept; /* objects done; results among them */
    bool open;
};

/* Likewise for at most `max` objects of a list; returns how many. The caller opens `progress`, which closes
 * after the last object; until then the delta may be released, but not applied. */
size_t transform_list(const struct transform *transform, const struct indexer *store, struct delta *delta,
                      struct transform_progress *progress, size_t max, struct transform_counts *counts);
