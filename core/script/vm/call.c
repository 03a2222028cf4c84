/* Protected calls, tracebacks, and error values as text; see call.h. */
#include "script/vm/call.h"

#include <lauxlib.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "base/time/duration.h"
#include "base/time/piece_meter.h"
#include "script/vm/absent.h"
#include "script/vm/args.h"
#include "script/vm/budget.h"
#include "script/vm/cpu_watch.h"
#include "script/vm/failure.h"
#include "script/vm/feature.h"
#include "script/vm/memory.h"
#include "script/vm/running.h"
#include "script/vm/state.h"

/* Small part of the 8 MiB that a process has by default: the time in which LuaJIT unwinds nested C calls
 * grows with the square of their number, and takes 200 ms for 2 MiB of them. Between two checks, Lua's stack
 * limit bounds the use to less than the rest. */
enum { C_STACK_MAX = 128 << 10 };
/* Keeps a log line readable; a script may raise a string of megabytes. */
enum { ERROR_TEXT_MAX = 4000 };
/* Slots of L's stack for what a verb pushes after its check and what protect pushes. */
enum { NESTED_SLOTS = 16 };

/* Returns the identity of an error value; strings are interned. */
static const void *error_identity(lua_State *L)
{
    return lua_type(L, -1) == LUA_TSTRING ? own_text(L, -1) : lua_topointer(L, -1);
}

void call_keep_frames(lua_State *L, lua_State *dead)
{
    struct script *script = script_of(L);
    const void *error = error_identity(L);
    /* Another error: frames kept of the last one, which a pcall has caught, do not belong to it. */
    if (error != script->call.inner.error) failure_forget(&script->call.inner.failure);
    script->call.inner.error = error;
    failure_put_frames(dead, 0, &script->call.inner.failure);
}

void call_traceback(lua_State *L, struct buf *out)
{
    struct script_failure here = {0};
    failure_put_frames(L, 1, &here);
    if (here.traceback.len > 0) here.traceback.len--;
    buf_str(out, buf_slice(&here.traceback));
    failure_clear(&here);
}

void call_note_definition(lua_State *L, struct script_failure *failure)
{
    lua_Debug ar;
    if (failure->line || !script_definition(L, &ar)) return;
    memcpy(failure->source, ar.short_src, sizeof failure->source);
    failure->line = ar.linedefined;
}

/* The message handler. It runs no Lua code: a script's own code here could not be stopped. */
static int l_traceback(lua_State *L)
{
    struct script *script = script_of(L);
    struct script_failure *failure = &script->failure, *inner = &script->call.inner.failure;
    failure_forget(failure);
    failure->traced = true;
    if (script->call.inner.error && script->call.inner.error == error_identity(L)) {
        buf_str(&failure->traceback, buf_slice(&inner->traceback));
        memcpy(failure->source, inner->source, sizeof failure->source);
        failure->line = inner->line;
    }
    failure_put_frames(L, 1, failure);
    if (failure->traceback.len > 0) failure->traceback.len--;
    call_note_definition(L, failure);
    return 1;
}

static int l_enter(lua_State *L)
{
    struct script_entry entry = script_of(L)->call.entry;
    entry.body(L, entry.ctx);
    return 0;
}

/* Converts an error value that is neither string, number nor a table with a message: may run __tostring of
 * the script. A table without one is described by its contents. */
static int l_to_text(lua_State *L)
{
    if (luaL_callmeta(L, 1, "__tostring") && lua_type(L, -1) == LUA_TSTRING) return 1;
    if (lua_istable(L, 1))
        lua_pushfstring(L, "(error object %s)", buf_text(script_of(L)->features->words->describe(L, 1)));
    else
        lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, 1));
    return 1;
}

