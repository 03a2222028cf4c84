/* Merge patches; see merge.h. Values are nested no deeper than the packer takes them. */
#include "object/value/merge.h"

#include "base/text/json_out.h"
#include "object/value/json.h"
#include "object/value/map_index.h"

static bool is_absent(struct value v)
{
    return value_type(v) == VALUE_ABSENT;
}

/* Members of the target, as the patch leaves them. */
static void merge_old(struct buf *out, struct value target, const struct map_index *patch)
{
    size_t count = value_count(target);
    for (size_t i = 0; i < count; i++) {
        struct str key;
        struct text text;
        struct value old = value_entry(target, i, &key, &text), change = map_index_find(patch, key);
        if (value_type(change) == VALUE_NULL) continue;
        json_key(out, key);
        if (is_absent(change))
            json_write(out, old);
        else
            merge_write(out, old, change);
    }
}

static void merge_new(struct buf *out, const struct map_index *target, struct value patch)
{
    size_t count = value_count(patch);
    for (size_t i = 0; i < count; i++) {
        struct str key;
        struct text text;
        struct value change = value_entry(patch, i, &key, &text);
        if (value_type(change) == VALUE_NULL || !is_absent(map_index_find(target, key))) continue;
        json_key(out, key);
        merge_write(out, value_absent, change);
    }
}

void merge_write(struct buf *out, struct value target, struct value patch)
{
    if (value_type(patch) != VALUE_MAP) {
        json_write(out, patch);
        return;
    }
    if (value_type(target) != VALUE_MAP) target = value_absent;
    struct map_index old = map_index_make(target), changes = map_index_make(patch);
    buf_putc(out, '{');
    merge_old(out, target, &changes);
    merge_new(out, &old, patch);
    buf_putc(out, '}');
    map_index_clear(&old);
    map_index_clear(&changes);
}

/* --- the way back */

/* Writes the differences of entries that both have, and the removed ones. */
static void diff_old(struct buf *out, struct value from, const struct map_index *to, merge_entry_fn *entry,
                     void *ctx)
{
    size_t count = value_count(from);
    for (size_t i = 0; i < count; i++) {
        struct str key;
        struct text text;
        struct value old = value_entry(from, i, &key, &text), now = map_index_find(to, key);
        if (is_absent(now)) {
            json_key(out, key);
            buf_puts(out, "null");
        } else if (!value_equal(old, now)) {
            entry(ctx, out, key, old, now);
        }
    }
}

static void diff_new(struct buf *out, const struct map_index *from, struct value to)
{
    size_t count = value_count(to);
    for (size_t i = 0; i < count; i++) {
        struct str key;
        struct text text;
        struct value now = value_entry(to, i, &key, &text);
        if (value_type(now) == VALUE_NULL || !is_absent(map_index_find(from, key))) continue;
        json_key(out, key);
        json_write(out, now);
    }
}

bool merge_diff_maps(struct buf *out, struct value from, struct value to, merge_entry_fn *entry, void *ctx)
{
    if (value_equal(from, to)) return false;
    struct map_index old = map_index_make(from), now = map_index_make(to);
    size_t before = out->len;
    buf_putc(out, '{');
    diff_old(out, from, &now, entry, ctx);
    diff_new(out, &old, to);
    bool differs = out->len > before + 1;
    if (differs)
        buf_putc(out, '}');
    else
        out->len = before;
    map_index_clear(&old);
    map_index_clear(&now);
    return differs;
}

static void diff_entry(void *ctx, struct buf *out, struct str key, struct value from, struct value to)
{
    size_t before = out->len;
    json_key(out, key);
    if (!merge_diff(out, from, to)) out->len = before;
}

bool merge_diff(struct buf *out, struct value from, struct value to)
{
    if (value_type(from) == VALUE_MAP && value_type(to) == VALUE_MAP)
        return merge_diff_maps(out, from, to, diff_entry, NULL);
    if (value_equal(from, to)) return false;
    json_write(out, to);
    return true;
}
