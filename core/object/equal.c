/* Same content, whatever the encoding; see value.h. */
#include "base/must.h"
#include "object/value.h"
#include "object/word.h"

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
    for (size_t i = 0; i < count; i++) {
        struct str key;
        struct text text;
        struct value in_a = value_entry(a, i, &key, &text), in_b = value_field(b, key);
        if (value_type(in_b) == VALUE_ABSENT || !value_equal(in_a, in_b)) return false;
    }
    return true;
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
