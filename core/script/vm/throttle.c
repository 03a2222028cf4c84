/* Writes and log lines, as many as the limits allow; see throttle.h. */
#include "script/vm/throttle.h"

#include "base/log.h"
#include "base/mem.h"
#include "script/vm/state.h"

FAMILY(family_script_log_dropped, 111, COUNTER, "kubelua_script_log_lines_dropped_total", "script", NULL,
       "Number of k8s.log lines dropped by the limit log-lines.");

enum { SECOND_MS = 1000, MINUTE_MS = 60000 };

bool throttle_write(struct script *script, const char *verb, struct err *err)
{
    struct buf value = {0};
    int64_t wait_ms, most = script->limits.values[LIMIT_WRITES];
    int64_t now_ms = clock_now_ms(script_clock(script));
    if (rate_take(&script->report.throttle.writes, now_ms, MINUTE_MS, most, &wait_ms)) return true;
    limit_describe(LIMIT_WRITES, most, &value);
    err_set(err, ERR_LIMIT, "%s: over the limit %s (%s)", verb, limit_name(LIMIT_WRITES), buf_text(&value));
    err->retry_after_ms = wait_ms;
    buf_clear(&value);
    return false;
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
