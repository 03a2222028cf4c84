/* Process-wide counters: one atomic word each, named as Prometheus will show them.
 * Owner: the process. May be used from any thread, any callback. */
#pragma once
#include <stdint.h>

/* X(symbol, name, help) */
#define METRICS(X)                                                                                       \
    X(METRIC_EXPECTATIONS_FAILED, "kubelua_expectations_failed_total",                                   \
      "Number of failed internal assertions.")                                                           \
    X(METRIC_HANDLER_CALLS, "kubelua_handler_calls_total", "Number of event handler calls.")             \
    X(METRIC_TASKS_CANCELLED, "kubelua_tasks_cancelled_total",                                           \
      "Number of in-flight script calls that were cancelled.")                                           \
    X(METRIC_OBJECTS_REFUSED, "kubelua_objects_refused_total",                                           \
      "Number of objects refused because they are too large or malformed.")                              \
    X(METRIC_DELTAS_COALESCED, "kubelua_deltas_coalesced_total",                                         \
      "Number of deltas merged into another delta of the same object because the queue was full.")       \
    X(METRIC_STREAM_ERRORS, "kubelua_stream_errors_total", "Number of lists and watches that failed.")   \
    X(METRIC_DISCOVERY_ERRORS, "kubelua_discovery_errors_total", "Number of failed discovery requests.") \
    X(METRIC_STDOUT_DROPPED, "kubelua_print_lines_dropped_total",                                        \
      "Lines of print that were lost: no reader took them in time, or they could not be written.")       \
    X(METRIC_STDERR_DROPPED, "kubelua_log_lines_dropped_total",                                          \
      "Lines of the log that were lost, for the same reasons.")                                          \
    X(METRIC_AUDIT_DROPPED, "kubelua_audit_log_lines_dropped_total",                                     \
      "Lines of the audit log that were lost: its disk was full or too slow.")

enum metric {
#define X(symbol, name, help) symbol,
    METRICS(X)
#undef X
        METRIC_COUNT
};

void metric_add(enum metric metric, uint64_t n);
static inline void metric_inc(enum metric metric)
{
    metric_add(metric, 1);
}
uint64_t metric_get(enum metric metric);
const char *metric_name(enum metric metric);
const char *metric_help(enum metric metric);
