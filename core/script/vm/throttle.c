/* Writes and log lines, as many as the limits allow; see throttle.h. */
#include "script/vm/throttle.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "script/vm/args.h"
#include "script/vm/state.h"
#include "script/vm/task.h"

FAMILY(family_script_log_dropped, 111, COUNTER, "kubelua_script_log_lines_dropped_total", "script", NULL,
       "Number of k8s.log lines dropped by the limit log-lines.");

FAMILY(family_waiting, 117, GAUGE, "kubelua_script_limit_waiting", "script,limit", NULL,
       "Number of writes and requests that wait for a rate limit of the script.");
FAMILY(family_waited, 118, COUNTER, "kubelua_script_limit_wait_seconds_total", "script,limit", NULL,
       "Duration of the waits of writes and requests for a rate limit of the script.");

enum { SECOND_MS = 1000, SECONDS_A_MINUTE = 60 };

/* --- turns of writes and requests */

struct pace_wait {
    struct task_wait wait;
    struct pace *pace;
    TAILQ_ENTRY(pace_wait) link; /* in the order of turns */
    bool queued;
    int64_t begun_ms;
};

static struct pace *pace_of(struct script *script, enum limit limit)
{
    struct throttle *t = &script->report.throttle;
    return limit == LIMIT_WRITES ? &t->writes : &t->requests;
}

static int64_t now_of(const struct pace *pace)
{
    return clock_now_ms(script_clock(pace->script));
}

static void dequeue(struct pace_wait *wait)
{
    struct pace *pace = wait->pace;
    TAILQ_REMOVE(&pace->waits, wait, link);
    wait->queued = false;
    pace->waiting--;
    series_add(pace->waiting_series, -1);
    series_add(pace->waited_series, (double)(now_of(pace) - wait->begun_ms) / SECOND_MS);
}

/* Wakes the calls whose turns have come, in order. */
static void go_on(struct pace *pace)
{
    struct pace_wait *wait;
    int64_t now_ms = now_of(pace);
    timer_cancel(&pace->timer);
    while ((wait = TAILQ_FIRST(&pace->waits)) && token_bucket_try(&pace->tokens, now_ms)) {
        dequeue(wait);
        task_wake(&wait->wait);
    }
    if (!wait) return;
    timer_start(&pace->timer, script_clock(pace->script), token_bucket_wait_ms(&pace->tokens, 1, now_ms));
}

static void on_turn(struct timer *timer)
{
    go_on(container_of(timer, struct pace, timer));
}

static int push_turn(lua_State *L, struct task_wait *wait)
{
    lua_pushboolean(L, 1);
    return 1;
}

static void drop_turn(struct task_wait *base)
{
    struct pace_wait *wait = container_of(base, struct pace_wait, wait);
    if (wait->queued) {
        dequeue(wait);
        go_on(wait->pace);
    }
    free(wait);
}

static void queue(struct pace_wait *wait, enum limit limit)
{
    struct pace *pace = wait->pace;
    const char *script = pace->script->id.name, *name = limit_name(limit);
    wait->begun_ms = now_of(pace);
    wait->queued = true;
    TAILQ_INSERT_TAIL(&pace->waits, wait, link);
    if (!pace->waiting_series) pace->waiting_series = SERIES(&family_waiting, script, name);
    if (!pace->waited_series) pace->waited_series = SERIES(&family_waited, script, name);
    series_inc(pace->waiting_series);
    if (++pace->waiting == 1) go_on(pace);
}

static struct pace *pace_ready(struct script *script, enum limit limit, int64_t most)
{
    struct pace *pace = pace_of(script, limit);
    if (pace->script) return pace;
    pace->script = script;
    pace->timer.fn = on_turn;
    TAILQ_INIT(&pace->waits);
    token_bucket_start(&pace->tokens, (double)most / SECONDS_A_MINUTE, most > 2 ? (double)most / 2 : 1,
                       now_of(pace));
    return pace;
}

static int refuse_turn(lua_State *L, enum limit limit, const char *verb, const char *why, int64_t retry_ms)
{
    struct buf value = {0};
    struct err err;
    limit_describe(limit, script_of(L)->limits.values[limit], &value);
    err_set(&err, ERR_LIMIT, "%s: over the limit %s (%s)%s", verb, limit_name(limit), buf_text(&value), why);
    err.retry_after_ms = retry_ms;
    buf_clear(&value);
    return push_err(L, &err);
}

