/* Rows of the groups of a query, in steps: the groups are gathered from their tables, sorted in runs, which
 * are merged, and moved into rows; see query_internal.h. */
#include <stdlib.h>

#include "base/mem.h"
#include "informer/store/query_internal.h"

/* Groups that are sorted, merged and moved in a step: a comparison has two of them from memory. */
enum { RUN = 256, MERGED = 256, MOVED = 512 };

enum group_stage { GATHERING, SORTING, MERGING, MOVING, READY };

static int by_column(const struct query_group_row *x, const struct query_group_row *y, struct str column,
                     bool descending)
{
    int order;
    if (str_is(column, "count")) {
        order = (x->count > y->count) - (x->count < y->count);
    } else if (str_is(column, "sum")) {
        struct scalar a = query_total(&x->sum), b = query_total(&y->sum);
        order = scalar_compare_amounts(&a, &b);
    } else {
        struct text text_a, text_b;
        struct scalar a = scalar_of(x->key, &text_a), b = scalar_of(y->key, &text_b);
        if ((a.kind == SCALAR_NULL) != (b.kind == SCALAR_NULL)) return a.kind == SCALAR_NULL ? 1 : -1;
        order = scalar_order(&a, &b);
        if (order == 0) order = (int)a.kind - (int)b.kind;                        /* 1 and "1" */
        if (order == 0 && a.kind == SCALAR_TEXT) order = str_cmp(a.text, b.text); /* "1" and "1000m" */
    }
    return descending ? -order : order;
}

static int by_orders(const void *a, const void *b)
{
    const struct group *x = *(struct group *const *)a, *y = *(struct group *const *)b;
    const struct query *q = x->query;
    if (query_is_stopped(q)) return 0;
    for (size_t i = 0; i < q->order_count; i++) {
        int order = by_column(&x->row, &y->row, path_text(q->orders[i].path), q->orders[i].descending);
        if (order) return order;
    }
    return by_column(&x->row, &y->row, STR("key"), false);
}

static void gather(struct query_grouping *g)
{
    struct group *group, *next, **table = &g->tables[g->sort.table];
    if (!g->sort.from) {
        g->sort.from = xmalloc((g->count + 1) * sizeof(struct group *));
        g->sort.to = xmalloc((g->count + 1) * sizeof(struct group *));
    }
    HASH_ITER (hh, *table, group, next) g->sort.from[g->sort.at++] = group;
    HASH_CLEAR(hh, *table);
    if (++g->sort.table < GROUP_TABLES) return;
    g->sort.at = 0;
    g->sort.stage = SORTING;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void begin_merge(struct query_group_sort *sort, size_t count)
{
    sort->left = sort->at;
    sort->middle = sort->right = least(sort->at + sort->width, count);
    sort->end = least(sort->middle + sort->width, count);
}

static void begin_merges(struct query_group_sort *sort, size_t width, size_t count)
{
    sort->width = width;
    sort->at = 0;
    sort->stage = width < count ? MERGING : MOVING;
    begin_merge(sort, count);
}

static void sort_run(struct query_grouping *g)
{
    size_t count = least(g->count - g->sort.at, RUN);
    if (count) qsort(g->sort.from + g->sort.at, count, sizeof(struct group *), by_orders);
    g->sort.at += count;
    if (g->sort.at == g->count) begin_merges(&g->sort, RUN, g->count);
}

static void merge(struct query_grouping *g)
{
    struct query_group_sort *sort = &g->sort;
    for (size_t n = 0; n < MERGED && sort->at < g->count; n++) {
        bool has_left = sort->left < sort->middle, has_right = sort->right < sort->end;
        bool is_left =
            has_left && (!has_right || by_orders(&sort->from[sort->left], &sort->from[sort->right]) <= 0);
        sort->to[sort->at++] = sort->from[is_left ? sort->left++ : sort->right++];
        if (sort->at == sort->end) begin_merge(sort, g->count);
    }
    if (sort->at < g->count) return;
    struct group **merged = sort->to;
    sort->to = sort->from;
    sort->from = merged;
    begin_merges(sort, sort->width * 2, g->count);
}

/* Rows behind the limit are released. */
static void move(struct query_grouping *g)
{
    struct query_groups *out = &g->rows;
    size_t kept = g->query->limited ? least(g->query->limit, g->count) : g->count;
    if (!out->rows) out->rows = xmalloc((kept + 1) * sizeof *out->rows); /* as of query_rank_begin */
    for (size_t n = 0; n < MOVED && g->sort.at < g->count; n++) {
        struct group *group = g->sort.from[g->sort.at++];
        if (out->count < kept)
            out->rows[out->count++] = group->row;
        else
            root_unref(group->row.root);
        free(group);
    }
    if (g->sort.at < g->count) return;
    free(g->sort.from);
    free(g->sort.to);
    g->sort = (struct query_group_sort){.stage = READY};
}

bool query_group_step(struct query_grouping *g)
{
    switch ((enum group_stage)g->sort.stage) {
    case GATHERING: gather(g); break;
    case SORTING: sort_run(g); break;
    case MERGING: merge(g); break;
    case MOVING: move(g); break;
    case READY: break;
    }
    return g->sort.stage == READY;
}

bool query_group_end(struct query_grouping *g, struct query_groups *out)
{
    while (!query_group_step(g)) continue;
    *out = g->rows;
    g->rows = (struct query_groups){0};
    buf_clear(&g->name);
    if (!g->good) query_free_groups(out);
    return g->good;
}