/* Appends the error value on top of the stack. Allocates nothing in Lua, as no protected call is active. */
static bool plain_text(lua_State *L, struct buf *out)
{
    if (lua_type(L, -1) == LUA_TTABLE) {
        push_ref(L, script_of(L), REF_MESSAGE_KEY);
        lua_rawget(L, -2);
        bool found = lua_type(L, -1) == LUA_TSTRING && plain_text(L, out);
        lua_pop(L, 1);
        return found;
    }
    if (lua_type(L, -1) == LUA_TNUMBER) {
        buf_printf(out, "%.14g", lua_tonumber(L, -1));
        return true;
    }
    if (lua_type(L, -1) != LUA_TSTRING) return false;
    size_t len;
    const char *text = lua_tolstring(L, -1, &len);
    buf_append(out, text, len);
    return true;
}

static void take_text(lua_State *L, struct script_failure *failure)
{
    if (!plain_text(L, &failure->text)) {
        push_ref(L, script_of(L), REF_TO_TEXT);
        lua_insert(L, -2);
        bool guarded = memory_guard(script_of(L));
        int status = lua_pcall(L, 1, 1, 0);
        memory_unguard(script_of(L), guarded);
        if (status != 0 || !plain_text(L, &failure->text))
            buf_puts(&failure->text, "(error object cannot be converted to a string)");
    }
    buf_shorten(&failure->text, 0, ERROR_TEXT_MAX);
}

int64_t call_retry_after_ms(lua_State *L)
{
    if (lua_type(L, -1) != LUA_TTABLE) return 0;
    push_ref(L, script_of(L), REF_RETRY_AFTER_KEY);
    lua_rawget(L, -2);
    double ms = lua_type(L, -1) == LUA_TNUMBER ? ceil(lua_tonumber(L, -1) * 1e3) : 0;
    lua_pop(L, 1);
    return !(ms > 0) ? 0 : ms < (double)DURATION_MAX_MS ? (int64_t)ms : DURATION_MAX_MS;
}

void call_check_stack(lua_State *L)
{
    const char *here = __builtin_frame_address(0);
    if (script_of(L)->call.stack_base - here > C_STACK_MAX)
        script_raise(L, "stack overflow: C calls and coroutines are nested too deeply");
}

void call_check_nested(lua_State *L)
{
    call_check_stack(L);
    luaL_checkstack(L, NESTED_SLOTS, "calls are nested too deeply");
}

static void enter(struct script *script, const char *phase, const char *what, const char *whose,
                  enum limit cpu, const char *stack_base)
{
    /* Handlers are never nested: an event raised inside a call is delivered after it. */
    must(script->call.depth == 0);
    if (script->brief) piece_begin(script->brief);
    script->call.depth++;
    script->report.tally.calls++;
    running_enter(script->host->running, script->id.shown_name, what);
    script->call.no_yield = phase;
    script->call.stack_base = stack_base;
    script->call.inner.error = NULL;
    script->call.called.ref = 0;
    failure_forget(&script->failure);
    /* Collect before the budget begins, as the garbage is of earlier calls; but the time counts for the turn
     * and for the figures of the script. */
    cpu_watch_enter(script->host->watch, script);
    memory_settle(script);
    budget_enter(script, &script->call.stay, cpu, what, whose);
}

void call_enter(struct script *script, const char *phase, const char *what, enum limit cpu,
                const char *stack_base)
{
    enter(script, phase, what, NULL, cpu, stack_base);
}

enum script_result call_leave(struct script *script, enum script_result result)
{
    /* The watch stops first: its signal must not find a call that is being taken down. */
    cpu_watch_leave(script->host->watch);
    script->turn.account = NULL;
    result = budget_leave(script, &script->call.stay, result);
    /* A memory error needs a collection before the next call; any limit leaves garbage that an idle
     * collection finds. */
    if (result == SCRIPT_MEMORY_LIMIT) script->heap.due = true;
    if (result == SCRIPT_MEMORY_LIMIT || result == SCRIPT_CPU_LIMIT) script->heap.spent = true;
    absent_clear(&script->call.absent);
    state_trim(script);
    script->call.depth--;
    running_leave(script->host->running);
    if (script->brief) piece_end(script->brief);
    return result;
}

