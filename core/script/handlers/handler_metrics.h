/* Metrics of one event handler: duration, delay and failures of its calls. Owner: the handler that embeds it.
 * On the engine thread, outside of Lua. */
#pragma once
#include "base/series/series.h"

enum { HANDLER_EVENTS = 4 };

extern struct family family_handler_errors;

struct handler_metrics {
    const char *script, *handler;             /* labels, borrowed */
    struct series *durations[HANDLER_EVENTS]; /* created with the first call */
    struct series *latency, *errors;
    struct series *pending, *coalesced, *busy, *debounced; /* created on first use */
};

void handler_metrics_init(struct handler_metrics *metrics, const char *script, const char *handler);
void handler_metrics_clear(struct handler_metrics *metrics);
/* Goes on counting where the handler of that name counted in the generation before. */
void handler_metrics_follow(struct handler_metrics *metrics, const struct handler_metrics *before);
/* Begins a call for `event`, whose name in scripts is `name`. `received_us` is when its bytes were received,
 * 0 for an object from the cache. Returns the start for handler_metrics_end. */
int64_t handler_metrics_begin(struct handler_metrics *metrics, int event, const char *name,
                              int64_t received_us);
void handler_metrics_end(struct handler_metrics *metrics, int event, int64_t begun_ns);
/* Sums of all its calls so far. */
struct handler_totals {
    uint64_t calls, timed;
    double call_seconds, latency_seconds;
};
struct handler_totals handler_metrics_totals(const struct handler_metrics *metrics);
/* Counts a failed call of the handler or its filter. */
void handler_metrics_failed(struct handler_metrics *metrics);
/* Sets the number of its calls in flight. */
void handler_metrics_busy(struct handler_metrics *metrics, size_t count);
/* Sets the number of changed objects that are not quiet yet. */
void handler_metrics_debounced(struct handler_metrics *metrics, size_t count);
/* Sets the number of pending events; counts an event that was merged. */
void handler_metrics_pending(struct handler_metrics *metrics, size_t count);
void handler_metrics_coalesced(struct handler_metrics *metrics);
