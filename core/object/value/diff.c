/* Two values side by side; see diff.h. */
#include "object/value/diff.h"

#include "object/value/map_index.h"
#include "object/value/path.h"
#include "object/value/value.h"
#include "object/value/word.h"

struct diff {
    bool (*fn)(void *ctx, struct str path, struct value a, struct value b);
    void *ctx;
    const volatile bool *stop;
    struct buf path;
};

static bool diff_values(struct diff *d, struct value a, struct value b);

static bool report(struct diff *d, struct value a, struct value b)
{
    return d->fn(d->ctx, buf_slice(&d->path), a, b);
}

static void append_key(struct buf *path, struct str key)
{
    if (path_name_is_plain(key)) {
        if (path->len > 0) buf_putc(path, '.');
        buf_str(path, key);
        return;
    }
    buf_puts(path, "['");
    for (size_t i = 0; i < key.n; i++) {
        if (key.p[i] == '\'' || key.p[i] == '\\') buf_putc(path, '\\');
        buf_putc(path, key.p[i]);
    }
    buf_puts(path, "']");
}

/* Reports the entries of `a`, in its order; then those that only `b` has. */
static bool diff_entries(struct diff *d, const struct map_index *a, const struct map_index *b, bool second)
{
    size_t count = value_count(a->map), base = d->path.len;
    bool more = true;
    for (size_t i = 0; i < count && more; i++) {
        struct str key;
        struct text text;
        struct value here = value_entry(a->map, i, &key, &text), there = map_index_find(b, key);
        bool only_here = value_type(there) == VALUE_ABSENT;
        if (second && !only_here) continue;
        append_key(&d->path, key);
        more = second ? report(d, there, here) : diff_values(d, here, there);
        d->path.len = base;
    }
    return more;
}

static bool diff_maps(struct diff *d, struct value a, struct value b)
{
    struct map_index ia = map_index_make(a), ib = map_index_make(b);
    bool more = diff_entries(d, &ia, &ib, false) && diff_entries(d, &ib, &ia, true);
    map_index_clear(&ia);
    map_index_clear(&ib);
    return more;
}

static bool diff_arrays(struct diff *d, struct value a, struct value b)
{
    size_t in_a = value_count(a), in_b = value_count(b), base = d->path.len;
    for (size_t i = 0; i < in_a || i < in_b; i++) {
        buf_printf(&d->path, "[%zu]", i);
        bool more = diff_values(d, value_item(a, i), value_item(b, i));
        d->path.len = base;
        if (!more) return false;
    }
    return true;
}

static bool diff_values(struct diff *d, struct value a, struct value b)
{
    if (d->stop && *d->stop) return false;
    if (value_equal(a, b)) return true;
    enum value_type type = value_type(a);
    if (type == value_type(b) && type == VALUE_MAP) return diff_maps(d, a, b);
    if (type == value_type(b) && type == VALUE_ARRAY) return diff_arrays(d, a, b);
    return report(d, a, b);
}

void value_diff(struct value a, struct value b, const volatile bool *stop,
                bool (*fn)(void *ctx, struct str path, struct value a, struct value b), void *ctx)
{
    struct diff d = {.fn = fn, .ctx = ctx, .stop = stop};
    diff_values(&d, a, b);
    buf_clear(&d.path);
}

/* --- Same content, whatever the encoding */

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