void call_fail(lua_State *L)
{
    struct script *script = script_of(L);
    const char *phase = script->call.no_yield;
    script->call.no_yield = "the __tostring of an error";
    script->failure.retry_after_ms = call_retry_after_ms(L);
    take_text(L, &script->failure);
    lua_pop(L, 1);
    script->call.no_yield = phase;
    absent_explain(script, &script->failure.text);
}

/* On L, whose stack has room for three values. */
static enum script_result protect(lua_State *L, script_body *body, void *ctx)
{
    struct script *script = script_of(L);
    int handler = lua_gettop(L) + 1;
    script->call.entry = (struct script_entry){body, ctx};
    push_ref(L, script, REF_TRACEBACK);
    push_ref(L, script, REF_ENTER);
    bool guarded = memory_guard(script);
    int status = lua_pcall(L, 0, 0, handler);
    memory_unguard(script, guarded);
    lua_remove(L, handler);
    if (status == 0) return SCRIPT_OK;
    call_fail(L);
    return status == LUA_ERRMEM ? SCRIPT_MEMORY_LIMIT : SCRIPT_ERROR;
}

static enum script_result call(struct script *script, const char *phase, const char *whose, enum limit cpu,
                               script_body *body, void *ctx)
{
    enter(script, phase, phase, whose, cpu, __builtin_frame_address(0));
    return call_leave(script, protect(script->L, body, ctx));
}

enum script_result script_call(struct script *script, const char *phase, script_body *body, void *ctx)
{
    return call(script, phase, NULL, script->phase < SCRIPT_RUNNING ? LIMIT_LOAD_CPU : LIMIT_HANDLER_CPU,
                body, ctx);
}

enum script_result script_call_load(struct script *script, const char *phase, script_body *body, void *ctx)
{
    return call(script, phase, NULL, LIMIT_LOAD_CPU, body, ctx);
}

enum script_result script_call_handler(struct script *script, const char *phase, script_body *body, void *ctx)
{
    return call(script, phase, NULL, LIMIT_HANDLER_CPU, body, ctx);
}

enum script_result script_call_filter(struct script *script, const char *phase, const char *whose,
                                      script_body *body, void *ctx)
{
    return call(script, phase, whose, LIMIT_FILTER_CPU, body, ctx);
}

enum script_result script_call_rule(struct script *script, const char *id, script_body *body, void *ctx)
{
    return call(script, "a rule", id, LIMIT_HANDLER_CPU, body, ctx);
}

enum script_result script_call_nested(lua_State *L, const char *phase, const char *whose, script_body *body,
                                      void *ctx)
{
    struct script *script = script_of(L);
    const char *outer = script->call.no_yield;
    const struct script_called called = script->call.called;
    struct budget_call stay;
    script->call.no_yield = phase;
    script->call.called.ref = 0;
    budget_enter(script, &stay, LIMIT_FILTER_CPU, phase, whose);
    enum script_result result = budget_leave(script, &stay, protect(L, body, ctx));
    script->call.no_yield = outer;
    script->call.called = called;
    return result;
}

const char *script_result_name(enum script_result result)
{
    static const char *const names[] = {"ok", "yielded", "error", "cpu_limit", "memory_limit", "cancelled"};
    return names[result];
}

void call_setup(lua_State *L)
{
    lua_pushcfunction(L, l_traceback);
    set_ref(L, REF_TRACEBACK);
    lua_pushcfunction(L, l_enter);
    set_ref(L, REF_ENTER);
    lua_pushcfunction(L, l_to_text);
    set_ref(L, REF_TO_TEXT);
    lua_pushliteral(L, "message");
    set_ref(L, REF_MESSAGE_KEY);
    lua_pushliteral(L, "retry_after");
    set_ref(L, REF_RETRY_AFTER_KEY);
    lua_pushboolean(
        L, 1); /* the registry's list of free slots exists from here on: giving one back allocates nothing */
    luaL_unref(L, LUA_REGISTRYINDEX, luaL_ref(L, LUA_REGISTRYINDEX));
}
