/* raw.time.cron: timers that go by the clock on the wall. */
#include "base/mem.h"
#include "base/text/nearest.h"
#include "script/generation/bind.h"
#include "script/vm/args.h"
#include "script/work/script_timer.h"

static const char *const overlaps[] = {
    [OVERLAP_SKIP] = "skip",
    [OVERLAP_QUEUE] = "queue",
    [OVERLAP_ALLOW] = "allow",
    [OVERLAP_REPLACE] = "replace",
};

static enum timer_overlap arg_overlap(lua_State *L, int idx)
{
    struct str text = arg_str_opt(L, idx, "k8s.cron: overlap");
    if (!text.p) return OVERLAP_SKIP;
    struct nearest nearest = nearest_to(text);
    for (size_t i = 0; i < ARRAY_LEN(overlaps); i++) {
        if (str_is(text, overlaps[i])) return (enum timer_overlap)i;
        nearest_try(&nearest, overlaps[i]);
    }
    script_raise(
        L, "k8s.cron: overlap must be \"skip\", \"queue\", \"allow\" or \"replace\", not \"%.40s\"%s%s%s",
        text.p, nearest.name ? ": did you mean \"" : "", nearest.name ? nearest.name : "",
        nearest.name ? "\"?" : "");
}

/* A run is of a minute: one that begins within it is not late. */
enum { ON_TIME_S = 60 };

static int64_t arg_late_s(lua_State *L, int idx)
{
    if (lua_isnoneornil(L, idx)) return INT64_MAX;
    if (lua_type(L, idx) == LUA_TSTRING) {
        struct str text = arg_str(L, idx, "k8s.cron: catch_up");
        if (str_is(text, "one")) return INT64_MAX;
        if (str_is(text, "none")) return ON_TIME_S;
    }
    int64_t late_s =
        arg_duration_ms(L, idx, "k8s.cron: catch_up, when it is neither \"one\" nor \"none\",") / 1000;
    return late_s > ON_TIME_S ? late_s : ON_TIME_S;
}

/* (schedule, function, tz, catch_up, overlap, leader, key) gives a timer. */
static int l_cron(lua_State *L)
{
    struct err err;
    struct cron_wish wish = {.schedule = arg_str(L, 1, "k8s.cron: the schedule")};
    if (!cron_parse(wish.schedule, &wish.cron, &err)) script_raise(L, "k8s.cron: %s", err.text);
    arg_function(L, 2, "k8s.cron: the second argument");
    lua_settop(L, 7);
    struct str tz = arg_str_opt(L, 3, "k8s.cron: tz");
    if (tz.p && tz.n == 0) script_raise(L, "k8s.cron: tz must not be empty");
    wish.late_s = arg_late_s(L, 4);
    wish.overlap = arg_overlap(L, 5);
    wish.leader = lua_toboolean(L, 6);
    wish.key = arg_str_opt(L, 7, "the key").p;
    wish.zone = script_zone(script_of(L), tz, &err);
    if (!wish.zone) script_raise(L, "k8s.cron: tz: %s", err.text);
    struct timer_box *box = timer_box_new(L);
    lua_pushvalue(L, 2);
    box->timer = script_timer_new_cron(L, &wish);
    return 1;
}

void bind_cron(lua_State *L)
{
    lua_getfield(L, -1, "time");
    lua_pushcfunction(L, l_cron);
    lua_setfield(L, -2, "cron");
    lua_pop(L, 1);
}
