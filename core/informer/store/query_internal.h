/* Internals of a query, for query.c and query_group.c. Owner: see query.h. */
#pragma once
#include "informer/store/query.h"

struct query_order_part {
    struct path *path;
    bool descending;
};

struct query {
    struct condition *conditions[QUERY_PARTS_MAX];
    struct selector *selectors[QUERY_PARTS_MAX];
    struct query_order_part orders[QUERY_PARTS_MAX];
    size_t condition_count, selector_count, order_count;
    struct path *group;
    char *ns; /* NULL: all */
    bool limited;
    size_t limit;
    const volatile bool *stop; /* NULL: never */
};

static inline bool query_is_stopped(const struct query *query)
{
    return query->stop && *query->stop;
}

/* Calls `fn` for every object that the query selects, in the order of the store, until it returns false. */
void query_each(const struct query *query, struct indexer *store, bool (*fn)(void *ctx, struct root *object),
                void *ctx);
/* Adds the values at `path` of the object to the sum. */
bool query_add(const struct path *path, struct root *object, struct query_sum *sum, struct err *err);
