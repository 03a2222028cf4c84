/* raw.job: the second argument of a worker, and the effect of the worker's results. */
#include <stdio.h>
#include <string.h>

#include "script/vm/absent.h"
#include "script/vm/args.h"
#include "script/vm/call.h"
#include "script/vm/feature.h"
#include "script/work/script_queue.h"

static struct job *job_self(lua_State *L, const char *method)
{
    struct job *job = class_self(L, CLASS_JOB, method);
    if (job->ended) script_raise(L, "job:%s: the job has already ended", method);
    return job;
}

/* Pushes the value at 2 as text: a table by its message, as tables that are raised. */
static void push_why(lua_State *L)
{
    if (lua_istable(L, 2)) {
        lua_pushliteral(L, "message");
        lua_rawget(L, 2);
        if (lua_type(L, -1) == LUA_TSTRING) return;
    }
    call_check_stack(L);
    if (luaL_callmeta(L, 2, "__tostring") && lua_type(L, -1) == LUA_TSTRING) return;
    if (lua_isnil(L, 2))
        lua_pushliteral(L, "");
    else if (lua_isstring(L, 2))
        lua_pushvalue(L, 2);
    else
        lua_pushstring(L, arg_type_name(L, 2));
}

/* retry(err): the key comes again, rate limited. */
static int l_job_retry(lua_State *L)
{
    struct job *job = job_self(L, "retry");
    lua_settop(L, 2);
    job->retry_after_ms = call_retry_after_ms(L);
    push_why(L);
    snprintf(job->why, sizeof job->why, "%s", own_text(L, -1));
    job->outcome = JOB_RETRY;
    return 0;
}

/* after(duration): the key is forgotten, and comes again then. */
static int l_job_after(lua_State *L)
{
    struct job *job = job_self(L, "after");
    job->after_ms = arg_duration_ms(L, 2, "job:after: the duration");
    job->outcome = JOB_AFTER;
    return 0;
}

static const luaL_Reg job_methods[] = {
    {"retry", l_job_retry},
    {"after", l_job_after},
    {NULL, NULL},
};

/* job.retries, and the methods in the table that is the upvalue. */
static int l_job_index(lua_State *L)
{
    const struct job *job = class_self(L, CLASS_JOB, "index");
    if (lua_type(L, 2) == LUA_TSTRING && str_is(arg_bytes(L, 2, "job"), "retries")) {
        lua_pushnumber(L, (lua_Number)job->retries);
        return 1;
    }
    lua_settop(L, 2);
    lua_pushvalue(L, 2);
    lua_rawget(L, lua_upvalueindex(1));
    if (!lua_isnil(L, -1)) return 1;
    lua_pushvalue(L, lua_upvalueindex(1));
    unknown_method_raise(L, script_of(L)->classes[CLASS_JOB].name, 4, 2);
    return 0;
}

/* result(job, ...): what the worker's function returned. nil, err and false are failures. */
static int l_job_result(lua_State *L)
{
    lua_settop(L, 3);
    bool nothing = lua_isnil(L, 2) && lua_isnil(L, 3);
    if (nothing || lua_toboolean(L, 2)) return 0;
    if (!lua_isnil(L, 3)) return lua_error(L);
    lua_pushliteral(L, "the worker returned false");
    return lua_error(L);
}

static int l_job_tostring(lua_State *L)
{
    const struct job *job = class_self(L, CLASS_JOB, "tostring");
    lua_pushfstring(L, "job (%d retries)", (int)job->retries);
    return 1;
}

/* raw.job.runner(fn): what calls the function of a queue's workers */
static int l_job_runner(lua_State *L)
{
    lua_settop(L, 1);
    set_ref(L, REF_RUN_JOB);
    return 0;
}

static void bind_job(lua_State *L)
{
    static const luaL_Reg meta[] = {{"__tostring", l_job_tostring}, {NULL, NULL}};
    class_define(L, CLASS_JOB, "job", meta, NULL);
    lua_pop(L, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, script_of(L)->classes[CLASS_JOB].metatable);
    lua_newtable(L);
    luaL_register(L, NULL, job_methods);
    lua_pushcclosure(L, l_job_index, 1);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushcfunction(L, l_job_result);
    lua_setfield(L, -2, "result");
    lua_pushcfunction(L, l_job_runner);
    lua_setfield(L, -2, "runner");
    lua_setfield(L, -2, "job");
}

const struct feature feature_job = {.parts = {"job"}, .bind = bind_job, .classes = CLASS_BIT(CLASS_JOB)};
