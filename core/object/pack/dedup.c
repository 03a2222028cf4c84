/* Removal of duplicate keys in a map; see dedup.h. */
#include "object/pack/dedup.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "object/pack/intern.h"
#include "object/value/dict.h"

enum { FEW = 16 }; /* up to so many keys are compared pairwise, without allocation */

/* Returns the text of a key. `area` is not in the pool's region, so a reference is resolved by the pool. */
static struct str key_text(const struct encoder *e, uint32_t key, struct text *text)
{
    const struct node *node;
    const uint32_t *blob;
    switch (word_tag(key)) {
    case TAG_LOCAL: blob = e->area + word_payload(key); return value_str((struct value){blob, *blob}, text);
    case TAG_REF:
        node = pool_at(e->pool, word_payload(key));
        return value_str((struct value){node->words + node->top, node->words[node->top]}, text);
    default: return value_str((struct value){NULL, key}, text);
    }
}

static bool same_key(const struct encoder *e, uint32_t a, uint32_t b)
{
    if (a == b) return true;
    if (word_tag(a) == TAG_KEY && word_tag(b) == TAG_KEY) return false;
    struct text ta, tb;
    return str_eq(key_text(e, a, &ta), key_text(e, b, &tb));
}

/* Returns whether each key comes behind the one before it, as Go writes maps: then none comes twice. */
static bool ascend(const struct encoder *e, const struct pending *entry, size_t count)
{
    struct text text[2];
    struct str before = {"", 0};
    for (size_t i = 0; i < count; i++) {
        struct str key = key_text(e, entry[i].key, &text[i & 1]);
        int order = memcmp(before.p, key.p, before.n < key.n ? before.n : key.n);
        if (i > 0 && (order > 0 || (order == 0 && before.n >= key.n))) return false;
        before = key;
    }
    return true;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool mark_few(const struct encoder *e, const struct pending *entry, size_t count, bool *repeated)
{
    bool any = false;
    for (size_t i = 0; i + 1 < count; i++) {
        for (size_t j = i + 1; j < count && !repeated[i]; j++)
            repeated[i] = same_key(e, entry[i].key, entry[j].key);
        any |= repeated[i];
    }
    return any;
}

/* Marks the entries whose key is repeated later. Sorted by hash of the text, then by position, equal keys are
 * neighbours, apart from rare ones of the same hash. */
static bool mark_many(const struct encoder *e, const struct pending *entry, size_t count, bool *repeated)
{
    uint64_t *order = xmalloc(count * sizeof *order);
    for (size_t i = 0; i < count; i++) {
        struct text text;
        order[i] = hash_str(key_text(e, entry[i].key, &text)) << 32 | i;
    }
    qsort(order, count, sizeof *order, by_number);
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        size_t at = (uint32_t)order[i];
        for (size_t j = i + 1; j < count && order[j] >> 32 == order[i] >> 32 && !repeated[at]; j++) {
            repeated[at] = same_key(e, entry[at].key, entry[(uint32_t)order[j]].key);
        }
        any |= repeated[at];
    }
    free(order);
    return any;
}

static uint32_t moved(uint32_t word, size_t by)
{
    return word_tag(word) == TAG_LOCAL ? word - word_make(TAG_LOCAL, (uint32_t)by) : word;
}

/* Removes marked entries and their blobs. Distances inside a blob's subtree stay valid, as it moves as a
 * whole. */
static void remove_marked(struct encoder *e, struct pending *entry, size_t *count, const bool *repeated)
{
    size_t kept = 0, to = entry[0].start, end = e->used;
    for (size_t i = 0; i < *count; i++) {
        size_t from = entry[i].start, size = (i + 1 < *count ? entry[i + 1].start : end) - from;
        if (repeated[i]) continue;
        if (size > 0) memmove(e->area + to, e->area + from, size * sizeof *e->area);
        entry[kept++] = (struct pending){
            .key = moved(entry[i].key, from - to),
            .value = moved(entry[i].value, from - to),
            .start = (uint32_t)to,
        };
        to += size;
    }
    *count = kept;
    e->used = to;
    if (e->unique > to) e->unique = to;
}

static bool is_copied(const struct pending *entry, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (entry[i].start == ENTRY_COPIED) return true;
    return false;
}

static enum dedup_result remove_any(struct encoder *e, struct pending *entry, size_t *count, bool any,
                                    const bool *repeated)
{
    if (!any) return DEDUP_NOTHING;
    if (is_copied(entry, *count)) return DEDUP_REFUSED;
    remove_marked(e, entry, count, repeated);
    return DEDUP_REMOVED;
}

enum dedup_result dedup(struct encoder *e, struct pending *entry, size_t *count)
{
    bool few[FEW] = {false};
    if (ascend(e, entry, *count)) return DEDUP_NOTHING;
    if (*count <= FEW) return remove_any(e, entry, count, mark_few(e, entry, *count, few), few);
    bool *repeated = xcalloc(*count, sizeof *repeated);
    enum dedup_result result = remove_any(e, entry, count, mark_many(e, entry, *count, repeated), repeated);
    free(repeated);
    return result;
}
