/* Sums and groups of a query; see query.h. */
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "informer/store/query_internal.h"

/* --- sums */

struct adding {
    struct query_sum *sum;
    struct err *err;
    bool good;
};

static bool add_value(void *ctx, struct value value)
{
    struct adding *a = ctx;
    struct text text;
    struct scalar found = scalar_of(value, &text);
    if (!found.is_amount) return true;
    a->sum->any_quantity |= found.kind == SCALAR_TEXT;
    if (found.exact) {
        a->good = quantity_add(&a->sum->exact, &found.amount, &a->sum->exact, a->err);
    } else {
        a->sum->inexact = true;
        a->sum->rest += found.approximate;
    }
    return a->good;
}

bool query_add(const struct path *path, struct root *object, struct query_sum *sum, struct err *err)
{
    struct adding a = {sum, err, true};
    path_each(path, root_value(object), add_value, &a);
    return a.good;
}

struct scalar query_total(const struct query_sum *sum)
{
    if (!sum->inexact) return scalar_quantity(&sum->exact);
    struct scalar total = scalar_double(quantity_number(&sum->exact) + sum->rest);
    total.kind = SCALAR_QUANTITY;
    return total;
}

bool query_sum(const struct query *q, struct indexer *store, const struct path *path, struct query_sum *out,
               struct err *err)
{
    struct lister_list list;
    bool good = true;
    *out = (struct query_sum){0};
    query_select(q, store, &list);
    for (size_t i = 0; good && i < list.count && !query_is_stopped(q); i++)
        good = query_add(path, list.objects[i], out, err);
    lister_free_list(&list);
    return good;
}

/* --- groups */

static void name_group(struct value value, struct buf *name)
{
    struct text text;
    struct scalar key = scalar_of(value, &text);
    name->len = 0;
    switch (key.kind) {
    case SCALAR_TEXT:
        buf_putc(name, 't');
        buf_str(name, key.text);
        break;
    case SCALAR_NUMBER:
        buf_putc(name, 'n');
        if (key.exact)
            quantity_text(&key.amount, name);
        else
            buf_printf(name, "%.17g", key.approximate);
        break;
    case SCALAR_BOOL: buf_puts(name, key.truth ? "b1" : "b0"); break;
    default: buf_putc(name, '0'); break;
    }
}

/* Of two tables the later one: their sizes differ, so that they do not all grow at the same time. */
static struct group **table_of(struct query_grouping *g)
{
    uint64_t hash = hash_bytes(g->name.data, g->name.len);
    uint64_t one = hash % GROUP_TABLES, other = hash / GROUP_TABLES % GROUP_TABLES;
    return &g->tables[one > other ? one : other];
}

static struct group *group_of(struct query_grouping *g, struct value value)
{
    struct group *group, **table;
    name_group(value, &g->name);
    table = table_of(g);
    HASH_FIND(hh, *table, g->name.data, g->name.len, group);
    if (group) return group;
    group = xcalloc(1, sizeof *group + g->name.len);
    memcpy(group->name, g->name.data, g->name.len);
    group->query = g->query;
    g->count++;
    group->row.root = root_ref(g->object);
    group->row.key = g->name.data[0] == '0' ? value_absent : value;
    HASH_ADD_KEYPTR(hh, *table, group->name, g->name.len, group);
    return group;
}

static bool add_to_group(void *ctx, struct value value)
{
    struct query_grouping *g = ctx;
    struct group *group = group_of(g, value);
    if (group->last == g->number) return true;
    group->last = g->number;
    group->row.count++;
    if (g->sum) g->good = query_add(g->sum, g->object, &group->row.sum, g->err);
    return g->good;
}

bool query_group_add(void *ctx, struct root *object)
{
    struct query_grouping *g = ctx;
    g->object = object;
    g->number++;
    if (path_each(g->query->group, root_value(object), add_to_group, g) == 0) add_to_group(g, value_absent);
    return g->good;
}

struct str query_bad_group_order(const struct query *q)
{
    for (size_t i = 0; i < q->order_count; i++) {
        struct str column = path_text(q->orders[i].path);
        if (!str_is(column, "key") && !str_is(column, "count") && !str_is(column, "sum")) return column;
    }
    return (struct str){0};
}

bool query_groups(const struct query *q, struct indexer *store, const struct path *sum,
                  struct query_groups *out, struct err *err)
{
    struct query_grouping g = {.query = q, .sum = sum, .err = err, .good = true};
    query_each(q, store, query_group_add, &g);
    return query_group_end(&g, out);
}

void query_free_groups(struct query_groups *groups)
{
    for (size_t i = 0; i < groups->count; i++)
        if (groups->rows[i].root) root_unref(groups->rows[i].root);
    free(groups->rows);
    *groups = (struct query_groups){0};
}
