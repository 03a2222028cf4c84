/* Key dictionary: string to number and back; see dict.h. */
#include "object/value/dict.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/hash.h"
#include "base/mem.h"

enum { CHUNK_BYTES = 16 << 10 };

struct dict_key dict_keys[DICT_KEYS_MAX]; /* each written once, before its number is published */
static struct id_table keys;
static _Atomic uint32_t count;
static struct admission admission = {.table = "keys"};
static pthread_mutex_t inserting = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static struct {
    char *at;
    size_t left;
    void *chunks; /* newest first, each beginning with the address of the one before: all stay reachable */
} texts;

static uint32_t lookup(struct str key, uint32_t hash)
{
    struct id_slots *slots = id_table_slots(&keys);
    uint32_t at = hash, id;
    while ((id = id_slots_next(slots, hash, &at)) != ID_NONE) {
        if (dict_keys[id].length == key.n && memcmp(dict_keys[id].text, key.p, key.n) == 0) return id;
    }
    return DICT_NONE;
}

static char *text_room(size_t size)
{
    if (size > texts.left) {
        void **chunk = xmalloc(CHUNK_BYTES);
        *chunk = texts.chunks;
        texts.chunks = chunk;
        texts.at = (char *)(chunk + 1);
        texts.left = CHUNK_BYTES - sizeof *chunk;
    }
    char *room = texts.at;
    texts.at += size;
    texts.left -= size;
    return room;
}

static uint32_t insert_locked(struct str key, uint32_t hash)
{
    uint32_t id = lookup(key, hash);
    if (id != DICT_NONE) return id;
    id = atomic_load_explicit(&count, memory_order_relaxed);
    if (id == DICT_KEYS_MAX) return DICT_NONE;
    char *text = text_room(key.n);
    memcpy(text, key.p, key.n);
    /* Written before the number is published with release, so that a reader that finds the number finds the
     * key. */
    dict_keys[id] = (struct dict_key){text, (uint32_t)key.n};
    atomic_store_explicit(&count, id + 1, memory_order_release);
    id_table_insert(&keys, hash, id);
    return id;
}

static uint32_t insert(struct str key, uint32_t hash)
{
    pthread_mutex_lock(&inserting);
    uint32_t id = insert_locked(key, hash);
    pthread_mutex_unlock(&inserting);
    return id;
}

/* Takes the lock around a fork: a child must not inherit a mutex that another thread held. */
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
    static const char *const well_known[] = {
        [KEY_API_VERSION] = "apiVersion",
        [KEY_KIND] = "kind",
        [KEY_MANAGER] = "manager",
        [KEY_SUBRESOURCE] = "subresource",
        [KEY_SCHEDULER_NAME] = "schedulerName",
        [KEY_TYPE] = "type",
        [KEY_METADATA] = "metadata",
        [KEY_NAME] = "name",
        [KEY_NAMESPACE] = "namespace",
        [KEY_UID] = "uid",
        [KEY_RESOURCE_VERSION] = "resourceVersion",
        [KEY_LABELS] = "labels",
        [KEY_ANNOTATIONS] = "annotations",
    };
    pthread_atfork(before_fork, after_fork, after_fork);
    for (size_t i = 0; i < ARRAY_LEN(well_known); i++) {
        struct str key = str_of(well_known[i]);
        insert(key, (uint32_t)hash_str(key));
    }
}

void dict_init(void)
{
    pthread_once(&once, init);
}

uint32_t dict_find(struct str key)
{
    if (key.n > DICT_KEY_LENGTH_MAX) return DICT_NONE;
    return lookup(key, (uint32_t)hash_str(key));
}

/* Returns whether a key may get a number. Keys of managedFields that identify an element of a list contain
 * user data, so they would fill the dictionary. */
static bool worth_a_number(struct str key)
{
    return !str_starts(key, STR("k:{")) && !str_starts(key, STR("v:"));
}

uint32_t dict_intern(struct str key, const struct admission_kind *kind)
{
    if (key.n > DICT_KEY_LENGTH_MAX) return DICT_NONE;
    uint32_t hash = (uint32_t)hash_str(key);
    uint32_t id = lookup(key, hash);
    if (id != DICT_NONE || !worth_a_number(key)) return id;
    dict_init();
    /* Once the table is half full a key is admitted only if it recurs, so that user data cannot fill it. */
    if (!admission_allows(&admission, hash, kind, dict_count(), DICT_KEYS_MAX)) return DICT_NONE;
    return insert(key, hash);
}

bool dict_restore(uint32_t id, struct str key)
{
    dict_init();
    if (id >= DICT_KEYS_MAX || key.n > DICT_KEY_LENGTH_MAX || id > dict_count()) return false;
    return insert(key, (uint32_t)hash_str(key)) == id;
}

size_t dict_count(void)
{
    return atomic_load_explicit(&count, memory_order_acquire);
}

/* --- Hash to number, for readers without a lock */

enum { FIRST_SLOTS = 1024 };

static void put(struct id_slots *slots, uint64_t slot)
{
    uint32_t at = (uint32_t)slot;
    while (atomic_load_explicit(&slots->slot[at & slots->mask], memory_order_relaxed) != 0) at++;
    atomic_store_explicit(&slots->slot[at & slots->mask], slot, memory_order_release);
}

static struct id_slots *grow(struct id_table *table, struct id_slots *from)
{
    uint32_t size = from ? (from->mask + 1) * 2 : FIRST_SLOTS;
    struct id_slots *to = xcalloc(1, sizeof *to + size * sizeof to->slot[0]);
    to->mask = size - 1;
    /* Old slots stay allocated: a reader without a lock may be in them. */
    to->outgrown = from;
    for (uint32_t i = 0; from && i <= from->mask; i++) {
        uint64_t slot = atomic_load_explicit(&from->slot[i], memory_order_relaxed);
        if (slot != 0) put(to, slot);
    }
    atomic_store_explicit(&table->slots, to, memory_order_release);
    return to;
}

void id_table_insert(struct id_table *table, uint32_t hash, uint32_t id)
{
    struct id_slots *slots = atomic_load_explicit(&table->slots, memory_order_relaxed);
    if (!slots || (table->count + 1) * 2 > slots->mask + 1) slots = grow(table, slots);
    put(slots, (uint64_t)(id + 1) << 32 | hash);
    table->count++;
}
