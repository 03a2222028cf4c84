/* raw.time: what happens later. */
#include <stdlib.h>

#include "base/mem.h"
#include "script/args.h"
#include "script/bind.h"
#include "script/task.h"

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
    static const struct task_wait_ops ops = {push_nothing, drop_sleep};
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

void bind_time(lua_State *L)
{
    static const luaL_Reg verbs[] = {{"sleep", l_sleep}, {"now", l_now}, {"ago", l_ago}, {NULL, NULL}};
    lua_newtable(L);
    luaL_register(L, NULL, verbs);
    lua_setfield(L, -2, "time");
}
