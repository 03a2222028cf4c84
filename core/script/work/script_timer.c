/* Timers of scripts; see script_timer.h. */
#include "script/work/script_timer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "script/handlers/handler.h"
#include "script/handlers/leading.h"
#include "script/vm/args.h"
#include "script/vm/memory.h"
#include "script/vm/quarantine.h"
#include "script/vm/turns.h"

/* Estimate of the C memory of a timer with its strings and quarantine, counted as the script's: a script may
 * keep any number of cancelled timers. */
enum { TIMER_BYTES = sizeof(struct script_timer) + 256 };

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
    memory_note(t->script, -(ptrdiff_t)TIMER_BYTES);
    failure_log_flush(&t->report);
    quarantine_clear(&t->quarantine);
    zone_unref(t->plan.zone);
    free(t->schedule);
    free(t->name);
    free(t->key);
    free(t);
}

/* --- ticks */

/* Handles the end of a tick. One that fell due meanwhile starts at once; further ones are skipped. */
static void ended(struct script_timer *t, enum script_result result)
{
    if (result != SCRIPT_OK && result != SCRIPT_CANCELLED) {
        if (!t->stopped) failure_log_set_place(&t->report, t->script->L, t->function);
        failure_log_add(&t->report, t->script, SCRIPT_TIMER, result,
                        (const struct log_field[]){F("timer", t->name), {.key = NULL}});
    }
    quarantine_note(&t->quarantine, QUARANTINE_CALL, result);
    if (t->kind == TIMER_AFTER) script_timer_stop(t->script->L, t);
    if (t->stopped) return;
    if (t->kind == TIMER_CRON) {
        script_cron_ended(t);
        return;
    }
    t->due_ms += t->period_ms;
    start(t);
}

/* --- ticks in flight of an earlier generation */

static void unfollow(struct script_timer *t)
{
    struct script_timer *old = t->follows;
    if (!old) return;
    old->followed_by = NULL;
    t->follows = NULL;
    script_timer_unref(old);
}

/* Makes the timer wait for ticks in flight of the one that it replaces, so that two generations never run at
 * once. If that one was itself waiting, it has started none, and its predecessor counts. */
static void follow(struct script_timer *t, struct script_timer *before)
{
    struct script_timer *old = before->follows ? before->follows : before;
    if (LIST_EMPTY(&old->ticks) && LIST_EMPTY(&old->by_hand)) return;
    old->refs++;
    if (old->followed_by) unfollow(old->followed_by);
    old->followed_by = t;
    t->follows = old;
}

void script_timer_let_next(struct script_timer *t)
{
    struct script_timer *next = t->followed_by;
    if (!next || !LIST_EMPTY(&t->ticks) || !LIST_EMPTY(&t->by_hand)) return;
    unfollow(next);
    if (next->kind == TIMER_CRON)
        script_cron_ended(next);
    else if (next->waits_for_previous)
        start(next);
    next->waits_for_previous = false;
}

static void on_done(void *ctx, enum script_result result)
{
    struct script_tick *tick = ctx;
    struct script_timer *t = tick->timer;
    LIST_REMOVE(tick, link);
    free(tick);
    ended(t, result);
    script_timer_let_next(t);
    script_timer_unref(t);
}

/* Describes the call for the write log. */
static void describe(void *ctx, struct buf *caller, struct buf *trigger)
{
    const struct script_tick *tick = ctx;
    buf_puts(caller, tick->timer->name);
    buf_puts(trigger, tick->timer->kind == TIMER_CRON ? "cron" : "timer");
}

void script_timer_tick(struct script_timer *t)
{
    struct script *script = t->script;
    if (quarantine_skips(&t->quarantine)) {
        ended(t, SCRIPT_CANCELLED);
        return;
    }
    struct script_tick *tick = NEW(struct script_tick);
    tick->timer = t;
    t->refs++;
    LIST_INSERT_HEAD(&t->ticks, tick, link);
    const struct task_call call = {.what = "a timer",
                                   .function = t->function,
                                   .fence = t->leader ? leading_fence(script) : NULL,
                                   .done = on_done,
                                   .describe = describe,
                                   .ctx = tick};
    enum script_result result = task_run(script, &call, &tick->task);
    if (result != SCRIPT_YIELDED) on_done(tick, result);
    handlers_attach(script);
}

/* Only the leader makes this call. */
static void pass_over(struct script_timer *t)
{
    if (t->kind == TIMER_AFTER) {
        script_timer_stop(t->script->L, t);
        return;
    }
    t->due_ms += t->period_ms;
    start(t);
}