int pace_turn(lua_State *L, enum limit limit, const char *verb)
{
    static const struct task_wait_ops ops = {push_turn, drop_turn, .finishes = false};
    struct script *script = script_of(L);
    int64_t most = script->limits.values[limit];
    task_check(L, verb);
    if (most == 0) return refuse_turn(L, limit, verb, "", -1);
    struct pace *pace = most == LIMIT_NONE ? NULL : pace_ready(script, limit, most);
    if (!pace || (!pace->waiting && token_bucket_try(&pace->tokens, now_of(pace)))) {
        lua_pushboolean(L, 1);
        return 1;
    }
    int64_t wait_ms = token_bucket_wait_ms(&pace->tokens, (double)pace->waiting + 1, now_of(pace));
    if (wait_ms > PACE_WAIT_MS) return refuse_turn(L, limit, verb, "; the wait would exceed 30s", wait_ms);
    if (pace->waiting == PACE_WAITING_MAX)
        return refuse_turn(L, limit, verb, "; 1000 calls wait already", wait_ms);
    struct pace_wait *wait = NEW(struct pace_wait);
    wait->pace = pace;
    queue(wait, limit);
    return task_yield(L, &wait->wait, &ops);
}

void pace_give_back(struct script *script, enum limit limit)
{
    struct pace *pace = pace_of(script, limit);
    if (!pace->script) return;
    token_bucket_give_back(&pace->tokens, 0, now_of(pace));
    go_on(pace);
}

struct pace_status pace_status(const struct script *script, enum limit limit)
{
    const struct throttle *t = &script->report.throttle;
    const struct pace *pace = limit == LIMIT_WRITES ? &t->writes : &t->requests;
    if (!pace->waiting) return (struct pace_status){0};
    return (struct pace_status){pace->waiting, now_of(pace) - TAILQ_FIRST(&pace->waits)->begun_ms};
}

static void pace_clear(struct pace *pace)
{
    timer_cancel(&pace->timer);
    series_free(pace->waiting_series);
    series_free(pace->waited_series);
}

/* --- log lines */

static void log_dropped(struct script *script)
{
    struct throttle *t = &script->report.throttle;
    if (!t->left_out) return;
    log_warn("Log lines of a script dropped, limit log-lines exceeded", F("script", script->id.name),
             FI("lines", t->left_out), FI("limit", script->limits.values[LIMIT_LOG_LINES]));
    t->left_out = 0;
}

static void on_note(struct timer *timer)
{
    log_dropped(container_of(timer, struct script, report.throttle.note));
}

bool throttle_log_line(struct script *script)
{
    struct throttle *t = &script->report.throttle;
    struct clock *clock = script_clock(script);
    int64_t wait_ms;
    if (rate_take(&t->log_lines, clock_now_ms(clock), SECOND_MS, script->limits.values[LIMIT_LOG_LINES],
                  &wait_ms))
        return true;
    if (!t->left_out_total) t->left_out_total = SERIES(&family_script_log_dropped, script->id.name);
    series_inc(t->left_out_total);
    t->left_out++;
    if (!timer_running(&t->note)) timer_start(&t->note, clock, SECOND_MS);
    return false;
}

/* --- the script's life */

void throttle_init(struct script *script)
{
    script->report.throttle.note.fn = on_note;
}

void throttle_clear(struct script *script)
{
    timer_cancel(&script->report.throttle.note);
    pace_clear(&script->report.throttle.writes);
    pace_clear(&script->report.throttle.requests);
    log_dropped(script);
    series_free(script->report.throttle.left_out_total);
}

/* --- A sliding count */

static void move_on(struct rate *rate, int64_t slot)
{
    int64_t steps = slot - rate->newest;
    if (steps > RATE_SLOTS) steps = RATE_SLOTS;
    for (int64_t i = 1; i <= steps; i++) {
        uint32_t *old = &rate->counts[(rate->newest + i) % RATE_SLOTS];
        rate->total -= *old;
        *old = 0;
    }
    if (steps > 0) rate->newest = slot;
}

/* Until the oldest that counts is forgotten. */
static int64_t wait_of(const struct rate *rate, int64_t now_ms, int64_t slot_ms)
{
    int64_t oldest = rate->newest - RATE_SLOTS + 1;
    while (oldest < rate->newest && rate->counts[(oldest + RATE_SLOTS) % RATE_SLOTS] == 0) oldest++;
    int64_t wait_ms = (oldest + RATE_SLOTS) * slot_ms - now_ms;
    return wait_ms > 0 ? wait_ms : 1;
}

bool rate_take(struct rate *rate, int64_t now_ms, int64_t period_ms, int64_t most, int64_t *wait_ms)
{
    int64_t slot_ms = period_ms / RATE_SLOTS, slot = now_ms / slot_ms;
    move_on(rate, slot);
    if ((int64_t)rate->total >= most) {
        *wait_ms = wait_of(rate, now_ms, slot_ms);
        return false;
    }
    rate->counts[rate->newest % RATE_SLOTS]++;
    rate->total++;
    return true;
}
