/* Key that is looked up in many maps: its string, and its number once the dictionary has one. Owner: the
 * struct that embeds it; the string is borrowed. Any number of threads may use it at once. */
#pragma once
#include <stdatomic.h>
#include <stdint.h>

#include "base/str.h"
#include "object/value/dict.h"
#include "object/value/value.h"
#include "object/value/word.h"

struct key_ref {
    struct str text;
    _Atomic uint32_t id; /* who reads it may read what the dictionary has under it */
    /* The last shape that was asked for, and in the lower half 2 more than the key's position there, -1 for
     * none; 0: nothing yet. Objects of a kind have few shapes. */
    _Atomic uint32_t place;
};

static inline void key_ref_init(struct key_ref *key, struct str text)
{
    key->text = text;
    atomic_init(&key->id, dict_find(text));
    atomic_init(&key->place, 0);
}

_Static_assert(SHAPES_MAX <= 1 << 16 && SHAPE_KEYS_MAX + 1 < 1 << 16, "a shape and a position are a place");

/* Returns the position of the key, whose number is `id`, in the shape; -1: none. */
static inline int key_ref_slot(struct key_ref *key, uint32_t id, uint32_t shape)
{
    uint32_t place = atomic_load_explicit(&key->place, memory_order_relaxed);
    if (place == 0 || place >> 16 != shape) {
        place = shape << 16 | (uint32_t)(shape_slot(shape, id) + 2);
        atomic_store_explicit(&key->place, place, memory_order_relaxed);
    }
    return (int)(place & 0xffff) - 2;
}

static inline bool key_ref_has_shape(struct value map)
{
    return map.at && blob_kind(map.word) == BLOB_MAP_SHAPED;
}

/* Does nothing while the dictionary does not have the key. */
static inline void key_ref_prefetch(struct key_ref *key, struct value map)
{
    uint32_t id = atomic_load_explicit(&key->id, memory_order_acquire);
    if (id == DICT_NONE || !key_ref_has_shape(map)) return;
    int slot = key_ref_slot(key, id, blob_payload(map.word));
    if (slot >= 0) word_prefetch(map.at, map.at[1 + slot]);
}

static inline struct value key_ref_field(struct key_ref *key, struct value map)
{
    uint32_t id = atomic_load_explicit(&key->id, memory_order_acquire);
    if (id == DICT_NONE) {
        id = dict_find(key->text);
        if (id != DICT_NONE) atomic_store_explicit(&key->id, id, memory_order_release);
    }
    if (id == DICT_NONE || !key_ref_has_shape(map)) return value_field_id(map, id, key->text);
    int slot = key_ref_slot(key, id, blob_payload(map.word));
    return slot < 0 ? value_absent : word_value(map.at, map.at[1 + slot]);
}