void script_timer_cancel_ticks(struct script_timer *t)
{
    struct script_tick *tick, *next;
    t->refs++; /* a tick may hold the last reference */
    for (tick = LIST_FIRST(&t->ticks); tick; tick = next) {
        next = LIST_NEXT(tick, link);
        if (tick->task) task_cancel(tick->task);
    }
    script_timer_unref(t);
}

void script_timers_stop_leading(struct script *script)
{
    struct script_timer *t, *next;
    for (t = TAILQ_FIRST(&script->own.timers->list); t; t = next) {
        next = TAILQ_NEXT(t, link);
        if (t->leader) script_timer_cancel_ticks(t);
    }
}

static void leave_due(struct script_timer *t)
{
    if (!t->due) return;
    t->due = false;
    TAILQ_REMOVE(&t->script->own.timers->due, t, due_link);
    t->script->own.timers->due_count--;
}

static void on_due(struct timer *timer)
{
    struct script_timer *t = container_of(timer, struct script_timer, timer);
    if (t->due || t->script->phase != SCRIPT_RUNNING) return;
    t->due = true;
    TAILQ_INSERT_TAIL(&t->script->own.timers->due, t, due_link);
    t->script->own.timers->due_count++;
    turns_schedule(t->script);
}

static void come(struct script_timer *t)
{
    if (t->script->phase != SCRIPT_RUNNING) return;
    if (t->kind == TIMER_CRON)
        script_cron_check(t);
    else if (t->leader && !script_leads(t->script))
        pass_over(t);
    else if (t->follows)
        t->waits_for_previous = true;
    else
        script_timer_tick(t);
}

/* A tick may stop any of them. */
void script_timers_turn(struct script *script)
{
    struct script_timers *timers = script->own.timers;
    struct script_timer *t;
    for (size_t left = timers->due_count; left > 0 && (t = TAILQ_FIRST(&timers->due)); left--) {
        leave_due(t);
        come(t);
        if (turns_expired(script)) break;
    }
    if (timers->due_count > 0) turns_schedule(script);
}

/* --- the script's verbs */

/* Timers of a script that loads start with script_timers_start. */
static void start_if_running(struct script_timer *t)
{
    if (t->script->phase != SCRIPT_RUNNING) return;
    if (t->kind == TIMER_CRON)
        script_cron_start(t);
    else
        start(t);
}

static struct script_timer *add(lua_State *L, const char *verb, enum timer_kind kind, bool leader,
                                const char *key)
{
    struct script *script = script_of(L);
    lua_Debug ar;
    arg_room(L, verb, LIMIT_TIMERS, script->own.timers->count);
    bool known = script_where(L, &ar);
    int function = luaL_ref(L, LUA_REGISTRYINDEX);
    struct script_timer *t = NEW(struct script_timer);
    memory_note(script, TIMER_BYTES);
    *t = (struct script_timer){
        .script = script,
        .timer.fn = on_due,
        .kind = kind,
        .leader = leader,
        .function = function,
        .refs = 2,
        .name = known ? xasprintf("%s:%d", ar.short_src, ar.currentline) : xstrdup(verb),
        .key = key ? xstrdup(key) : NULL,
    };
    char *id = xasprintf("timer %s", t->name);
    quarantine_init(&t->quarantine, script, id, NULL);
    free(id);
    TAILQ_INSERT_TAIL(&script->own.timers->list, t, link);
    script->own.timers->count++;
    return t;
}

struct script_timer *script_timer_new(lua_State *L, const char *verb, int64_t delay_ms, bool period,
                                      bool leader, const char *key)
{
    struct script_timer *t = add(L, verb, period ? TIMER_EVERY : TIMER_AFTER, leader, key);
    t->period_ms = delay_ms;
    t->due_ms =
        clock_now_ms(script_clock(t->script)) + delay_ms; /* counts from now even if it starts later */
    start_if_running(t);
    return t;
}

struct script_timer *script_timer_new_cron(lua_State *L, const struct cron_options *options)
{
    struct clock *clock = script_clock(script_of(L));
    struct script_timer *t = add(L, "k8s.cron", TIMER_CRON, options->leader, options->key);
    t->plan = (struct cron_schedule){
        .cron = options->cron, .zone = zone_ref(options->zone), .late_s = options->late_s};
    t->schedule = xstrndup(options->schedule.p, options->schedule.n);
    t->overlap = options->overlap;
    cron_schedule_init(&t->plan, clock_wall_us(clock), clock_now_ms(clock));
    start_if_running(t);
    return t;
}

