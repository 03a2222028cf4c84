/* table.concat and insert, and what table.sort can order; see table_library.h. Results and errors are Lua's
 * own. */
#include "script/lib/table_library.h"

#include "base/buf.h"
#include "script/vm/args.h"
#include "script/vm/budget.h"

static int l_table_concat(lua_State *L)
{
    struct str sep, s;
    struct steps steps;
    luaL_checktype(L, 1, LUA_TTABLE);
    sep.p = luaL_optlstring(L, 2, "", &sep.n);
    lua_Integer i = luaL_optinteger(L, 3, 1);
    lua_Integer last = lua_isnoneornil(L, 4) ? (lua_Integer)lua_objlen(L, 1) : luaL_checkinteger(L, 4);
    struct script *script = script_of(L);
    struct buf *out = script_scratch(script);
    size_t most = (size_t)script->limits.values[LIMIT_VALUE_SIZE];
    steps_init(&steps, L);
    for (; i <= last; i++) {
        lua_rawgeti(L, 1, (int)i);
        s.p = lua_tolstring(L, -1, &s.n);
        if (!s.p)
            script_raise(L, "invalid value (%s) at index %d in table for 'concat'", arg_type_name(L, -1),
                         (int)i);
        buf_str(out, s);
        if (i < last) buf_str(out, sep);
        lua_pop(L, 1);
        if (out->len > most) arg_value_size(L, "table.concat", out->len);
        steps_take(&steps, 1 + (ptrdiff_t)(s.n + sep.n) / 64);
    }
    lua_pushlstring(L, out->data, out->len);
    return 1;
}

/* A position before the first, which LuaJIT takes, would have it move up to 2^31 nils. */
static int l_table_insert(lua_State *L)
{
    struct steps steps;
    luaL_checktype(L, 1, LUA_TTABLE);
    int last = (int)lua_objlen(L, 1) + 1, at = last, count = lua_gettop(L);
    if (count != 2 && count != 3) script_raise(L, "wrong number of arguments to 'insert'");
    if (count == 3) {
        lua_Integer position = luaL_checkinteger(L, 2);
        luaL_argcheck(L, position >= 1 && position <= INT32_MAX, 2, "position out of bounds");
        at = (int)position;
    }
    steps_init(&steps, L);
    for (int i = last; i > at; i--) {
        lua_rawgeti(L, 1, i - 1);
        lua_rawseti(L, 1, i);
        steps_take(&steps, 1);
    }
    lua_rawseti(L, 1, at);
    return 0;
}

static bool has_order(lua_State *L)
{
    int type = lua_type(L, 1);
    if (type != lua_type(L, 2)) return false;
    if (type == LUA_TNUMBER || type == LUA_TSTRING) return true;
    return luaL_getmetafield(L, 1, "__lt") && luaL_getmetafield(L, 2, "__lt") && lua_rawequal(L, -2, -1);
}

int l_table_check_order(lua_State *L)
{
    if (has_order(L)) return 0;
    const char *a = arg_type_name(L, 1), *b = arg_type_name(L, 2);
    if (strcmp(a, b) == 0) script_raise(L, "attempt to compare two %s values", a);
    script_raise(L, "attempt to compare %s with %s", a, b);
}

void table_library_open(lua_State *L)
{
    static const luaL_Reg own[] = {{"concat", l_table_concat}, {"insert", l_table_insert}, {NULL, NULL}};
    luaL_register(L, NULL, own);
}
