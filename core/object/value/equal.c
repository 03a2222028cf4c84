/* Same content, whatever the encoding; see value.h. */
#include "object/value/map_index.h"
#include "object/value/value.h"
#include "object/value/word.h"

static bool strings_equal(struct value a, struct value b)
{
    struct text ta, tb;
    return str_eq(value_str(a, &ta), value_str(b, &tb));
}

static bool arrays_equal(struct value a, struct value b)
{
    size_t count = value_count(a);
    if (count != value_count(b)) return false;
    for (size_t i = 0; i < count; i++) {
        if (!value_equal(value_item(a, i), value_item(b, i))) return false;
    }
    return true;
}

static bool same_shape(struct value a, struct value b)
{
    return a.at && b.at && a.word == b.word && blob_kind(a.word) == BLOB_MAP_SHAPED;
}

/* Mostly both have the same order, so the same place is tried first. */
static bool same_entries(struct value a, struct value b, size_t count)
{
    struct map_index index = {value_absent, NULL};
    bool equal = true;
    for (size_t i = 0; i < count && equal; i++) {
        struct str key_a, key_b;
        struct text ta, tb;
        struct value in_a = value_entry(a, i, &key_a, &ta), in_b = value_entry(b, i, &key_b, &tb);
        if (!str_eq(key_a, key_b)) {
            if (!index.map.at) index = map_index_make(b);
            in_b = map_index_find(&index, key_a);
        }
        equal = value_type(in_b) != VALUE_ABSENT && value_equal(in_a, in_b);
    }
    map_index_clear(&index);
    return equal;
}

static bool maps_equal(struct value a, struct value b)
{
    size_t count = value_count(a);
    if (count != value_count(b)) return false;
    if (same_shape(a, b)) {
        for (size_t i = 0; i < count; i++) {
            if (!value_equal(word_value(a.at, a.at[1 + i]), word_value(b.at, b.at[1 + i]))) return false;
        }
        return true;
    }
    return same_entries(a, b, count);
}

bool value_equal(struct value a, struct value b)
{
    if (a.at == b.at && a.word == b.word) return true;
    enum value_type type = value_type(a);
    if (type != value_type(b)) return false;
    switch (type) {
    case VALUE_ABSENT:
    case VALUE_NULL: return true;
    case VALUE_BOOL: return a.word == b.word;
    case VALUE_INT: return value_int(a) == value_int(b);
    case VALUE_UINT: return value_uint(a) == value_uint(b);
    case VALUE_DOUBLE: return value_double(a) == value_double(b);
    case VALUE_STRING: return strings_equal(a, b);
    case VALUE_MAP: return maps_equal(a, b);
    case VALUE_ARRAY: return arrays_equal(a, b);
    }
    return false;
}
