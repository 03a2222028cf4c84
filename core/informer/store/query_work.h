/* Query that is evaluated in steps, each of about a tenth of a millisecond, between which the store may
 * change: an object that is there all the time counts once, in the state that it has when it is looked at.
 * Owner: the caller of query_work_new frees it by query_work_free, before its query. On the engine thread. */
#pragma once
#include "informer/store/query.h"

enum query_aim { QUERY_OBJECTS, QUERY_COUNT, QUERY_SUM, QUERY_GROUPS };

struct query_work;

/* Begins an evaluation; `sum` as of query_sum and query_groups, copied. `store` NULL: there is nothing. */
struct query_work *query_work_new(const struct query *query, struct indexer *store, enum query_aim aim,
                                  const struct path *sum);
void query_work_free(struct query_work *work);
/* Takes a step; returns whether the results are there. */
bool query_work_step(struct query_work *work);

/* --- Results, once, each of its aim, as of query_select and the others; borrowed: those that may be taken.
 */

const struct lister_list *query_work_objects(const struct query_work *work);
/* Releases the first `count` of them, which are not looked at any more. */
void query_work_forget(struct query_work *work, size_t count);
void query_work_take_objects(struct query_work *work, struct lister_list *out);
size_t query_work_count(const struct query_work *work);
bool query_work_take_sum(struct query_work *work, struct query_sum *out, struct err *err);
bool query_work_take_groups(struct query_work *work, struct query_groups *out, struct err *err);
