/* Query of a store: which objects, in which order, how many, counted or summed, perhaps in groups. Owner: the
 * caller of query_new frees it by query_free. On the engine thread, from any callback; results do not change
 * when the store does. An index that fits is used, which only saves time. */
#pragma once
#include "informer/store/lister.h"
#include "object/value/condition.h"

enum { QUERY_PARTS_MAX = 32 };

struct query;

struct query *query_new(void);
void query_free(struct query *query);

/* Add parts; each takes its argument, even if it fails because of more than QUERY_PARTS_MAX of one kind. All
 * conditions and selectors must hold. */
bool query_where(struct query *query, struct condition *condition, struct err *err);
bool query_label(struct query *query, struct selector *selector, struct err *err);
void query_namespace(struct query *query, struct str ns);
void query_group(struct query *query, struct path *path);
/* Adds an order; earlier ones decide first, and equal objects stay in the order of the store. For groups the
 * path is "key", "count" or "sum". */
bool query_order(struct query *query, struct path *path, bool descending, struct err *err);
void query_limit(struct query *query, size_t limit);
/* Ends queries early once `stop` is true, with the results so far. NULL: never. */
void query_stop_when(struct query *query, const volatile bool *stop);
bool query_is_grouped(const struct query *query);
/* Returns the first order that groups do not have; a NULL pointer if all are valid. */
struct str query_bad_group_order(const struct query *query);

/* Returns whether the query selects objects like this one; orders, groups and limits do not matter. */
bool query_matches(const struct query *query, const struct root *object);
/* Returns the objects, ordered and limited; with references. */
void query_select(const struct query *query, struct indexer *store, struct lister_list *out);
size_t query_count(const struct query *query, struct indexer *store);

/* Sum of numbers and quantities; other values are ignored. */
struct query_sum {
    bool any_quantity, inexact; /* a string was among them; a number that quantities cannot represent was */
    struct quantity exact;
    double rest; /* the inexact ones */
};
/* Returns the total, to be compared. */
struct scalar query_total(const struct query_sum *sum);
bool query_sum(const struct query *query, struct indexer *store, const struct path *path,
               struct query_sum *out, struct err *err);

struct query_group_row {
    struct root *root; /* reference from which `key` borrows */
    struct value key;  /* absent for the objects without one */
    size_t count;
    struct query_sum sum;
};

struct query_groups {
    struct query_group_row *rows;
    size_t count;
};

/* Groups the objects: each is in one group for each value of the path, in that of null if it has none.
 * Ordered by key, unless the query has orders. `sum` NULL: only counts. */
bool query_groups(const struct query *query, struct indexer *store, const struct path *sum,
                  struct query_groups *out, struct err *err);
void query_free_groups(struct query_groups *groups);
