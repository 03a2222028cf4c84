/* Compression per key; see delta_list.h. A merged delta keeps the place of the first one, so the store always
 * has at least what its version says: the versions of merged deltas are delivered at the end only. */
#include "informer/reflect/delta_list.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/must.h"
#include "object/value/value.h"

struct key_slot {
    uint32_t hash, at; /* `at` is the index plus one; 0: free */
};

void delta_clear(struct delta *delta)
{
    root_unref(delta->object);
    for (size_t i = 0; i < delta->count; i++) root_unref(delta->objects[i]);
    free(delta->objects);
    free(delta->resource_version);
    free(delta->part);
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

/* Returns the slot of the object's key, or the free slot where it belongs. Keys are never removed while a
 * list compresses, so probing needs no tombstones. */
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
    /* A power of two, as slots are found by masking the hash; at most half of them are used (put_object). */
    run->key_cap = old_cap ? old_cap * 2 : 1024;
    run->keys = xcalloc(run->key_cap, sizeof *run->keys);
    for (size_t i = 0; i < old_cap; i++) {
        size_t to = old[i].hash & (run->key_cap - 1);
        if (old[i].at == 0) continue;
        /* All keys are different, so the first free slot fits; hashes are stored, and no object is read. */
        while (run->keys[to].at) to = (to + 1) & (run->key_cap - 1);
        run->keys[to] = old[i];
    }
    free(old);
}

/* --- two deltas become one */

/* Added+Updated = Added; Updated+Updated = Updated; Deleted+Added = Updated (Q-22 applies); all+Deleted =
 * Deleted. These deletes come from the watch, so none is a tombstone and the last state is kept. */
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
        /* A later bookmark must not take a place before this object: its version would be reached before the
         * object is stored. */
        run->key_count++;
        run->bookmark_at = 0;
        run->merged = NULL;
        *delta = (struct delta){0};
        return true;
    }
    struct delta *first = &run->deltas[slot->at - 1];
    struct root *replaced = first->object;
    /* A put and its delete cancel out for handlers that never knew the key; `born` lets the applier skip
     * them. */
    first->born = delta->type == DELTA_DELETED && (first->born || first->type != DELTA_DELETED);
    first->type = type_of_both(first->type, delta->type);
    first->object = run->merged = delta->object;
    /* Latency is measured from the newest bytes, as their state is what handlers receive. */
    first->received_us = delta->received_us;
    first->coalesced = true;
    *delta = (struct delta){.object = replaced};
    return false;
}

/* Returns its index plus one. */
static size_t append(struct delta_run *run, struct delta *delta)
{
    delta_run_append(run, delta);
    *delta = (struct delta){0};
    return run->count;
}

/* A bookmark may take the place of an older one only if no object came between. */
static bool put_bookmark(struct delta_run *run, struct delta *delta)
{
    run->merged = NULL;
    if (run->bookmark_at == 0) {
        run->bookmark_at = append(run, delta);
        return true;
    }
    struct delta *older = &run->deltas[run->bookmark_at - 1];
    /* Swapped, so that the caller releases the old version with the rest of `delta`. */
    char *version = older->resource_version;
    older->resource_version = delta->resource_version;
    delta->resource_version = version;
    return false;
}

/* Changes behind the list of a namespace must not be merged into those before it, so that keys begin
 * anew behind it. */
static bool put_part(struct delta_run *run, struct delta *delta)
{
    delta_run_finish(run);
    append(run, delta);
    grow_keys(run);
    return true;
}

bool delta_run_merge(struct delta_run *run, struct delta *delta)
{
    must(delta_run_compresses(run) && !delta_is_whole_list(delta));
    if (delta->part) return put_part(run, delta);
    if (is_of_object(delta)) return put_object(run, delta);
    if (delta->type == DELTA_BOOKMARK) return put_bookmark(run, delta);
    return !delta_run_join_resync(run, delta) && append(run, delta);
}

/* --- all deltas */

/* Marks the list as standing for the dropped deltas: it is initial if one of them was, or the cache would
 * never be synced. */
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
    /* A list replaces everything before it, so only what comes after the last list is compressed. */
    while (from > 0 && !delta_is_whole_list(&old.deltas[from - 1])) from--;
    *run = (struct delta_run){0};
    grow_keys(run);
    if (from > 0) { /* the last list is the first delta that stays */
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
    /* The newest object is stored at an older place; without this bookmark the store's version would stay
     * behind until the next event. */
    struct str version = run->merged ? root_resource_version(run->merged, &text) : (struct str){0};
    if (version.n)
        delta_run_append(
            run, &(struct delta){.type = DELTA_BOOKMARK, .resource_version = xstrndup(version.p, version.n)});
    forget_keys(run);
    return version.n > 0;
}
