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

/* Objects are released in the order of no memory: each is fetched while others are. */
enum { RELEASE_AHEAD = 8 };

/* --- the slots */

static void resize(struct script *script, uint32_t cap)
{
    struct retained *retained = &script->retained;
    ptrdiff_t more = ((ptrdiff_t)cap - (ptrdiff_t)retained->cap) * (ptrdiff_t)sizeof *retained->slots;
    retained->slots = xrealloc(retained->slots, cap * sizeof *retained->slots);
    retained->cap = cap;
    memory_note(script, more);
}

static uint32_t new_slot(struct script *script)
{
    struct retained *retained = &script->retained;
    uint32_t slot = retained->empty;
    if (slot < retained->used) {
        retained->empty = retained->slots[slot].next;
        return slot;
    }
    must(retained->used < UINT32_MAX / 4);
    if (retained->used == retained->cap) resize(script, retained->cap ? retained->cap * 2 : SLOTS_MIN);
    retained->empty = ++retained->used;
    return slot;
}

void retained_add(struct script *script, struct root *root)
{
    struct retained *retained = &script->retained;
    retained->last = new_slot(script);
    retained->slots[retained->last] = (struct retained_object){.root = root_ref(root)};
    retained->count++;
}

void retained_remove(struct script *script, uint32_t slot)
{
    struct retained *retained = &script->retained;
    root_unref(retained->slots[slot].root);
    retained->slots[slot] = (struct retained_object){.next = retained->empty};
    retained->empty = slot;
    retained->count--;
}

/* Gives back the memory behind the last object, and puts the empty slots in order: the first ones are used
 * first. */
static void tidy(struct script *script)
{
    struct retained *retained = &script->retained;
    uint32_t used = retained->used;
    while (used > 0 && !retained->slots[used - 1].root) used--;
    retained->used = retained->empty = used;
    for (uint32_t i = used; i-- > 0;) {
        if (retained->slots[i].root) continue;
        retained->slots[i].next = retained->empty;
        retained->empty = i;
    }
    if (retained->last >= used) retained->last = 0;
    uint32_t cap = retained->cap;
    while (cap > SLOTS_MIN && used < cap / 32) cap /= 4;
    if (cap != retained->cap) resize(script, cap);
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

bool retained_release(struct script *script, uint32_t most)
{
    struct retained *retained = &script->retained;
    for (; most > 0 && retained->used > 0; most--) {
        if (retained->used > RELEASE_AHEAD)
            root_prefetch(retained->slots[retained->used - RELEASE_AHEAD - 1].root);
        struct root *root = retained->slots[--retained->used].root;
        if (!root) continue;
        root_unref(root);
        retained->count--;
    }
    return retained->used == 0;
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

static int by_address(const void *a, const void *b)
{
    uintptr_t one = (uintptr_t) * (struct root *const *)a, other = (uintptr_t) * (struct root *const *)b;
    return one < other ? -1 : one > other;
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

/* Some of the objects of many views, chosen by their addresses, so that one of a thousand views counts once:
 * all whose hash has zeros where `mask` has ones. It gets a bit more whenever they are too many. */
enum { SOME = 4096, SOME_SLOTS = 2 * SOME };
struct some {
    const struct root *objects[SOME_SLOTS]; /* each at its hash or behind */
    uint32_t count, mask;
};

static uint32_t hash_of(const struct root *object)
{
    return (uint32_t)(((uintptr_t)object >> 4) * 0x9e3779b97f4a7c15ull >> 32);
}

static void some_add(struct some *some, const struct root *object)
{
    uint32_t hash = hash_of(object), i = hash >> 16;
    if (hash & some->mask) return;
    while (some->objects[i % SOME_SLOTS] && some->objects[i % SOME_SLOTS] != object) i++;
    some->count += !some->objects[i % SOME_SLOTS];
    some->objects[i % SOME_SLOTS] = object;
}

static void some_halve(struct some *some)
{
    struct some all = *some;
    *some = (struct some){.mask = all.mask << 1 | 1};
    for (size_t i = 0; i < SOME_SLOTS; i++)
        if (all.objects[i]) some_add(some, all.objects[i]);
}

/* Of a prompt's views, some: others would wait for a look at each. */
static size_t bytes_of_some(const struct script *script)
{
    const struct retained *retained = &script->retained;
    struct some *some = xcalloc(1, sizeof *some);
    size_t bytes = 0;
    for (uint32_t i = 0; i < retained->used; i++) {
        if (retained->slots[i].root) some_add(some, retained->slots[i].root);
        while (some->count > SOME) some_halve(some);
    }
    for (size_t i = 0; i < SOME_SLOTS; i++)
        if (some->objects[i]) bytes += bytes_of(script, some->objects[i]);
    bytes *= (size_t)some->mask + 1;
    free(some);
    return bytes;
}

/* Each object of the slots counts once. */
static size_t bytes_of_slots(const struct script *script)
{
    const struct retained *retained = &script->retained;
    struct root **departed = xcalloc((size_t)retained->count + 1, sizeof *departed);
    size_t count = 0, bytes = 0;
    for (uint32_t i = 0; i < retained->used; i++) {
        struct root *root = retained->slots[i].root;
        if (root && !is_cached(script, root)) departed[count++] = root;
    }
    qsort(departed, count, sizeof *departed, by_address);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || departed[i] != departed[i - 1]) bytes += size_of(departed[i]);
    free(departed);
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

void retained_recount(struct script *script, bool exactly)
{
    struct retained *retained = &script->retained;
    size_t bytes, counted = retained->count;
    tidy(script);
    bytes = exactly ? bytes_of_slots(script) : bytes_of_some(script);
    bytes += bytes_of_many(script, &counted);
    script->memory += bytes - retained->bytes;
    retained->bytes = bytes;
    retained->counted = counted;
    retained->departed = indexer_departed();
    retained->fetched = (struct departed){0};
}
