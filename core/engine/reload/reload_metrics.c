/* Counters of reloads; see reload_metrics.h. */
#include "engine/reload/reload_metrics.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/series/series.h"
#include "script/generation/hand_over.h"

enum what { EVENTS, KEYS, TIMERS, CALLS, WHATS };

struct reload_metrics {
    struct series *results[RELOAD_RESULTS], *pause, *dropped[WHATS];
};

struct reload_metrics *reload_metrics_new(void)
{
    static const char *const results[] = {"ok", "refused", "returned"};
    static const char *const whats[] = {"event", "key", "timer", "call"};
    struct reload_metrics *m = NEW(struct reload_metrics);
    for (size_t i = 0; i < RELOAD_RESULTS; i++) m->results[i] = SERIES(FAMILY_RELOADS, results[i]);
    for (size_t i = 0; i < WHATS; i++) m->dropped[i] = SERIES(FAMILY_RELOAD_DROPPED, whats[i]);
    m->pause = series_new(FAMILY_RELOAD_PAUSE, NULL);
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

void reload_metrics_taken_over(struct reload_metrics *m, const struct hand_over *done, int64_t pause_ns)
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