static bool has_tick_to_come(const struct script_timer *t)
{
    return t->kind != TIMER_AFTER || LIST_EMPTY(&t->ticks);
}

bool script_timer_stop(lua_State *L, struct script_timer *t)
{
    if (t->stopped) return false;
    bool was_to_come = has_tick_to_come(t);
    t->stopped = true;
    timer_cancel(&t->timer);
    leave_due(t);
    unfollow(t);
    luaL_unref(L, LUA_REGISTRYINDEX, t->function);
    quarantine_end(&t->quarantine);
    TAILQ_REMOVE(&t->script->own.timers->list, t, link);
    t->script->own.timers->count--;
    script_timer_unref(t);
    return was_to_come;
}

void script_timers_start(struct script *script)
{
    struct script_timer *t;
    TAILQ_FOREACH (t, &script->own.timers->list, link) start_if_running(t);
}

void script_timers_init(struct script *script)
{
    TAILQ_INIT(&script->own.timers->list);
    TAILQ_INIT(&script->own.timers->due);
}

void script_timers_clear(struct script *script)
{
    struct script_timer *t;
    while ((t = TAILQ_FIRST(&script->own.timers->list))) script_timer_stop(script->L, t);
}

/* --- for the status and the handover */

static void put_duration(struct buf *out, int64_t ms)
{
    if (ms % 1000)
        buf_printf(out, "%" PRId64 "ms", ms);
    else if (ms % 60000)
        buf_printf(out, "%" PRId64 "s", ms / 1000);
    else if (ms % 3600000)
        buf_printf(out, "%" PRId64 "m", ms / 60000);
    else
        buf_printf(out, "%" PRId64 "h", ms / 3600000);
}

void script_timer_describe(const struct script_timer *t, struct buf *out)
{
    if (t->kind == TIMER_CRON) {
        buf_printf(out, "cron %s", t->schedule);
        if (*zone_name(t->plan.zone)) buf_printf(out, " %s", zone_name(t->plan.zone));
        return;
    }
    buf_puts(out, t->kind == TIMER_EVERY ? "every " : "after ");
    put_duration(out, t->period_ms);
}

int64_t script_timer_due_us(const struct script_timer *t)
{
    if (t->stopped) return 0;
    if (t->kind == TIMER_CRON) return t->plan.next_s == INT64_MAX ? 0 : t->plan.next_s * 1000000;
    if (!timer_running(&t->timer) && !t->due) return 0;
    struct clock *clock = script_clock(t->script);
    return clock_wall_us(clock) + (t->due_ms - clock_now_ms(clock)) * 1000;
}

void script_timer_take_due(struct script_timer *t, const struct script_timer *old)
{
    must(t->kind == old->kind);
    t->plan.next_s = old->plan.next_s;
    t->queued = old->queued;
    t->skipped = old->skipped;
    t->due_ms = LIST_EMPTY(&old->ticks) ? old->due_ms : old->due_ms + old->period_ms;
    start_if_running(t);
}

/* Finds the timer with the key. Both lists are in order of creation, so a search that continues where the
 * last one ended usually takes one step. */
static struct script_timer *find(const struct script *script, const struct script_timer *t,
                                 struct script_timer **at)
{
    struct script_timer *one = *at;
    for (size_t left = t->key ? script->own.timers->count : 0; left > 0; left--) {
        one = one ? TAILQ_NEXT(one, link) : NULL;
        if (!one) one = TAILQ_FIRST(&script->own.timers->list);
        if (one->key && one->kind == t->kind && strcmp(one->key, t->key) == 0) return *at = one;
    }
    return NULL;
}

size_t script_timers_handover(struct script *from, struct script *to)
{
    struct script_timer *t, *before, *at = NULL;
    size_t cancelled = 0;
    int64_t now_ms = clock_now_ms(script_clock(to));
    TAILQ_FOREACH (t, &to->own.timers->list, link) {
        before = find(from, t, &at);
        if (before) follow(t, before);
        /* A timer under the same key keeps its due time: a reload must not postpone a tick for ever. */
        if (before && has_tick_to_come(before)) {
            script_timer_take_due(t, before);
        } else {
            t->due_ms = now_ms + t->period_ms;
            start_if_running(t);
        }
    }
    TAILQ_FOREACH (t, &from->own.timers->list, link) cancelled += !t->key && has_tick_to_come(t);
    script_timers_clear(from);
    return cancelled;
}
