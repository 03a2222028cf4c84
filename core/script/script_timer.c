/* Timers of scripts; see script_timer.h. */
#include "script/script_timer.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"
#include "script/args.h"
#include "script/handler.h"

static void start(struct script_timer *t)
{
    struct clock *clock = script_clock(t->script);
    int64_t now = clock_now_ms(clock);
    if (t->due_ms < now) t->due_ms = now;
    timer_start(&t->timer, clock, t->due_ms - now);
}

void script_timer_unref(struct script_timer *t)
{
    must(t->refs > 0);
    if (--t->refs > 0) return;
    report_end(&t->report);
    free(t->name);
    free(t->key);
    free(t);
}

/* A tick has ended. The one that fell due meanwhile comes at once, and those that it hides do not come. */
static void ended(struct script_timer *t, enum script_result result)
{
    t->running = false;
    t->task = NULL;
    if (result != SCRIPT_OK && result != SCRIPT_CANCELLED) {
        if (!t->stopped && !t->script->failure.line) report_place(&t->report, t->script->L, t->function);
        report_failure(&t->report, t->script, SCRIPT_TIMER, result,
                       (const struct log_field[]){F("timer", t->name), {.key = NULL}});
    }
    if (!t->period_ms) script_timer_stop(t->script->L, t);
    if (t->stopped) return;
    t->due_ms += t->period_ms;
    start(t);
}

static void on_done(void *ctx, enum script_result result)
{
    struct script_timer *t = ctx;
    ended(t, result);
    script_timer_unref(t);
}

/* For the audit trail. */
static void describe(void *ctx, struct buf *caller, struct buf *trigger)
{
    const struct script_timer *t = ctx;
    buf_puts(caller, t->name);
    buf_puts(trigger, "timer");
}

/* It is the leader's to make. */
static void pass_over(struct script_timer *t)
{
    if (!t->period_ms) {
        script_timer_stop(t->script->L, t);
        return;
    }
    t->due_ms += t->period_ms;
    start(t);
}

void script_timers_stop_leading(struct script *script)
{
    struct script_timer *t, *next;
    for (t = TAILQ_FIRST(&script->timers); t; t = next) {
        next = TAILQ_NEXT(t, link);
        if (t->leader && t->task) task_cancel(t->task);
    }
}

static void on_tick(struct timer *timer)
{
    struct script_timer *t = container_of(timer, struct script_timer, timer);
    struct script *script = t->script;
    if (script->phase == SCRIPT_STOPPING) return;
    if (t->leader && !script_leads(script)) {
        pass_over(t);
        return;
    }
    t->refs++; /* for the tick */
    t->running = true;
    const struct task_call call = {.what = "a timer",
                                   .function = t->function,
                                   .fence = t->leader ? leading_fence(script) : NULL,
                                   .done = on_done,
                                   .describe = describe,
                                   .ctx = t};
    enum script_result result = task_run(script, &call, &t->task);
    if (result != SCRIPT_YIELDED) on_done(t, result);
    handlers_attach(script);
}

struct script_timer *script_timer_new(lua_State *L, const char *verb, int64_t delay_ms, bool period,
                                      bool leader, const char *key)
{
    struct script *script = script_of(L);
    lua_Debug ar;
    if (script->timer_count >= TIMERS_MAX)
        script_raise(L, "%s: the limit timers: there are %d already", verb, TIMERS_MAX);
    bool known = script_where(L, &ar);
    int function = luaL_ref(L, LUA_REGISTRYINDEX);
    struct script_timer *t = NEW(struct script_timer);
    *t = (struct script_timer){
        .script = script,
        .timer.fn = on_tick,
        .period_ms = period ? delay_ms : 0,
        .leader = leader,
        .due_ms = clock_now_ms(script_clock(script)) + delay_ms, /* also of one that starts later */
        .function = function,
        .refs = 2,
        .name = known ? xasprintf("%s:%d", ar.short_src, ar.currentline) : xstrdup(verb),
        .key = key ? xstrdup(key) : NULL,
    };
    TAILQ_INSERT_TAIL(&script->timers, t, link);
    script->timer_count++;
    if (script->phase == SCRIPT_RUNNING) start(t);
    return t;
}

bool script_timer_stop(lua_State *L, struct script_timer *t)
{
    if (t->stopped) return false;
    bool was_to_come = t->period_ms || !t->running;
    t->stopped = true;
    timer_cancel(&t->timer);
    luaL_unref(L, LUA_REGISTRYINDEX, t->function);
    TAILQ_REMOVE(&t->script->timers, t, link);
    t->script->timer_count--;
    script_timer_unref(t);
    return was_to_come;
}

void script_timers_start(struct script *script)
{
    struct script_timer *t;
    TAILQ_FOREACH (t, &script->timers, link) start(t);
}

void script_timers_clear(struct script *script)
{
    struct script_timer *t;
    while ((t = TAILQ_FIRST(&script->timers))) script_timer_stop(script->L, t);
}
