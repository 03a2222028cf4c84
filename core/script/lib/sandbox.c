/* The allow list of globals, and the few functions that differ from Lua's; see sandbox.h. */
#include "script/lib/sandbox.h"

#include <lualib.h>

#include "base/clock.h"
#include "script/lib/string_library.h"
#include "script/lib/table_library.h"
#include "script/vm/args.h"
#include "script/vm/budget.h"
#include "script/vm/call.h"
#include "script/vm/modules.h"
#include "script/vm/task.h"

enum { LOAD_MAX = 1 << 20 };

static const char *const allowed[] = {
    "_VERSION", "assert",       "error",     "getmetatable", "ipairs",   "next",     "pairs", "pcall",
    "rawequal", "rawget",       "rawset",    "select",       "tonumber", "tostring", "type",  "unpack",
    "bit",      "setmetatable", "coroutine", "math",         "os",       "string",   "table", NULL,
};
static const char *const allowed_os[] = {"time", "date", "clock", "difftime", NULL};

static bool listed(const char *const *list, const char *name)
{
    for (; *list; list++)
        if (strcmp(*list, name) == 0) return true;
    return false;
}

/* Removes every field of the table on top of the stack that is not on the list. */
static void keep_listed(lua_State *L, const char *const *list)
{
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        lua_pop(L, 1);
        if (lua_type(L, -1) == LUA_TSTRING && listed(list, own_text(L, -1))) continue;
        lua_pushvalue(L, -1);
        lua_pushnil(L);
        lua_rawset(L, -4); /* an existing field may be cleared during a walk */
    }
}

static void open_library(lua_State *L, const char *name, lua_CFunction open)
{
    lua_pushcfunction(L, open);
    lua_pushstring(L, name);
    lua_call(L, 1, 0);
}

/* The metatable on top of the stack is one that all errors or arrays share. */
static bool is_shared(lua_State *L)
{
    const struct script *script = script_of(L);
    push_ref(L, script, REF_ERROR_META);
    push_ref(L, script, REF_ARRAY_META);
    bool shared = lua_rawequal(L, -3, -2) || lua_rawequal(L, -3, -1);
    lua_pop(L, 2);
    return shared;
}

/* Strings, userdata and what the engine makes have metatables that scripts must not get hold of. */
static int l_getmetatable(lua_State *L)
{
    luaL_checkany(L, 1);
    if (!lua_istable(L, 1) || !lua_getmetatable(L, 1) || is_shared(L)) return 0;
    lua_pushliteral(L, "__metatable");
    lua_rawget(L, -2);
    if (lua_isnil(L, -1)) lua_pop(L, 1);
    return 1;
}

static int l_collectgarbage(lua_State *L)
{
    struct str what = arg_str_opt(L, 1, "collectgarbage: option");
    if (what.p && !str_is(what, "count")) script_raise(L, "collectgarbage: only \"count\" is supported");
    if (!what.p)
        script_raise(L, "collectgarbage: memory is managed by the engine; only \"count\" is supported");
    lua_pushnumber(L, (lua_Number)script_of(L)->memory / 1024);
    return 1;
}

/* CPU time of the engine thread: other threads of the process are no cost of scripts. */
static int l_clock(lua_State *L)
{
    lua_pushnumber(L, (lua_Number)clock_thread_ns() / 1e9);
    return 1;
}

static void check_load_size(lua_State *L, size_t size)
{
    if (size > LOAD_MAX) script_raise(L, "load: chunk exceeds %d KiB", LOAD_MAX >> 10);
}

/* load's pieces: all of them joined to one string. */
static void join_pieces(lua_State *L)
{
    luaL_Buffer pieces;
    size_t total = 0;
    lua_settop(L, 4);
    luaL_buffinit(L, &pieces);
    for (;;) {
        lua_pushvalue(L, 1);
        call_check_stack(L);
        lua_call(L, 0, 1);
        if (lua_isnil(L, -1) || (lua_type(L, -1) == LUA_TSTRING && lua_objlen(L, -1) == 0)) break;
        if (lua_type(L, -1) != LUA_TSTRING)
            script_raise(L, "load: the reader function must return a string, not %s", luaL_typename(L, -1));
        check_load_size(L, total += lua_objlen(L, -1));
        luaL_addvalue(&pieces);
    }
    lua_pop(L, 1);
    luaL_pushresult(&pieces);
    lua_replace(L, 1);
}

