/* What `kubelua bench` measures: the measurements that --only names, and the figures that each gives.
 * Owner: constants. Anywhere. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

#define BENCH_MEASUREMENTS(X) \
    X(SYNC, "sync")           \
    X(RELIST, "relist")       \
    X(STORM, "storm")         \
    X(LATENCY, "latency")     \
    X(SELECT, "select")       \
    X(IDLE, "idle")           \
    X(START, "start")         \
    X(LUA, "lua")             \
    X(PROJECTED, "projected") \
    X(FLOOR, "floor")

enum bench_measurement {
#define ONE(id, name) BENCH_##id,
    BENCH_MEASUREMENTS(ONE)
#undef ONE
        BENCH_MEASUREMENT_COUNT
};

#define BENCH_BIT(measurement) (1U << (unsigned)(measurement))
enum { BENCH_ALL = (1U << BENCH_MEASUREMENT_COUNT) - 1 };

/* Names in the JSON output; units are in the names. Times of a subject's CPU are those of the whole process,
 * its start included. */
#define BENCH_FIGURES(X)                                 \
    X(SYNC_CPU, "sync_cpu_us_per_object")                \
    X(SYNC_WALL, "sync_wall_s")                          \
    X(SYNC_SOURCE_CPU, "sync_source_cpu_us_per_object")  \
    X(SYNC_PEAK, "sync_peak_bytes")                      \
    X(STEADY, "steady_bytes")                            \
    X(TRIMMED, "trimmed_bytes")                          \
    X(PER_OBJECT, "steady_bytes_per_object")             \
    X(TRIMMED_PER_OBJECT, "trimmed_bytes_per_object")    \
    X(SYNC_PEAK_RATIO, "sync_peak_over_steady")          \
    X(RELIST_CPU, "relist_cpu_us_per_object")            \
    X(RELIST_WALL, "relist_wall_s")                      \
    X(RELIST_GROWTH, "relist_growth_percent")            \
    X(RELIST_PEAK_RATIO, "relist_peak_over_steady")      \
    X(STORM_RATE, "storm_events_per_s")                  \
    X(STORM_CPU, "storm_cpu_us_per_event")               \
    X(STORM_SOURCE_CPU, "storm_source_cpu_us_per_event") \
    X(STORM_HANDLED, "storm_handled_percent")            \
    X(SLOW_P50, "latency_1000_p50_us")                   \
    X(SLOW_P99, "latency_1000_p99_us")                   \
    X(SLOW_P999, "latency_1000_p999_us")                 \
    X(SLOW_MAX, "latency_1000_max_us")                   \
    X(FAST_P50, "latency_10000_p50_us")                  \
    X(FAST_P99, "latency_10000_p99_us")                  \
    X(FAST_P999, "latency_10000_p999_us")                \
    X(FAST_MAX, "latency_10000_max_us")                  \
    X(SELECT_LABEL, "select_label_us")                   \
    X(SELECT_HITS, "select_hits")                        \
    X(SELECT_TWO, "select_two_us")                       \
    X(SELECT_TWO_HITS, "select_two_hits")                \
    X(SELECT_SCAN, "select_scan_us")                     \
    X(SELECT_SCAN_HITS, "select_scan_hits")              \
    X(SELECT_NAMESPACE, "select_namespace_us")           \
    X(IDLE_RESIDENT, "idle_bytes")                       \
    X(IDLE_PRIVATE, "idle_private_bytes")                \
    X(IDLE_INFORMER, "idle_informer_bytes")              \
    X(START_MS, "start_ms")                              \
    X(STEP, "step_ns")                                   \
    X(NAME, "name_ns")                                   \
    X(HANDLER, "handler_ns")

enum bench_metric {
#define ONE(id, name) BENCH_##id,
    BENCH_FIGURES(ONE)
#undef ONE
        BENCH_METRICS
};

const char *bench_measurement_name(enum bench_measurement measurement);
/* The bit of a name, or 0. */
unsigned bench_measurement_bit(struct str name);
const char *bench_metric_name(enum bench_metric metric);
