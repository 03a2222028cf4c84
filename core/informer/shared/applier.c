/* Applies deltas; see applier.h. */
#include "informer/shared/applier.h"

#include <stdlib.h>

#include "base/clock.h"
#include "informer/reflect/refusals.h"
#include "kube/kinds/resource.h"

void applier_init(struct applier *applier)
{
    *applier = (struct applier){.store = indexer_new()};
}

void applier_clear(struct applier *applier)
{
    cursor_clear(&applier->cursor);
    handler_list_clear(&applier->handlers);
    mirrors_clear(&applier->mirrors);
    ranges_clear(applier->ranges);
    free(applier->ranges);
    indexer_free(applier->store);
}

/* Sets the version of the store (S-10). A merged delta may hold a newer version than the deltas queued behind
 * it, so the queue ends with a bookmark instead. */
static void note_version(struct applier *applier, const struct delta *delta)
{
    struct text text;
    if (delta->coalesced) return;
    struct str version = root_resource_version(delta->object, &text);
    if (version.n) indexer_set_resource_version(applier->store, version);
}

static struct event_info info_of(const struct delta *delta)
{
    return (struct event_info){.initial = delta->initial,
                               .warm = delta->stored,
                               .coalesced = delta->coalesced,
                               .received_us = delta->received_us};
}

/* Changes the store; the caller releases `before`, which must live until the handlers were called. */
static struct change put(struct applier *applier, const struct delta *delta, const struct event_info *info)
{
    struct root *before = indexer_put(applier->store, root_ref(delta->object));
    mirrors_put(&applier->mirrors, delta->object);
    return change_of_put(before, delta->object, info);
}

static struct change take_away(struct applier *applier, const struct delta *delta,
                               const struct event_info *info)
{
    struct root *before = indexer_remove(applier->store, delta->object);
    mirrors_delete(&applier->mirrors, delta->object);
    return (struct change){NOTIFY_DELETE, before, delta->object, *info};
}

/* Handlers are notified of a delete even if the store never had the key, unless its add was
 * compressed away. */
static bool is_told(const struct delta *delta, const struct change *change)
{
    return delta->type != DELTA_DELETED || change->before || !delta->born;
}

/* Applies a delta of one object. */
static void process_one(struct applier *applier, const struct delta *delta, const struct event_info *info)
{
    bool gone = delta->type == DELTA_DELETED;
    const struct change change = gone ? take_away(applier, delta, info) : put(applier, delta, info);
    if (is_told(delta, &change)) handler_list_notify(&applier->handlers, &change);
    root_unref(change.before);
}

/* Keeps stored objects whose listed state was refused: the server still has them, so they count as unchanged
 * rather than deleted. */
static void keep_refused(const struct delta_refused *refused, struct indexer *store,
                         struct replacement *replaced)
{
    struct str rest = buf_slice(&refused->keys), ns, name;
    while (refused_next(&rest, &ns, &name)) replacement_keep(replaced, store, ns, name);
}

/* Replaces the store, or one namespace of it, at once and opens the cursor; handlers are called in slices
 * afterwards (Q-7, V7). */
static void process_replace(struct applier *applier, const struct delta *delta, const struct event_info *info)
{
    struct replacement replaced;
    struct indexer *store = applier->store;
    replacement_begin(&replaced, store, delta->count);
    for (size_t i = 0; i < delta->count; i++) replacement_put(&replaced, store, root_ref(delta->objects[i]));
    if (delta->refused) keep_refused(delta->refused, store, &replaced);
    /* An unnamed refused object may be any of the stored ones, so then none may vanish. */
    bool keep_all = (delta->refused && delta->refused->unknown) || (delta->part && !*delta->part);
    if (delta->part) {
        replacement_end_in(&replaced, store, str_of(delta->part), keep_all);
    } else {
        replacement_end(&replaced, store, keep_all);
        indexer_set_resource_version(store, str_of(delta->resource_version));
        applier->handlers.listed_us = info->received_us;
        applier->handlers.warm = info->warm;
    }
    mirrors_replace(&applier->mirrors, &replaced, delta->objects);
    cursor_open_list(&applier->cursor, &replaced, delta->objects, info);
    applier->cursor.ranges = applier->ranges;
}

