/* raw.on_stop: what a script does last; see stop_functions.h. */
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "script/inventory/bind_inventory.h"
#include "script/inventory/function_hash.h"
#include "script/vm/args.h"
#include "script/vm/failure_log.h"
#include "script/vm/feature.h"
#include "script/vm/task.h"
#include "script/work/stop_functions.h"

struct stop_function {
    TAILQ_ENTRY(stop_function) link;
    struct script *script;
    int function;       /* in the registry */
    const char *reason; /* of the call in flight */
    struct task *task;  /* the call that waits; NULL: none */
    char *place;        /* "scripts/x.lua:12", where it was given */
};

static const char verb[] = "k8s.on_stop";

static void describe(void *ctx, struct buf *caller, struct buf *trigger)
{
    const struct stop_function *f = ctx;
    buf_puts(caller, f->place);
    buf_puts(trigger, f->reason);
}

static void ended(void *ctx, enum script_result result)
{
    struct stop_function *f = ctx;
    f->task = NULL;
    if (result == SCRIPT_CANCELLED)
        log_warn("Cancelled k8s.on_stop function that did not finish in time",
                 F("script", f->script->id.name), F("reason", f->reason), F("given", f->place));
    else if (result != SCRIPT_OK)
        failure_log_add(
            NULL, f->script, SCRIPT_STOP, result,
            (const struct log_field[]){F("given", f->place), F("reason", f->reason), {.key = NULL}});
}

static void push_reason(lua_State *L, void *ctx)
{
    const struct stop_function *f = ctx;
    lua_pushstring(L, f->reason);
}

/* `no_yield`: why they may not wait; NULL: they may. */
static void call_all(struct script *script, const char *reason, const char *no_yield)
{
    struct stop_function *f;
    TAILQ_FOREACH (f, &script->own.stops->list, link) {
        f->reason = reason;
        const struct task_call call = {.what = "a function of k8s.on_stop",
                                       .cpu = no_yield ? LIMIT_LOAD_CPU : LIMIT_HANDLER_CPU,
                                       .function = f->function,
                                       .prepare = push_reason,
                                       .prepare_ctx = f,
                                       .no_yield = no_yield,
                                       .finishes = true,
                                       .done = ended,
                                       .describe = describe,
                                       .ctx = f};
        enum script_result result = task_run(script, &call, &f->task);
        if (result != SCRIPT_YIELDED) ended(f, result);
    }
}

static void end(struct script *script, const char *reason)
{
    if (script->own.stops->ended++) return;
    call_all(script, reason, NULL);
}

static void stop(struct script *script)
{
    end(script, "shutdown");
}

void stop_functions_removed(struct script *script)
{
    end(script, "removed");
}

void stop_functions_reload(struct script *script, uint64_t generation)
{
    if (script->own.stops->told_of == generation) return;
    script->own.stops->told_of = generation;
    call_all(script, "reload", "a function of k8s.on_stop at a reload");
}

/* on_stop(function): while the script loads. */
static int l_on_stop(lua_State *L)
{
    struct script *script = script_of(L);
    struct stop_functions *stops = script->own.stops;
    char hash[FUNCTION_HASH_LEN + 1];
    lua_Debug ar;
    arg_loading(L, verb);
    arg_function(L, 1, "k8s.on_stop: the argument");
    if (stops->count >= STOP_FUNCTIONS_MAX)
        script_raise(L, "k8s.on_stop may be called at most %d times", STOP_FUNCTIONS_MAX);
    bool known = script_where(L, &ar);
    lua_settop(L, 1);
    function_hash(L, 1, hash);
    inventory_note(L, INVENTORY_STOP, STR("k8s.on_stop"), str_of(hash));
    int function = luaL_ref(L, LUA_REGISTRYINDEX);
    struct stop_function *f = NEW(struct stop_function);
    *f = (struct stop_function){.script = script,
                                .function = function,
                                .place =
                                    known ? xasprintf("%s:%d", ar.short_src, ar.currentline) : xstrdup(verb)};
    TAILQ_INSERT_TAIL(&stops->list, f, link);
    stops->count++;
    return 0;
}

static void bind_stop(lua_State *L)
{
    lua_pushcfunction(L, l_on_stop);
    lua_setfield(L, -2, "on_stop");
}

static void open(struct script *script)
{
    TAILQ_INIT(&script->own.stops->list);
}

static void close(struct script *script)
{
    struct stop_function *f;
    while ((f = TAILQ_FIRST(&script->own.stops->list))) {
        TAILQ_REMOVE(&script->own.stops->list, f, link);
        free(f->place);
        free(f);
    }
}

const struct feature feature_stop = {
    .parts = {"on_stop"}, .bind = bind_stop, FEATURE_OWNS(stops), .open = open, .stop = stop, .close = close};
