/* raw.time: waiting, timers and the clock. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"
#include "script/vm/task.h"
#include "script/work/script_timer.h"

struct sleep {
    struct task_wait wait;
    struct timer timer;
};

static void on_awake(struct timer *timer)
{
    task_wake(&container_of(timer, struct sleep, timer)->wait);
}

static int push_nothing(lua_State *L, struct task_wait *wait)
{
    return 0;
}

static void drop_sleep(struct task_wait *wait)
{
    struct sleep *sleep = container_of(wait, struct sleep, wait);
    timer_cancel(&sleep->timer);
    free(sleep);
}

/* sleep(duration) */
static int l_sleep(lua_State *L)
{
    static const struct task_wait_ops ops = {push_nothing, drop_sleep, .finishes = false};
    int64_t delay_ms = arg_duration_ms(L, 1, "k8s.sleep: the duration");
    task_check(L, "k8s.sleep");
    struct sleep *sleep = NEW(struct sleep);
    sleep->timer.fn = on_awake;
    timer_start(&sleep->timer, script_clock(script_of(L)), delay_ms);
    return task_yield(L, &sleep->wait, &ops);
}

/* Seconds since the epoch, with fractions. */
static void push_time(lua_State *L, lua_Number offset_s)
{
    lua_pushnumber(L, (lua_Number)clock_wall_us(script_clock(script_of(L))) / 1e6 + offset_s);
}

static int l_now(lua_State *L)
{
    push_time(L, 0);
    return 1;
}

/* ago(duration): the time that was then. */
static int l_ago(lua_State *L)
{
    push_time(L, -(lua_Number)arg_duration_ms(L, 1, "k8s.ago: the duration") / 1e3);
    return 1;
}

/* --- timers */

enum { PERIOD_MIN_MS = 10 };

struct timer_box *timer_box_new(lua_State *L)
{
    struct timer_box *box = lua_newuserdata(L, sizeof *box);
    box->timer = NULL;
    class_set(L, script_of(L), CLASS_TIMER);
    return box;
}

/* (duration, function, leader, key, name of the duration or nil) gives a timer. */
static int new_timer(lua_State *L, const char *verb, bool period)
{
    char what[64];
    snprintf(what, sizeof what, "%s: the duration", verb);
    if (!lua_isnoneornil(L, 5)) snprintf(what, sizeof what, "%s", arg_str(L, 5, "the name").p);
    int64_t delay_ms = arg_duration_ms(L, 1, what);
    if (period && delay_ms < PERIOD_MIN_MS) script_raise(L, "%s must be at least %d ms", what, PERIOD_MIN_MS);
    snprintf(what, sizeof what, "%s: the second argument", verb);
    arg_function(L, 2, what);
    lua_settop(L, 4);
    const char *key = arg_str_opt(L, 4, "the key").p;
    struct timer_box *box = timer_box_new(L);
    lua_pushvalue(L, 2);
    box->timer = script_timer_new(L, verb, delay_ms, period, lua_toboolean(L, 3), key);
    return 1;
}

static int l_every(lua_State *L)
{
    return new_timer(L, "k8s.every", true);
}

static int l_after(lua_State *L)
{
    return new_timer(L, "k8s.after", false);
}

static int l_timer_cancel(lua_State *L)
{
    struct timer_box *box = class_self(L, CLASS_TIMER, "cancel");
    lua_pushboolean(L, script_timer_stop(L, box->timer));
    return 1;
}

static int l_timer_gc(lua_State *L)
{
    struct timer_box *box = lua_touserdata(L, 1);
    if (box->timer) script_timer_unref(box->timer);
    box->timer = NULL;
    return 0;
}

static int l_timer_tostring(lua_State *L)
{
    struct timer_box *box = class_self(L, CLASS_TIMER, "tostring");
    lua_pushfstring(L, "timer %s", box->timer->name);
    return 1;
}

static const luaL_Reg timer_methods[] = {
    {"cancel", l_timer_cancel},
    {"stop", l_timer_cancel},
    {NULL, NULL},
};

static void bind_time(lua_State *L)
{
    static const luaL_Reg verbs[] = {{"sleep", l_sleep}, {"now", l_now},     {"ago", l_ago},
                                     {"every", l_every}, {"after", l_after}, {NULL, NULL}};
    static const luaL_Reg meta[] = {{"__tostring", l_timer_tostring}, {"__gc", l_timer_gc}, {NULL, NULL}};
    class_define(L, CLASS_TIMER, "timer", meta, timer_methods);
    lua_pop(L, 1);
    lua_newtable(L);
    luaL_register(L, NULL, verbs);
    lua_setfield(L, -2, "time");
    bind_cron(L);
}

const struct feature feature_time = {.parts = {"time"},
                                     .bind = bind_time,
                                     .classes = CLASS_BIT(CLASS_TIMER),
                                     .stop_leading = script_timers_stop_leading,
                                     FEATURE_OWNS(timers),
                                     .open = script_timers_init,
                                     .turn = script_timers_turn,
                                     .stop = script_timers_clear,
                                     .end = script_timers_clear,
                                     .close = script_zones_clear};
