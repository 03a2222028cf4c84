/* raw.query: queries of a cache, evaluated in C. */
#include "script/caches/bind_query_rows.h"

#include <math.h>
#include <string.h>

#include "base/time/piece_meter.h"
#include "informer/store/query_work.h"
#include "script/caches/bind_informer.h"
#include "script/view/cache.h"
#include "script/view/view.h"
#include "script/vm/args.h"
#include "script/vm/budget.h"
#include "script/vm/feature.h"
#include "script/vm/memory.h"

enum { IN_VALUES_MAX = 1000 };
#define LIMIT_MAX 1e9

struct query_box {
    struct cache_source source;
    struct query *query;
    struct query_work *work; /* evaluation in steps, until its results are fetched; NULL: none */
};

void query_push(lua_State *L, const struct cache_source *source)
{
    struct query_box *box = lua_newuserdata(L, sizeof *box);
    *box = (struct query_box){.source = *source};
    class_set(L, script_of(L), CLASS_QUERY);
    box->query = query_new();
    query_stop_when(box->query, &script_of(L)->budget.stop);
}

const struct query *query_arg(lua_State *L, int idx, const char *verb)
{
    const struct query_box *box = class_test(L, idx, CLASS_QUERY);
    if (!box) script_raise(L, "%s: expected a query, not %s", verb, arg_type_name(L, idx));
    return box->query;
}

static struct query *self(lua_State *L, const char *method)
{
    return ((struct query_box *)class_self(L, CLASS_QUERY, method))->query;
}

/* For chains: the query itself. */
static int chain(lua_State *L)
{
    lua_settop(L, 1);
    return 1;
}

/* Returns the value that a condition compares with; texts borrow from the Lua string. */
static struct scalar value_arg(lua_State *L, int idx)
{
    struct quantity amount;
    const struct wide *wide = int64_test(L, idx);
    if (wide) return wide->is_uint ? scalar_uint(wide->bits) : scalar_int((int64_t)wide->bits);
    if (quantity_test(L, idx, &amount)) return scalar_quantity(&amount);
    switch (lua_type(L, idx)) {
    case LUA_TSTRING: return scalar_text(arg_bytes(L, idx, "query:where: value"));
    case LUA_TBOOLEAN: return scalar_bool(lua_toboolean(L, idx));
    case LUA_TNUMBER:
        if (isnan(lua_tonumber(L, idx))) script_raise(L, "query:where: the value is not a number (nan)");
        return scalar_double(lua_tonumber(L, idx));
    case LUA_TLIGHTUSERDATA: return scalar_null();
    case LUA_TNIL: script_raise(L, "query:where: the value is nil; use k8s.null to match absent fields");
    default: script_raise(L, "query:where: cannot compare with %s", arg_type_name(L, idx));
    }
}

/* The scalars that `in` compares with, in the script's scratch: the table keeps their texts. */
static size_t values_arg(lua_State *L, int idx, struct buf *out)
{
    if (!lua_istable(L, idx))
        script_raise(L, "query:where: in needs an array of values, not %s", arg_type_name(L, idx));
    size_t count = lua_objlen(L, idx);
    if (count > IN_VALUES_MAX) script_raise(L, "query:where: in takes at most %d values", IN_VALUES_MAX);
    out->len = 0;
    for (size_t i = 1; i <= count; i++) {
        lua_rawgeti(L, idx, (int)i);
        struct scalar value = value_arg(L, lua_gettop(L));
        buf_append(out, &value, sizeof value);
        lua_pop(L, 1);
    }
    return count;
}

/* query:where(path, op, value) */
static int l_query_where(lua_State *L)
{
    struct query *query = self(L, "where");
    struct str path = arg_str(L, 2, "query:where: path"), name = arg_str(L, 3, "query:where: operator");
    struct buf *values = &script_of(L)->scratch.keys;
    enum condition_op op;
    struct err err;
    lua_settop(L, 4);
    if (!condition_op_of(name, &op))
        script_raise(L, "query:where: unknown operator \"%.*s\", known are = ~= < <= > >= in matches",
                     STR_ARG(name));
    size_t count = 1;
    if (op == CONDITION_IN) {
        count = values_arg(L, 4, values);
    } else {
        struct scalar value = value_arg(L, 4);
        values->len = 0;
        buf_append(values, &value, sizeof value);
    }
    struct condition *condition = condition_new(path, op, (const struct scalar *)values->data, count, &err);
    if (!condition || !query_where(query, condition, &err)) script_raise(L, "query:where: %s", err.text);
    return chain(L);
}

/* query:label(selector) */
static int l_query_label(lua_State *L)
{
    struct query *query = self(L, "label");
    struct err err;
    struct selector *selector = selector_parse(arg_str(L, 2, "query:label: selector"), &err);
    if (!selector || !query_label(query, selector, &err)) script_raise(L, "query:label: %s", err.text);
    return chain(L);
}

