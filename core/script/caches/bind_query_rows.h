/* Results of queries, as Lua has them.
 * Owner: Lua's collector. Inside a call into Lua: all may raise. `cache` may be NULL: there is nothing. */
#pragma once
#include <lua.h>

#include "informer/store/query_work.h"
#include "script/caches/source.h"

/* An array of views. */
int rows_push_objects(lua_State *L, const struct query *query, struct indexer *cache);
/* An iterator over them. `work` (also below): an evaluation in steps whose results are taken, and which is
 * freed then; the place of NULL: the query is evaluated now. */
int rows_push_iterator(lua_State *L, const struct query *query, struct indexer *cache,
                       struct query_work **work);
/* An array of { key =, count = }, with `path` of { key =, count =, sum = }. */
int rows_push_groups(lua_State *L, const struct query *query, struct indexer *cache, const struct path *path,
                     struct query_work **work);
/* Replaces the array on top of the stack by an iterator over it. */
int rows_push_array_iterator(lua_State *L);
/* A number, or a quantity when one was among the summands. */
void rows_push_sum(lua_State *L, const struct query_sum *sum);
/* The groups that `work` has found, and an empty array with room for their rows: for fill_groups. */
int rows_begin_groups(lua_State *L, const struct query *query, struct query_work **work);
/* Registers the class of groups that are being handed out, and pushes the function fill_groups(groups, rows,
 * count, summed), which puts some more rows behind the `count` that are there: the count, and whether that is
 * all. */
void rows_define(lua_State *L);

/* --- Queries as userdata.
 * Owner: Lua's collector. Inside a call into Lua. */

/* Pushes a new query. A snapshot's userdata is to be kept alive by the caller: the environment of the query.
 */
void query_push(lua_State *L, const struct cache_source *source);
/* Returns the query, borrowed; raises "verb: expected a query, not nil". */
const struct query *query_arg(lua_State *L, int idx, const char *verb);