/* load(string or function, name, mode, env): source only, as bytecode can reach any memory. */
static int l_load(lua_State *L)
{
    if (lua_isfunction(L, 1)) join_pieces(L);
    struct str text = arg_bytes(L, 1, "load: chunk");
    check_load_size(L, text.n);
    const char *name = lua_isnoneornil(L, 2) ? "=(load)" : arg_str(L, 2, "load: name").p;
    struct str mode = arg_str_opt(L, 3, "load: mode");
    if (mode.p && !str_is(mode, "t") && !str_is(mode, "bt")) script_raise(L, "load: mode must be \"t\"");
    if (!lua_isnoneornil(L, 4)) arg_table(L, 4, "load: env"); /* lua_setfenv takes the caller's word for it */
    if (!load_text(L, text, name)) {
        lua_pushnil(L);
        lua_insert(L, -2);
        return 2;
    }
    if (!lua_isnoneornil(L, 4)) {
        lua_pushvalue(L, 4);
        lua_setfenv(L, -2);
    }
    return 1;
}

/* Pushes a copy of the table on top of the stack, with copies of the tables in it. */
static void push_copy(lua_State *L, bool deep)
{
    lua_newtable(L);
    lua_pushnil(L);
    while (lua_next(L, -3)) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        if (deep && lua_istable(L, -1)) {
            push_copy(L, false);
            lua_remove(L, -2);
        }
        lua_rawset(L, -4);
    }
}

static void keep_function_info(lua_State *L)
{
    open_library(L, "debug", luaopen_debug);
    lua_getglobal(L, "debug");
    lua_getfield(L, -1, "getinfo");
    set_ref(L, REF_FUNCTION_INFO);
    lua_pop(L, 1);
}

/* Of a function that is no secret to its own script: for hashes of its code. */
static void keep_dump(lua_State *L)
{
    lua_getglobal(L, "string");
    lua_getfield(L, -1, "dump");
    set_ref(L, REF_DUMP);
    lua_pop(L, 1);
}

static void keep_xpcall(lua_State *L)
{
    lua_getglobal(L, "xpcall");
    set_ref(L, REF_XPCALL);
}

/* Reads LuaJIT's own search path of C modules, where cjson is looked for; variables of the environment must
 * not change it. */
static void keep_cpath(lua_State *L)
{
    lua_pushboolean(L, 1);
    lua_setfield(L, LUA_REGISTRYINDEX, "LUA_NOENV");
    open_library(L, "package", luaopen_package);
    lua_getglobal(L, "package");
    lua_getfield(L, -1, "cpath");
    set_ref(L, REF_CPATH);
    lua_pop(L, 1);
}

/* Removes libraries that were opened for a few functions only. */
static void forget_libraries(lua_State *L)
{
    lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
    lua_pushnil(L);
    lua_setfield(L, -2, "debug");
    lua_pushnil(L);
    lua_setfield(L, -2, "package");
    lua_pop(L, 1);
}

void sandbox_open(lua_State *L)
{
    static const luaL_Reg own[] = {{"getmetatable", l_getmetatable},
                                   {"collectgarbage", l_collectgarbage},
                                   {"load", l_load},
                                   {NULL, NULL}};
    open_library(L, "", luaopen_base);
    open_library(L, "table", luaopen_table);
    open_library(L, "string", luaopen_string);
    open_library(L, "math", luaopen_math);
    open_library(L, "bit", luaopen_bit);
    open_library(L, "os", luaopen_os);
    keep_function_info(L);
    keep_dump(L);
    keep_xpcall(L);
    keep_cpath(L);
    forget_libraries(L);
    lua_pushvalue(L, LUA_GLOBALSINDEX);
    keep_listed(L, allowed);
    lua_getfield(L, -1, "os");
    keep_listed(L, allowed_os);
    lua_pushcfunction(L, l_clock);
    lua_setfield(L, -2, "clock");
    lua_pop(L, 1);
    lua_getfield(L, -1, "string");
    lua_pushnil(L);
    lua_setfield(L, -2, "dump");
    string_library_open(L);
    lua_pop(L, 1);
    lua_getfield(L, -1, "table");
    table_library_open(L);
    lua_pop(L, 1);
    push_copy(L, true);
    set_ref(L, REF_INTERNAL_ENV);
    luaL_register(L, NULL, own);
    lua_getfield(L, -1, "load");
    task_no_yield_across(L, "a reader function of load");
    lua_pop(L, 1);
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "_G");
    lua_pop(L, 1);
}

/* Copies the fields of the table on top of the stack into the one below; tables are merged. */
static void merge(lua_State *L)
{
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        lua_pushvalue(L, -2);
        lua_rawget(L, -5);
        if (lua_istable(L, -1) && lua_istable(L, -2)) {
            lua_insert(L, -2);
            merge(L);
            lua_pop(L, 2);
            continue;
        }
        lua_pop(L, 1);
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, -5);
    }
}

void sandbox_install(lua_State *L)
{
    lua_pushvalue(L, LUA_GLOBALSINDEX);
    modules_internal(L, "k8s.prelude");
    merge(L);
    lua_pop(L, 1);
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "_G");
    lua_pop(L, 1);
    modules_internal(L, "k8s.event");
    set_ref(L, REF_NEW_EVENT);
    modules_internal(L, "k8s.main");
    set_ref(L, REF_RUN_MAIN);
}
