/* Queries in steps: the objects are collected or counted, ordered, cut, and summed up; see query_work.h. */
#include "informer/store/query_work.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/must.h"
#include "informer/store/indexer_walk.h"
#include "informer/store/query_internal.h"

/* Objects that a step looks at, those that it groups, of which each may make a group, and those that an index
 * finds so fast that they need no steps. */
enum { LOOKED_AT = 512, GROUPED = 128, AT_ONCE = 512 };

enum query_stage { WALKING, RANKING, RANKED, CUTTING, SUMMING, GROUPING, FINISHED };

struct query_work {
    const struct query *query;
    enum query_aim aim;
    struct path *sum_path;
    enum query_stage stage;
    struct indexer_walk walk;
    bool keeps_objects; /* it collects them, for others or to sum them up in their order */
    struct lister_list list;
    size_t room, most;
    size_t forgotten;       /* objects of the list whose references are gone */
    struct query_best best; /* instead of all of them, if few are wanted */
    struct query_rank rank;
    size_t count, summed;
    struct query_sum sum;
    struct query_grouping grouping;
    struct err err;
    bool good;
};

static bool keep(struct query_work *work, struct root *object)
{
    if (work->list.count == work->most) return false;
    array_reserve(work->list.objects, work->list.count, work->room);
    work->list.objects[work->list.count++] = root_ref(object);
    return true;
}

static bool add(struct query_work *work, struct root *object)
{
    work->good = query_add(work->sum_path, object, &work->sum, &work->err);
    return work->good;
}

static bool take(void *ctx, struct root *object)
{
    struct query_work *work = ctx;
    if (query_is_stopped(work->query)) return false;
    if (!query_matches(work->query, object)) return true;
    if (work->best.items) return query_best_add(&work->best, object);
    if (work->keeps_objects) return keep(work, object);
    if (work->aim == QUERY_SUM) return add(work, object);
    if (work->aim == QUERY_GROUPS) return work->good = query_group_add(&work->grouping, object);
    work->count++;
    return true;
}

/* Returns the path that is read first of most objects, or NULL. */
static const struct path *first_path(const struct query_work *work)
{
    const struct query *query = work->query;
    if (query->condition_count > 0) return condition_path(query->conditions[0]);
    if (work->aim == QUERY_GROUPS) return query->group;
    if (work->best.items) return query->orders[0].path;
    return work->keeps_objects ? NULL : work->sum_path;
}

struct query_work *query_work_new(const struct query *query, struct indexer *store, enum query_aim aim,
                                  const struct path *sum)
{
    struct query_work *work = NEW(struct query_work);
    struct err err;
    bool ranks = query->order_count > 0;
    work->query = query;
    work->aim = aim;
    work->sum_path = sum ? path_compile(path_text(sum), &err) : NULL;
    must(!sum || work->sum_path);
    work->keeps_objects = aim == QUERY_OBJECTS || (aim == QUERY_SUM && (ranks || query->limited));
    work->most = ranks || !query->limited ? SIZE_MAX : query->limit;
    work->grouping =
        (struct query_grouping){.query = query, .sum = work->sum_path, .err = &work->err, .good = true};
    work->good = true;
    if (work->keeps_objects && query_best_suits(query)) query_best_begin(&work->best, query);
    if (store && query_candidates(query, store) <= AT_ONCE)
        query_each(query, store, take, work);
    else if (store)
        indexer_walk_begin(&work->walk, store);
    work->walk.path = first_path(work);
    return work;
}

void query_work_free(struct query_work *work)
{
    if (!work) return;
    struct query_groups groups;
    indexer_walk_end(&work->walk);
    query_best_end(&work->best, NULL);
    query_rank_end(&work->rank);
    query_work_forget(work, work->list.count);
    free(work->list.objects);
    if (work->aim == QUERY_GROUPS && query_group_end(&work->grouping, &groups)) query_free_groups(&groups);
    path_free(work->sum_path);
    free(work);
}

static enum query_stage after_walk(struct query_work *work)
{
    if (work->aim == QUERY_GROUPS) return GROUPING;
    if (!work->keeps_objects) return FINISHED;
    if (work->best.items) {
        query_best_end(&work->best, &work->list);
        return CUTTING;
    }
    query_rank_begin(&work->rank, work->query, &work->list);
    return work->query->order_count ? RANKING : CUTTING;
}

/* Objects behind the limit are released some at a time: with their references the last states of some go. */
static bool cut(struct query_work *work)
{
    size_t limit = work->query->limited ? work->query->limit : SIZE_MAX;
    for (size_t n = 0; n < LOOKED_AT && work->list.count > limit; n++)
        root_unref(work->list.objects[--work->list.count]);
    return work->list.count <= limit;
}

static bool sum_up(struct query_work *work)
{
    size_t end = work->summed + LOOKED_AT;
    while (work->good && work->summed < work->list.count && work->summed < end &&
           !query_is_stopped(work->query))
        add(work, work->list.objects[work->summed++]);
    return !work->good || work->summed == work->list.count || query_is_stopped(work->query);
}

bool query_work_step(struct query_work *work)
{
    switch (work->stage) {
    case WALKING:
        if (!indexer_walk_on(&work->walk, work->aim == QUERY_GROUPS ? GROUPED : LOOKED_AT, take, work))
            work->stage = after_walk(work);
        break;
    case RANKING:
        if (query_rank_step(&work->rank)) work->stage = RANKED;
        break;
    case RANKED:
        if (query_rank_end_step(&work->rank)) work->stage = CUTTING;
        break;
    case CUTTING:
        if (cut(work)) work->stage = work->aim == QUERY_SUM ? SUMMING : FINISHED;
        break;
    case SUMMING:
        if (sum_up(work)) work->stage = FINISHED;
        break;
    case GROUPING:
        if (query_group_step(&work->grouping)) work->stage = FINISHED;
        break;
    case FINISHED: break;
    }
    return work->stage == FINISHED;
}

const struct lister_list *query_work_objects(const struct query_work *work)
{
    return &work->list;
}

void query_work_forget(struct query_work *work, size_t count)
{
    while (work->forgotten < count) root_unref(work->list.objects[work->forgotten++]);
}

void query_work_take_objects(struct query_work *work, struct lister_list *out)
{
    *out = work->list;
    work->list = (struct lister_list){0};
}

size_t query_work_count(const struct query_work *work)
{
    const struct query *q = work->query;
    return q->limited && work->count > q->limit ? q->limit : work->count;
}

bool query_work_take_sum(struct query_work *work, struct query_sum *out, struct err *err)
{
    *out = work->sum;
    if (!work->good) *err = work->err;
    return work->good;
}

bool query_work_take_groups(struct query_work *work, struct query_groups *out, struct err *err)
{
    bool good = query_group_end(&work->grouping, out);
    if (!good) *err = work->err;
    return good;
}
