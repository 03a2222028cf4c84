/* Metrics with labels, beside the process-wide counters of metrics.h: families of series, each a counter, a
 * gauge or a histogram with fixed buckets. Owner: who made a series frees it, so that what ends is no longer
 * shown. Making and freeing take a mutex under which no script runs; the values are atomics. May be used from
 * any thread, any callback. A NULL series takes everything and shows nothing. */
#pragma once
#include <stdint.h>

#include "base/buf.h"

enum family_kind { FAMILY_COUNTER, FAMILY_GAUGE, FAMILY_HISTOGRAM, FAMILY_SUMMARY };

/* X(symbol, kind, name, labels, buckets, help). `labels` are the names, joined by commas; `buckets` one of
 * series.c. docs/metrics.md has the same list; a check compares the two. */
#define FAMILIES(X)                                                                                          \
    X(FAMILY_HANDLER_DURATION, HISTOGRAM, "kubelua_handler_duration_seconds", "script,handler,event",        \
      DURATIONS, "Duration of handler calls.")                                                               \
    X(FAMILY_HANDLER_ERRORS, COUNTER, "kubelua_handler_errors_total", "script,handler", NONE,                \
      "Number of calls of a handler or its filter that failed.")                                             \
    X(FAMILY_HANDLER_PENDING, GAUGE, "kubelua_handler_pending_events", "script,handler", NONE,               \
      "Number of events queued for a handler whose calls are in flight.")                                    \
    X(FAMILY_HANDLER_BUSY, GAUGE, "kubelua_handler_busy_calls", "script,handler", NONE,                      \
      "Number of handler calls in flight.")                                                                  \
    X(FAMILY_HANDLER_COALESCED, COUNTER, "kubelua_handler_coalesced_total", "script,handler", NONE,          \
      "Number of events coalesced with an earlier event of the same object.")                                \
    X(FAMILY_HANDLER_DEBOUNCED, GAUGE, "kubelua_handler_debounced_objects", "script,handler", NONE,          \
      "Number of objects with debounced changes.")                                                           \
    X(FAMILY_HANDLER_QUARANTINED, GAUGE, "kubelua_handler_quarantined", "script,handler", NONE,              \
      "1 if the function is in quarantine because it exceeded a limit repeatedly, else 0.")                  \
    X(FAMILY_HANDLER_SKIPPED, COUNTER, "kubelua_handler_skipped_total", "script,handler", NONE,              \
      "Number of calls skipped because of quarantine.")                                                      \
    X(FAMILY_EVENT_LATENCY, HISTOGRAM, "kubelua_event_latency_seconds", "script,handler", LATENCIES,         \
      "Time from receiving an event to calling the handler.")                                                \
    X(FAMILY_SCRIPT_ERRORS, COUNTER, "kubelua_script_errors_total", "script,call", NONE,                     \
      "Number of failed calls of a script's functions.")                                                     \
    X(FAMILY_INDEX_ERRORS, COUNTER, "kubelua_index_errors_total", "script,index", NONE,                      \
      "Number of objects for which an index function failed.")                                               \
    X(FAMILY_SCRIPT_LOG_DROPPED, COUNTER, "kubelua_script_log_lines_dropped_total", "script", NONE,          \
      "Number of k8s.log lines dropped by the limit log-lines.")                                             \
    X(FAMILY_SCRIPT_MEMORY, GAUGE, "kubelua_script_memory_bytes", "script", NONE,                            \
      "Memory of a script's Lua state.")                                                                     \
    X(FAMILY_SCRIPT_LOAD, GAUGE, "kubelua_script_load_seconds", "script", NONE,                              \
      "Load time of the current generation of a script.")                                                    \
    X(FAMILY_SCRIPT_GENERATION, GAUGE, "kubelua_script_generation", "script", NONE,                          \
      "Current generation of a script.")                                                                     \
    X(FAMILY_SCRIPT_REFUSED, GAUGE, "kubelua_script_refused", "script", NONE,                                \
      "1 if the running generation differs from the file because a reload was refused or rolled back, else " \
      "0.")                                                                                                  \
    X(FAMILY_RELOADS, COUNTER, "kubelua_reload_total", "result", NONE,                                       \
      "Number of script reloads by result.")                                                                 \
    X(FAMILY_RELOAD_PAUSE, HISTOGRAM, "kubelua_reload_pause_seconds", "", PROCESSING,                        \
      "Pause of the engine thread while a new generation is activated.")                                     \
    X(FAMILY_RELOAD_DROPPED, COUNTER, "kubelua_reload_dropped_total", "what", NONE,                          \
      "Number of events, keys, timers and calls dropped by reloads.")                                        \
    X(FAMILY_REST_REQUESTS, COUNTER, "rest_client_requests_total", "code,method,host", NONE,                 \
      "Number of HTTP requests, including retries.")                                                         \
    X(FAMILY_REST_RETRIES, COUNTER, "rest_client_request_retries_total", "code,verb,host", NONE,             \
      "Number of request retries by status code.")                                                           \
    X(FAMILY_REST_DURATION, HISTOGRAM, "rest_client_request_duration_seconds", "verb,host", REQUESTS,        \
      "Request latency including retries, excluding watches.")                                               \
    X(FAMILY_REST_LIMITED, HISTOGRAM, "rest_client_rate_limiter_duration_seconds", "verb,host", REQUESTS,    \
      "Client-side rate limiter latency.")                                                                   \
    X(FAMILY_REST_REQUEST_SIZE, HISTOGRAM, "rest_client_request_size_bytes", "verb,host", SIZES,             \
      "Request size in bytes.")                                                                              \
    X(FAMILY_REST_RESPONSE_SIZE, HISTOGRAM, "rest_client_response_size_bytes", "verb,host", SIZES,           \
      "Uncompressed response size in bytes.")                                                                \
    X(FAMILY_WRITES, COUNTER, "kubelua_writes_total", "script,verb,resource,code", NONE,                     \
      "Number of writes of scripts by response code.")                                                       \
    X(FAMILY_EVENTS, COUNTER, "kubelua_events_total", "result", NONE,                                        \
      "Number of Events recorded with k8s.event.")                                                           \
    X(FAMILY_AUDIT_RESULTS, GAUGE, "kubelua_audit_results", "rule,severity,category,result", NONE,           \
      "Number of objects by result of a rule.")                                                              \
    X(FAMILY_AUDIT_EVALUATIONS, COUNTER, "kubelua_audit_evaluations_total", "rule,result", NONE,             \
      "Number of rule evaluations.")                                                                         \
    X(FAMILY_AUDIT_DURATION, HISTOGRAM, "kubelua_audit_duration_seconds", "rule", DURATIONS,                 \
      "Duration of rule evaluations.")                                                                       \
    X(FAMILY_AUDIT_PENDING, GAUGE, "kubelua_audit_pending", "", NONE,                                        \
      "Number of objects waiting for evaluation.")                                                           \
    X(FAMILY_AUDIT_LEFT_OUT, GAUGE, "kubelua_audit_findings_left_out", "", NONE,                             \
      "Number of results whose findings were dropped because of the memory limit.")                          \
    X(FAMILY_POLICY_REPORTS, GAUGE, "kubelua_policy_reports", "", NONE,                                      \
      "Number of policy reports in the cluster written by this engine.")                                     \
    X(FAMILY_POLICY_WRITES, COUNTER, "kubelua_policy_report_writes_total", "verb,result", NONE,              \
      "Number of policy report writes by result.")                                                           \
    X(FAMILY_POLICY_LEFT_OUT, GAUGE, "kubelua_policy_report_namespaces_left_out", "", NONE,                  \
      "Number of namespaces without a policy report because of the report limit.")                           \
    X(FAMILY_EXEC_CALLS, COUNTER, "rest_client_exec_plugin_call_total", "code,call_status", NONE,            \
      "Number of exec plugin calls.")                                                                        \
    X(FAMILY_EXEC_TTL, GAUGE, "rest_client_exec_plugin_ttl_seconds", "", NONE,                               \
      "Remaining lifetime of the client certificate of the exec plugin.")                                    \
    X(FAMILY_EXEC_AGE, HISTOGRAM, "rest_client_exec_plugin_certificate_rotation_age", "", AGES,              \
      "Age of exec plugin client certificates when they are rotated.")                                       \
    X(FAMILY_LISTS, COUNTER, "reflector_lists_total", "name,resource_type", NONE,                            \
      "Number of lists started.")                                                                            \
    X(FAMILY_WATCH_LISTS, COUNTER, "reflector_watchlists_total", "name,resource_type", NONE,                 \
      "Number of watch-lists started.")                                                                      \
    X(FAMILY_LIST_DURATION, SUMMARY, "reflector_list_duration_seconds", "name,resource_type", NONE,          \
      "Duration of lists.")                                                                                  \
    X(FAMILY_LISTED_ITEMS, SUMMARY, "reflector_listed_items", "name,resource_type", NONE,                    \
      "Number of objects per list.")                                                                         \
    X(FAMILY_WATCHES, COUNTER, "reflector_watches_total", "name,resource_type", NONE,                        \
      "Number of watches started.")                                                                          \
    X(FAMILY_SHORT_WATCHES, COUNTER, "reflector_short_watches_total", "name,resource_type", NONE,            \
      "Number of watches that ended within a second without events.")                                        \
    X(FAMILY_WATCH_DURATION, SUMMARY, "reflector_watch_duration_seconds", "name,resource_type", NONE,        \
      "Duration of watches.")                                                                                \
    X(FAMILY_WATCHED_OBJECTS, COUNTER, "reflector_watched_objects", "name,resource_type", NONE,              \
      "Number of objects received from watches.")                                                            \
    X(FAMILY_LAST_VERSION, GAUGE, "reflector_last_resource_version", "name,resource_type", NONE,             \
      "Last resource version seen (lowest 15 digits).")                                                      \
    X(FAMILY_QUEUED_ITEMS, GAUGE, "informer_queued_items", "name,group,version,resource", NONE,              \
      "Number of queued deltas.")                                                                            \
    X(FAMILY_PROCESSING, HISTOGRAM, "informer_processing_latency_seconds", "name,group,version,resource",    \
      PROCESSING, "Time to process a delta, including all handlers.")                                        \
    X(FAMILY_STORE_VERSION, GAUGE, "informer_store_resource_version", "name,group,version,resource", NONE,   \
      "Resource version of the cache (lowest 15 digits).")                                                   \
    X(FAMILY_CACHE_OBJECTS, GAUGE, "kubelua_cache_objects", "name,resource", NONE,                           \
      "Number of objects in the cache.")                                                                     \
    X(FAMILY_CACHE_BYTES, GAUGE, "kubelua_cache_bytes", "name,resource", NONE,                               \
      "Estimated memory of the objects in the cache.")                                                       \
    X(FAMILY_TRANSFORM_ERRORS, COUNTER, "kubelua_transform_errors_total", "name,resource", NONE,             \
      "Number of failed transforms.")                                                                        \
    X(FAMILY_TRANSFORM_DROPPED, COUNTER, "kubelua_transform_dropped_total", "name,resource", NONE,           \
      "Number of objects dropped by a transform.")                                                           \
    X(FAMILY_INFORMER_UP, GAUGE, "kubelua_informer_up", "name,resource", NONE,                               \
      "1 if the cache is synced and its list and watch work, else 0.")                                       \
    X(FAMILY_QUEUE_DEPTH, GAUGE, "workqueue_depth", "name,script", NONE, "Current depth of the work queue.") \
    X(FAMILY_QUEUE_ADDS, COUNTER, "workqueue_adds_total", "name,script", NONE,                               \
      "Number of adds handled by the work queue.")                                                           \
    X(FAMILY_QUEUE_LATENCY, HISTOGRAM, "workqueue_queue_duration_seconds", "name,script", QUEUES,            \
      "How long a key stays in the work queue before it is requested.")                                      \
    X(FAMILY_QUEUE_WORK, HISTOGRAM, "workqueue_work_duration_seconds", "name,script", QUEUES,                \
      "How long processing a key takes.")                                                                    \
    X(FAMILY_QUEUE_UNFINISHED, GAUGE, "workqueue_unfinished_work_seconds", "name,script", NONE,              \
      "Total seconds of work in progress that has not been observed by work_duration.")                      \
    X(FAMILY_QUEUE_LONGEST, GAUGE, "workqueue_longest_running_processor_seconds", "name,script", NONE,       \
      "Seconds that the longest running worker has been processing its key.")                                \
    X(FAMILY_QUEUE_RETRIES, COUNTER, "workqueue_retries_total", "name,script", NONE,                         \
      "Number of retries handled by the work queue.")                                                        \
    X(FAMILY_QUEUE_DROPPED, COUNTER, "kubelua_queue_dropped_total", "name,script", NONE,                     \
      "Number of keys dropped after max_retries.")                                                           \
    X(FAMILY_INFORMER_HEARD, GAUGE, "kubelua_informer_last_heard_timestamp_seconds", "name,resource", NONE,  \
      "Time of the last list, event or bookmark from the server.")                                           \
    X(FAMILY_LEADER, GAUGE, "leader_election_master_status", "name", NONE,                                   \
      "1 if this process holds the lease, else 0.")                                                          \
    X(FAMILY_LEADER_SLOW_PATH, COUNTER, "leader_election_slowpath_total", "name", NONE,                      \
      "Number of lease renewals that used the slow path.")

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

/* A counter or a gauge grows; who counts himself sets either. */
void series_add(struct series *series, double amount);
static inline void series_inc(struct series *series)
{
    series_add(series, 1);
}
void series_set(struct series *series, double value);
/* What was observed so far, for owners that keep sum and count themselves. */
void series_set_summary(struct series *summary, double sum, uint64_t count);
void series_observe(struct series *histogram, double value);

/* Appends all families that have series, in Prometheus's text form 0.0.4. */
void series_render(struct buf *out);
/* Pieces of that form, for those who add what is no series. */
void exposition_head(struct buf *out, const char *name, const char *type, const char *help);
void exposition_number(struct buf *out, double value);
