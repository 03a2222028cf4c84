/* Shape table: lists of keys to numbers and back; see dict.h. */
#include <pthread.h>
#include <stdatomic.h>

#include "base/hash.h"
#include "base/mem.h"
#include "object/value/dict.h"

enum { CHUNK_KEYS = 4096, SLOT_CACHE = 1024 };

struct shape {
    const uint32_t *keys;
    uint32_t count;
};

static struct shape shapes[SHAPES_MAX]; /* written once, before the number is published */
static struct id_table table;
static _Atomic uint32_t count;
static struct admission admission = {.table = "shapes"};
static pthread_mutex_t inserting = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

struct chunk {
    struct chunk *older; /* so that all stay reachable */
    uint32_t keys[CHUNK_KEYS];
};

static struct chunk *chunks;
static size_t chunk_used;

static uint32_t lookup(const uint32_t *keys, size_t n, uint32_t hash)
{
    struct id_slots *slots = id_table_slots(&table);
    uint32_t at = hash, id;
    while ((id = id_slots_next(slots, hash, &at)) != ID_NONE) {
        if (shapes[id].count == n && memcmp(shapes[id].keys, keys, n * sizeof *keys) == 0) return id;
    }
    return SHAPE_NONE;
}

static uint32_t *keys_room(size_t n)
{
    if (!chunks || chunk_used + n > CHUNK_KEYS) {
        struct chunk *chunk = xmalloc(sizeof *chunk);
        chunk->older = chunks;
        chunks = chunk;
        chunk_used = 0;
    }
    chunk_used += n;
    return chunks->keys + chunk_used - n;
}

static bool has_duplicate(const uint32_t *keys, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            if (keys[i] == keys[j]) return true;
        }
    }
    return false;
}

static uint32_t insert_locked(const uint32_t *keys, size_t n, uint32_t hash)
{
    uint32_t id = lookup(keys, n, hash);
    if (id != SHAPE_NONE) return id;
    id = atomic_load_explicit(&count, memory_order_relaxed);
    if (id == SHAPES_MAX) return SHAPE_NONE;
    uint32_t *copy = keys_room(n);
    memcpy(copy, keys, n * sizeof *keys);
    shapes[id] = (struct shape){copy, (uint32_t)n};
    atomic_store_explicit(&count, id + 1, memory_order_release);
    id_table_insert(&table, hash, id);
    return id;
}

static void before_fork(void)
{
    pthread_mutex_lock(&inserting);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&inserting);
}

static void init(void)
{
    pthread_atfork(before_fork, after_fork, after_fork);
}

static uint32_t insert(const uint32_t *keys, size_t n, uint32_t hash)
{
    pthread_once(&once, init);
    pthread_mutex_lock(&inserting);
    uint32_t id = insert_locked(keys, n, hash);
    pthread_mutex_unlock(&inserting);
    return id;
}

uint32_t shape_intern(const uint32_t *keys, size_t n, const struct admission_kind *kind)
{
    if (n == 0 || n > SHAPE_KEYS_MAX) return SHAPE_NONE;
    uint32_t hash = (uint32_t)hash_bytes(keys, n * sizeof *keys);
    uint32_t id = lookup(keys, n, hash);
    if (id != SHAPE_NONE || has_duplicate(keys, n)) return id;
    if (!admission_allows(&admission, hash, kind, shape_count(), SHAPES_MAX)) return SHAPE_NONE;
    return insert(keys, n, hash);
}

bool shape_restore(uint32_t id, const uint32_t *keys, size_t n)
{
    if (n == 0 || n > SHAPE_KEYS_MAX || id > shape_count() || has_duplicate(keys, n)) return false;
    for (size_t i = 0; i < n; i++)
        if (keys[i] >= dict_count()) return false;
    return insert(keys, n, (uint32_t)hash_bytes(keys, n * sizeof *keys)) == id;
}

size_t shape_key_count(uint32_t shape)
{
    return shapes[shape].count;
}

const uint32_t *shape_keys(uint32_t shape)
{
    return shapes[shape].keys;
}

size_t shape_count(void)
{
    return atomic_load_explicit(&count, memory_order_acquire);
}

static int search(uint32_t shape, uint32_t key)
{
    const uint32_t *keys = shapes[shape].keys;
    for (uint32_t i = 0; i < shapes[shape].count; i++) {
        if (keys[i] == key) return (int)i;
    }
    return -1;
}

int shape_slot(uint32_t shape, uint32_t key)
{
    /* shape << 32 | key << 16 | slot + 2; never 0 */
    static _Thread_local uint64_t cache[SLOT_CACHE];
    uint64_t wanted = (uint64_t)shape << 32 | key << 16;
    uint64_t *entry = &cache[(shape * 31 + key) % SLOT_CACHE];
    if ((*entry & ~(uint64_t)0xffff) == wanted && *entry != 0) return (int)(*entry & 0xffff) - 2;
    int slot = search(shape, key);
    *entry = wanted | (uint64_t)(slot + 2);
    return slot;
}
