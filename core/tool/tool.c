/* States of Lua for the program itself; see tool.h. */
#include "tool/tool.h"

#include <lualib.h>
#include <stdint.h>

#include "base/embedded_file.h"
#include "base/must.h"
#include "base/text/nearest.h"

extern const struct embedded_module tool_modules[];

/* Loads an embedded module when it is required: a command needs some of a hundred. */
static int l_open_module(lua_State *L)
{
    const struct embedded_module *m = lua_touserdata(L, lua_upvalueindex(1));
    must(luaL_loadbuffer(L, m->source, m->len, m->chunk) == 0);
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, 1);
    return 1;
}

lua_State *tool_open(void)
{
    lua_State *L = luaL_newstate();
    must(L);
    luaL_openlibs(L);
    lua_getglobal(L, "package");
    lua_getfield(L, -1, "preload");
    for (const struct embedded_module *m = tool_modules; m->name; m++) {
        lua_pushlightuserdata(L, (void *)(uintptr_t)m);
        lua_pushcclosure(L, l_open_module, 1);
        lua_setfield(L, -2, m->name);
    }
    lua_pop(L, 2);
    return L;
}

bool tool_call(lua_State *L, const char *module, struct err *err)
{
    int count = lua_gettop(L);
    lua_getglobal(L, "require");
    lua_pushstring(L, module);
    bool ok = lua_pcall(L, 1, 1, 0) == 0;
    if (ok) {
        lua_insert(L, 1);
        ok = lua_pcall(L, count, 1, 0) == 0;
    }
    if (ok) return true;
    const char *text = lua_tostring(L, -1);
    err_set(err, ERR_INVALID, "%s", text ? text : "an error that is not a string");
    lua_settop(L, 0);
    return false;
}

int tool_raise(lua_State *L, const struct err *err)
{
    lua_pushstring(L, err->text);
    return lua_error(L);
}

void tool_class(lua_State *L, const char *name, const luaL_Reg *methods)
{
    luaL_newmetatable(L, name);
    luaL_setfuncs(L, methods, 0);
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
}

void tool_set_text(lua_State *L, const char *name, const char *text)
{
    lua_pushstring(L, text);
    lua_setfield(L, -2, name);
}

void tool_set_count(lua_State *L, const char *name, uint64_t count)
{
    lua_pushnumber(L, (lua_Number)count);
    lua_setfield(L, -2, name);
}

void tool_set_bool(lua_State *L, const char *name, bool value)
{
    lua_pushboolean(L, value);
    lua_setfield(L, -2, name);
}

void tool_append(lua_State *L)
{
    lua_rawseti(L, -2, (int)lua_objlen(L, -2) + 1);
}

void tool_push_list(lua_State *L, const struct flag_list *list)
{
    lua_createtable(L, (int)list->count, 0);
    for (size_t i = 0; i < list->count; i++) {
        lua_pushstring(L, list->items[i]);
        tool_append(L);
    }
}

void tool_push_flags(lua_State *L, const struct flag *flags)
{
    lua_newtable(L);
    for (const struct flag *flag = flags; flag->name; flag++) {
        switch (flag->kind) {
        case FLAG_BOOL: lua_pushboolean(L, *(const bool *)flag->into); break;
        case FLAG_INT:
        case FLAG_COUNT: lua_pushinteger(L, *(const int *)flag->into); break;
        case FLAG_NUMBER: lua_pushnumber(L, *(const double *)flag->into); break;
        case FLAG_DURATION_MS: lua_pushnumber(L, (lua_Number) * (const int64_t *)flag->into); break;
        case FLAG_SIZE: lua_pushnumber(L, (lua_Number) * (const size_t *)flag->into); break;
        case FLAG_STRING:
        case FLAG_CHOICE:
        case FLAG_MODE: lua_pushstring(L, *(const char *const *)flag->into); break;
        case FLAG_LIST: tool_push_list(L, flag->into); break;
        }
        lua_setfield(L, -2, flag->name);
    }
}

int tool_nearest(lua_State *L)
{
    struct nearest nearest = nearest_to(str_of(luaL_checkstring(L, 1)));
    for (int i = 1; i <= (int)lua_objlen(L, 2); i++) {
        lua_rawgeti(L, 2, i);
        nearest_try(&nearest, luaL_checkstring(L, -1));
        lua_pop(L, 1); /* the table holds it */
    }
    lua_pushstring(L, nearest.name);
    return 1;
}
