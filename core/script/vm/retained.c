/* Objects that scripts keep alive; see retained.h. */
#include "script/vm/retained.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"
#include "script/vm/memory.h"
#include "script/vm/state.h"

enum { SLOTS_MIN = 64 };

/* A recount takes about 100 ns for each object, most of which are garbage that Lua has not collected. So it
 * runs after as many departures from caches or responses of the server as there are objects, and only if
 * those could be a quarter of the script's memory. */
enum { DEPARTED_MIN = 16 };
/* Number of objects counted of a large list or snapshot, as a sample of the rest; and of all of them
 * together, roughly. */
enum { SAMPLE_OF_ONE = 1024, SAMPLE = 32768 };

/* --- the table */

static size_t home_of(const struct retained *retained, const struct root *root)
{
    return ((uint64_t)(uintptr_t)root * 0x9e3779b97f4a7c15u >> 32) & (retained->cap - 1);
}

/* Returns the slot of the object, or the empty one where it belongs. */
static size_t slot_of(const struct retained *retained, const struct root *root)
{
    size_t at = home_of(retained, root);
    while (retained->slots[at].root && retained->slots[at].root != root) at = (at + 1) & (retained->cap - 1);
    return at;
}

static void resize(struct script *script, size_t cap)
{
    struct retained *retained = &script->retained, old = *retained;
    retained->slots = xcalloc(cap, sizeof *retained->slots);
    retained->cap = cap;
    for (size_t i = 0; i < old.cap; i++)
        if (old.slots[i].root) retained->slots[slot_of(retained, old.slots[i].root)] = old.slots[i];
    free(old.slots);
    retained->last = 0;
    memory_note(script, ((ptrdiff_t)cap - (ptrdiff_t)old.cap) * (ptrdiff_t)sizeof *retained->slots);
}

void retained_add(struct script *script, struct root *root)
{
    struct retained *retained = &script->retained;
    /* Growing by four, and shrinking in retained_recount at a 32nd only, keeps a loop over many objects from
     * resizing again and again. */
    if (retained->count >= retained->cap / 2) resize(script, retained->cap ? retained->cap * 4 : SLOTS_MIN);
    retained->last = slot_of(retained, root);
    struct retained_object *object = &retained->slots[retained->last];
    if (object->views++ > 0) return;
    object->root = root_ref(root);
    retained->count++;
}

void retained_find(struct retained *retained, const struct root *root)
{
    retained->last = slot_of(retained, root);
    must(retained->slots[retained->last].root == root);
}

/* Removes the slot without a tombstone: moves up entries that would no longer be found across an empty
 * slot. */
static void empty(struct retained *retained, size_t free_at)
{
    size_t mask = retained->cap - 1;
    for (size_t at = (free_at + 1) & mask; retained->slots[at].root; at = (at + 1) & mask) {
        size_t home = home_of(retained, retained->slots[at].root);
        if (((at - home) & mask) < ((at - free_at) & mask)) continue;
        retained->slots[free_at] = retained->slots[at];
        free_at = at;
    }
    retained->slots[free_at] = (struct retained_object){0};
}

void retained_remove_last(struct script *script)
{
    struct retained *retained = &script->retained;
    root_unref(retained->slots[retained->last].root);
    empty(retained, retained->last);
    retained->count--;
}

void retained_add_set(struct script *script, struct retained_set *many)
{
    if (many->count > 0) LIST_INSERT_HEAD(&script->retained.many, many, link);
}

void retained_remove_set(struct retained_set *many)
{
    if (many->count > 0) LIST_REMOVE(many, link);
    many->count = 0;
}

void retained_clear(struct script *script)
{
    struct retained *retained = &script->retained;
    must(retained->count == 0);
    script->memory -= retained->bytes + retained->cap * sizeof *retained->slots;
    free(retained->slots);
    *retained = (struct retained){0};
}

/* --- objects in no cache */

/* Objects of a pool share their strings: each counts with its share. */
static size_t size_of(const struct root *object)
{
    return pool_share(root_pool(object), root_bytes(object));
}

void retained_add_fetched(struct script *script, const struct root *object)
{
    script->retained.fetched.count++;
    script->retained.fetched.bytes += size_of(object);
}

size_t retained_cached_count(const struct script *script)
{
    size_t count = 0;
    for (size_t i = 0; i < script->informers.count; i++) {
        const struct indexer *cache = claim_indexer(script->informers.claims[i]);
        if (cache) count += indexer_count(cache);
    }
    return count;
}

bool retained_is_due(const struct script *script)
{
    const struct retained *retained = &script->retained;
    struct departed now = indexer_departed();
    uint64_t count = now.count - retained->departed.count + retained->fetched.count;
    uint64_t bytes = now.bytes - retained->departed.bytes + retained->fetched.bytes;
    return count >= DEPARTED_MIN && count >= retained->counted && bytes >= script->heap.limit / 4;
}

static bool is_cached(const struct script *script, const struct root *object)
{
    for (size_t i = 0; i < script->informers.count; i++) {
        const struct indexer *cache = claim_indexer(script->informers.claims[i]);
        if (cache && indexer_get_like(cache, object) == object) return true;
    }
    return false;
}

/* Returns 0 if a cache has the object: it would exist without the script. */
static size_t bytes_of(const struct script *script, const struct root *object)
{
    return is_cached(script, object) ? 0 : size_of(object);
}

static size_t bytes_of_one(const struct script *script, const struct retained_set *many, size_t step)
{
    size_t bytes = 0;
    for (size_t i = 0; i < many->count; i += step) {
        const struct root *object = many->at(many, i);
        if (object) bytes += bytes_of(script, object) * step;
    }
    return bytes;
}

/* Adds the number of objects counted to `looked`. */
static size_t bytes_of_many(const struct script *script, size_t *counted)
{
    const struct retained_set *many;
    size_t count = 0, bytes = 0;
    LIST_FOREACH (many, &script->retained.many, link) count++;
    size_t sample = count > SAMPLE / SAMPLE_OF_ONE ? SAMPLE / count + 1 : SAMPLE_OF_ONE;
    LIST_FOREACH (many, &script->retained.many, link) {
        size_t step = many->count / sample + 1;
        bytes += bytes_of_one(script, many, step);
        *counted += many->count / step;
    }
    return bytes;
}

void retained_recount(struct script *script)
{
    struct retained *retained = &script->retained;
    size_t bytes = 0, counted = retained->count;
    if (retained->cap > SLOTS_MIN && retained->count < retained->cap / 32) resize(script, retained->cap / 4);
    for (size_t i = 0; i < retained->cap; i++)
        if (retained->slots[i].root) bytes += bytes_of(script, retained->slots[i].root);
    bytes += bytes_of_many(script, &counted);
    script->memory += bytes - retained->bytes;
    retained->bytes = bytes;
    retained->counted = counted;
    retained->departed = indexer_departed();
    retained->fetched = (struct departed){0};
}
