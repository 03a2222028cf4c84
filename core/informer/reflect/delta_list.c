/* Compression per key; see delta_list.h. A delta that another goes into keeps its place, so that the store
 * has at any time at least what its version says: the versions of what was merged are told at the end only.
 */
#include "informer/reflect/delta_list.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/must.h"
#include "object/value/value.h"

struct key_slot {
    uint32_t hash, at; /* place plus one; 0: free */
};

void delta_clear(struct delta *delta)
{
    root_unref(delta->object);
    for (size_t i = 0; i < delta->count; i++) root_unref(delta->objects[i]);
    free(delta->objects);
    free(delta->resource_version);
    refused_free(delta->refused);
    *delta = (struct delta){0};
}

void delta_run_append(struct delta_run *run, const struct delta *delta)
{
    array_reserve(run->deltas, run->count, run->cap);
    run->listed += delta->count;
    run->deltas[run->count++] = *delta;
    if (delta->type == DELTA_SYNC_ALL) run->sync_at = run->count;
}

bool delta_run_join_resync(struct delta_run *run, const struct delta *delta)
{
    if (run->sync_at == 0) return false;
    run->deltas[run->sync_at - 1].tick_ms = delta->tick_ms;
    return true;
}

static void forget_keys(struct delta_run *run)
{
    free(run->keys);
    run->keys = NULL;
    run->key_count = run->key_cap = run->sync_at = run->bookmark_at = 0;
    run->merged = NULL;
}

void delta_run_clear(struct delta_run *run, size_t from)
{
    for (size_t i = from; i < run->count; i++) delta_clear(&run->deltas[i]);
    free(run->deltas);
    forget_keys(run);
    *run = (struct delta_run){0};
}

/* --- which delta has a key */

static bool is_of_object(const struct delta *delta)
{
    return delta->type == DELTA_ADDED || delta->type == DELTA_UPDATED || delta->type == DELTA_DELETED;
}

/* The slot of the object's key, or the free one where it belongs. */
static struct key_slot *find_slot(const struct delta_run *run, const struct root *object)
{
    uint32_t hash = root_key_hash(object);
    size_t i = hash & (run->key_cap - 1);
    for (;; i = (i + 1) & (run->key_cap - 1)) {
        struct key_slot *slot = &run->keys[i];
        if (slot->at == 0) return slot;
        if (slot->hash == hash && root_key_equal(run->deltas[slot->at - 1].object, object)) return slot;
    }
}

static void grow_keys(struct delta_run *run)
{
    struct key_slot *old = run->keys;
    size_t old_cap = run->key_cap;
    run->key_cap = old_cap ? old_cap * 2 : 1024;
    run->keys = xcalloc(run->key_cap, sizeof *run->keys);
    for (size_t i = 0; i < old_cap; i++) {
        size_t to = old[i].hash & (run->key_cap - 1);
        if (old[i].at == 0) continue;
        while (run->keys[to].at) to = (to + 1) & (run->key_cap - 1);
        run->keys[to] = old[i];
    }
    free(old);
}

/* --- two deltas become one */

/* Added+Updated = Added; Updated+Updated = Updated; Deleted+Added = Updated (Q-22 applies); all+Deleted =
 * Deleted. None of these deletes is a tombstone, so that the last one is kept. */
static enum delta_type type_of_both(enum delta_type first, enum delta_type second)
{
    if (second == DELTA_DELETED) return DELTA_DELETED;
    return first == DELTA_ADDED ? DELTA_ADDED : DELTA_UPDATED;
}

static bool put_object(struct delta_run *run, struct delta *delta)
{
    if (2 * run->key_count >= run->key_cap) grow_keys(run);
    struct key_slot *slot = find_slot(run, delta->object);
    if (slot->at == 0) {
        delta_run_append(run, delta);
        *slot = (struct key_slot){root_key_hash(delta->object), (uint32_t)run->count};
        /* A later bookmark may not take a place before this object. */
        run->key_count++;
        run->bookmark_at = 0;
        run->merged = NULL;
        *delta = (struct delta){0};
        return true;
    }
    struct delta *first = &run->deltas[slot->at - 1];
    struct root *replaced = first->object;
    /* A delete that swallows a put is no news to handlers that do not know the key. */
    first->born = delta->type == DELTA_DELETED && (first->born || first->type != DELTA_DELETED);
    first->type = type_of_both(first->type, delta->type);
    first->object = run->merged = delta->object;
    first->received_us = delta->received_us;
    first->coalesced = true;
    *delta = (struct delta){.object = replaced};
    return false;
}

/* Gives its place, plus one. */
static size_t append(struct delta_run *run, struct delta *delta)
{
    delta_run_append(run, delta);
    *delta = (struct delta){0};
    return run->count;
}

/* A bookmark may replace an older one only when no object came between. */
static bool put_bookmark(struct delta_run *run, struct delta *delta)
{
    run->merged = NULL;
    if (run->bookmark_at == 0) {
        run->bookmark_at = append(run, delta);
        return true;
    }
    struct delta *older = &run->deltas[run->bookmark_at - 1];
    char *version = older->resource_version;
    older->resource_version = delta->resource_version;
    delta->resource_version = version;
    return false;
}

bool delta_run_merge(struct delta_run *run, struct delta *delta)
{
    must(delta_run_compresses(run) && delta->type != DELTA_REPLACED_ALL);
    if (is_of_object(delta)) return put_object(run, delta);
    if (delta->type == DELTA_BOOKMARK) return put_bookmark(run, delta);
    return !delta_run_join_resync(run, delta) && append(run, delta);
}

/* --- the whole run */

/* Makes the list stand for the dropped deltas from now on. */
static void inherit(struct delta *list, const struct delta *dropped, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        list->initial |= dropped[i].initial;
        list->coalesced |= is_of_object(&dropped[i]) || dropped[i].type == DELTA_REPLACED_ALL;
    }
}

struct delta_run delta_run_replace(struct delta_run *run, struct delta *list)
{
    inherit(list, run->deltas, run->count);
    forget_keys(run);
    struct delta_run dropped = *run;
    *run = (struct delta_run){0};
    return dropped;
}

struct delta_run delta_run_compress(struct delta_run *run)
{
    struct delta_run old = *run, dropped = {0};
    size_t from = old.count;
    while (from > 0 && old.deltas[from - 1].type != DELTA_REPLACED_ALL) from--;
    *run = (struct delta_run){0};
    grow_keys(run);
    if (from > 0) { /* the list itself is the first that stays */
        from--;
        inherit(&old.deltas[from], old.deltas, from);
        delta_run_append(run, &old.deltas[from]);
    }
    for (size_t i = 0; i < from; i++) delta_run_append(&dropped, &old.deltas[i]);
    for (size_t i = from + run->count; i < old.count; i++)
        if (!delta_run_merge(run, &old.deltas[i])) delta_run_append(&dropped, &old.deltas[i]);
    free(old.deltas);
    return dropped;
}

bool delta_run_finish(struct delta_run *run)
{
    struct text text;
    struct str version = run->merged ? root_resource_version(run->merged, &text) : (struct str){0};
    if (version.n)
        delta_run_append(
            run, &(struct delta){.type = DELTA_BOOKMARK, .resource_version = xstrndup(version.p, version.n)});
    forget_keys(run);
    return version.n > 0;
}
