/* k8s.cron: timers that go by the clock on the wall; see script_timer.h, and base/time/cron.h for what
 * happens when that clock is set. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/text/nearest.h"
#include "script/handlers/leading.h"
#include "script/vm/args.h"
#include "script/work/script_timer.h"

/* --- zones */

struct script_zone {
    SLIST_ENTRY(script_zone) link;
    struct zone *zone;
};

struct zone *script_zone(struct script *script, struct str name, struct err *err)
{
    struct script_zone *z;
    SLIST_FOREACH (z, &script->own.timers->zones, link)
        if (str_is(name, zone_name(z->zone))) return z->zone;
    struct zone *zone = name.n ? zone_named(name, err) : zone_local(err);
    if (!zone) return NULL;
    z = NEW(struct script_zone);
    z->zone = zone;
    SLIST_INSERT_HEAD(&script->own.timers->zones, z, link);
    return zone;
}

void script_zones_clear(struct script *script)
{
    struct script_zone *z;
    while ((z = SLIST_FIRST(&script->own.timers->zones))) {
        SLIST_REMOVE_HEAD(&script->own.timers->zones, link);
        zone_unref(z->zone);
        free(z);
    }
}

/* --- runs */

static void wait(struct script_timer *t)
{
    timer_start(&t->timer, script_clock(t->script), cron_schedule_delay_ms(&t->plan));
}

/* In the next turn of the loop: a run may be due. */
void script_cron_start(struct script_timer *t)
{
    timer_start(&t->timer, script_clock(t->script), 0);
}

static bool is_idle(const struct script_timer *t)
{
    return LIST_EMPTY(&t->ticks) && LIST_EMPTY(&t->by_hand) && !t->follows;
}

static void cancel_runs(struct script_timer *t)
{
    struct cron_by_hand *run, *next;
    if (t->follows) script_timer_cancel_ticks(t->follows);
    for (run = LIST_FIRST(&t->by_hand); run; run = next) {
        next = LIST_NEXT(run, link);
        task_cancel(run->task);
    }
    script_timer_cancel_ticks(t);
}

/* Returns whether a run may begin while another is in progress. */
static bool may_overlap(struct script_timer *t)
{
    switch (t->overlap) {
    case OVERLAP_SKIP: t->skipped++; return false;
    case OVERLAP_QUEUE:
        t->skipped += t->queued;
        t->queued = true;
        return false;
    case OVERLAP_ALLOW: break;
    case OVERLAP_REPLACE: cancel_runs(t); break;
    }
    return true;
}

void script_cron_check(struct script_timer *t)
{
    struct clock *clock = script_clock(t->script);
    bool due = cron_schedule_due(&t->plan, clock_wall_us(clock), clock_now_ms(clock));
    bool idle = is_idle(t);
    if (idle && t->queued) {
        t->queued = false;
        due = true;
    }
    wait(t);
    if (!due || (t->leader && !script_leads(t->script))) return;
    if (idle || may_overlap(t)) script_timer_tick(t);
}

/* In a later turn of the loop: a call may have been cancelled from within another. */
void script_cron_ended(struct script_timer *t)
{
    if (t->queued) script_cron_start(t);
}

/* --- runs by hand */

static void end_by_hand(struct task_cleanup *cleanup, bool well)
{
    struct cron_by_hand *run = container_of(cleanup, struct cron_by_hand, cleanup);
    struct script_timer *t = run->timer;
    LIST_REMOVE(run, link);
    free(run);
    if (!t->stopped) script_cron_ended(t);
    script_timer_let_next(t);
    script_timer_unref(t);
}

/* Returns why no run may begin now; NULL if one may. */
static const char *refusal(const struct script_timer *t)
{
    if (t->stopped) return "the timer was cancelled";
    if (t->leader && !script_leads(t->script)) return "this engine does not lead";
    bool waits = t->overlap == OVERLAP_SKIP || t->overlap == OVERLAP_QUEUE;
    return waits && !is_idle(t) ? "a run is in progress" : NULL;
}

/* by_hand(timer): the task that runs is a run of it, until it ends. True, or nil, err. */
static int l_by_hand(lua_State *L)
{
    struct timer_box *box = class_self(L, CLASS_TIMER, "by_hand");
    struct script_timer *t = box->timer;
    struct task *task = t->script->tasks.current;
    const char *why = refusal(t);
    if (why) return push_error(L, 0, "Refused", str_of(why));
    if (t->overlap == OVERLAP_REPLACE) cancel_runs(t);
    struct cron_by_hand *run = NEW(struct cron_by_hand);
    *run = (struct cron_by_hand){.cleanup.end = end_by_hand, .timer = t, .task = task};
    t->refs++;
    LIST_INSERT_HEAD(&t->by_hand, run, link);
    task_add_cleanup(t->script, &run->cleanup);
    struct fence *fence = t->leader ? leading_fence(t->script) : NULL;
    if (fence && !task->fence) task->fence = fence_ref(fence);
    lua_pushboolean(L, true);
    return 1;
}

/* --- raw.time.cron: timers that go by the clock on the wall */

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
    struct cron_options options = {.schedule = arg_str(L, 1, "k8s.cron: the schedule")};
    if (!cron_parse(options.schedule, &options.cron, &err)) script_raise(L, "k8s.cron: %s", err.text);
    arg_function(L, 2, "k8s.cron: the second argument");
    lua_settop(L, 7);
    struct str tz = arg_str_opt(L, 3, "k8s.cron: tz");
    if (tz.p && tz.n == 0) script_raise(L, "k8s.cron: tz must not be empty");
    options.late_s = arg_late_s(L, 4);
    options.overlap = arg_overlap(L, 5);
    options.leader = lua_toboolean(L, 6);
    options.key = arg_str_opt(L, 7, "the key").p;
    options.zone = script_zone(script_of(L), tz, &err);
    if (!options.zone) script_raise(L, "k8s.cron: tz: %s", err.text);
    struct timer_box *box = timer_box_new(L);
    lua_pushvalue(L, 2);
    box->timer = script_timer_new_cron(L, &options);
    return 1;
}

void bind_cron(lua_State *L)
{
    lua_getfield(L, -1, "time");
    lua_pushcfunction(L, l_cron);
    lua_setfield(L, -2, "cron");
    lua_pushcfunction(L, l_by_hand);
    lua_setfield(L, -2, "by_hand");
    lua_pop(L, 1);
}
