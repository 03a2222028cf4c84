/* JSON as values of Lua, and back; see world_internal.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "world/world_internal.h"

#define ARRAY "world.array"

enum { STACK = 8 };

/* Marks the table on top as an array. */
static void mark_array(lua_State *L)
{
    luaL_getmetatable(L, ARRAY);
    lua_setmetatable(L, -2);
}

static void push_array(lua_State *L, const struct tape *tape, size_t at)
{
    int n = 0;
    lua_newtable(L);
    for (size_t v = tape_first(tape, at, NULL); v; v = tape_next(tape, at, v, NULL)) {
        world_json_push(L, tape, v);
        lua_rawseti(L, -2, ++n);
    }
    mark_array(L);
}

static void push_object(lua_State *L, const struct tape *tape, size_t at)
{
    struct str name;
    lua_newtable(L);
    for (size_t v = tape_first(tape, at, &name); v; v = tape_next(tape, at, v, &name)) {
        if (tape_type(tape, v) == 'n' || str_is(name, "managedFields")) continue;
        lua_pushlstring(L, name.p, name.n);
        world_json_push(L, tape, v);
        lua_rawset(L, -3);
    }
}

static void push_number(lua_State *L, const struct tape *tape, size_t at)
{
    double value;
    if (tape_type(tape, at) == 'd')
        memcpy(&value, &tape->words[at + 1], sizeof value);
    else
        value = (double)tape_int(tape, at, INT64_MAX);
    lua_pushnumber(L, value);
}

void world_json_push(lua_State *L, const struct tape *tape, size_t at)
{
    struct str text;
    must(lua_checkstack(L, STACK));
    switch (tape_type(tape, at)) {
    case '{': push_object(L, tape, at); break;
    case '[': push_array(L, tape, at); break;
    case '"':
        text = tape_str(tape, at);
        lua_pushlstring(L, text.p, text.n);
        break;
    case 't':
    case 'f': lua_pushboolean(L, tape_type(tape, at) == 't'); break;
    case 'n': lua_pushlightuserdata(L, NULL); break;
    default: push_number(L, tape, at);
    }
}

/* --- writing */

static void put_number(lua_Number value, struct buf *out)
{
    static const double exact = 9007199254740992.0; /* 2^53 */
    if (value == floor(value) && fabs(value) <= exact)
        buf_printf(out, "%lld", (long long)value);
    else
        buf_printf(out, "%.17g", value);
}

static void put_array(lua_State *L, int at, struct buf *out)
{
    int n = (int)lua_objlen(L, at);
    buf_putc(out, '[');
    for (int i = 1; i <= n; i++) {
        if (i > 1) buf_putc(out, ',');
        lua_rawgeti(L, at, i);
        world_json_put(L, lua_gettop(L), out);
        lua_pop(L, 1);
    }
    buf_putc(out, ']');
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Returns the names of the table's members in their order; the table keeps them alive. */
static struct str *names_of(lua_State *L, int at, size_t *count)
{
    struct str *names = NULL;
    size_t n = 0, room = 0;
    for (lua_pushnil(L); lua_next(L, at); lua_pop(L, 1)) {
        must(lua_type(L, -2) == LUA_TSTRING);
        if (n == room) names = xreallocarray(names, room = room ? room * 2 : STACK, sizeof *names);
        names[n].p = lua_tolstring(L, -2, &names[n].n);
        n++;
    }
    if (n) qsort(names, n, sizeof *names, by_name);
    *count = n;
    return names;
}

static void put_object(lua_State *L, int at, struct buf *out)
{
    size_t count;
    struct str *names = names_of(L, at, &count);
    buf_putc(out, '{');
    for (size_t i = 0; i < count; i++) {
        if (i) buf_putc(out, ',');
        buf_json_string(out, names[i]);
        buf_putc(out, ':');
        lua_pushlstring(L, names[i].p, names[i].n);
        lua_rawget(L, at);
        world_json_put(L, lua_gettop(L), out);
        lua_pop(L, 1);
    }
    buf_putc(out, '}');
    free(names);
}

static bool is_array(lua_State *L, int at)
{
    if (lua_objlen(L, at) > 0) return true;
    bool marked = lua_getmetatable(L, at);
    if (marked) lua_pop(L, 1);
    return marked; /* no other tables have one */
}

void world_json_put(lua_State *L, int at, struct buf *out)
{
    struct str text;
    must(lua_checkstack(L, STACK));
    switch (lua_type(L, at)) {
    case LUA_TBOOLEAN: buf_puts(out, lua_toboolean(L, at) ? "true" : "false"); break;
    case LUA_TNUMBER: put_number(lua_tonumber(L, at), out); break;
    case LUA_TSTRING:
        text.p = lua_tolstring(L, at, &text.n);
        buf_json_string(out, text);
        break;
    case LUA_TTABLE:
        if (is_array(L, at))
            put_array(L, at, out);
        else
            put_object(L, at, out);
        break;
    default: buf_puts(out, "null");
    }
}

/* Returns its argument, a table, as an array. */
static int l_array(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    mark_array(L);
    return 1;
}

/* Returns its argument as JSON. */
static int l_json(lua_State *L)
{
    struct buf text = {0};
    lua_settop(L, 1);
    world_json_put(L, 1, &text);
    lua_pushlstring(L, buf_text(&text), text.len);
    buf_clear(&text);
    return 1;
}

void world_json_open(lua_State *L)
{
    static const luaL_Reg functions[] = {{"array", l_array}, {"json", l_json}, {NULL, NULL}};
    luaL_newmetatable(L, ARRAY);
    lua_pop(L, 1);
    luaL_setfuncs(L, functions, 0);
    lua_pushlightuserdata(L, NULL);
    lua_setfield(L, -2, "null");
}
