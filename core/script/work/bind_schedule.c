/* raw.schedule: schedules as values, which timers of k8s.cron use too. */
#include <math.h>
#include <stdlib.h>

#include "base/civil.h"
#include "base/time/cron.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"
#include "script/work/script_timer.h"

enum { BETWEEN_MAX = 10000 };

struct schedule {
    struct cron cron;
    const struct zone *zone; /* of the script's timers */
};

static const struct schedule *self(lua_State *L, const char *method)
{
    return class_self(L, CLASS_SCHEDULE, method);
}

/* new(schedule, zone or nil) */
static int l_schedule_new(lua_State *L)
{
    struct str text = arg_str(L, 1, "k8s.schedule: the schedule"), tz = arg_str_opt(L, 2, "k8s.schedule: tz");
    struct schedule *schedule = lua_newuserdata(L, sizeof *schedule);
    struct err err;
    if (!cron_parse(text, &schedule->cron, &err)) script_raise(L, "k8s.schedule: %s", err.text);
    schedule->zone = script_zone(script_of(L), tz, &err);
    if (!schedule->zone) script_raise(L, "k8s.schedule: %s", err.text);
    class_set(L, script_of(L), CLASS_SCHEDULE);
    return 1;
}

/* A number of seconds, or a time as objects have it. Without it: now. */
static int64_t time_arg(lua_State *L, int idx, const char *what)
{
    int64_t seconds;
    if (lua_isnoneornil(L, idx)) return clock_wall_us(script_clock(script_of(L))) / 1000000;
    if (lua_type(L, idx) == LUA_TNUMBER) {
        lua_Number number = lua_tonumber(L, idx);
        if (!(fabs(number) < 1e15)) script_raise(L, "%s: the number is no time", what);
        return (int64_t)floor(number);
    }
    if (lua_type(L, idx) != LUA_TSTRING)
        script_raise(L, "%s must be a number of seconds or a time of RFC 3339, not %s", what,
                     luaL_typename(L, idx));
    struct str text = arg_str(L, idx, what);
    if (!civil_read_utc(text, &seconds))
        script_raise(L, "%s: \"%.40s\" is not a time of RFC 3339", what, text.p);
    return seconds;
}

static int push_seconds(lua_State *L, int64_t seconds)
{
    if (seconds == INT64_MAX)
        lua_pushnil(L);
    else
        lua_pushnumber(L, (lua_Number)seconds);
    return 1;
}

/* schedule:next(after): the first time later than that. */
static int l_schedule_next(lua_State *L)
{
    const struct schedule *schedule = self(L, "next");
    return push_seconds(L,
                        cron_next(&schedule->cron, schedule->zone, time_arg(L, 2, "schedule:next: after")));
}

/* The last time up to `until`: looks back twice as far until there is one, then goes forward. */
static int64_t last_until(lua_State *L, const struct schedule *schedule, int64_t until)
{
    enum { BACK_MAX = 13 * 366 * DAY_S };
    int64_t found = INT64_MAX;
    for (int64_t back = 60; back < BACK_MAX && found == INT64_MAX; back *= 2) {
        int64_t next = cron_next(&schedule->cron, schedule->zone, until - back);
        for (; next <= until; next = cron_next(&schedule->cron, schedule->zone, next)) {
            found = next;
            budget_poll(L, script_of(L));
        }
    }
    return found;
}

/* schedule:last(until): the last time up to that, nil if there is none within twelve years. */
static int l_schedule_last(lua_State *L)
{
    const struct schedule *schedule = self(L, "last");
    return push_seconds(L, last_until(L, schedule, time_arg(L, 2, "schedule:last: upto")));
}

/* schedule:between(from, to): all times later than `from` and up to `to`. */
static int l_schedule_between(lua_State *L)
{
    const struct schedule *schedule = self(L, "between");
    int64_t from = time_arg(L, 2, "schedule:between: from"), to = time_arg(L, 3, "schedule:between: to");
    int count = 0;
    lua_newtable(L);
    for (int64_t at = from; (at = cron_next(&schedule->cron, schedule->zone, at)) <= to;) {
        budget_poll(L, script_of(L));
        if (count == BETWEEN_MAX)
            script_raise(L, "schedule:between: more than %d times; ask for a shorter time", BETWEEN_MAX);
        lua_pushnumber(L, (lua_Number)at);
        lua_rawseti(L, -2, ++count);
    }
    return 1;
}

/* parse(text): seconds since the epoch, with microseconds; nil for what is no time of RFC 3339. */
static int l_time_parse(lua_State *L)
{
    int64_t time_us;
    if (civil_read_utc_us(arg_str(L, 1, "k8s.time.parse: the time"), &time_us))
        lua_pushnumber(L, (lua_Number)time_us / 1e6);
    else
        lua_pushnil(L);
    return 1;
}

/* format(seconds): as objects have it. */
static int l_time_format(lua_State *L)
{
    struct buf *out = script_scratch(script_of(L));
    civil_put_utc(out, time_arg(L, 1, "k8s.time.format: the time") * 1000000, 0);
    lua_pushlstring(L, out->data, out->len);
    return 1;
}

/* seconds("1h30m") */
static int l_time_seconds(lua_State *L)
{
    lua_pushnumber(L, (lua_Number)arg_duration_ms(L, 1, "k8s.time.duration: the duration") / 1e3);
    return 1;
}

static const luaL_Reg schedule_methods[] = {
    {"next", l_schedule_next}, {"last", l_schedule_last}, {"between", l_schedule_between}, {NULL, NULL}};

static void bind_schedule(lua_State *L)
{
    static const luaL_Reg meta[] = {{NULL, NULL}};
    static const luaL_Reg verbs[] = {{"new", l_schedule_new},
                                     {"parse", l_time_parse},
                                     {"format", l_time_format},
                                     {"duration", l_time_seconds},
                                     {NULL, NULL}};
    class_define(L, CLASS_SCHEDULE, "schedule", meta, schedule_methods);
    lua_pop(L, 1);
    lua_newtable(L);
    luaL_register(L, NULL, verbs);
    lua_setfield(L, -2, "schedule");
}

const struct feature feature_schedule = {
    .parts = {"schedule"}, .bind = bind_schedule, .classes = CLASS_BIT(CLASS_SCHEDULE)};
