/* raw.view: the replaced pairs, ipairs, next, unpack and table.concat, which accept views. */
#include <limits.h>

#include "script/view/view.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"

enum {
    UNPACK_MAX = 7000 /* below LuaJIT's limit of 8000 stack slots for C functions */,
    POSITION_MAX = 1000000000
};

static int l_view_is(lua_State *L)
{
    lua_pushboolean(L, view_test(L, 1) != NULL);
    return 1;
}

/* Pushes key and value of entry `i` (0-based), of a map in JSON order, of an array by number. */
static int push_pair(lua_State *L, const struct view *view, size_t i)
{
    if (value_type(view->value) == VALUE_ARRAY) {
        lua_pushinteger(L, (lua_Integer)i + 1);
        view_push_value(L, view->root, value_item(view->value, i));
        return 2;
    }
    struct text text;
    struct str key;
    struct value value = value_entry(view->value, i, &key, &text);
    lua_pushlstring(L, key.p, key.n);
    view_push_value(L, view->root, value);
    return 2;
}

static int l_view_pairs_step(lua_State *L)
{
    const struct view *view = lua_touserdata(L, lua_upvalueindex(1));
    size_t i = (size_t)lua_tointeger(L, lua_upvalueindex(2));
    if (i >= value_count(view->value)) return 0;
    lua_pushinteger(L, (lua_Integer)i + 1);
    lua_replace(L, lua_upvalueindex(2));
    return push_pair(L, view, i);
}

/* pairs(view): an iterator with its own position, as a map has no fast way from a key to the next one. */
static int l_view_pairs(lua_State *L)
{
    const struct view *view = view_arg(L, 1, "pairs");
    if (value_type(view->value) == VALUE_MAP) partial_walk(L, view->root, view->value);
    lua_settop(L, 1);
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, l_view_pairs_step, 2);
    return 1;
}

/* Returns the position after `key`; raises if there is no such key, like Lua's next. */
static size_t place_behind(lua_State *L, const struct view *view, int key)
{
    size_t count = value_count(view->value);
    if (lua_isnoneornil(L, key)) return 0;
    if (value_type(view->value) == VALUE_ARRAY) {
        lua_Number n = lua_tonumber(L, key);
        if (n >= 1 && n <= (lua_Number)count && n == (lua_Number)(size_t)n) return (size_t)n;
        script_raise(L, "next: invalid key: no element %.14g in the view", n);
    }
    struct str wanted = arg_bytes(L, key, "next: key");
    for (size_t i = 0; i < count; i++) {
        struct text text;
        struct str found;
        value_entry(view->value, i, &found, &text);
        if (str_eq(found, wanted)) return i + 1;
    }
    script_raise(L, "next: invalid key: the view has no field \"%.80s\"", wanted.p);
}

static int l_view_next(lua_State *L)
{
    const struct view *view = view_arg(L, 1, "next");
    if (value_type(view->value) == VALUE_MAP) partial_walk(L, view->root, view->value);
    size_t i = place_behind(L, view, 2);
    if (i < value_count(view->value)) return push_pair(L, view, i);
    lua_pushnil(L);
    return 1;
}

static int l_view_ipairs_step(lua_State *L)
{
    const struct view *view = view_arg(L, 1, "ipairs");
    lua_Integer i = lua_tointeger(L, 2);
    if (value_type(view->value) != VALUE_ARRAY || i < 0 || (size_t)i >= value_count(view->value)) return 0;
    return push_pair(L, view, (size_t)i);
}

static int l_view_ipairs(lua_State *L)
{
    view_arg(L, 1, "ipairs");
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushvalue(L, 1);
    lua_pushinteger(L, 0);
    return 3;
}

static lua_Integer range(lua_State *L, int idx, lua_Integer otherwise, const char *verb)
{
    if (lua_isnoneornil(L, idx)) return otherwise;
    lua_Number n = lua_tonumber(L, idx);
    if (lua_type(L, idx) != LUA_TNUMBER)
        script_raise(L, "%s: a position must be a number, not %s", verb, arg_type_name(L, idx));
    if (!(n >= -POSITION_MAX && n <= POSITION_MAX))
        script_raise(L, "%s: %f is not a valid position", verb, n);
    return (lua_Integer)n;
}

/* items(view, i, j): elements i to j of an array as a plain table from 1 on, and their number. */
static int l_view_items(lua_State *L)
{
    const struct view *view = view_arg(L, 1, "unpack");
    lua_Integer count = value_type(view->value) == VALUE_ARRAY ? (lua_Integer)value_count(view->value) : 0;
    lua_Integer from = range(L, 2, 1, "unpack"), to = range(L, 3, count, "unpack");
    if (to > from && to - from >= UNPACK_MAX) script_raise(L, "unpack: too many elements");
    lua_newtable(L);
    lua_Integer n = 0;
    for (lua_Integer i = from; i <= to; i++) {
        n++;
        if (i < 1 || i > count) continue;
        view_push_value(L, view->root, value_item(view->value, (size_t)i - 1));
        lua_rawseti(L, -2, (int)n);
    }
    lua_pushinteger(L, n);
    return 2;
}

static void bind_view(lua_State *L)
{
    static const luaL_Reg verbs[] = {
        {"is", l_view_is}, {"pairs", l_view_pairs}, {"next", l_view_next}, {"items", l_view_items},
        {NULL, NULL},
    };
    lua_newtable(L);
    luaL_register(L, NULL, verbs);
    lua_pushcfunction(L, l_view_ipairs_step);
    lua_pushcclosure(L, l_view_ipairs, 1);
    lua_setfield(L, -2, "ipairs");
    lua_setfield(L, -2, "view");
}

const struct feature feature_view = {
    .at_once = true, .bind = bind_view, FEATURE_OWNS(views), .close = partial_clear};
