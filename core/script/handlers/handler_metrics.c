/* Measuring handlers; see handler_metrics.h. */
#include "script/handlers/handler_metrics.h"

#include "base/clock.h"

static const struct buckets latencies =
    BUCKETS(1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10);
FAMILY(family_handler_duration, 100, HISTOGRAM, "kubelua_handler_duration_seconds", "script,handler,event",
       &buckets_of_calls, "Duration of handler calls.");
struct family family_handler_errors =
    FAMILY_OF(101, COUNTER, "kubelua_handler_errors_total", "script,handler", NULL,
              "Number of calls of a handler or its filter that failed.");
FAMILY(family_handler_pending, 102, GAUGE, "kubelua_handler_pending_events", "script,handler", NULL,
       "Number of events queued for a handler whose calls are in flight.");
FAMILY(family_handler_busy, 103, GAUGE, "kubelua_handler_busy_calls", "script,handler", NULL,
       "Number of handler calls in flight.");
FAMILY(family_handler_coalesced, 104, COUNTER, "kubelua_handler_coalesced_total", "script,handler", NULL,
       "Number of events coalesced with an earlier event of the same object.");
FAMILY(family_handler_debounced, 105, GAUGE, "kubelua_handler_debounced_objects", "script,handler", NULL,
       "Number of objects with debounced changes.");
FAMILY(family_event_latency, 108, HISTOGRAM, "kubelua_event_latency_seconds", "script,handler", &latencies,
       "Time from receiving an event to calling the handler.");

void handler_metrics_init(struct handler_metrics *m, const char *script, const char *handler)
{
    *m = (struct handler_metrics){.script = script, .handler = handler};
    m->latency = SERIES(&family_event_latency, script, handler);
    m->errors = SERIES(&family_handler_errors, script, handler);
}

void handler_metrics_clear(struct handler_metrics *m)
{
    for (int i = 0; i < HANDLER_EVENTS; i++) series_free(m->durations[i]);
    series_free(m->latency);
    series_free(m->errors);
    series_free(m->pending);
    series_free(m->coalesced);
    series_free(m->busy);
    series_free(m->debounced);
}

static void follow(struct series **series, struct series *before)
{
    if (!*series) *series = series_share(before);
}

void handler_metrics_follow(struct handler_metrics *m, const struct handler_metrics *before)
{
    for (int i = 0; i < HANDLER_EVENTS; i++) follow(&m->durations[i], before->durations[i]);
    follow(&m->coalesced, before->coalesced);
}

/* The wall clock at a time of clock_measure_ns. To read a clock takes a thirtieth of a short call, so this
 * one is read once a millisecond. */
static int64_t wall_us_at(int64_t now_ns)
{
    enum { FRESH_NS = 1000000 };
    static _Thread_local int64_t read_ns, ahead_us;
    if (!read_ns || now_ns - read_ns > FRESH_NS) {
        ahead_us = clock_wall_us(clock_real()) - now_ns / 1000;
        read_ns = now_ns;
    }
    return now_ns / 1000 + ahead_us;
}

int64_t handler_metrics_begin(struct handler_metrics *m, int event, const char *name, int64_t received_us)
{
    if (!m->durations[event])
        m->durations[event] = SERIES(&family_handler_duration, m->script, m->handler, name);
    int64_t begun_ns = clock_measure_ns();
    if (received_us) {
        int64_t late_us = wall_us_at(begun_ns) - received_us;
        series_observe(m->latency, late_us > 0 ? (double)late_us / 1e6 : 0);
    }
    return begun_ns;
}

void handler_metrics_end(struct handler_metrics *m, int event, int64_t begun_ns)
{
    series_observe(m->durations[event], (double)(clock_measure_ns() - begun_ns) / 1e9);
}

struct handler_totals handler_metrics_totals(const struct handler_metrics *m)
{
    struct handler_totals totals = {0};
    for (int i = 0; i < HANDLER_EVENTS; i++)
        series_add_to(m->durations[i], &totals.call_seconds, &totals.calls);
    series_add_to(m->latency, &totals.latency_seconds, &totals.timed);
    return totals;
}

void handler_metrics_failed(struct handler_metrics *m)
{
    series_inc(m->errors);
}

void handler_metrics_busy(struct handler_metrics *m, size_t count)
{
    if (!m->busy) m->busy = SERIES(&family_handler_busy, m->script, m->handler);
    series_set(m->busy, (double)count);
}

void handler_metrics_debounced(struct handler_metrics *m, size_t count)
{
    if (!m->debounced) m->debounced = SERIES(&family_handler_debounced, m->script, m->handler);
    series_set(m->debounced, (double)count);
}

void handler_metrics_pending(struct handler_metrics *m, size_t count)
{
    if (!m->pending) m->pending = SERIES(&family_handler_pending, m->script, m->handler);
    series_set(m->pending, (double)count);
}

void handler_metrics_coalesced(struct handler_metrics *m)
{
    if (!m->coalesced) m->coalesced = SERIES(&family_handler_coalesced, m->script, m->handler);
    series_inc(m->coalesced);
}
