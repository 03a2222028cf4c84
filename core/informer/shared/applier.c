/* Applies deltas; see applier.h. */
#include "informer/shared/applier.h"

#include "informer/reflect/refusals.h"

void applier_init(struct applier *applier)
{
    *applier = (struct applier){.store = indexer_new()};
}

void applier_clear(struct applier *applier)
{
    cursor_clear(&applier->cursor);
    handler_list_clear(&applier->handlers);
    mirrors_clear(&applier->mirrors);
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

static void process_put(struct applier *applier, const struct delta *delta, const struct event_info *info)
{
    /* The store keeps its own reference; the previous object lives until the handlers were called. */
    struct root *before = indexer_put(applier->store, root_ref(delta->object));
    mirrors_put(&applier->mirrors, delta->object);
    const struct change change = change_of_put(before, delta->object, info);
    handler_list_notify(&applier->handlers, &change);
    root_unref(before);
}

/* Notifies handlers of a delete even if the store never had the key, unless its add was
 * compressed away. */
static void process_delete(struct applier *applier, const struct delta *delta, const struct event_info *info)
{
    struct root *before = indexer_remove(applier->store, delta->object);
    mirrors_delete(&applier->mirrors, delta->object);
    const struct change change = {NOTIFY_DELETE, before, delta->object, *info};
    if (before || !delta->born) handler_list_notify(&applier->handlers, &change);
    root_unref(before);
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
    bool keep_all = delta->refused && delta->refused->unknown;
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
}

/* Opens a resync of the handlers whose period is over (I-16). No request is sent and nothing is compared
 * (Q-10, I-17). */
static void process_resync(struct applier *applier, const struct delta *delta, const struct event_info *info)
{
    if (handler_list_pick_due(&applier->handlers, delta->tick_ms))
        cursor_open_resync(&applier->cursor, applier->store, info);
}

/* Applies the delta, and only this one: handlers are notified of exactly the state that the store has,
 * without later deltas (Q-15, better). */
static void dispatch(struct applier *applier, const struct delta *delta)
{
    const struct event_info info = {.initial = delta->initial,
                                    .warm = delta->stored,
                                    .coalesced = delta->coalesced,
                                    .received_us = delta->received_us};
    handler_list_begin_delta(&applier->handlers);
    switch (delta->type) {
    case DELTA_ADDED:
    case DELTA_UPDATED: process_put(applier, delta, &info); break;
    case DELTA_DELETED: process_delete(applier, delta, &info); break;
    case DELTA_REPLACED_ALL: process_replace(applier, delta, &info); break;
    case DELTA_SYNC_ALL: process_resync(applier, delta, &info); break;
    case DELTA_BOOKMARK: indexer_set_resource_version(applier->store, str_of(delta->resource_version)); break;
    }
}

static void begin_delta(struct applier *applier, struct delta *delta)
{
    const struct transform *transform = &applier->transform;
    if (delta->object) note_version(applier, delta);
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
