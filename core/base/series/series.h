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
#define FAMILIES(X)                                                                                         \
    X(FAMILY_HANDLER_DURATION, HISTOGRAM, "kubelua_handler_duration_seconds", "script,handler,event",       \
      DURATIONS, "Time that a call of a handler took.")                                                     \
    X(FAMILY_HANDLER_ERRORS, COUNTER, "kubelua_handler_errors_total", "script,handler", NONE,               \
      "Calls of a handler or its filter that ended with an error.")                                         \
    X(FAMILY_HANDLER_PENDING, GAUGE, "kubelua_handler_pending_events", "script,handler", NONE,              \
      "Events that wait for calls of the handler that wait.")                                               \
    X(FAMILY_HANDLER_BUSY, GAUGE, "kubelua_handler_busy_calls", "script,handler", NONE,                     \
      "Calls of a handler that wait.")                                                                      \
    X(FAMILY_HANDLER_COALESCED, COUNTER, "kubelua_handler_coalesced_total", "script,handler", NONE,         \
      "Events that joined an earlier one of their object, in a full pending list or by debounce.")          \
    X(FAMILY_HANDLER_DEBOUNCED, GAUGE, "kubelua_handler_debounced_objects", "script,handler", NONE,         \
      "Objects with changes that debounce holds back.")                                                     \
    X(FAMILY_HANDLER_QUARANTINED, GAUGE, "kubelua_handler_quarantined", "script,handler", NONE,             \
      "Whether a function of a script is not called any more, as it went over a limit too often.")          \
    X(FAMILY_HANDLER_SKIPPED, COUNTER, "kubelua_handler_skipped_total", "script,handler", NONE,             \
      "Calls that were not made meanwhile.")                                                                \
    X(FAMILY_EVENT_LATENCY, HISTOGRAM, "kubelua_event_latency_seconds", "script,handler", LATENCIES,        \
      "Time from the arrival of an event's bytes to the entry of the handler.")                             \
    X(FAMILY_SCRIPT_ERRORS, COUNTER, "kubelua_script_errors_total", "script,call", NONE,                    \
      "Calls of a script's functions that ended with an error.")                                            \
    X(FAMILY_INDEX_ERRORS, COUNTER, "kubelua_index_errors_total", "script,index", NONE,                     \
      "Objects for which an index function failed.")                                                        \
    X(FAMILY_SCRIPT_LOG_DROPPED, COUNTER, "kubelua_script_log_lines_dropped_total", "script", NONE,         \
      "Lines of k8s.log that were left out, as there were too many in a second.")                           \
    X(FAMILY_SCRIPT_MEMORY, GAUGE, "kubelua_script_memory_bytes", "script", NONE,                           \
      "Memory of a script's Lua state.")                                                                    \
    X(FAMILY_SCRIPT_LOAD, GAUGE, "kubelua_script_load_seconds", "script", NONE,                             \
      "Time that the generation of a script that runs took to load.")                                       \
    X(FAMILY_SCRIPT_GENERATION, GAUGE, "kubelua_script_generation", "script", NONE,                         \
      "Number of the generation of a script that runs.")                                                    \
    X(FAMILY_SCRIPT_REFUSED, GAUGE, "kubelua_script_refused", "script", NONE,                               \
      "Whether the file of a script is not what runs, as it was refused or returned from.")                 \
    X(FAMILY_RELOADS, COUNTER, "kubelua_reload_total", "result", NONE,                                      \
      "Reloads of scripts: taken over, refused, returned from.")                                            \
    X(FAMILY_RELOAD_PAUSE, HISTOGRAM, "kubelua_reload_pause_seconds", "", PROCESSING,                       \
      "Time for which the engine thread did nothing but let a generation take over.")                       \
    X(FAMILY_RELOAD_DROPPED, COUNTER, "kubelua_reload_dropped_total", "what", NONE,                         \
      "What reloads ended: events, keys, timers, and calls that did not end in time.")                      \
    X(FAMILY_REST_REQUESTS, COUNTER, "rest_client_requests_total", "code,method,host", NONE,                \
      "Requests to the API server, each try counted.")                                                      \
    X(FAMILY_REST_RETRIES, COUNTER, "rest_client_request_retries_total", "code,verb,host", NONE,            \
      "Requests that were sent again, by the code that was the reason.")                                    \
    X(FAMILY_REST_DURATION, HISTOGRAM, "rest_client_request_duration_seconds", "verb,host", REQUESTS,       \
      "Time that requests took with all their tries and waits, watches left out.")                          \
    X(FAMILY_REST_LIMITED, HISTOGRAM, "rest_client_rate_limiter_duration_seconds", "verb,host", REQUESTS,   \
      "Time for which --kube-api-qps held requests back.")                                                  \
    X(FAMILY_REST_REQUEST_SIZE, HISTOGRAM, "rest_client_request_size_bytes", "verb,host", SIZES,            \
      "Bodies of requests.")                                                                                \
    X(FAMILY_REST_RESPONSE_SIZE, HISTOGRAM, "rest_client_response_size_bytes", "verb,host", SIZES,          \
      "Bodies of answers, as they were before they were compressed.")                                       \
    X(FAMILY_WRITES, COUNTER, "kubelua_writes_total", "script,verb,resource,code", NONE,                    \
      "Writes that scripts had sent, by their answers.")                                                    \
    X(FAMILY_EVENTS, COUNTER, "kubelua_events_total", "result", NONE, "Events of k8s.event.")               \
    X(FAMILY_AUDIT_RESULTS, GAUGE, "kubelua_audit_results", "rule,severity,category,result", NONE,          \
      "Objects by what a rule says of them.")                                                               \
    X(FAMILY_AUDIT_EVALUATIONS, COUNTER, "kubelua_audit_evaluations_total", "rule,result", NONE,            \
      "Times that a rule was asked about an object.")                                                       \
    X(FAMILY_AUDIT_DURATION, HISTOGRAM, "kubelua_audit_duration_seconds", "rule", DURATIONS,                \
      "Time that a rule took for an object.")                                                               \
    X(FAMILY_AUDIT_PENDING, GAUGE, "kubelua_audit_pending", "", NONE,                                       \
      "Objects that wait for rules to be asked about them.")                                                \
    X(FAMILY_AUDIT_LEFT_OUT, GAUGE, "kubelua_audit_findings_left_out", "", NONE,                            \
      "Objects of rules whose findings had no room in memory.")                                             \
    X(FAMILY_POLICY_REPORTS, GAUGE, "kubelua_policy_reports", "", NONE,                                     \
      "Policy reports of this engine in the cluster.")                                                      \
    X(FAMILY_POLICY_WRITES, COUNTER, "kubelua_policy_report_writes_total", "verb,result", NONE,             \
      "Writes of policy reports, by how they ended.")                                                       \
    X(FAMILY_POLICY_LEFT_OUT, GAUGE, "kubelua_policy_report_namespaces_left_out", "", NONE,                 \
      "Namespaces whose reports are not written, as there are as many as there may be.")                    \
    X(FAMILY_EXEC_CALLS, COUNTER, "rest_client_exec_plugin_call_total", "code,call_status", NONE,           \
      "Runs of an exec plugin.")                                                                            \
    X(FAMILY_EXEC_TTL, GAUGE, "rest_client_exec_plugin_ttl_seconds", "", NONE,                              \
      "Time until the end of the client certificate that an exec plugin gave.")                             \
    X(FAMILY_EXEC_AGE, HISTOGRAM, "rest_client_exec_plugin_certificate_rotation_age", "", AGES,             \
      "Seconds that client certificates of an exec plugin had lived when they were replaced.")              \
    X(FAMILY_LISTS, COUNTER, "reflector_lists_total", "name,resource_type", NONE,                           \
      "Lists that were started.")                                                                           \
    X(FAMILY_WATCH_LISTS, COUNTER, "reflector_watchlists_total", "name,resource_type", NONE,                \
      "Watches that were started to begin with all objects.")                                               \
    X(FAMILY_LIST_DURATION, SUMMARY, "reflector_list_duration_seconds", "name,resource_type", NONE,         \
      "Time that whole lists took.")                                                                        \
    X(FAMILY_LISTED_ITEMS, SUMMARY, "reflector_listed_items", "name,resource_type", NONE,                   \
      "Objects in whole lists.")                                                                            \
    X(FAMILY_WATCHES, COUNTER, "reflector_watches_total", "name,resource_type", NONE,                       \
      "Watches that were started.")                                                                         \
    X(FAMILY_SHORT_WATCHES, COUNTER, "reflector_short_watches_total", "name,resource_type", NONE,           \
      "Watches that ended within a second without an event.")                                               \
    X(FAMILY_WATCH_DURATION, SUMMARY, "reflector_watch_duration_seconds", "name,resource_type", NONE,       \
      "Time that watches lasted.")                                                                          \
    X(FAMILY_WATCHED_OBJECTS, COUNTER, "reflector_watched_objects", "name,resource_type", NONE,             \
      "Objects that came by watches.")                                                                      \
    X(FAMILY_LAST_VERSION, GAUGE, "reflector_last_resource_version", "name,resource_type", NONE,            \
      "The last version seen, its 15 lowest digits.")                                                       \
    X(FAMILY_QUEUED_ITEMS, GAUGE, "informer_queued_items", "name,group,version,resource", NONE,             \
      "Changes that wait to be processed.")                                                                 \
    X(FAMILY_PROCESSING, HISTOGRAM, "informer_processing_latency_seconds", "name,group,version,resource",   \
      PROCESSING, "Time to process a change, all handlers included.")                                       \
    X(FAMILY_STORE_VERSION, GAUGE, "informer_store_resource_version", "name,group,version,resource", NONE,  \
      "The version of the cache, its 15 lowest digits.")                                                    \
    X(FAMILY_CACHE_OBJECTS, GAUGE, "kubelua_cache_objects", "name,resource", NONE, "Objects in a cache.")   \
    X(FAMILY_CACHE_BYTES, GAUGE, "kubelua_cache_bytes", "name,resource", NONE,                              \
      "What the objects of a cache take in memory, about.")                                                 \
    X(FAMILY_TRANSFORM_ERRORS, COUNTER, "kubelua_transform_errors_total", "name,resource", NONE,            \
      "Objects for which a transform failed.")                                                              \
    X(FAMILY_TRANSFORM_DROPPED, COUNTER, "kubelua_transform_dropped_total", "name,resource", NONE,          \
      "Objects that a transform did not want.")                                                             \
    X(FAMILY_INFORMER_UP, GAUGE, "kubelua_informer_up", "name,resource", NONE,                              \
      "1 while a cache is synced and nothing is wrong with its list or watch, else 0.")                     \
    X(FAMILY_QUEUE_DEPTH, GAUGE, "workqueue_depth", "name,script", NONE,                                    \
      "Keys that wait for a worker, or for the end of their own work.")                                     \
    X(FAMILY_QUEUE_ADDS, COUNTER, "workqueue_adds_total", "name,script", NONE,                              \
      "Keys that were added and did not wait already.")                                                     \
    X(FAMILY_QUEUE_LATENCY, HISTOGRAM, "workqueue_queue_duration_seconds", "name,script", QUEUES,           \
      "Time that keys waited, from when they were first added.")                                            \
    X(FAMILY_QUEUE_WORK, HISTOGRAM, "workqueue_work_duration_seconds", "name,script", QUEUES,               \
      "Time that the work on a key took.")                                                                  \
    X(FAMILY_QUEUE_UNFINISHED, GAUGE, "workqueue_unfinished_work_seconds", "name,script", NONE,             \
      "Time that the work under way has taken so far, all of it.")                                          \
    X(FAMILY_QUEUE_LONGEST, GAUGE, "workqueue_longest_running_processor_seconds", "name,script", NONE,      \
      "Time that the oldest work under way has taken so far.")                                              \
    X(FAMILY_QUEUE_RETRIES, COUNTER, "workqueue_retries_total", "name,script", NONE,                        \
      "Keys that were added with a delay.")                                                                 \
    X(FAMILY_QUEUE_DROPPED, COUNTER, "kubelua_queue_dropped_total", "name,script", NONE,                    \
      "Keys that were given up after max_retries.")                                                         \
    X(FAMILY_INFORMER_HEARD, GAUGE, "kubelua_informer_last_heard_timestamp_seconds", "name,resource", NONE, \
      "When the server last sent a list, an event or a bookmark.")                                          \
    X(FAMILY_LEADER, GAUGE, "leader_election_master_status", "name", NONE,                                  \
      "1 while this process leads by that lease, else 0.")                                                  \
    X(FAMILY_LEADER_SLOW_PATH, COUNTER, "leader_election_slowpath_total", "name", NONE,                     \
      "Renewals of a lease that failed at first and were tried again after a look at it.")

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
