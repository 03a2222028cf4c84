/* A question to a store: which objects, in which order, how many of them, counted or summed, perhaps in
 * groups. Owner: query_new's caller frees by query_free. On the engine thread, from any callback; answers do
 * not change when the store does. An index that fits is used, and makes no difference but in time. */
#pragma once
#include "informer/store/lister.h"
#include "object/value/condition.h"

enum { QUERY_PARTS_MAX = 32 };

struct query;

struct query *query_new(void);
void query_free(struct query *query);

/* Each takes what it is given, also when it fails: more than QUERY_PARTS_MAX of one kind. All conditions and
 * selectors must hold. */
bool query_where(struct query *query, struct condition *condition, struct err *err);
bool query_label(struct query *query, struct selector *selector, struct err *err);
void query_namespace(struct query *query, struct str ns);
void query_group(struct query *query, struct path *path);
/* The first order is the first to decide; what is equal by all stays in the order of the store. Of groups the
 * path is one of the texts "key", "count" and "sum". */
bool query_order(struct query *query, struct path *path, bool descending, struct err *err);
void query_limit(struct query *query, size_t limit);
/* Answers end early once it is true, with what is known by then. NULL: never. */
void query_stop_when(struct query *query, const volatile bool *stop);
bool query_is_grouped(const struct query *query);
/* The first order that no group has; a NULL pointer when all are good. */
struct str query_bad_group_order(const struct query *query);

/* The objects, ordered and limited; with references. */
void query_select(const struct query *query, struct indexer *store, struct lister_list *out);
size_t query_count(const struct query *query, struct indexer *store);

/* Numbers and quantities added up; what is neither does not count. */
struct query_sum {
    bool any_quantity, inexact; /* a text was among them; a number was that quantities do not hold */
    struct quantity exact;
    double rest; /* the inexact ones */
};
/* All of it, to be compared. */
struct scalar query_total(const struct query_sum *sum);
bool query_sum(const struct query *query, struct indexer *store, const struct path *path,
               struct query_sum *out, struct err *err);

struct query_group_row {
    struct root *root; /* a reference: what `key` borrows from */
    struct value key;  /* absent for the objects without one */
    size_t count;
    struct query_sum sum;
};

struct query_groups {
    struct query_group_row *rows;
    size_t count;
};

/* An object is in one group for each value of the path, in that of null when it has none. By key, unless
 * ordered otherwise. `sum` NULL: only counted. */
bool query_groups(const struct query *query, struct indexer *store, const struct path *sum,
                  struct query_groups *out, struct err *err);
void query_free_groups(struct query_groups *groups);
