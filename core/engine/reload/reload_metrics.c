/* Counters of reloads in /metrics; see reload_internal.h. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/series/series.h"
#include "engine/reload/reload_internal.h"
#include "script/generation/handover.h"

FAMILY(family_reloads, 200, COUNTER, "kubelua_reload_total", "result", NULL,
       "Number of script reloads by result.");
FAMILY(family_reload_pause, 201, HISTOGRAM, "kubelua_reload_pause_seconds", "", &buckets_of_processing,
       "Pause of the engine thread while a new generation is activated.");
FAMILY(family_reload_dropped, 202, COUNTER, "kubelua_reload_dropped_total", "what", NULL,
       "Number of events, keys, timers and calls dropped by reloads.");

enum what { EVENTS, KEYS, TIMERS, CALLS, WHATS };

struct reload_metrics {
    struct series *results[RELOAD_RESULTS], *pause, *dropped[WHATS];
};

struct reload_metrics *reload_metrics_new(void)
{
    static const char *const results[] = {"ok", "refused", "returned"};
    static const char *const whats[] = {"event", "key", "timer", "call"};
    struct reload_metrics *m = NEW(struct reload_metrics);
    for (size_t i = 0; i < RELOAD_RESULTS; i++) m->results[i] = SERIES(&family_reloads, results[i]);
    for (size_t i = 0; i < WHATS; i++) m->dropped[i] = SERIES(&family_reload_dropped, whats[i]);
    m->pause = series_new(&family_reload_pause, NULL);
    return m;
}

void reload_metrics_free(struct reload_metrics *m)
{
    if (!m) return;
    for (size_t i = 0; i < RELOAD_RESULTS; i++) series_free(m->results[i]);
    for (size_t i = 0; i < WHATS; i++) series_free(m->dropped[i]);
    series_free(m->pause);
    free(m);
}

void reload_metrics_ended(struct reload_metrics *m, enum reload_result result)
{
    if (m) series_inc(m->results[result]);
}

void reload_metrics_activated(struct reload_metrics *m, const struct handover *done, int64_t pause_ns)
{
    if (!m) return;
    series_observe(m->pause, (double)pause_ns / 1e9);
    series_add(m->dropped[EVENTS], (double)done->dropped_events);
    series_add(m->dropped[KEYS], (double)done->dropped_keys);
    series_add(m->dropped[TIMERS], (double)done->cancelled_timers);
}

void reload_metrics_cancelled(struct reload_metrics *m, uint64_t calls)
{
    if (m) series_add(m->dropped[CALLS], (double)calls);
}
