/* Results of queries; see bind_query_rows.h. */
#include "script/caches/bind_query_rows.h"

#include "base/time/piece_meter.h"
#include "script/caches/bind_lister.h"
#include "script/view/view.h"
#include "script/vm/args.h"
#include "script/vm/budget.h"
#include "script/vm/memory.h"

#define NANOS 1000000000

int rows_push_objects(lua_State *L, const struct query *query, struct indexer *cache)
{
    struct lister_list *list = lister_push_list(L);
    if (cache) query_select(query, cache, list);
    budget_poll(L, script_of(L));
    lister_push_array(L, list);
    return 1;
}

static void drop_work(struct query_work **work)
{
    query_work_free(*work);
    *work = NULL;
}

int rows_push_iterator(lua_State *L, const struct query *query, struct indexer *cache,
                       struct query_work **work)
{
    struct lister_list *list = lister_push_list(L);
    if (*work)
        query_work_take_objects(*work, list);
    else if (cache)
        query_select(query, cache, list);
    drop_work(work);
    budget_poll(L, script_of(L));
    return lister_push_iterator(L);
}

void rows_push_sum(lua_State *L, const struct query_sum *sum)
{
    struct scalar total = query_total(sum);
    __int128 whole = total.amount.value / NANOS;
    if (sum->inexact || (!sum->any_quantity && (whole > INT64_MAX || whole < INT64_MIN)))
        lua_pushnumber(L, total.approximate);
    else if (sum->any_quantity)
        push_quantity(L, &sum->exact);
    else
        push_int64(L, (int64_t)whole);
}

static int l_groups_gc(lua_State *L)
{
    query_free_groups(lua_touserdata(L, 1));
    return 0;
}

/* As userdata, so that they are released whatever happens. */
static struct query_groups *push_groups(lua_State *L)
{
    struct query_groups *groups = lua_newuserdata(L, sizeof *groups);
    *groups = (struct query_groups){0};
    class_set(L, script_of(L), CLASS_GROUPS);
    return groups;
}

static void push_row(lua_State *L, const struct query_group_row *row, bool summed)
{
    lua_createtable(L, 0, 3);
    view_push_value(L, row->root, row->key);
    lua_setfield(L, -2, "key");
    lua_pushinteger(L, (lua_Integer)row->count);
    lua_setfield(L, -2, "count");
    if (!summed) return;
    rows_push_sum(L, &row->sum);
    lua_setfield(L, -2, "sum");
}

/* Leaves the groups and an array with room for their rows on the stack. */
static struct query_groups *take_groups(lua_State *L, const struct query *query, struct indexer *cache,
                                        const struct path *path, struct query_work **work)
{
    struct query_groups *groups = push_groups(L);
    struct err err;
    bool good = true;
    const char *stage = piece_enter(script_of(L)->brief, "room for groups");
    if (*work)
        good = query_work_take_groups(*work, groups, &err);
    else if (cache)
        good = query_groups(query, cache, path, groups, &err);
    drop_work(work);
    if (!good) script_raise(L, "query:sum: %s", err.text);
    lua_createtable(L, (int)groups->count, 0);
    piece_enter(script_of(L)->brief, stage);
    copy_mark_array(L);
    return groups;
}

int rows_push_groups(lua_State *L, const struct query *query, struct indexer *cache, const struct path *path,
                     struct query_work **work)
{
    struct query_groups *groups = take_groups(L, query, cache, path, work);
    for (size_t i = 0; i < groups->count; i++) {
        budget_poll(L, script_of(L));
        push_row(L, &groups->rows[i], path != NULL);
        lua_rawseti(L, -2, (int)i + 1);
    }
    query_free_groups(groups);
    return 1;
}

int rows_begin_groups(lua_State *L, const struct query *query, struct query_work **work)
{
    take_groups(L, query, NULL, NULL, work);
    return 2;
}

/* fill_groups(groups, rows, count, summed): as fill of bind_query.c. */
static int l_fill_groups(lua_State *L)
{
    enum { FILLED = 128 };
    struct query_groups *groups = class_self(L, CLASS_GROUPS, "fill_groups");
    size_t count = (size_t)lua_tointeger(L, 3), end = count + FILLED;
    size_t before = script_of(L)->memory;
    const char *stage = piece_enter(script_of(L)->brief, "groups");
    for (; count < groups->count && count < end; count++) {
        struct query_group_row *row = &groups->rows[count];
        push_row(L, row, lua_toboolean(L, 4));
        lua_rawseti(L, 2, (int)count + 1);
        root_unref(row->root);
        row->root = NULL;
    }
    if (script_of(L)->memory > before) pace_spare(script_of(L), script_of(L)->memory - before);
    piece_enter(script_of(L)->brief, stage);
    budget_tick(script_of(L));
    budget_poll(L, script_of(L));
    lua_pushinteger(L, (lua_Integer)count);
    lua_pushboolean(L, count == groups->count);
    return 2;
}

static int l_next_of_array(lua_State *L)
{
    lua_Integer next = lua_tointeger(L, lua_upvalueindex(2)) + 1;
    lua_pushinteger(L, next);
    lua_replace(L, lua_upvalueindex(2));
    lua_rawgeti(L, lua_upvalueindex(1), (int)next);
    return 1;
}

int rows_push_array_iterator(lua_State *L)
{
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, l_next_of_array, 2);
    return 1;
}

void rows_define(lua_State *L)
{
    static const luaL_Reg meta[] = {{"__gc", l_groups_gc}, {NULL, NULL}};
    class_define(L, CLASS_GROUPS, "groups", meta, NULL);
    lua_pop(L, 1);
    lua_pushcfunction(L, l_fill_groups);
}
