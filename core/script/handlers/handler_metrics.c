/* Measuring handlers; see handler_metrics.h. */
#include "script/handlers/handler_metrics.h"

#include "base/clock.h"

void handler_metrics_init(struct handler_metrics *m, const char *script, const char *handler)
{
    *m = (struct handler_metrics){.script = script, .handler = handler};
    m->latency = SERIES(FAMILY_EVENT_LATENCY, script, handler);
    m->errors = SERIES(FAMILY_HANDLER_ERRORS, script, handler);
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

int64_t handler_metrics_begin(struct handler_metrics *m, int event, const char *name, int64_t received_us)
{
    if (!m->durations[event])
        m->durations[event] = SERIES(FAMILY_HANDLER_DURATION, m->script, m->handler, name);
    if (received_us) {
        int64_t late_us = clock_wall_us(clock_real()) - received_us;
        series_observe(m->latency, late_us > 0 ? (double)late_us / 1e6 : 0);
    }
    return clock_measure_ns();
}

void handler_metrics_end(struct handler_metrics *m, int event, int64_t begun_ns)
{
    series_observe(m->durations[event], (double)(clock_measure_ns() - begun_ns) / 1e9);
}

void handler_metrics_failed(struct handler_metrics *m)
{
    series_inc(m->errors);
}

void handler_metrics_busy(struct handler_metrics *m, size_t count)
{
    if (!m->busy) m->busy = SERIES(FAMILY_HANDLER_BUSY, m->script, m->handler);
    series_set(m->busy, (double)count);
}

void handler_metrics_debounced(struct handler_metrics *m, size_t count)
{
    if (!m->debounced) m->debounced = SERIES(FAMILY_HANDLER_DEBOUNCED, m->script, m->handler);
    series_set(m->debounced, (double)count);
}

void handler_metrics_pending(struct handler_metrics *m, size_t count)
{
    if (!m->pending) m->pending = SERIES(FAMILY_HANDLER_PENDING, m->script, m->handler);
    series_set(m->pending, (double)count);
}

void handler_metrics_coalesced(struct handler_metrics *m)
{
    if (!m->coalesced) m->coalesced = SERIES(FAMILY_HANDLER_COALESCED, m->script, m->handler);
    series_inc(m->coalesced);
}
