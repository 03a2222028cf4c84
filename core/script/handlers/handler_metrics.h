/* Metrics of one event handler: how long its calls take, how late they begin, how many fail.
 * Owner: the handler that embeds it. On the engine thread, outside of Lua. */
#pragma once
#include "base/series/series.h"

enum { HANDLER_EVENTS = 3 };

extern struct family family_handler_errors;

struct handler_metrics {
    const char *script, *handler;             /* borrowed; the labels */
    struct series *durations[HANDLER_EVENTS]; /* made with the first call */
    struct series *latency, *errors;
    struct series *pending, *coalesced, *busy, *debounced; /* made when they are first needed */
};

void handler_metrics_init(struct handler_metrics *metrics, const char *script, const char *handler);
void handler_metrics_clear(struct handler_metrics *metrics);
/* A call of a handler for `event` (its name as scripts know it) begins; `received_us` is when its bytes came,
 * 0 for an object from the cache. Returns what handler_metrics_end takes. */
int64_t handler_metrics_begin(struct handler_metrics *metrics, int event, const char *name,
                              int64_t received_us);
void handler_metrics_end(struct handler_metrics *metrics, int event, int64_t begun_ns);
/* A call of the handler, or of its filter, ended with an error. */
void handler_metrics_failed(struct handler_metrics *metrics);
/* So many of its calls wait. */
void handler_metrics_busy(struct handler_metrics *metrics, size_t count);
/* So many objects that changed are not quiet yet. */
void handler_metrics_debounced(struct handler_metrics *metrics, size_t count);
/* So many events wait for calls that wait; one of them joined another. */
void handler_metrics_pending(struct handler_metrics *metrics, size_t count);
void handler_metrics_coalesced(struct handler_metrics *metrics);
