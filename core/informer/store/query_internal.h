/* Internals of a query, for query.c and query_group.c. Owner: see query.h. */
#pragma once
#include <uthash.h>

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

/* Returns the most objects that query_each looks at, with the indexes that there are. */
size_t query_candidates(const struct query *query, struct indexer *store);
/* Calls `fn` for every object that the query selects, in the order of the store, until it returns false. */
void query_each(const struct query *query, struct indexer *store, bool (*fn)(void *ctx, struct root *object),
                void *ctx);

/* --- the first of an order, query_best.c: few objects in their order are kept, without those behind them */

struct query_best {
    const struct query *query;
    struct best *items; /* in their order */
    size_t count;
    struct buf arena; /* texts of the keys of one object */
};

/* Returns whether the query has an order, and a limit that is small enough. */
bool query_best_suits(const struct query *query);
void query_best_begin(struct query_best *best, const struct query *query);
/* Adds an object, the next one of the store; `ctx` is the best. Returns true. */
bool query_best_add(void *ctx, struct root *object);
/* Hands the objects over, ordered and limited, with references; `out` NULL: releases them. */
void query_best_end(struct query_best *best, struct lister_list *out);

/* --- the order, query_rank.c: in steps, each of about a tenth of a millisecond */

struct query_rank {
    const struct query *query;
    struct lister_list *list; /* is ordered at the end; the caller's */
    uint32_t *items;          /* numbers of objects in the list, in sorted runs */
    struct rank_key *keys;    /* of each object one for each order */
    struct rank_block *block; /* the last one of their strings and amounts */
    struct rank_run *runs;
    uint32_t *winners;     /* a tree: the run with the first object of those below; `leaves` are the runs */
    struct root **ordered; /* objects in their order */
    size_t leaves, keyed, sorted, merged; /* objects that have keys, are in runs, are ordered */
};

/* Compares two values by one of the orders; those that are none are last in both directions. */
int query_compare_by(const struct query_order_part *order, const struct scalar *x, const struct scalar *y);
/* Compares the values that objects are ordered by, one for each order: `x` stands before objects of the same
 * values that came later. */
int query_compare(const struct query *query, const struct scalar *x, const struct scalar *y);
/* Returns the value to order by. A text is copied to the arena, whose place its pointer holds, as an offset.
 */
struct scalar query_key(const struct path *path, struct root *object, struct buf *arena);
/* The texts of these keys are where the arena is now. */
void query_keys_point(struct scalar *keys, size_t count, const char *arena);

void query_rank_begin(struct query_rank *rank, const struct query *query, struct lister_list *list);
/* Returns whether the list is ordered, or the query is stopped. */
bool query_rank_step(struct query_rank *rank);
void query_rank_end(struct query_rank *rank);
/* The same in steps, as megabytes go back to the system; returns whether all is freed. */
bool query_rank_end_step(struct query_rank *rank);
/* All of it at once. */
void query_order_list(const struct query *query, struct lister_list *list);

/* --- groups, query_group.c, query_group_rows.c */

struct group {
    UT_hash_handle hh;
    struct query_group_row row;
    const struct query *query;
    uint64_t last; /* number of the last counted object, so that each counts once */
    char name[];   /* kind and value, which identify the group */
};

/* As rows in their order, in steps (query_group_rows.c). */
struct query_group_sort {
    int stage;
    size_t table;              /* the next one to gather from */
    struct group **from, **to; /* sorted runs, and room for those that are merged */
    size_t width, at;          /* length of a run; where to */
    size_t left, middle, right,
        end; /* of the merge: next of the left run and its end, and of the right one */
};

/* A table that grows goes over all its groups: many that are small do so one after the other. */
enum { GROUP_TABLES = 64 };
struct query_grouping {
    const struct query *query;
    const struct path *sum; /* NULL: only counts */
    struct group *tables[GROUP_TABLES];
    size_t count;
    struct query_group_sort sort;
    struct query_groups rows;
    struct root *object;
    struct buf name;
    uint64_t number;
    struct err *err;
    bool good;
};

/* Adds an object; `ctx` is the grouping. False with its `err` set. */
bool query_group_add(void *ctx, struct root *object);
/* Behind the last object: takes a step to their rows, of about a tenth of a millisecond; returns whether they
 * are there. */
bool query_group_step(struct query_grouping *grouping);
/* Moves the groups, if all went well, into sorted rows, with the steps that are left; returns whether it did.
 */
bool query_group_end(struct query_grouping *grouping, struct query_groups *out);

/* Adds the values at `path` of the object to the sum. */
bool query_add(const struct path *path, struct root *object, struct query_sum *sum, struct err *err);