/* query:namespace(ns) */
static int l_query_namespace(lua_State *L)
{
    struct query *query = self(L, "namespace");
    struct str ns = arg_str(L, 2, "query:namespace: namespace");
    check_namespace(L, ns, "query:namespace");
    query_namespace(query, ns);
    return chain(L);
}

static struct path *path_arg(lua_State *L, const char *what)
{
    struct err err;
    struct path *path = path_compile(arg_str(L, 2, what), &err);
    if (!path) script_raise(L, "%s: %s", what, err.text);
    return path;
}

/* query:group(path) */
static int l_query_group(lua_State *L)
{
    struct query *query = self(L, "group");
    query_group(query, path_arg(L, "query:group: path"));
    return chain(L);
}

/* query:order(path, "asc" or "desc") */
static int l_query_order(lua_State *L)
{
    struct query *query = self(L, "order");
    struct str way = arg_str_opt(L, 3, "query:order: direction");
    struct err err;
    if (way.p && !str_is(way, "asc") && !str_is(way, "desc"))
        script_raise(L, "query:order: the direction is \"asc\" or \"desc\", not \"%.*s\"", STR_ARG(way));
    struct path *path = path_arg(L, "query:order: path");
    if (!query_order(query, path, way.p && str_is(way, "desc"), &err))
        script_raise(L, "query:order: %s", err.text);
    return chain(L);
}

/* query:limit(n) */
static int l_query_limit(lua_State *L)
{
    struct query *query = self(L, "limit");
    lua_Number n = lua_tonumber(L, 2);
    if (lua_type(L, 2) != LUA_TNUMBER || !(n >= 0 && n <= LIMIT_MAX) || n != floor(n))
        script_raise(L, "query:limit: expected a whole number from 0 to 1000000000");
    query_limit(query, (size_t)n);
    return chain(L);
}

/* --- answers */

/* Returns what an evaluation in steps has found, for the caller to free; NULL: there was none. */
static struct query_work *take_work(struct query_box *box)
{
    struct query_work *work = box->work;
    box->work = NULL;
    return work;
}

static struct query_box *open_query(lua_State *L, const char *method, struct indexer **cache)
{
    struct query_box *box = class_self(L, CLASS_QUERY, method);
    struct str bad = query_bad_group_order(box->query);
    if (query_is_grouped(box->query) && bad.p)
        script_raise(L, "query:%s: groups are ordered by \"key\", \"count\" or \"sum\", not by \"%.*s\"",
                     method, STR_ARG(bad));
    *cache = source_cache(L, &box->source);
    return box;
}

/* query:count(): a number; of groups an array of { key =, count = } */
static int l_query_count(lua_State *L)
{
    struct indexer *cache;
    struct query_box *box = open_query(L, "count", &cache);
    if (query_is_grouped(box->query)) return rows_push_groups(L, box->query, cache, NULL, &box->work);
    struct query_work *work = take_work(box);
    size_t count = work ? query_work_count(work) : cache ? query_count(box->query, cache) : 0;
    query_work_free(work);
    budget_poll(L, script_of(L));
    lua_pushinteger(L, (lua_Integer)count);
    return 1;
}

static bool sum_up(struct query_box *box, struct indexer *cache, const struct path *path,
                   struct query_sum *sum, struct err *err)
{
    struct query_work *work = take_work(box);
    if (!work) return !cache || query_sum(box->query, cache, path, sum, err);
    bool good = query_work_take_sum(work, sum, err);
    query_work_free(work);
    return good;
}

/* query:sum(path): a number or a quantity; of groups an array of { key =, count =, sum = } */
static int l_query_sum(lua_State *L)
{
    struct indexer *cache;
    struct query_box *box = open_query(L, "sum", &cache);
    const struct path *path = cache_path(L, 2, "query:sum: path");
    if (query_is_grouped(box->query)) return rows_push_groups(L, box->query, cache, path, &box->work);
    struct query_sum sum = {0};
    struct err err;
    if (!sum_up(box, cache, path, &sum, &err)) script_raise(L, "query:sum: %s", err.text);
    budget_poll(L, script_of(L));
    rows_push_sum(L, &sum);
    return 1;
}

/* query:rows(): an array of objects, or of { key =, count = } */
static int l_query_rows(lua_State *L)
{
    struct indexer *cache;
    struct query_box *box = open_query(L, "rows", &cache);
    if (query_is_grouped(box->query)) return rows_push_groups(L, box->query, cache, NULL, &box->work);
    return rows_push_objects(L, box->query, cache);
}

/* query:each(): an iterator over the same. */
static int l_query_each(lua_State *L)
{
    struct indexer *cache;
    struct query_box *box = open_query(L, "each", &cache);
    if (query_is_grouped(box->query)) {
        rows_push_groups(L, box->query, cache, NULL, &box->work);
        return rows_push_array_iterator(L);
    }
    return rows_push_iterator(L, box->query, cache, &box->work);
}

/* --- evaluations in steps, for calls that may pause (lua/k8s/query_steps.lua) */

