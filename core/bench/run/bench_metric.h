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
    X(FLOOR, "floor")         \
    X(AUDIT_ENGINE, "audit-engine")

enum bench_measurement {
#define ONE(id, name) BENCH_##id,
    BENCH_MEASUREMENTS(ONE)
#undef ONE
        BENCH_MEASUREMENT_COUNT
};

#define BENCH_BIT(measurement) (1U << (unsigned)(measurement))
enum { BENCH_ALL = (1U << BENCH_MEASUREMENT_COUNT) - 1 };

/* What is better. */
enum bench_better { BENCH_LOWER, BENCH_HIGHER, BENCH_NEITHER };

/* Names in the JSON output, units are in the names; the measurement that gives the figure; what is better.
 * Times of a subject's CPU are those of the whole process, its start included. */
#define BENCH_FIGURES(X)                                                 \
    X(SYNC_CPU, "sync_cpu_us_per_object", SYNC, LOWER)                   \
    X(SYNC_WALL, "sync_wall_s", SYNC, LOWER)                             \
    X(SYNC_SOURCE_CPU, "sync_source_cpu_us_per_object", SYNC, NEITHER)   \
    X(SYNC_PEAK, "sync_peak_bytes", SYNC, LOWER)                         \
    X(STEADY, "steady_bytes", SYNC, LOWER)                               \
    X(TRIMMED, "trimmed_bytes", SYNC, LOWER)                             \
    X(PER_OBJECT, "steady_bytes_per_object", SYNC, LOWER)                \
    X(TRIMMED_PER_OBJECT, "trimmed_bytes_per_object", SYNC, LOWER)       \
    X(SYNC_PEAK_RATIO, "sync_peak_over_steady", SYNC, LOWER)             \
    X(RELIST_CPU, "relist_cpu_us_per_object", RELIST, LOWER)             \
    X(RELIST_WALL, "relist_wall_s", RELIST, LOWER)                       \
    X(RELIST_GROWTH, "relist_growth_percent", RELIST, LOWER)             \
    X(RELIST_PEAK_RATIO, "relist_peak_over_steady", RELIST, LOWER)       \
    X(STORM_RATE, "storm_events_per_s", STORM, HIGHER)                   \
    X(STORM_CPU, "storm_cpu_us_per_event", STORM, LOWER)                 \
    X(STORM_SOURCE_CPU, "storm_source_cpu_us_per_event", STORM, NEITHER) \
    X(STORM_HANDLED, "storm_handled_percent", STORM, HIGHER)             \
    X(SLOW_P50, "latency_1000_p50_us", LATENCY, LOWER)                   \
    X(SLOW_P99, "latency_1000_p99_us", LATENCY, LOWER)                   \
    X(SLOW_P999, "latency_1000_p999_us", LATENCY, LOWER)                 \
    X(SLOW_MAX, "latency_1000_max_us", LATENCY, LOWER)                   \
    X(SLOW_LATE, "latency_1000_sent_late_us", LATENCY, LOWER)            \
    X(FAST_P50, "latency_10000_p50_us", LATENCY, LOWER)                  \
    X(FAST_P99, "latency_10000_p99_us", LATENCY, LOWER)                  \
    X(FAST_P999, "latency_10000_p999_us", LATENCY, LOWER)                \
    X(FAST_MAX, "latency_10000_max_us", LATENCY, LOWER)                  \
    X(FAST_LATE, "latency_10000_sent_late_us", LATENCY, LOWER)           \
    X(SELECT_LABEL, "select_label_us", SELECT, LOWER)                    \
    X(SELECT_HITS, "select_hits", SELECT, NEITHER)                       \
    X(SELECT_TWO, "select_two_us", SELECT, LOWER)                        \
    X(SELECT_TWO_HITS, "select_two_hits", SELECT, NEITHER)               \
    X(SELECT_SCAN, "select_scan_us", SELECT, LOWER)                      \
    X(SELECT_SCAN_HITS, "select_scan_hits", SELECT, NEITHER)             \
    X(SELECT_NAMESPACE, "select_namespace_us", SELECT, LOWER)            \
    X(IDLE_RESIDENT, "idle_bytes", IDLE, LOWER)                          \
    X(IDLE_PRIVATE, "idle_private_bytes", IDLE, LOWER)                   \
    X(IDLE_INFORMER, "idle_informer_bytes", IDLE, LOWER)                 \
    X(START_MS, "start_ms", START, LOWER)                                \
    X(STEP, "step_ns", LUA, LOWER)                                       \
    X(NAME, "name_ns", LUA, LOWER)                                       \
    X(HANDLER, "handler_ns", LUA, LOWER)                                 \
    X(AUDIT_WALL, "audit_engine_wall_s", AUDIT_ENGINE, LOWER)            \
    X(AUDIT_PAUSE, "audit_engine_pause_ms", AUDIT_ENGINE, LOWER)         \
    X(AUDIT_CPU, "audit_engine_cpu_us_per_object", AUDIT_ENGINE, LOWER)  \
    X(AUDIT_CHILDREN, "audit_engine_children", AUDIT_ENGINE, NEITHER)

enum bench_metric {
#define ONE(id, name, measurement, better) BENCH_##id,
    BENCH_FIGURES(ONE)
#undef ONE
        BENCH_METRICS
};

const char *bench_measurement_name(enum bench_measurement measurement);
/* The bit of a name, or 0. */
unsigned bench_measurement_bit(struct str name);
const char *bench_metric_name(enum bench_metric metric);
/* BENCH_METRICS when there is none of this name. */
enum bench_metric bench_metric_of(struct str name);
/* Which gives the figure for whole subjects; `projected` and `floor` give those of `sync` for theirs. */
enum bench_measurement bench_metric_measurement(enum bench_metric metric);
enum bench_better bench_metric_better(enum bench_metric metric);
