/* Records that are forgotten in the order of their use; see event_cache.h. */
#include "kube/event/event_cache.h"

#include <stdlib.h>
#include <uthash.h>

#include "base/mem.h"

struct entry {
    uint64_t key;
    UT_hash_handle hh;
    uint64_t record[];
};

struct event_cache {
    struct entry
        *entries; /* iterated in the order in which they were added: the first was used longest ago */
    size_t capacity, record_size;
};

struct event_cache *event_cache_new(size_t capacity, size_t record_size)
{
    struct event_cache *cache = NEW(struct event_cache);
    cache->capacity = capacity;
    cache->record_size = record_size;
    return cache;
}

void event_cache_free(struct event_cache *cache)
{
    struct entry *entry, *next;
    if (!cache) return;
    HASH_ITER (hh, cache->entries, entry, next) {
        HASH_DEL(cache->entries, entry);
        free(entry);
    }
    free(cache);
}

void *event_cache_use(struct event_cache *cache, uint64_t key)
{
    struct entry *entry;
    HASH_FIND(hh, cache->entries, &key, sizeof key, entry);
    if (entry) {
        HASH_DEL(cache->entries, entry);
    } else {
        struct entry *oldest = cache->entries;
        if (HASH_COUNT(cache->entries) == cache->capacity) {
            HASH_DEL(cache->entries, oldest);
            free(oldest);
        }
        entry = xcalloc(1, sizeof *entry + cache->record_size);
        entry->key = key;
    }
    HASH_ADD(hh, cache->entries, key, sizeof entry->key, entry);
    return entry->record;
}

size_t event_cache_count(const struct event_cache *cache)
{
    return HASH_COUNT(cache->entries);
}
