/* Queries: built, planned, and run for objects, a count or a sum; see query.h. */
#include "base/array.h"
#include "informer/store/query_internal.h"

#include <stdlib.h>

#include "informer/store/label_index.h"

struct query *query_new(void)
{
    return NEW(struct query);
}

void query_free(struct query *q)
{
    if (!q) return;
    for (size_t i = 0; i < q->condition_count; i++) condition_free(q->conditions[i]);
    for (size_t i = 0; i < q->selector_count; i++) selector_free(q->selectors[i]);
    for (size_t i = 0; i < q->order_count; i++) path_free(q->orders[i].path);
    path_free(q->group);
    free(q->ns);
    free(q);
}

static bool has_room(size_t count, const char *what, struct err *err)
{
    if (count < QUERY_PARTS_MAX) return true;
    return err_set(err, ERR_LIMIT, "a query has at most %d %s", QUERY_PARTS_MAX, what);
}

bool query_where(struct query *q, struct condition *condition, struct err *err)
{
    bool room = has_room(q->condition_count, "conditions", err);
    if (room)
        q->conditions[q->condition_count++] = condition;
    else
        condition_free(condition);
    return room;
}

bool query_label(struct query *q, struct selector *selector, struct err *err)
{
    bool room = has_room(q->selector_count, "selectors", err);
    if (room)
        q->selectors[q->selector_count++] = selector;
    else
        selector_free(selector);
    return room;
}

bool query_order(struct query *q, struct path *path, bool descending, struct err *err)
{
    bool room = has_room(q->order_count, "orders", err);
    if (room)
        q->orders[q->order_count++] = (struct query_order_part){path, descending};
    else
        path_free(path);
    return room;
}

void query_namespace(struct query *q, struct str ns)
{
    free(q->ns);
    q->ns = xstrndup(ns.n ? ns.p : "", ns.n);
}

void query_group(struct query *q, struct path *path)
{
    path_free(q->group);
    q->group = path;
}

void query_limit(struct query *q, size_t limit)
{
    q->limited = true;
    q->limit = limit;
}

void query_stop_when(struct query *q, const volatile bool *stop)
{
    q->stop = stop;
}

bool query_is_grouped(const struct query *q)
{
    return q->group != NULL;
}

/* --- selection */

struct query_visit {
    const struct query *query;
    bool (*fn)(void *ctx, struct root *object);
    void *ctx;
};

bool query_matches(const struct query *q, const struct root *object)
{
    struct text text;
    if (q->ns && !str_is(root_namespace(object, &text), q->ns)) return false;
    for (size_t i = 0; i < q->selector_count; i++)
        if (!selector_matches(q->selectors[i], root_labels(object))) return false;
    for (size_t i = 0; i < q->condition_count; i++)
        if (!condition_holds(q->conditions[i], root_value(object))) return false;
    return true;
}

static bool visit(void *ctx, struct root *object)
{
    const struct query_visit *v = ctx;
    if (query_is_stopped(v->query)) return false;
    return !query_matches(v->query, object) || v->fn(v->ctx, object);
}

static void visit_one(struct root *object, struct query_visit *v)
{
    if (object) visit(v, object);
}

/* Smallest known set of objects that contains all results of a query. */
struct query_candidates {
    const struct index *index; /* NULL: the namespace, or all */
    struct str value;
    bool by_name; /* those of the name `value`, which is looked up in each namespace */
    size_t count;
};

static void consider(struct query_candidates *plan, const struct index *index, struct str value)
{
    size_t count = index ? index_count(index, value) : SIZE_MAX;
    if (count < plan->count)
        *plan = (struct query_candidates){.index = index, .value = value, .count = count};
}

/* Every store finds a name in a namespace, so names need no index. */
static void consider_name(struct query_candidates *plan, const struct query *q, const struct indexer *store,
                          struct str name)
{
    size_t count = q->ns ? 1 : indexer_namespaces(store);
    if (count < plan->count)
        *plan = (struct query_candidates){.value = name, .by_name = true, .count = count};
}

/* Indexes of labels that would pay are built only if there is time (`builds`). */
static struct query_candidates make_plan(const struct query *q, struct indexer *store, bool builds)
{
    struct query_candidates plan = {.count = indexer_count(store)};
    if (q->ns) plan.count = indexer_namespace_count(store, str_of(q->ns));
    for (size_t i = 0; i < q->condition_count; i++) {
        struct str path;
        const struct scalar *value;
        if (!condition_equality(q->conditions[i], &path, &value)) continue;
        if (str_is(path, "metadata.name")) consider_name(&plan, q, store, value->text);
        consider(&plan, indexer_path_index(store, path), value->text);
    }
    for (size_t i = 0; i < q->selector_count; i++) {
        struct str value;
        const struct index *index = label_index_serve(store, q->selectors[i], plan.count, builds, &value);
        if (index) consider(&plan, index, value);
    }
    return plan;
}

void query_each(const struct query *q, struct indexer *store, bool (*fn)(void *ctx, struct root *object),
                void *ctx)
{
    struct query_visit v = {q, fn, ctx};
    struct query_candidates plan = make_plan(q, store, true);
    if (plan.by_name && q->ns)
        visit_one(indexer_get(store, str_of(q->ns), plan.value), &v);
    else if (plan.by_name)
        indexer_each_named(store, plan.value, visit, &v);
    else if (plan.index)
        indexer_each_under(store, plan.index, plan.value, visit, &v);
    else if (q->ns)
        indexer_each_in(store, str_of(q->ns), visit, &v);
    else
        indexer_each(store, visit, &v);
}

size_t query_candidates(const struct query *q, struct indexer *store)
{
    return make_plan(q, store, false).count;
}

/* --- objects */

struct collecting {
    const struct query *query;
    struct lister_list *out;
    size_t most, room;
};

static bool collect(void *ctx, struct root *object)
{
    struct collecting *c = ctx;
    if (c->out->count == c->most) return false;
    array_reserve(c->out->objects, c->out->count, c->room);
    c->out->objects[c->out->count++] = root_ref(object);
    return true;
}

void query_select(const struct query *q, struct indexer *store, struct lister_list *out)
{
    size_t limit = q->limited ? q->limit : SIZE_MAX;
    *out = (struct lister_list){0};
    if (query_best_suits(q)) {
        struct query_best best;
        query_best_begin(&best, q);
        query_each(q, store, query_best_add, &best);
        query_best_end(&best, out);
        return;
    }
    struct collecting c = {.query = q, .out = out, .most = q->order_count ? SIZE_MAX : limit};
    query_each(q, store, collect, &c);
    if (q->order_count && out->count) query_order_list(q, out);
    while (out->count > limit) root_unref(out->objects[--out->count]);
}

static bool count_one(void *ctx, struct root *object)
{
    ++*(size_t *)ctx;
    return true;
}

size_t query_count(const struct query *q, struct indexer *store)
{
    size_t count = 0;
    query_each(q, store, count_one, &count);
    return q->limited && count > q->limit ? q->limit : count;
}
