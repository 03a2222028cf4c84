/* The key dictionary and the shape table: every map key that is worth it has a number, and every list of keys
 * too. Owner: the process. Both only grow, up to their limits, and are published with release stores: any
 * thread may look up without a lock, also in a forked child; only those who pack insert (a mutex joins them).
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

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
    /* Their values are few, whatever the cluster holds: such a text gets a number too. */
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

/* Gives the keys above their numbers; called by whoever makes a pool. Further calls do nothing. */
void dict_init(void);

/* The number of a key, or DICT_NONE. Never inserts. */
uint32_t dict_find(struct str key);
/* The same, inserting when the key is worth a number and there is room. */
uint32_t dict_intern(struct str key);
size_t dict_count(void);

/* Where dict_text looks; not to be used otherwise. */
struct dict_key {
    const char *text;
    uint32_t length;
};
extern struct dict_key dict_keys[DICT_KEYS_MAX];

static inline struct str dict_text(uint32_t key)
{
    return (struct str){dict_keys[key].text, dict_keys[key].length};
}

/* The number of the shape that has just these keys in this order, or SHAPE_NONE: too many keys, one of them
 * twice, or no room. */
uint32_t shape_intern(const uint32_t *keys, size_t count);
size_t shape_key_count(uint32_t shape);
const uint32_t *shape_keys(uint32_t shape);
/* Where `key` stands in `shape`, or -1. Served by a small cache of the calling thread. */
int shape_slot(uint32_t shape, uint32_t key);
size_t shape_count(void);
