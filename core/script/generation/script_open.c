/* Opens and closes the Lua state of a script; see script_open.h. */
#include "script/generation/script_open.h"

#include <luajit.h>
#include <lualib.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/must.h"
#include "script/lib/sandbox.h"
#include "script/view/cache.h"
#include "script/vm/absent.h"
#include "script/vm/args.h"
#include "script/vm/budget.h"
#include "script/vm/call.h"
#include "script/vm/failure.h"
#include "script/vm/feature.h"
#include "script/vm/memory.h"
#include "script/vm/modules.h"
#include "script/vm/retained.h"
#include "script/vm/task.h"

/* Called by Lua for an error outside of any protected call, which is a bug of the engine. */
static int l_panic(lua_State *L)
{
    must(!"a Lua error outside of a protected call");
    return 0;
}

static int l_error_tostring(lua_State *L)
{
    lua_getfield(L, 1, "message");
    return 1;
}

static int l_null_tostring(lua_State *L)
{
    lua_pushliteral(L, "null");
    return 1;
}

static void make_metatables(lua_State *L)
{
    lua_newtable(L);
    lua_pushliteral(L, "k8s.json.array");
    lua_setfield(L, -2, "__name");
    set_ref(L, REF_ARRAY_META);

    lua_newtable(L);
    lua_pushcfunction(L, l_error_tostring);
    lua_setfield(L, -2, "__tostring");
    set_ref(L, REF_ERROR_META);

    lua_pushlightuserdata(L, NULL); /* k8s.null; all light userdata share its metatable */
    lua_newtable(L);
    lua_pushcfunction(L, l_null_tostring);
    lua_setfield(L, -2, "__tostring");
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
}

void state_make_api(lua_State *L)
{
    pace_open(L);
    call_setup(L);
    task_setup(L);
    make_metatables(L);
    unknown_method_setup(L);
    cache_define(L);
    features_bind(L);
}

static int l_open(lua_State *L)
{
    /* A hook cannot stop compiled loops, so budgets need the interpreter. */
    if (!script_of(L)->trusted) luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_OFF);
    state_make_api(L);
    sandbox_open(L);
    modules_open(L);
    /* In this order: the API takes references to Lua functions that the sandbox then removes. */
    sandbox_install(L);
    return 0;
}

/* Reports a limit that is too low even for the API. */
static bool refuse(const struct script *script, struct err *err)
{
    struct buf value = {0};
    limit_describe(LIMIT_SCRIPT_MEMORY, script->limits.values[LIMIT_SCRIPT_MEMORY], &value);
    err_set(err, ERR_LIMIT, "%s: over the limit script-memory (%s) before it is loaded", script->id.path,
            buf_text(&value));
    buf_clear(&value);
    return false;
}

bool state_new(struct script *script, struct err *err)
{
    for (int i = 0; i < REF_COUNT; i++) script->refs[i] = LUA_NOREF;
    memory_set_limit(script);
    script->heap.pace.runs = true;
    script->heap.pace.room_end = SIZE_MAX;
    script->L = lua_newstate(memory_allocate, script);
    if (!script->L) return refuse(script, err);
    lua_atpanic(script->L, l_panic);
    return true;
}

bool state_open(struct script *script, struct err *err)
{
    if (!state_new(script, err)) return false;
    bool guarded = memory_guard(script);
    int status = lua_cpcall(script->L, l_open, NULL);
    memory_unguard(script, guarded);
    if (status != 0 && script->heap.refused) return refuse(script, err);
    if (status != 0) return err_set(err, ERR_SCRIPT, "%s", own_text(script->L, -1));
    /* After the API, whose creation is not the script's time. */
    budget_open(script);
    return true;
}

void state_close(struct script *script)
{
    mem_note_freed(script->memory);
    pace_close(script);
    if (script->L) lua_close(script->L);
    script->L = NULL;
    memory_unpack(script);
    /* Closing the state has run the collectors of all views, which still use this table. */
    retained_clear(script);
    budget_close(script);
    absent_clear(&script->call.absent);
    failure_clear(&script->failure);
    failure_clear(&script->call.inner.failure);
    buf_clear(&script->scratch.text);
    buf_clear(&script->scratch.keys);
    tape_parser_free(script->scratch.parser);
    script->scratch.parser = NULL;
}
