/* raw.plan: what a script registers while it loads; lua/k8s/plan.lua makes the texts. */
#include "script/args.h"
#include "script/bind.h"
#include "script/function_hash.h"

void plan_note(lua_State *L, enum plan_class class, struct str key, struct str detail)
{
    struct plan *plan = &script_of(L)->plan;
    lua_Debug ar;
    plan_add(plan, class, key, detail);
    if (!script_where(L, &ar)) return;
    plan_set_place(plan, class, key, *ar.source == '@' ? ar.source + 1 : ar.source, ar.currentline);
}

/* add(class, key, detail): nothing once the script has loaded. */
static int l_plan_add(lua_State *L)
{
    struct script *script = script_of(L);
    struct str name = arg_str(L, 1, "plan: class"), key = arg_str(L, 2, "plan: key");
    struct str detail = arg_str(L, 3, "plan: detail");
    enum plan_class class = plan_class_of(name);
    if (class == PLAN_CLASSES) script_raise(L, "plan: there is no class %s", name.p);
    if (script->phase == SCRIPT_LOADING) plan_note(L, class, key, detail);
    return 0;
}

/* hash(function): a text, equal for functions that are the same. */
static int l_plan_hash(lua_State *L)
{
    char hash[FUNCTION_HASH_LEN + 1];
    arg_function(L, 1, "plan: function");
    function_hash(L, 1, hash);
    lua_pushlstring(L, hash, FUNCTION_HASH_LEN);
    return 1;
}

static int l_plan_is_open(lua_State *L)
{
    lua_pushboolean(L, script_of(L)->phase == SCRIPT_LOADING);
    return 1;
}

void bind_plan(lua_State *L)
{
    static const luaL_Reg verbs[] = {
        {"add", l_plan_add}, {"hash", l_plan_hash}, {"is_open", l_plan_is_open}, {NULL, NULL}};
    lua_newtable(L);
    luaL_register(L, NULL, verbs);
    lua_setfield(L, -2, "plan");
}
