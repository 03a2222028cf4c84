/* Key dictionary and shape table: every worthwhile map key has a number, and so has every list of keys.
 * Owner: the process. Both only grow, up to their limits, and are published with release stores: any thread
 * may look up without a lock, also in a forked child; only packers insert (under a mutex). */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "object/value/admission.h"

enum {
    DICT_KEYS_MAX = 65536,     /* keys in the dictionary */
    DICT_KEY_LENGTH_MAX = 128, /* bytes of a key in the dictionary; longer ones stay in their map */
    SHAPES_MAX = 65536,        /* shapes */
    SHAPE_KEYS_MAX = 256,      /* keys of one shape; larger maps carry their own keys */
};
#define DICT_NONE  UINT32_MAX
#define SHAPE_NONE UINT32_MAX

/* Keys whose numbers are known beforehand. */
enum {
    /* Keys with few different values in any cluster; these strings get numbers too. */
    KEY_API_VERSION,
    KEY_KIND,
    KEY_MANAGER,
    KEY_SUBRESOURCE,
    KEY_SCHEDULER_NAME,
    KEY_TYPE,
    KEYS_OF_FEW_VALUES,

    KEY_METADATA = KEYS_OF_FEW_VALUES,
    KEY_NAME,
    KEY_NAMESPACE,
    KEY_UID,
    KEY_RESOURCE_VERSION,
    KEY_LABELS,
    KEY_ANNOTATIONS,
};

/* Assigns the numbers of the keys above; called when a pool is created. Further calls do nothing. */
void dict_init(void);

/* Returns the number of a key, or DICT_NONE. Never inserts. */
uint32_t dict_find(struct str key);
/* Likewise, but inserts a worthwhile key if there is room. */
uint32_t dict_intern(struct str key, const struct admission_kind *kind);
size_t dict_count(void);
/* Gives a key the next number, which must be `id`, at the start: for objects that were packed by an earlier
 * process. False if another key has the number, or the key another number. */
bool dict_restore(uint32_t id, struct str key);

/* Table behind dict_text; not to be used otherwise. */
struct dict_key {
    const char *text;
    uint32_t length;
};
extern struct dict_key dict_keys[DICT_KEYS_MAX];

static inline struct str dict_text(uint32_t key)
{
    return (struct str){dict_keys[key].text, dict_keys[key].length};
}

/* Returns the number of the shape with these keys in this order, or SHAPE_NONE: too many keys, a duplicate,
 * or no room. */
uint32_t shape_intern(const uint32_t *keys, size_t count, const struct admission_kind *kind);
/* As dict_restore. */
bool shape_restore(uint32_t id, const uint32_t *keys, size_t count);
size_t shape_key_count(uint32_t shape);
const uint32_t *shape_keys(uint32_t shape);
/* Returns the position of `key` in `shape`, or -1. Served by a small cache of the calling thread. */
int shape_slot(uint32_t shape, uint32_t key);
size_t shape_count(void);

/* --- From hashes to small numbers: what the key dictionary and the shape table look up by.
 * Owner: the table that embeds it. Lookups need no lock and may run beside an insertion; insertions exclude
 * each other by the owner's mutex. Outgrown slots are kept, as a reader may still be in them: together less
 * than the live ones. */

#define ID_NONE UINT32_MAX

struct id_slots {
    struct id_slots *outgrown;
    uint32_t mask;
    _Atomic uint64_t slot[]; /* (id + 1) << 32 | hash; 0: empty */
};

struct id_table {
    _Atomic(struct id_slots *) slots;
    uint32_t count;
};

/* Returns the slots that one lookup uses from beginning to end; NULL before the first insertion. */
static inline struct id_slots *id_table_slots(struct id_table *table)
{
    return atomic_load_explicit(&table->slots, memory_order_acquire);
}

/* Steps through the ids stored under `hash`: start with `*at` = hash; ID_NONE ends. */
static inline uint32_t id_slots_next(struct id_slots *slots, uint32_t hash, uint32_t *at)
{
    while (slots) {
        uint64_t slot = atomic_load_explicit(&slots->slot[*at & slots->mask], memory_order_acquire);
        if (slot == 0) return ID_NONE;
        ++*at;
        if ((uint32_t)slot == hash) return (uint32_t)(slot >> 32) - 1;
    }
    return ID_NONE;
}

void id_table_insert(struct id_table *table, uint32_t hash, uint32_t id);
