/* Cache of subtrees by their text; see text_cache.h. */
#include "object/pack/text_cache.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"

enum { SETS_MIN = 64 };

struct text_places text_places(const char *p, uint32_t anchor)
{
    uint32_t common = (uint32_t)hash_bytes(p, TEXT_CACHE_MIN);
    uint32_t special = (common ^ anchor) * 0x9e3779b1u;
    special = (special ^ special >> 15) * 0x85ebca6bu;
    return (struct text_places){common | 1, (special ^ special >> 13) | 1};
}

static uint32_t first_of(const struct text_cache *cache, uint32_t place)
{
    return (place >> 1 & cache->mask) * TEXT_CACHE_WAYS;
}

/* Text that is searched for. Its hash is computed for each length of an entry: texts that begin alike are
 * often equally long. */
struct wanted_text {
    const char *p;
    size_t rest;
    uint32_t length; /* that `hash` is of */
    uint64_t hash;
};

static bool is_text_of(struct wanted_text *wanted, const struct text_entry *entry)
{
    uint32_t length = entry->length;
    char close = *wanted->p == '{' ? '}' : ']';
    /* One byte rejects most entries without hashing. */
    if (length > wanted->rest || wanted->p[length - 1] != close) return false;
    if (length != wanted->length) wanted->hash = hash_bytes(wanted->p, length);
    wanted->length = length;
    return wanted->hash == ((uint64_t)entry->hash[1] << 32 | entry->hash[0]);
}

static const struct text_entry *find_in(const struct text_cache *cache, uint32_t place,
                                        struct wanted_text *wanted)
{
    uint32_t first = first_of(cache, place);
    for (uint32_t i = first; i < first + TEXT_CACHE_WAYS; i++) {
        if (cache->place[i] == place && is_text_of(wanted, &cache->entry[i])) return &cache->entry[i];
    }
    return NULL;
}

const struct text_entry *text_cache_find(const struct text_cache *cache, struct text_places places,
                                         const char *p, size_t rest)
{
    if (cache->count == 0) return NULL;
    struct wanted_text wanted = {.p = p, .rest = rest};
    const struct text_entry *entry = find_in(cache, places.common, &wanted);
    return entry ? entry : find_in(cache, places.special, &wanted);
}

/* Returns a hash of a node. Granules are multiples, so the low bits, which select the slot, must depend on
 * all bits. */
static uint32_t node_hash(uint32_t granule)
{
    uint32_t hash = granule * 0x9e3779b1u;
    return hash ^ hash >> 15;
}

/* Returns the number of the node's entry plus one; 0 if it has none. */
static uint32_t find_by_node(const struct text_cache *cache, uint32_t granule)
{
    uint32_t hash = node_hash(granule), at = hash;
    return granule_table_next(&cache->by_node, hash, &at);
}

static void empty(struct text_cache *cache, uint32_t number)
{
    granule_table_remove(&cache->by_node, node_hash(cache->entry[number].granule), number + 1);
    cache->place[number] = 0;
    cache->count--;
}

static void put(struct text_cache *cache, uint32_t number, uint32_t place, const struct text_entry *entry)
{
    cache->place[number] = place;
    cache->entry[number] = *entry;
    granule_table_insert(&cache->by_node, node_hash(entry->granule), number + 1);
    cache->count++;
}

/* Returns a vacant entry of a set; UINT32_MAX if all are taken. */
static uint32_t vacant_in(const struct text_cache *cache, uint32_t place)
{
    uint32_t first = first_of(cache, place);
    for (uint32_t i = first; i < first + TEXT_CACHE_WAYS; i++) {
        if (cache->place[i] == 0) return i;
    }
    return UINT32_MAX;
}

static size_t entries_of(const struct text_cache *cache)
{
    return cache->entry ? ((size_t)cache->mask + 1) * TEXT_CACHE_WAYS : 0;
}

/* Changes the number of sets. With more all entries fit, as each new set has entries of one old set; with
 * fewer some may be dropped. */
