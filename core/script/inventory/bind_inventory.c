/* raw.plan: the inventory of a script while it loads, with the texts of lua/k8s/plan.lua; and the parts of
 * functions, for lua/k8s/closure.lua. */
#include "script/inventory/bind_inventory.h"

#include <string.h>

#include "script/inventory/function_hash.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"

void inventory_note(lua_State *L, enum inventory_class class, struct str key, struct str detail)
{
    struct inventory *plan = script_of(L)->own.inventory;
    lua_Debug ar;
    inventory_add(plan, class, key, detail);
    if (!script_where(L, &ar)) return;
    inventory_set_place(plan, class, key, *ar.source == '@' ? ar.source + 1 : ar.source, ar.currentline);
}

/* add(class, key, detail): does nothing once the script has loaded. */
static int l_inventory_add(lua_State *L)
{
    struct script *script = script_of(L);
    struct str name = arg_str(L, 1, "plan: class"), key = arg_str(L, 2, "plan: key");
    struct str detail = arg_str(L, 3, "plan: detail");
    enum inventory_class class = inventory_class_of(name);
    if (class == INVENTORY_CLASSES) script_raise(L, "inventory: unknown class %s", name.p);
    if (script->phase == SCRIPT_LOADING) inventory_note(L, class, key, detail);
    return 0;
}

/* hash(function): a string, equal for equal functions. */
static int l_inventory_hash(lua_State *L)
{
    char hash[FUNCTION_HASH_LEN + 1];
    arg_function(L, 1, "plan: function");
    function_hash(L, 1, hash);
    lua_pushlstring(L, hash, FUNCTION_HASH_LEN);
    return 1;
}

static int l_inventory_is_open(lua_State *L)
{
    lua_pushboolean(L, script_of(L)->phase == SCRIPT_LOADING);
    return 1;
}

/* --- parts of functions */

/* code(function): its code in canonical order; nil for a function in C. */
static int l_inventory_code(lua_State *L)
{
    arg_function(L, 1, "plan: function");
    if (lua_iscfunction(L, 1)) return 0;
    struct buf *out = script_scratch(script_of(L));
    function_code(L, 1, false, out);
    lua_pushlstring(L, out->data, out->len);
    return 1;
}

/* strings(function): the strings in its code, including names of globals. */
static int l_inventory_strings(lua_State *L)
{
    arg_function(L, 1, "plan: function");
    struct buf *out = script_scratch(script_of(L));
    function_code(L, 1, true, out);
    lua_newtable(L);
    size_t at = 0;
    for (int i = 1; at < out->len; i++) {
        uint32_t n;
        memcpy(&n, out->data + at, sizeof n);
        lua_pushlstring(L, out->data + at + sizeof n, n);
        lua_rawseti(L, -2, i);
        at += sizeof n + n;
    }
    return 1;
}

/* upvalue(function, i): name, value and identity of an upvalue, as functions may share one; nothing after the
 * last. */
static int l_inventory_upvalue(lua_State *L)
{
    arg_function(L, 1, "plan: function");
    const char *name = lua_getupvalue(L, 1, (int)lua_tointeger(L, 2));
    if (!name) return 0;
    lua_pushstring(L, name);
    lua_insert(L, -2);
    lua_pushlightuserdata(L, lua_upvalueid(L, 1, (int)lua_tointeger(L, 2)));
    return 3;
}

/* environment(function): its globals. */
static int l_inventory_environment(lua_State *L)
{
    arg_function(L, 1, "plan: function");
    lua_getfenv(L, 1);
    return 1;
}

/* metatable(value): the real one, whatever its __metatable says. */
static int l_inventory_metatable(lua_State *L)
{
    luaL_checkany(L, 1);
    return lua_getmetatable(L, 1);
}

static void bind_inventory(lua_State *L)
{
    static const luaL_Reg verbs[] = {{"add", l_inventory_add},
                                     {"hash", l_inventory_hash},
                                     {"is_open", l_inventory_is_open},
                                     {"code", l_inventory_code},
                                     {"strings", l_inventory_strings},
                                     {"upvalue", l_inventory_upvalue},
                                     {"environment", l_inventory_environment},
                                     {"metatable", l_inventory_metatable},
                                     {NULL, NULL}};
    lua_newtable(L);
    luaL_register(L, NULL, verbs);
    lua_setfield(L, -2, "plan");
}

static void open_inventory(struct script *script)
{
    script->own.inventory->notes_functions = script->host->notes_functions;
}

static void close_inventory(struct script *script)
{
    inventory_clear(script->own.inventory);
}

const struct feature feature_inventory = {.parts = {"plan"},
                                          .bind = bind_inventory,
                                          FEATURE_OWNS(inventory),
                                          .open = open_inventory,
                                          .close = close_inventory};
