/* The first few objects of an order, found without sorting the others; see query_internal.h. */
#include <stdlib.h>

#include "base/mem.h"
#include "informer/store/query_internal.h"

/* Most objects that are kept: each that comes among them moves those behind it. */
enum { BEST_MAX = 256 };

struct best {
    struct root *object;
    struct scalar *keys; /* and behind them their texts, in one piece of memory */
};

bool query_best_suits(const struct query *q)
{
    return q->order_count > 0 && q->limited && q->limit <= BEST_MAX;
}

void query_best_begin(struct query_best *best, const struct query *query)
{
    *best = (struct query_best){.query = query, .items = xcalloc(query->limit + 1, sizeof *best->items)};
}

/* Returns the place of these keys, behind objects with the same: those came before. */
static size_t place_of(const struct query_best *best, const struct scalar *keys)
{
    size_t low = 0, high = best->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (query_compare(best->query, keys, best->items[middle].keys) < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static struct scalar *keep_keys(const struct query_best *best, const struct scalar *keys)
{
    size_t size = best->query->order_count * sizeof *keys;
    struct scalar *kept = xmalloc(size + best->arena.len + 1);
    char *texts = (char *)kept + size;
    memcpy(kept, keys, size);
    if (best->arena.len) memcpy(texts, best->arena.data, best->arena.len);
    query_keys_point(kept, best->query->order_count, texts);
    return kept;
}

static void put(struct query_best *best, size_t at, struct root *object, const struct scalar *keys)
{
    if (best->count == best->query->limit) {
        struct best *last = &best->items[--best->count];
        root_unref(last->object);
        free(last->keys);
    }
    memmove(&best->items[at + 1], &best->items[at], (best->count - at) * sizeof *best->items);
    best->items[at] = (struct best){root_ref(object), keep_keys(best, keys)};
    best->count++;
}

bool query_best_add(void *ctx, struct root *object)
{
    struct query_best *best = ctx;
    const struct query *q = best->query;
    struct scalar keys[QUERY_PARTS_MAX], found[QUERY_PARTS_MAX];
    if (q->limit == 0) return true;
    best->arena.len = 0;
    for (size_t i = 0; i < q->order_count; i++)
        found[i] = keys[i] = query_key(q->orders[i].path, object, &best->arena);
    query_keys_point(found, q->order_count, best->arena.data);
    size_t at = place_of(best, found);
    if (at < q->limit) put(best, at, object, keys);
    return true;
}

void query_best_end(struct query_best *best, struct lister_list *out)
{
    if (out) *out = (struct lister_list){xcalloc(best->count + 1, sizeof *out->objects), best->count};
    for (size_t i = 0; i < best->count; i++) {
        if (out)
            out->objects[i] = best->items[i].object;
        else
            root_unref(best->items[i].object);
        free(best->items[i].keys);
    }
    free(best->items);
    buf_clear(&best->arena);
    *best = (struct query_best){0};
}
