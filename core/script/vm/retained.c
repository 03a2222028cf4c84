/* Objects that scripts keep alive; see retained.h. */
#include "script/vm/retained.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"
#include "script/vm/memory.h"
#include "script/vm/state.h"

enum { SLOTS_MIN = 64 };

/* A look takes about 100 ns for each object, most of which are garbage that Lua has not collected: so it
 * comes after as many departures or answers of the server, and when those could be a quarter of the script's
 * memory. */
enum { DEPARTED_MIN = 16 };
/* Of a large list or snapshot so many are looked at, and stand for the others; of all together not many more
 * than the second. */
enum { SAMPLE_OF_ONE = 1024, SAMPLE = 32768 };

/* --- the table */

static size_t home_of(const struct held *held, const struct root *root)
{
    return ((uint64_t)(uintptr_t)root * 0x9e3779b97f4a7c15u >> 32) & (held->cap - 1);
}

/* The slot of the object, or the empty one where it belongs. */
static size_t slot_of(const struct held *held, const struct root *root)
{
    size_t at = home_of(held, root);
    while (held->slots[at].root && held->slots[at].root != root) at = (at + 1) & (held->cap - 1);
    return at;
}

static void resize(struct script *script, size_t cap)
{
    struct held *held = &script->held, old = *held;
    held->slots = xcalloc(cap, sizeof *held->slots);
    held->cap = cap;
    for (size_t i = 0; i < old.cap; i++)
        if (old.slots[i].root) held->slots[slot_of(held, old.slots[i].root)] = old.slots[i];
    free(old.slots);
    held->last = 0;
    memory_note(script, ((ptrdiff_t)cap - (ptrdiff_t)old.cap) * (ptrdiff_t)sizeof *held->slots);
}

void retained_add(struct script *script, struct root *root)
{
    struct held *held = &script->held;
    if (held->count >= held->cap / 2) resize(script, held->cap ? held->cap * 4 : SLOTS_MIN);
    held->last = slot_of(held, root);
    struct retained_object *object = &held->slots[held->last];
    if (object->views++ > 0) return;
    object->root = root_ref(root);
    held->count++;
}

void retained_find(struct held *held, const struct root *root)
{
    held->last = slot_of(held, root);
    must(held->slots[held->last].root == root);
}

/* Moves up those that would no longer be found across an empty slot. */
static void empty(struct held *held, size_t free_at)
{
    size_t mask = held->cap - 1;
    for (size_t at = (free_at + 1) & mask; held->slots[at].root; at = (at + 1) & mask) {
        size_t home = home_of(held, held->slots[at].root);
        if (((at - home) & mask) < ((at - free_at) & mask)) continue;
        held->slots[free_at] = held->slots[at];
        free_at = at;
    }
    held->slots[free_at] = (struct retained_object){0};
}

void retained_remove_last(struct script *script)
{
    struct held *held = &script->held;
    root_unref(held->slots[held->last].root);
    empty(held, held->last);
    held->count--;
}

void retained_add_set(struct script *script, struct retained_set *many)
{
    if (many->count > 0) LIST_INSERT_HEAD(&script->held.many, many, link);
}

void retained_remove_set(struct retained_set *many)
{
    if (many->count > 0) LIST_REMOVE(many, link);
    many->count = 0;
}

void retained_clear(struct script *script)
{
    struct held *held = &script->held;
    must(held->count == 0);
    script->memory -= held->bytes + held->cap * sizeof *held->slots;
    free(held->slots);
    *held = (struct held){0};
}

/* --- what no cache has */

static size_t size_of(const struct root *object)
{
    return pool_share(root_pool(object), root_bytes(object));
}

void retained_add_fetched(struct script *script, const struct root *object)
{
    script->held.fetched.count++;
    script->held.fetched.bytes += size_of(object);
}

bool retained_is_due(const struct script *script)
{
    const struct held *held = &script->held;
    struct departed now = indexer_departed();
    uint64_t count = now.count - held->departed.count + held->fetched.count;
    uint64_t bytes = now.bytes - held->departed.bytes + held->fetched.bytes;
    return count >= DEPARTED_MIN && count >= held->looked_at && bytes >= script->heap.limit / 4;
}

static bool is_cached(const struct script *script, const struct root *object)
{
    for (size_t i = 0; i < script->informers.count; i++) {
        const struct indexer *cache = claim_indexer(script->informers.claims[i]);
        if (cache && indexer_get_like(cache, object) == object) return true;
    }
    return false;
}

/* 0: a cache has it. */
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

/* Adds to `looked` how many objects it looked at. */
static size_t bytes_of_many(const struct script *script, size_t *looked)
{
    const struct retained_set *many;
    size_t count = 0, bytes = 0;
    LIST_FOREACH (many, &script->held.many, link) count++;
    size_t sample = count > SAMPLE / SAMPLE_OF_ONE ? SAMPLE / count + 1 : SAMPLE_OF_ONE;
    LIST_FOREACH (many, &script->held.many, link) {
        size_t step = many->count / sample + 1;
        bytes += bytes_of_one(script, many, step);
        *looked += many->count / step;
    }
    return bytes;
}

void retained_recount(struct script *script)
{
    struct held *held = &script->held;
    size_t bytes = 0, looked = held->count;
    if (held->cap > SLOTS_MIN && held->count < held->cap / 32) resize(script, held->cap / 4);
    for (size_t i = 0; i < held->cap; i++)
        if (held->slots[i].root) bytes += bytes_of(script, held->slots[i].root);
    bytes += bytes_of_many(script, &looked);
    script->memory += bytes - held->bytes;
    held->bytes = bytes;
    held->looked_at = looked;
    held->departed = indexer_departed();
    held->fetched = (struct departed){0};
}
