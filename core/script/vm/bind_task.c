/* raw.task: what lua/k8s needs to wrap verbs that wait and the script's own coroutines. */
#include "script/generation/bind.h"
#include "script/vm/args.h"
#include "script/vm/task.h"

static int l_refuse(lua_State *L)
{
    task_refuse(L);
    return 0;
}

/* raise(coroutine, error): raises the error that ended the coroutine. */
static int l_raise_from(lua_State *L)
{
    lua_State *dead = lua_tothread(L, 1);
    if (!dead) script_raise(L, "raise_from: expected a coroutine");
    lua_settop(L, 2);
    call_keep_frames(L, dead);
    return lua_error(L);
}

void bind_task(lua_State *L)
{
    static const luaL_Reg verbs[] = {
        {"results", task_results}, {"refuse", l_refuse}, {"raise_from", l_raise_from}, {NULL, NULL}};
    const struct script *script = script_of(L);
    lua_newtable(L);
    luaL_register(L, NULL, verbs);
    push_ref(L, script, REF_YIELDED);
    lua_setfield(L, -2, "yielded");
    push_ref(L, script, REF_BUSY);
    lua_setfield(L, -2, "busy");
    push_ref(L, script, REF_CALLBACKS);
    lua_setfield(L, -2, "callbacks");
    lua_setfield(L, -2, "task");
}
