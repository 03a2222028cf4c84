/* Wins and losses of a script; see leading.h. */
#include "script/leading.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "informer/leadership.h"
#include "script/args.h"
#include "script/handler.h"
#include "script/script_queue.h"
#include "script/script_timer.h"

/* A pair given to k8s.on_leader. */
struct leader_functions {
    TAILQ_ENTRY(leader_functions) link;
    struct script *script;
    int start, stop;       /* in the registry */
    struct task *started;  /* the call of `start` that waits; NULL: none */
    struct task *stopping; /* the same of `stop` */
    bool was_started;      /* and `stop` was not called since */
    char *name;            /* "scripts/x.lua:12", where it was given */
};

/* --- calls */

/* For the audit trail. */
static void describe(void *ctx, struct buf *caller, struct buf *trigger)
{
    const struct leader_functions *f = ctx;
    buf_puts(caller, f->name);
    buf_puts(trigger, "leadership");
}

static void begin(struct leader_functions *f);
static void settle(struct script *script);

static void report(struct leader_functions *f, const char *which, enum script_result result)
{
    if (result == SCRIPT_OK || result == SCRIPT_CANCELLED) return;
    report_failure(NULL, f->script, SCRIPT_LEADER, result,
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
        log_warn("Function of a leader was cancelled: it did not end within --shutdown-timeout",
                 F("script", f->script->name), F("function", "stop"), F("given", f->name));
    if (f->script->leading.told && result != SCRIPT_CANCELLED) begin(f);
    settle(f->script);
}

/* A start waits for the end of the stop before it, and of those of the generation before. */
static void begin(struct leader_functions *f)
{
    if (f->was_started || f->stopping || f->script->leading.waits_for) return;
    f->was_started = true;
    const struct task_call call = {.what = "the start of a leader",
                                   .function = f->start,
                                   .fence = f->script->leading.fence,
                                   .done = on_started,
                                   .describe = describe,
                                   .ctx = f};
    enum script_result result = task_run(f->script, &call, &f->started);
    if (result != SCRIPT_YIELDED) report(f, "start", result);
}

/* L-4 (BEAT): only what was started is stopped. */
static void end(struct leader_functions *f)
{
    if (!f->was_started) return;
    f->was_started = false;
    if (f->stop == LUA_NOREF) return;
    const struct task_call call = {.what = "the end of a leader",
                                   .function = f->stop,
                                   .finishes = true,
                                   .done = on_stopped,
                                   .describe = describe,
                                   .ctx = f};
    enum script_result result = task_run(f->script, &call, &f->stopping);
    if (result != SCRIPT_YIELDED) report(f, "stop", result);
}

/* --- terms */

static void win(struct script *script)
{
    struct leader_functions *f;
    script->leading.told = true;
    TAILQ_FOREACH (f, &script->leading.functions, link) begin(f);
    script->attached_all = 0; /* handlers that lead meet their informers */
    handlers_attach(script);
    turns_ask(script); /* workers that lead have keys */
}

static void lose(struct script *script)
{
    struct leader_functions *f;
    script->leading.told = false;
    fence_unref(script->leading.fence);
    script->leading.fence = NULL;
    TAILQ_FOREACH (f, &script->leading.functions, link)
        if (f->started) task_cancel(f->started);
    handlers_stop_leading(script);
    script_timers_stop_leading(script);
    queues_stop_leading(script);
    TAILQ_FOREACH (f, &script->leading.functions, link) end(f);
    handlers_attach(script);
}

void leading_changed(struct script *script)
{
    struct leading *leading = &script->leading;
    if (!leading->leadership || leading->over || script->phase != SCRIPT_RUNNING) return;
    struct fence *fence = leadership_fence(leading->leadership);
    if (fence == leading->fence) return;
    if (leading->told) lose(script);
    if (!fence) return;
    leading->fence = fence_ref(fence);
    win(script);
}

void leading_step_down(struct script *script)
{
    if (script->leading.over) return;
    script->leading.over = true;
    timer_cancel(&script->leading.begin);
    if (!script->leading.told) return;
    lose(script);
    tasks_stop(script);
}

size_t leading_count_stopping(const struct script *script)
{
    const struct leader_functions *f;
    size_t count = 0;
    TAILQ_FOREACH (f, &script->leading.functions, link) count += f->stopping != NULL;
    return count;
}

/* --- questions */

bool script_leads(const struct script *script)
{
    const struct leading *leading = &script->leading;
    if (!leading->leadership) return !leading->over && !leading->wish;
    return leading->fence && fence_is_open(leading->fence);
}

struct fence *leading_fence(const struct script *script)
{
    return script->leading.fence;
}

/* --- life */

static void on_begin(struct timer *timer);

void leading_init(struct script *script)
{
    TAILQ_INIT(&script->leading.functions);
    script->leading.begin.fn = on_begin;
}

void leading_add_functions(lua_State *L)
{
    struct script *script = script_of(L);
    struct leading *leading = &script->leading;
    lua_Debug ar;
    if (leading->count >= LEADER_FUNCTIONS_MAX)
        script_raise(L, "k8s.on_leader was called %d times already", LEADER_FUNCTIONS_MAX);
    bool known = script_where(L, &ar);
    int stop = lua_isnil(L, -1) ? (lua_pop(L, 1), LUA_NOREF) : luaL_ref(L, LUA_REGISTRYINDEX);
    int start = luaL_ref(L, LUA_REGISTRYINDEX);
    struct leader_functions *f = NEW(struct leader_functions);
    *f = (struct leader_functions){
        .script = script,
        .start = start,
        .stop = stop,
        .name = known ? xasprintf("%s:%d", ar.short_src, ar.currentline) : xstrdup("k8s.on_leader"),
    };
    TAILQ_INSERT_TAIL(&leading->functions, f, link);
    leading->count++;
}

static bool claim(struct script *script, const struct lease_wish *wish, struct err *err)
{
    struct leading *leading = &script->leading;
    const struct leading *before = script->before ? &script->before->leading : NULL;
    if (!leaders_accept(script->host->leaders, wish, before ? before->joined : NULL, err)) return false;
    leading->claimed = true;
    leading->wish = lease_wish_copy(wish);
    return true;
}

bool leading_claim(struct script *script, const struct lease_wish *wish, struct err *err)
{
    return claim(script, wish, err);
}

/* That of the flags, when it says nothing itself. */
static bool make_wish(struct script *script, struct err *err)
{
    const struct script_host *host = script->host;
    if (script->leading.claimed || !host->leaders || !host->elects) return true;
    return claim(script, &host->lease, err) || err_wrap(err, "--leader-elect");
}

static bool join(struct script *script, struct err *err)
{
    struct leading *leading = &script->leading;
    if (!leading->wish) return true;
    leading->joined = leaders_claim(script->host->leaders, leading->wish, err);
    if (!leading->joined) return false; /* with a wish that is not granted it never leads */
    lease_wish_free(leading->wish);
    leading->wish = NULL;
    if (script->host->write_mode == WRITES_SENT) leading->leadership = leading->joined;
    return true;
}

static void leave(struct script *script)
{
    if (script->leading.joined) leaders_leave(script->leading.joined);
    script->leading.joined = NULL;
}

static void begin_soon(struct script *script)
{
    timer_cancel(&script->leading.begin);
    timer_start(&script->leading.begin, script_clock(script), 0);
}

static void begin_without_election(struct script *script)
{
    const struct leading *leading = &script->leading;
    if (!leading->leadership && leading->count > 0) begin_soon(script);
}

bool leading_loaded(struct script *script, struct err *err)
{
    if (!make_wish(script, err) || !join(script, err)) return false;
    begin_without_election(script);
    return true;
}

/* --- from one generation to the next */

bool leading_take_over(struct script *from, struct script *to, struct err *err)
{
    struct leading *leading = &to->leading;
    if (!make_wish(to, err)) return false;
    if (!leading->wish) return true;
    if (!leaders_accept(to->host->leaders, leading->wish, from->leading.joined, err)) return false;
    if (!from->leading.joined || !leadership_is_of(from->leading.joined, leading->wish)) return true;
    bool joined = join(to, err);
    must(joined); /* it was accepted */
    leave(from);  /* somebody asks for the lease all the time */
    return true;
}

bool leading_keeps_term(const struct script *from, const struct script *to)
{
    return !to->leading.wish && to->leading.leadership == from->leading.leadership;
}

/* What is called for the end goes on while the script drains, under the fence of the term. */
static void end_all(struct script *script)
{
    struct leader_functions *f;
    timer_cancel(&script->leading.begin);
    if (!script->leading.told) return;
    script->leading.told = false;
    TAILQ_FOREACH (f, &script->leading.functions, link)
        if (f->started) task_cancel(f->started);
    TAILQ_FOREACH (f, &script->leading.functions, link) end(f);
}

static void stop_waiting(struct script *script)
{
    if (script->leading.waits_for) script->leading.waits_for->leading.awaited_by = NULL;
    script->leading.waits_for = NULL;
}

static void wait_for(struct script *script, struct script *earlier)
{
    stop_waiting(script);
    script->leading.waits_for = earlier;
    earlier->leading.awaited_by = script;
}

/* Who waits for it may go on. */
static void let_next_begin(struct script *script)
{
    struct script *next = script->leading.awaited_by;
    if (!next) return;
    stop_waiting(next);
    if (next->phase == SCRIPT_RUNNING && !next->leading.over) begin_soon(next);
}

/* A generation that drains keeps its lease until its functions for the end have ended. */
static void settle(struct script *script)
{
    if (script->phase != SCRIPT_DRAINING || leading_count_stopping(script) > 0) return;
    leave(script);
    let_next_begin(script);
}

void leading_end(struct script *script)
{
    stop_waiting(script);
    end_all(script);
    settle(script);
}

/* It was accepted; since then another script may have asked for the lease, with other times. */
static bool join_late(struct script *script)
{
    struct err err;
    if (join(script, &err)) return true;
    log_error("The script does not lead", F("script", script->name), F("err", err.text));
    return false;
}

static void on_begin(struct timer *timer)
{
    struct script *script = container_of(timer, struct script, leading.begin);
    struct leader_functions *f;
    if (script->leading.wish && !join_late(script)) return;
    if (script->leading.told)
        TAILQ_FOREACH (f, &script->leading.functions, link) begin(f);
    else if (script->leading.leadership)
        leading_changed(script);
    else
        win(script);
}

/* One that itself waited has begun nothing. */
void leading_begin_after(struct script *from, struct script *to)
{
    struct script *earlier = from->leading.waits_for;
    stop_waiting(from);
    end_all(from);
    if (!earlier && leading_count_stopping(from) > 0) earlier = from;
    if (earlier) wait_for(to, earlier);
    settle(from);
    if (to->leading.leadership)
        leading_changed(to);
    else if (!earlier && (to->leading.wish || to->leading.count > 0))
        begin_soon(to);
}

void leading_clear(struct script *script)
{
    struct leader_functions *f;
    timer_cancel(&script->leading.begin);
    lease_wish_free(script->leading.wish);
    leave(script);
    stop_waiting(script);
    let_next_begin(script);
    fence_unref(script->leading.fence);
    script->leading.fence = NULL;
    while ((f = TAILQ_FIRST(&script->leading.functions))) {
        TAILQ_REMOVE(&script->leading.functions, f, link);
        free(f->name);
        free(f);
    }
}
