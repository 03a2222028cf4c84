/* The calls of what was given to k8s.on_leader; see leader_functions.h. */
#include "script/handlers/leader_functions.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "script/handlers/handler.h"
#include "script/handlers/initial_sync.h"
#include "script/handlers/leading.h"
#include "script/vm/args.h"
#include "script/vm/task.h"

/* A pair given to k8s.on_leader. */
struct leader_functions {
    TAILQ_ENTRY(leader_functions) link;
    struct script *script;
    int start, stop;       /* in the registry */
    struct task *started;  /* the call of `start` that waits; NULL: none */
    struct task *stopping; /* the same of `stop` */
    bool was_started;      /* and `stop` was not called since */
    bool waits;            /* for the script's informers (initial_sync.h) */
    char *name;            /* "scripts/x.lua:12", where it was given */
};

/* For the write log. */
static void describe(void *ctx, struct buf *caller, struct buf *trigger)
{
    const struct leader_functions *f = ctx;
    buf_puts(caller, f->name);
    buf_puts(trigger, "leadership");
}

static void begin(struct leader_functions *f);

static void report(struct leader_functions *f, const char *which, enum script_result result)
{
    if (result == SCRIPT_OK || result == SCRIPT_CANCELLED) return;
    failure_log_add(NULL, f->script, SCRIPT_LEADER, result,
                    (const struct log_field[]){F("function", which), F("given", f->name), {.key = NULL}});
}

static void on_started(void *ctx, enum script_result result)
{
    struct leader_functions *f = ctx;
    f->started = NULL;
    report(f, "start", result);
}

/* Only the end of the engine cancels one, or that of a generation that drains, which the engine tells of: it
 * has undone less than its script means it to. */
static void on_stopped(void *ctx, enum script_result result)
{
    struct leader_functions *f = ctx;
    f->stopping = NULL;
    report(f, "stop", result);
    if (result == SCRIPT_CANCELLED && f->script->phase != SCRIPT_DRAINING)
        log_warn("Cancelled k8s.on_leader function that did not finish within --shutdown-timeout",
                 F("script", f->script->id.name), F("function", "stop"), F("given", f->name));
    if (f->script->own.leading->notified && result != SCRIPT_CANCELLED) begin(f);
    leading_settle(f->script);
}

/* A start waits for the end of the stop before it, and of those of the generation before. */
static void begin(struct leader_functions *f)
{
    if (f->was_started || f->stopping || f->script->own.leading->waits_for) return;
    if (f->waits && !initial_sync_reached(f->script)) return;
    f->was_started = true;
    const struct task_call call = {.what = "a start function of k8s.on_leader",
                                   .function = f->start,
                                   .fence = f->script->own.leading->fence,
                                   .done = on_started,
                                   .describe = describe,
                                   .ctx = f};
    enum script_result result = task_run(f->script, &call, &f->started);
    if (result != SCRIPT_YIELDED) report(f, "start", result);
}

/* L-4 (better): only what was started is stopped. */
static void end(struct leader_functions *f)
{
    if (!f->was_started) return;
    f->was_started = false;
    if (f->stop == LUA_NOREF) return;
    const struct task_call call = {.what = "a stop function of k8s.on_leader",
                                   .function = f->stop,
                                   .finishes = true,
                                   .done = on_stopped,
                                   .describe = describe,
                                   .ctx = f};
    enum script_result result = task_run(f->script, &call, &f->stopping);
    if (result != SCRIPT_YIELDED) report(f, "stop", result);
}

/* --- of all pairs */

void leader_functions_begin(struct script *script)
{
    struct leader_functions *f;
    TAILQ_FOREACH (f, &script->own.leading->functions, link) begin(f);
}

void leader_functions_cancel(struct script *script)
{
    struct leader_functions *f;
    TAILQ_FOREACH (f, &script->own.leading->functions, link)
        if (f->started) task_cancel(f->started);
}

void leader_functions_end(struct script *script)
{
    struct leader_functions *f;
    TAILQ_FOREACH (f, &script->own.leading->functions, link) end(f);
}

size_t leading_count_stopping(const struct script *script)
{
    const struct leader_functions *f;
    size_t count = 0;
    TAILQ_FOREACH (f, &script->own.leading->functions, link) count += f->stopping != NULL;
    return count;
}

void leading_add_functions(lua_State *L, bool waits)
{
    struct script *script = script_of(L);
    struct leading *leading = script->own.leading;
    lua_Debug ar;
    if (leading->count >= LEADER_FUNCTIONS_MAX)
        script_raise(L, "k8s.on_leader may be called at most %d times", LEADER_FUNCTIONS_MAX);
    bool known = script_where(L, &ar);
    int stop = lua_isnil(L, -1) ? (lua_pop(L, 1), LUA_NOREF) : luaL_ref(L, LUA_REGISTRYINDEX);
    int start = luaL_ref(L, LUA_REGISTRYINDEX);
    struct leader_functions *f = NEW(struct leader_functions);
    *f = (struct leader_functions){
        .script = script,
        .start = start,
        .stop = stop,
        .waits = waits,
        .name = known ? xasprintf("%s:%d", ar.short_src, ar.currentline) : xstrdup("k8s.on_leader"),
    };
    script->informers.awaited |= waits;
    TAILQ_INSERT_TAIL(&leading->functions, f, link);
    leading->count++;
}

void leader_functions_clear(struct script *script)
{
    struct leader_functions *f;
    while ((f = TAILQ_FIRST(&script->own.leading->functions))) {
        TAILQ_REMOVE(&script->own.leading->functions, f, link);
        free(f->name);
        free(f);
    }
}
