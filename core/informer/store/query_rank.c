/* Order of the objects of a query, in steps: keys, sorted runs, then runs merged; see query_internal.h. */
#include <stdlib.h>

#include "base/mem.h"
#include "informer/store/query_internal.h"

/* Objects that are keyed, sorted or merged in a step. */
enum { KEYED = 512, RUN = 512, MERGED = 1024 };

/* Object with the values that it is ordered by. */
struct ranked {
    struct root *object;
    const struct query *query;
    struct scalar *keys; /* one for each order; strings in the arena */
    size_t at;           /* position in the store, which makes the order stable */
};

int query_compare(const struct query *query, const struct scalar *x, const struct scalar *y)
{
    for (size_t i = 0; i < query->order_count; i++) {
        const struct scalar *kx = &x[i], *ky = &y[i];
        bool none_x = kx->kind == SCALAR_NULL || kx->kind == SCALAR_OTHER;
        bool none_y = ky->kind == SCALAR_NULL || ky->kind == SCALAR_OTHER;
        if (none_x != none_y)
            return none_x - none_y; /* objects without a value are last in both directions */
        int order = scalar_order(kx, ky);
        if (order) return query->orders[i].descending ? -order : order;
    }
    return 0;
}

/* Compares two objects. Once the query is stopped all are equal, so that the sort ends soon. */
static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (query_is_stopped(x->query)) return 0;
    int order = query_compare(x->query, x->keys, y->keys);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* A string may be unpacked into a temporary buffer, so it is copied; as the arena may move, the pointer holds
 * an offset until all are known. */
struct scalar query_key(const struct path *path, struct root *object, struct buf *arena)
{
    struct text text;
    struct scalar key = scalar_of(path_get(path, root_value(object)), &text);
    if (key.kind != SCALAR_TEXT || key.is_amount) return key;
    size_t at = arena->len;
    buf_str(arena, key.text);
    key.text.p = (const char *)at;
    return key;
}

void query_rank_begin(struct query_rank *rank, const struct query *query, struct lister_list *list)
{
    *rank = (struct query_rank){.query = query, .list = list, .width = RUN, .right = RUN};
    if (!list->count) return;
    /* Not zeroed, which would touch megabytes in this step: each is written before it is read. */
    rank->from = xmalloc(list->count * sizeof *rank->from);
    rank->to = xmalloc(list->count * sizeof *rank->to);
    rank->keys = xmalloc(list->count * query->order_count * sizeof *rank->keys);
}

bool query_rank_end_step(struct query_rank *rank)
{
    if (rank->from) {
        free(rank->from);
        rank->from = NULL;
    } else if (rank->to) {
        free(rank->to);
        rank->to = NULL;
    } else {
        free(rank->keys);
        rank->keys = NULL;
        buf_clear(&rank->arena);
    }
    return !rank->from && !rank->to && !rank->keys;
}

void query_rank_end(struct query_rank *rank)
{
    while (!query_rank_end_step(rank)) continue;
}

void query_keys_point(struct scalar *keys, size_t count, const char *arena)
{
    for (size_t i = 0; i < count; i++)
        if (keys[i].kind == SCALAR_TEXT && !keys[i].is_amount)
            keys[i].text.p = arena + (size_t)keys[i].text.p;
}

static void add_keys(struct query_rank *rank)
{
    size_t orders = rank->query->order_count, end = rank->keyed + KEYED;
    for (; rank->keyed < rank->list->count && rank->keyed < end; rank->keyed++) {
        struct root *object = rank->list->objects[rank->keyed];
        struct scalar *keys = &rank->keys[rank->keyed * orders];
        rank->from[rank->keyed] = (struct ranked){object, rank->query, keys, rank->keyed};
        for (size_t k = 0; k < orders; k++)
            keys[k] = query_key(rank->query->orders[k].path, object, &rank->arena);
    }
    if (rank->keyed == rank->list->count)
        query_keys_point(rank->keys, rank->keyed * orders, rank->arena.data);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void sort_run(struct query_rank *rank)
{
    size_t count = least(rank->list->count - rank->sorted, RUN);
    qsort(rank->from + rank->sorted, count, sizeof *rank->from, by_rank);
    rank->sorted += count;
}

/* The pair of runs is merged: the next one, or, behind the last, runs of twice the length. */
static void begin_merge(struct query_rank *rank)
{
    size_t count = rank->list->count;
    if (rank->at == count) {
        struct ranked *merged = rank->to;
        rank->to = rank->from;
        rank->from = merged;
        rank->width *= 2;
        rank->at = 0;
    }
    rank->low = rank->left = rank->at;
    rank->right = least(rank->low + rank->width, count);
}

static void merge(struct query_rank *rank)
{
    size_t count = rank->list->count;
    for (size_t n = 0; n < MERGED && rank->width < count; n++) {
        size_t middle = least(rank->low + rank->width, count),
               end = least(rank->low + 2 * rank->width, count);
        bool has_left = rank->left < middle, has_right = rank->right < end;
        const struct ranked *left = &rank->from[rank->left], *right = &rank->from[rank->right];
        if (!has_right || (has_left && by_rank(left, right) <= 0))
            rank->to[rank->at++] = rank->from[rank->left++];
        else
            rank->to[rank->at++] = rank->from[rank->right++];
        if (rank->at == end) begin_merge(rank);
    }
}

bool query_rank_step(struct query_rank *rank)
{
    size_t count = rank->list->count;
    if (query_is_stopped(rank->query)) return true;
    if (rank->keyed < count) {
        add_keys(rank);
    } else if (rank->sorted < count) {
        sort_run(rank);
    } else if (rank->width < count) {
        merge(rank);
    } else {
        for (size_t i = 0; i < count; i++) rank->list->objects[i] = rank->from[i].object;
        return true;
    }
    return false;
}

void query_order_list(const struct query *query, struct lister_list *list)
{
    struct query_rank rank;
    query_rank_begin(&rank, query, list);
    while (!query_rank_step(&rank)) continue;
    query_rank_end(&rank);
}