/* begin(query, method, path): begins what the method would do at once; whether the query has groups. */
static int l_begin(lua_State *L)
{
    struct indexer *cache;
    const char *method = own_text(L, 2);
    struct query_box *box = open_query(L, method, &cache);
    bool groups = query_is_grouped(box->query), sums = strcmp(method, "sum") == 0;
    const struct path *sum = sums ? cache_path(L, 3, "query:sum: path") : NULL;
    enum query_aim aim = groups                         ? QUERY_GROUPS
                         : sums                         ? QUERY_SUM
                         : strcmp(method, "count") == 0 ? QUERY_COUNT
                                                        : QUERY_OBJECTS;
    query_work_free(take_work(box));
    box->work = query_work_new(box->query, cache, aim, sum);
    lua_pushboolean(L, groups);
    return 1;
}

/* step(query): whether the method finds its results now. The call may pause behind it. */
static int l_step(lua_State *L)
{
    struct query_box *box = class_self(L, CLASS_QUERY, "step");
    const char *stage = piece_enter(script_of(L)->brief, "the search");
    bool finished = !box->work || query_work_step(box->work);
    piece_enter(script_of(L)->brief, stage);
    budget_tick(script_of(L));
    budget_poll(L, script_of(L));
    lua_pushboolean(L, finished);
    return 1;
}

/* groups(query): what was found, and an array with room for the rows, for fill_groups. */
static int l_groups(lua_State *L)
{
    struct query_box *box = class_self(L, CLASS_QUERY, "groups");
    return rows_begin_groups(L, box->query, &box->work);
}

/* array(query): for the objects that were found, with room for all: a table that grows copies all it has. */
static int l_array(lua_State *L)
{
    struct query_box *box = class_self(L, CLASS_QUERY, "array");
    const struct lister_list *list = query_work_objects(box->work);
    arg_array_size(L, "lister", list->count);
    const char *stage = piece_enter(script_of(L)->brief, "room for rows");
    lua_createtable(L, (int)list->count, 0);
    piece_enter(script_of(L)->brief, stage);
    pace_spare(script_of(L), list->count * sizeof(lua_Number));
    copy_mark_array(L);
    return 1;
}

/* fill(query, rows, count): puts some more of the objects behind the `count` that are there; the count, and
 * whether that is all. */
static int l_fill(lua_State *L)
{
    enum { FILLED = 256, FILL_AHEAD = 8 };
    struct query_box *box = class_self(L, CLASS_QUERY, "fill");
    const struct lister_list *list = query_work_objects(box->work);
    size_t count = (size_t)lua_tointeger(L, 3), end = count + FILLED;
    size_t before = script_of(L)->memory;
    const char *stage = piece_enter(script_of(L)->brief, "rows");
    for (; count < list->count && count < end; count++) {
        if (list->count - count > FILL_AHEAD) root_prefetch(list->objects[count + FILL_AHEAD]);
        view_push_object(L, list->objects[count]);
        lua_rawseti(L, 2, (int)count + 1);
        query_work_forget(box->work, count + 1);
    }
    if (script_of(L)->memory > before) pace_spare(script_of(L), script_of(L)->memory - before);
    bool all = count == list->count;
    if (all) query_work_free(take_work(box));
    piece_enter(script_of(L)->brief, stage);
    budget_tick(script_of(L));
    budget_poll(L, script_of(L));
    lua_pushinteger(L, (lua_Integer)count);
    lua_pushboolean(L, all);
    return 2;
}

static int l_query_gc(lua_State *L)
{
    struct query_box *box = lua_touserdata(L, 1);
    query_work_free(take_work(box));
    query_free(box->query);
    box->query = NULL;
    return 0;
}

/* new(informer) */
static int l_query_new(lua_State *L)
{
    query_push(L, &(struct cache_source){.claim = informer_arg(L, 1, "query")});
    informer_keep(L, 1, 1);
    return 1;
}

static const luaL_Reg query_methods[] = {
    {"where", l_query_where},
    {"label", l_query_label},
    {"namespace", l_query_namespace},
    {"group", l_query_group},
    {"order", l_query_order},
    {"limit", l_query_limit},
    {"count", l_query_count},
    {"sum", l_query_sum},
    {"rows", l_query_rows},
    {"each", l_query_each},
    {NULL, NULL},
};

static void bind_query(lua_State *L)
{
    static const luaL_Reg meta[] = {{"__gc", l_query_gc}, {NULL, NULL}};
    static const luaL_Reg verbs[] = {{"new", l_query_new}, {"begin", l_begin}, {"step", l_step},
                                     {"array", l_array},   {"fill", l_fill},   {"groups", l_groups},
                                     {NULL, NULL}};
    lua_newtable(L);
    rows_define(L);
    lua_setfield(L, -2, "fill_groups");
    luaL_register(L, NULL, verbs);
    class_define(L, CLASS_QUERY, "query", meta, query_methods);
    lua_setfield(L, -2, "methods");
    lua_setfield(L, -2, "query");
}

const struct feature feature_query = {
    .parts = {"query"}, .bind = bind_query, .classes = CLASS_BIT(CLASS_QUERY) | CLASS_BIT(CLASS_GROUPS)};
