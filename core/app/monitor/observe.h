/* Values of an engine in probes and metrics, updated now and then. Owner: the driver of the engine; on the
 * engine thread. */
#pragma once
#include <stdint.h>

#include "app/monitor/monitor.h"
#include "base/buf.h"

struct engine;

struct observer {
    struct engine *engine;
    struct monitor *monitor;
    unsigned times;
    int64_t rested_ms; /* time of the last idle collection */
};

/* The monitor's tick: brings health and gauges up to date. */
void observe(void *observer);
/* Appends which informers do not hold their first list, and why; nothing when all do. */
void observe_describe_lag(struct engine *engine, struct buf *out);
