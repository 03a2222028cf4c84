/* Metrics with labels, beside the process-wide counters of metrics.h: families of series, each a counter, a
 * gauge or a histogram with fixed buckets. Owner: who made a series frees it, so that what ends is no longer
 * shown. Making and freeing take a mutex under which no script runs; the values are atomics. May be used from
 * any thread, any callback. A NULL series takes everything and shows nothing. */
#pragma once
#include <stdint.h>

#include "base/buf.h"

enum family_kind { FAMILY_COUNTER, FAMILY_GAUGE, FAMILY_HISTOGRAM };

/* X(symbol, kind, name, labels, buckets, help). `labels` are the names, joined by commas; `buckets` one of
 * series.c. docs/metrics.md has the same list; a check compares the two. */
#define FAMILIES(X)                                                                                   \
    X(FAMILY_HANDLER_DURATION, HISTOGRAM, "kubelua_handler_duration_seconds", "script,handler,event", \
      DURATIONS, "Time that a call of a handler took.")                                               \
    X(FAMILY_HANDLER_ERRORS, COUNTER, "kubelua_handler_errors_total", "script,handler", NONE,         \
      "Calls of a handler that ended with an error.")                                                 \
    X(FAMILY_HANDLER_PENDING, GAUGE, "kubelua_handler_pending_events", "script,handler", NONE,        \
      "Events that wait for a call of the handler that waits.")                                       \
    X(FAMILY_HANDLER_COALESCED, COUNTER, "kubelua_handler_coalesced_total", "script,handler", NONE,   \
      "Events that joined an earlier one of their object in a full pending list.")                    \
    X(FAMILY_EVENT_LATENCY, HISTOGRAM, "kubelua_event_latency_seconds", "script,handler", LATENCIES,  \
      "Time from the arrival of an event's bytes to the entry of the handler.")                       \
    X(FAMILY_SCRIPT_MEMORY, GAUGE, "kubelua_script_memory_bytes", "script", NONE,                     \
      "Memory of a script's Lua state.")

enum family {
#define X(symbol, kind, name, labels, buckets, help) symbol,
    FAMILIES(X)
#undef X
        FAMILY_COUNT
};

struct series;

/* `values` has one text for each label of the family, in its order; NULL stands for "". Two owners of the
 * same values share one series, which is shown until the last of them has freed it. */
struct series *series_new(enum family family, const char *const *values);
#define SERIES(family, ...) series_new(family, (const char *const[]){__VA_ARGS__})
void series_free(struct series *series);

/* A counter or a gauge grows. */
void series_add(struct series *series, double amount);
static inline void series_inc(struct series *series)
{
    series_add(series, 1);
}
void series_set(struct series *gauge, double value);
void series_observe(struct series *histogram, double value);

/* Appends all families that have series, in Prometheus's text form 0.0.4. */
void series_render(struct buf *out);
/* Pieces of that form, for those who add what is no series. */
void exposition_head(struct buf *out, const char *name, const char *type, const char *help);
void exposition_number(struct buf *out, double value);
