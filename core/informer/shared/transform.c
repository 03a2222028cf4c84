/* Transforms of deltas; see transform.h. */
#include "informer/shared/transform.h"

#include "informer/reflect/delta_fifo.h"

static enum transform_result call_transform(const struct transform *transform, struct root *object,
                                            struct root **out, struct transform_counts *counts)
{
    enum transform_result result = transform->fn(transform->ctx, object, out);
    counts->dropped += result == TRANSFORM_DROPPED;
    counts->failed += result == TRANSFORM_FAILED;
    return result;
}

/* Transforms an object, unless the store has the result of the same version already, as after a relist
 * (R-35). */
static enum transform_result apply(const struct transform *transform, struct root *known, struct root *object,
                                   struct root **out, struct transform_counts *counts)
{
    if (!known || !is_unchanged(known, object)) return call_transform(transform, object, out, counts);
    *out = root_ref(known);
    return TRANSFORM_KEPT;
}

/* Takes `by`. */
static void replace(struct root **object, struct root *by)
{
    root_unref(*object);
    *object = by;
}

/* Transforms the last state of a deleted object. If the transform drops it or fails, handlers receive the
 * stored state; if nothing was stored, they need no call. */
static bool transform_deleted(const struct transform *transform, struct root *known, struct delta *delta,
                              struct transform_counts *counts)
{
    struct root *out;
    if (call_transform(transform, delta->object, &out, counts) == TRANSFORM_KEPT)
        replace(&delta->object, out);
    else if (known)
        replace(&delta->object, root_ref(known));
    else
        return false;
    return true;
}

static bool transform_put(const struct transform *transform, struct root *known, struct delta *delta,
                          struct transform_counts *counts)
{
    struct root *out;
    enum transform_result result = apply(transform, known, delta->object, &out, counts);
    if (result == TRANSFORM_KEPT) {
        replace(&delta->object, out);
        return true;
    }
    if (result == TRANSFORM_FAILED || !known) return false;
    delta->type = DELTA_DELETED; /* stored before, and no longer wanted */
    replace(&delta->object, root_ref(known));
    return true;
}

/* Records a failed object as refused: the server still has it, so the stored state stays. */
static void note_failed(struct delta *delta, const struct root *object)
{
    struct text ns, name;
    refused_add(&delta->refused, root_namespace(object, &ns), root_name(object, &name));
}

size_t transform_list(const struct transform *transform, const struct indexer *store, struct delta *delta,
                      struct transform_progress *progress, size_t max, struct transform_counts *counts)
{
    size_t done = 0;
    for (; done < max && progress->at < delta->count; done++) {
        struct root **place = &delta->objects[progress->at++], *object = *place, *out;
        enum transform_result result =
            apply(transform, indexer_get_like(store, object), object, &out, counts);
        *place = NULL; /* the delta holds each reference once at any time, as it may be released between two
                          slices */
        if (result == TRANSFORM_FAILED) note_failed(delta, object);
        if (result == TRANSFORM_KEPT) delta->objects[progress->kept++] = out;
        root_unref(object);
    }
    if (progress->at < delta->count) return done;
    delta->count = progress->kept;
    *progress = (struct transform_progress){0};
    return done;
}

bool transform_delta(const struct transform *transform, const struct indexer *store, struct delta *delta,
                     struct transform_counts *counts)
{
    if (!delta->object) return true;
    struct root *known = indexer_get_like(store, delta->object);
    return delta->type == DELTA_DELETED ? transform_deleted(transform, known, delta, counts)
                                        : transform_put(transform, known, delta, counts);
}