/* Opens a resync of the handlers whose period is over (I-16). No request is sent and nothing is compared
 * (Q-10, I-17). */
static void process_resync(struct applier *applier, const struct delta *delta, const struct event_info *info)
{
    if (!handler_list_pick_due(&applier->handlers, delta->tick_ms)) return;
    cursor_open_resync(&applier->cursor, applier->store, info);
    applier->cursor.ranges = applier->ranges;
}

/* Applies the delta, and only this one: handlers are notified of exactly the state that the store has,
 * without later deltas (Q-15, better), unless there are many of them (applier_run_all). */
static void dispatch(struct applier *applier, const struct delta *delta)
{
    const struct event_info info = info_of(delta);
    handler_list_begin_delta(&applier->handlers);
    switch (delta->type) {
    case DELTA_ADDED:
    case DELTA_UPDATED:
    case DELTA_DELETED: process_one(applier, delta, &info); break;
    case DELTA_REPLACED_ALL: process_replace(applier, delta, &info); break;
    case DELTA_SYNC_ALL: process_resync(applier, delta, &info); break;
    case DELTA_BOOKMARK: indexer_set_resource_version(applier->store, str_of(delta->resource_version)); break;
    }
}

/* Returns whether the cache has a newer state of the name than this event: a list of gained slots, alone, may
 * be ahead of the watch, and a name that was used again, with another uid, may be in another slot than
 * before. */
static bool is_behind(const struct applier *applier, const struct root *object)
{
    struct text text, text_known;
    const struct root *known = indexer_get_like(applier->store, object);
    return known &&
           version_is_newer(root_resource_version(known, &text_known), root_resource_version(object, &text));
}

static bool is_unwanted(const struct applier *applier, const struct root *object)
{
    return !ranges_want(applier->ranges, object) || is_behind(applier, object);
}

static void begin_delta(struct applier *applier, struct delta *delta)
{
    const struct transform *transform = &applier->transform;
    if (delta->object) note_version(applier, delta);
    if (applier->ranges) {
        if (delta->object && is_unwanted(applier, delta->object)) return;
        if (delta->type == DELTA_REPLACED_ALL) ranges_take_list(applier->ranges, delta);
    }
    /* A list may take many calls of the transform, so it is transformed in slices before it takes effect. */
    if (transform->fn && delta->type == DELTA_REPLACED_ALL)
        applier->transforming.open = true;
    else if (!transform->fn || transform_delta(transform, applier->store, delta, &applier->transform_counts))
        dispatch(applier, delta);
}

/* A handler that is added while a list is transformed receives the store as it is, and then the changes of
 * the list. */
static size_t transform_some(struct applier *applier, struct delta *delta, size_t max)
{
    size_t done = transform_list(&applier->transform, applier->store, delta, &applier->transforming, max,
                                 &applier->transform_counts);
    if (!applier->transforming.open) dispatch(applier, delta);
    return done;
}

/* --- many deltas at once */

/* From so many owners on, whose states together evict each other from the caches of the processor. */
enum { OWNERS_MANY = 8 };
/* Bounds of a run: a change waits for the handlers of others so long. */
enum { RUN_MAX = 64, RUN_NS = 2000000 };

static bool takes_runs(const struct applier *applier)
{
    return applier->handlers.owners >= OWNERS_MANY && !applier->transform.fn && !applier->ranges;
}

size_t applier_batch(const struct applier *applier, size_t max)
{
    return takes_runs(applier) && max < RUN_MAX ? RUN_MAX : max;
}

