/* Reading a cache; see lister.h. */
#include "informer/store/lister.h"

#include <stdlib.h>

#include "base/array.h"
#include "informer/store/label_index.h"

struct lister_walk {
    const struct selector *selector;
    struct str ns;           /* of an index: only objects of this namespace */
    struct lister_list *out; /* NULL: only count */
    const volatile bool *stop;
    size_t count, room;
};

static bool visit(void *ctx, struct root *object)
{
    struct lister_walk *walk = ctx;
    struct text text;
    if (walk->stop && *walk->stop) return false;
    if (walk->selector && !selector_matches(walk->selector, root_labels(object))) return true;
    if (walk->ns.n && !str_eq(root_namespace(object, &text), walk->ns)) return true;
    walk->count++;
    if (!walk->out) return true;
    array_reserve(walk->out->objects, walk->out->count, walk->room);
    walk->out->objects[walk->out->count++] = root_ref(object);
    return true;
}

/* Walks the smallest known set that contains all results. An empty selector matches everything and evaluates
 * no labels (F-11). */
static void run(struct indexer *indexer, struct str ns, struct lister_walk *walk)
{
    if (walk->selector && selector_is_everything(walk->selector)) walk->selector = NULL;
    size_t all = ns.n ? indexer_namespace_count(indexer, ns) : indexer_count(indexer);
    struct str value;
    const struct index *index =
        walk->selector ? label_index_serve(indexer, walk->selector, all, true, &value) : NULL;
    walk->ns = index ? ns : (struct str){0};
    if (index)
        indexer_each_under(indexer, index, value, visit, walk);
    else if (ns.n)
        indexer_each_in(indexer, ns, visit, walk);
    else
        indexer_each(indexer, visit, walk);
}

void lister_list(struct indexer *indexer, struct str ns, const struct selector *selector,
                 const volatile bool *stop, struct lister_list *out)
{
    *out = (struct lister_list){0};
    struct lister_walk walk = {.selector = selector, .out = out, .stop = stop};
    if (indexer) run(indexer, ns, &walk);
}

void lister_free_list(struct lister_list *list)
{
    for (size_t i = 0; i < list->count; i++) root_unref(list->objects[i]);
    free(list->objects);
    *list = (struct lister_list){0};
}

size_t lister_count(struct indexer *indexer, struct str ns, const struct selector *selector,
                    const volatile bool *stop)
{
    if (!indexer) return 0;
    if (!selector || selector_is_everything(selector))
        return ns.n ? indexer_namespace_count(indexer, ns) : indexer_count(indexer);
    struct lister_walk walk = {.selector = selector, .stop = stop};
    run(indexer, ns, &walk);
    return walk.count;
}

void lister_by_index(const struct indexer *indexer, const struct index *index, struct str ns,
                     struct str value, const volatile bool *stop, struct lister_list *out)
{
    *out = (struct lister_list){0};
    struct lister_walk walk = {.ns = ns, .out = out, .stop = stop};
    if (index)
        indexer_each_under(indexer, index, value, visit, &walk);
    else
        indexer_each_in(indexer, value, visit, &walk);
}

void lister_by_index_like(const struct indexer *indexer, struct index *index, struct str ns,
                          struct root *object, const volatile bool *stop, struct lister_list *out)
{
    struct text text;
    struct lister_walk walk = {.ns = ns, .out = out, .stop = stop};
    *out = (struct lister_list){0};
    if (index)
        indexer_each_like(indexer, index, object, visit, &walk);
    else
        indexer_each_in(indexer, root_namespace(object, &text), visit, &walk);
}

static void add_value(void *ctx, struct str value)
{
    buf_append(ctx, &value, sizeof value);
}

static void add_counted(void *ctx, struct str value, size_t count)
{
    add_value(ctx, value);
}

/* Compares two strings. Once it is to stop all are equal, so that the sort ends soon. */
static int by_text(const void *a, const void *b, void *stop)
{
    if (stop && *(const volatile bool *)stop) return 0;
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static struct str *sorted(struct buf *values, const volatile bool *stop, size_t *count)
{
    struct str *list = (struct str *)values->data;
    size_t all = values->len / sizeof *list;
    *count = 0;
    if (all) qsort_r(list, all, sizeof *list, by_text, (void *)stop);
    for (size_t i = 0; i < all; i++)
        if (i == 0 || !str_eq(list[i], list[*count - 1])) list[(*count)++] = list[i];
    return list;
}

struct str *lister_index_values(const struct indexer *indexer, const struct index *index, struct str ns,
                                const volatile bool *stop, size_t *count)
{
    struct buf values = {0};
    if (!index && ns.n) {
        if (indexer_namespace_count(indexer, ns)) add_value(&values, ns);
    } else if (!index) {
        indexer_each_namespace(indexer, add_counted, &values);
    } else if (ns.n) {
        indexer_each_value_in(indexer, index, ns, add_value, &values);
    } else {
        index_each_value(index, add_counted, &values);
    }
    return sorted(&values, stop, count);
}
