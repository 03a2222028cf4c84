/* Key that is looked up in many maps: its string, and its number once the dictionary has one. Owner: the
 * struct that embeds it; the string is borrowed. Any number of threads may use it at once. */
#pragma once
#include <stdatomic.h>
#include <stdint.h>

#include "base/str.h"
#include "object/value/dict.h"
#include "object/value/value.h"

struct key_ref {
    struct str text;
    _Atomic uint32_t id; /* who reads it may read what the dictionary has under it */
};

static inline void key_ref_init(struct key_ref *key, struct str text)
{
    key->text = text;
    atomic_init(&key->id, dict_find(text));
}

/* Does nothing while the dictionary does not have the key. */
static inline void key_ref_prefetch(struct key_ref *key, struct value map)
{
    value_prefetch_field(map, atomic_load_explicit(&key->id, memory_order_acquire));
}

static inline struct value key_ref_field(struct key_ref *key, struct value map)
{
    uint32_t id = atomic_load_explicit(&key->id, memory_order_acquire);
    if (id == DICT_NONE) {
        id = dict_find(key->text);
        if (id != DICT_NONE) atomic_store_explicit(&key->id, id, memory_order_release);
    }
    return value_field_id(map, id, key->text);
}