/* Deltas that the last runs say to be done in RUN_NS; two at least, so that it is measured on. */
static size_t run_of(const struct applier *applier, size_t max)
{
    size_t most = applier->delta_ns > 0 ? (size_t)(RUN_NS / applier->delta_ns) : RUN_MAX;
    if (most > RUN_MAX) most = RUN_MAX;
    if (most < 2) most = 2;
    return most < max ? most : max;
}

static void note_run(struct applier *applier, int64_t took_ns, size_t count)
{
    enum { WEIGHT = 8 };
    int64_t each_ns = took_ns / (int64_t)count;
    applier->delta_ns += (each_ns - applier->delta_ns) / (applier->delta_ns ? WEIGHT : 1);
}

size_t applier_run_all(struct applier *applier, const struct delta *deltas, size_t max)
{
    struct change changes[RUN_MAX];
    struct root *before[RUN_MAX];
    size_t done = 0, told = 0;
    if (!takes_runs(applier) || applier_has_begun(applier)) return 0;
    max = run_of(applier, max);
    if (max < 2 || deltas[0].type > DELTA_DELETED || deltas[1].type > DELTA_DELETED) return 0;
    int64_t begun_ns = clock_measure_ns();
    handler_list_begin_delta(&applier->handlers);
    for (; done < max && deltas[done].type <= DELTA_DELETED; done++) {
        const struct delta *delta = &deltas[done];
        const struct event_info info = info_of(delta);
        note_version(applier, delta);
        changes[told] =
            delta->type == DELTA_DELETED ? take_away(applier, delta, &info) : put(applier, delta, &info);
        before[done] = changes[told].before;
        told += is_told(delta, &changes[told]);
    }
    handler_list_notify_all(&applier->handlers, changes, told);
    for (size_t i = 0; i < done; i++) root_unref(before[i]);
    note_run(applier, clock_measure_ns() - begun_ns, done);
    return done;
}

static void begin_to_lose(struct applier *applier)
{
    const struct event_info info = {.shard = SHARD_LOST};
    struct replacement lost;
    ranges_take_out(applier->ranges, applier->store, &lost);
    mirrors_replace(&applier->mirrors, &lost, NULL);
    handler_list_begin_delta(&applier->handlers);
    cursor_open_list(&applier->cursor, &lost, NULL, &info);
    applier->ranges->is_taking_out = true;
}

/* Like a list of gained slots. */
static void begin_to_put_back(struct applier *applier)
{
    struct ranges *ranges = applier->ranges;
    char no_part[] = "";
    ranges_put_back(ranges);
    const struct delta delta = {.type = DELTA_REPLACED_ALL,
                                .part = no_part,
                                .objects = ranges->returning,
                                .count = ranges->returning_count};
    const struct event_info info = info_of(&delta);
    handler_list_begin_delta(&applier->handlers);
    process_replace(applier, &delta, &info);
    ranges->is_putting_back = true;
}

size_t applier_move(struct applier *applier, size_t max)
{
    struct ranges *ranges = applier->ranges;
    if (!ranges->is_taking_out && !ranges->is_putting_back) {
        if (ranges->is_losing)
            begin_to_lose(applier);
        else
            begin_to_put_back(applier);
    }
    size_t done = cursor_run(&applier->cursor, &applier->handlers, max);
    if (applier->cursor.open) return done;
    if (ranges->is_putting_back) ranges_have_back(ranges);
    ranges->is_taking_out = ranges->is_putting_back = false;
    return done ? done : 1;
}

bool applier_has_begun(const struct applier *applier)
{
    return applier->transforming.open || applier->cursor.open;
}

size_t applier_run(struct applier *applier, struct delta *delta, size_t max)
{
    size_t done = 0;
    if (!applier_has_begun(applier)) begin_delta(applier, delta);
    if (applier->transforming.open)
        done = transform_some(applier, delta, max);
    else if (applier->cursor.open)
        done = cursor_run(&applier->cursor, &applier->handlers, max);
    /* A delta without objects counts as one, so that a turn with many bookmarks ends too. */
    return done ? done : 1;
}