static void resize(struct text_cache *cache, uint32_t sets)
{
    struct text_cache old = *cache;
    *cache = (struct text_cache){
        .place = xcalloc((size_t)sets * TEXT_CACHE_WAYS, sizeof *cache->place),
        .entry = xcalloc((size_t)sets * TEXT_CACHE_WAYS, sizeof *cache->entry),
        .mask = sets - 1,
    };
    for (size_t i = 0; i < entries_of(&old); i++) {
        uint32_t number = old.place[i] ? vacant_in(cache, old.place[i]) : UINT32_MAX;
        if (number != UINT32_MAX) put(cache, number, old.place[i], &old.entry[i]);
    }
    text_cache_clear(&old);
}

/* Chooses the place of a new entry: among texts that begin alike, or among those of its object. If all ways
 * there are taken, one chosen by its hash is replaced: without a clock or a list, and not always the same. A
 * text that is known of another object is common: it never gets an entry for each of them. */
static uint32_t choose(const struct text_cache *cache, struct text_places places,
                       const struct text_entry *entry, uint32_t *place)
{
    *place = places.common;
    uint32_t number = vacant_in(cache, *place);
    if (number == UINT32_MAX && !find_by_node(cache, entry->granule)) {
        *place = places.special;
        number = vacant_in(cache, *place);
    }
    return number != UINT32_MAX ? number : first_of(cache, *place) + entry->hash[0] % TEXT_CACHE_WAYS;
}

void text_cache_expect(const struct text_cache *cache, struct text_places places, uint32_t granule)
{
    if (!cache->entry) return;
    __builtin_prefetch(&cache->entry[first_of(cache, places.common)], 1);
    __builtin_prefetch(&cache->entry[first_of(cache, places.special)], 1);
    if (cache->by_node.slot)
        __builtin_prefetch(&cache->by_node.slot[node_hash(granule) & cache->by_node.mask], 1);
}

/* Returns whether the table is full, and most texts of late had to be walked although their nodes were there.
 */
static bool is_too_small(struct text_cache *cache, bool fresh)
{
    cache->missed += !fresh;
    if (++cache->inserted < entries_of(cache) / 4) return false;
    bool is = cache->missed > cache->inserted / 2 && cache->count > entries_of(cache) / 4 * 3;
    cache->inserted = cache->missed = 0;
    return is;
}

static void grow(struct text_cache *cache, bool fresh, size_t bytes_max)
{
    size_t sets = (size_t)cache->mask + 1, entries = sets * TEXT_CACHE_WAYS;
    bool grows = sets < TEXT_CACHE_SETS ? cache->count * 2 >= entries
                                        : is_too_small(cache, fresh) && sets < TEXT_CACHE_SETS_MAX &&
                                              entries * 2 * TEXT_CACHE_ENTRY <= bytes_max;
    if (grows) resize(cache, (uint32_t)sets * 2);
}

void text_cache_insert(struct text_cache *cache, struct text_places places, const char *p,
                       const struct text_entry *entry, bool fresh, size_t bytes_max)
{
    if (!cache->entry)
        resize(cache, SETS_MIN);
    else
        grow(cache, fresh, bytes_max);
    struct text_entry own = *entry;
    uint32_t place;
    uint64_t hash = hash_bytes(p, own.length);
    own.hash[0] = (uint32_t)hash;
    own.hash[1] = (uint32_t)(hash >> 32);
    uint32_t number = choose(cache, places, &own, &place);
    if (cache->place[number]) empty(cache, number);
    put(cache, number, place, &own);
}

void text_cache_trim(struct text_cache *cache)
{
    if (cache->entry && cache->mask + 1 > TEXT_CACHE_SETS) resize(cache, TEXT_CACHE_SETS);
}

void text_cache_forget(struct text_cache *cache, uint32_t granule)
{
    for (uint32_t found; (found = find_by_node(cache, granule)) != 0;) empty(cache, found - 1);
    if (cache->count == 0) text_cache_clear(cache);
    if (cache->count * 8 < entries_of(cache) && cache->mask + 1 > SETS_MIN)
        resize(cache, (cache->mask + 1) / 2);
}

size_t text_cache_bytes(const struct text_cache *cache)
{
    return entries_of(cache) * (sizeof *cache->entry + sizeof *cache->place) +
           granule_table_bytes(&cache->by_node);
}

void text_cache_clear(struct text_cache *cache)
{
    free(cache->place);
    free(cache->entry);
    granule_table_clear(&cache->by_node);
    *cache = (struct text_cache){0};
}
