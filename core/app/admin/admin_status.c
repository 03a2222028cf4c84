/* Status of a running engine for the admin socket; see admin_engine.h. */
#include "app/admin/admin_engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/monitor/observe.h"
#include "app/monitor/process_info.h"
#include "base/mem.h"
#include "base/text/json_out.h"
#include "engine/engine_view.h"
#include "informer/history/history.h"
#include "script/generation/state_keep.h"
#include "script/handlers/initial_sync.h"
#include "script/rules/rule.h"
#include "script/server/declared.h"
#include "script/server/sink.h"
#include "script/work/script_queue.h"
#include "script/work/webhook.h"

static void put_plugin(struct engine *engine, struct buf *out)
{
    int64_t since_us;
    const char *command = kube_client_plugin_running(io_thread_client(engine_cluster(engine)->io), &since_us);
    json_text(out, "execPlugin", command ? command : "");
    json_time(out, "execPluginRunning", command ? since_us : 0);
}

static void put_outage(struct engine *engine, struct buf *out)
{
    struct err err;
    int64_t throttled_us;
    struct kube_client *client = io_thread_client(engine_cluster(engine)->io);
    int64_t lost_us = reachability_lost_us(kube_client_reachability(client), &err);
    json_time(out, "unreachableSince", lost_us);
    json_text(out, "unreachable", lost_us ? err.text : "");
    json_int(out, "throttledRequests",
             (int64_t)throttled_count(kube_client_throttled(client), &throttled_us));
    json_time(out, "throttledSince", throttled_us);
}

/* "history": what --history keeps. */
static void put_history(const struct cluster *cluster, struct buf *out)
{
    if (!cluster->parts.history) return;
    struct history_stats stats = history_stats(cluster->parts.history);
    json_open(out, "history", '{');
    json_int(out, "objects", (int64_t)stats.objects);
    json_int(out, "versions", (int64_t)stats.versions);
    json_int(out, "bytes", (int64_t)stats.bytes);
    json_int(out, "limitBytes", (int64_t)stats.limit_bytes);
    json_int(out, "evicted", (int64_t)stats.evicted);
    json_close(out, '}');
}

/* "shard": the share of this replica, whose shared caches are partial. */
static void put_shard(const struct cluster *cluster, struct buf *out)
{
    struct shards_status status;
    if (!cluster->parts.shards) return;
    shards_get_status(cluster->parts.shards, &status);
    const struct slot_set owned = shards_owned(cluster->parts.shards);
    const struct shared_slots_figures figures = shared_factory_slots_figures(cluster->parts.factory);
    json_open(out, "shard", '{');
    json_text(out, "namespace", status.namespace_);
    json_text(out, "group", status.group);
    json_text(out, "lease", status.lease);
    json_int(out, "epoch", status.epoch);
    json_int(out, "members", (int64_t)status.members);
    json_int(out, "slots", (int64_t)slot_set_count(&owned));
    json_int(out, "allSlots", SHARD_SLOTS);
    json_int(out, "ranges", (int64_t)slot_set_runs(&owned));
    json_bool(out, "writesTable", status.writes);
    json_int(out, "informers", (int64_t)figures.informers);
    json_int(out, "informersBehind", (int64_t)figures.behind);
    json_int(out, "objects", (int64_t)figures.objects);
    json_int(out, "skipped", (int64_t)figures.skipped);
    json_int(out, "handoverMilliseconds", status.handover_ms);
    json_int(out, "failoverMilliseconds", status.failover_ms);
    json_text(out, "cause", status.error);
    json_close(out, '}');
}

/* "bucket": where objects come from. */
static void put_bucket(const struct cluster *cluster, struct buf *out)
{
    struct bucket_status status;
    if (!cluster->bucket) return;
    bucket_get_status(cluster->bucket, &status);
    json_open(out, "bucket", '{');
    json_text(out, "from", status.shown);
    if (status.parts > 0) {
        json_int(out, "part", status.part);
        json_int(out, "parts", status.parts);
    }
    json_text(out, "publisher", status.publisher);
    json_time(out, "heard", status.heard_us);
    json_text(out, "error", status.error);
    json_close(out, '}');
}

void admin_put_engine(const struct admin_engine *admin, struct buf *out)
{
    struct engine *engine = admin->engine;
    struct process_info process;
    struct buf lag = {0};
    const struct cluster *cluster = engine_cluster(engine);
    const struct monitor_addresses *where = monitor_addresses(admin->monitor);
    int64_t now_us = clock_wall_us(loop_clock(engine_loop(engine)));
    process_info_read(&process);
    observe_describe_lag(engine, &lag);
    json_open(out, "engine", '{');
    json_text(out, "version", KUBELUA_VERSION);
    json_int(out, "pid", getpid());
    json_time(out, "started", engine_started_us(engine));
    json_time(out, "now", now_us);
    json_int(out, "uptimeMilliseconds", (now_us - engine_started_us(engine)) / 1000);
    json_text(out, "server", cluster_server(cluster));
    json_text(out, "source", cluster->options.config->source);
    json_bool(out, "ready", lag.len == 0);
    json_text(out, "lagging", buf_text(&lag));
    json_int(out, "memoryBytes", (int64_t)process.resident_bytes);
    json_int(out, "cpuMilliseconds", (int64_t)(process.cpu_seconds * 1000));
    json_text(out, "metricsAddress", where->metrics);
    json_text(out, "healthAddress", where->health);
    json_text(out, "pageAddress", admin->page ? admin->page : "");
    json_text(out, "webhookAddress", engine_webhook_address(engine));
    json_text(out, "discoveryError", discoverer_error(cluster->discoverer));
    json_time(out, "discoveryAsking", discoverer_refreshing_since_us(cluster->discoverer));
    put_plugin(engine, out);
    put_outage(engine, out);
    put_history(cluster, out);
    put_shard(cluster, out);
    put_bucket(cluster, out);
    admin_put_clusters(engine, out);
    json_close(out, '}');
    buf_clear(&lag);
}

static void put_error(void *out, const char *call, uint64_t errors)
{
    json_int(out, call, (int64_t)errors);
}

static void put_handler(void *out, const struct script_handler_status *handler)
{
    json_open(out, NULL, '{');
    json_text(out, "id", handler->id);
    json_text(out, "kind", handler->kind);
    json_int(out, "pending", (int64_t)handler->pending);
    json_int(out, "debounced", (int64_t)handler->debounced);
    json_int(out, "busy", (int64_t)handler->busy);
    json_int(out, "concurrency", (int64_t)handler->concurrency);
    json_int(out, "errors", (int64_t)handler->errors);
    json_int(out, "cpuMilliseconds", handler->cpu_ms);
    json_int(out, "calls", (int64_t)handler->calls);
    json_int(out, "callMicroseconds", (int64_t)(handler->call_seconds * 1e6));
    json_int(out, "timedCalls", (int64_t)handler->timed);
    json_int(out, "latencyMicroseconds", (int64_t)(handler->latency_seconds * 1e6));
    json_close(out, '}');
}

static void put_quarantine(void *out, const struct script_quarantine_status *status)
{
    json_open(out, NULL, '{');
    json_text(out, "id", status->id);
    json_text(out, "why", status->why);
    json_time(out, "since", status->since_us);
    json_int(out, "skipped", (int64_t)status->skipped);
    json_close(out, '}');
}

static void put_main(const struct script *script, struct buf *out)
{
    static const char *const names[] = {
        [SCRIPT_MAIN_NONE] = "",     [SCRIPT_MAIN_WAITING] = "waiting", [SCRIPT_MAIN_RUNNING] = "running",
        [SCRIPT_MAIN_DONE] = "done", [SCRIPT_MAIN_FAILED] = "failed",   [SCRIPT_MAIN_SKIPPED] = "skipped",
    };
    struct buf text = {0};
    script_describe_main(script, &text);
    json_text(out, "mainState", names[script_main_state(script)]);
    admin_put_error(out, "main", buf_slice(&text));
    buf_clear(&text);
}

/* Informers that handlers and workers wait for, and those that handlers did not wait for. */
static void put_waits(const struct script *script, struct buf *out)
{
    struct buf text = {0};
    initial_sync_describe(script, &text);
    json_text(out, "handlersWaitFor", buf_text(&text));
    text.len = 0;
    initial_sync_describe_skipped(script, &text);
    json_text(out, "notWaitedFor", buf_text(&text));
    text.len = 0;
    queues_describe_wait(script, &text);
    json_text(out, "workersWaitFor", buf_text(&text));
    buf_clear(&text);
}

/* Suspended claims have none. */
static size_t count_informers(const struct script *script)
{
    size_t count = 0;
    for (size_t i = 0; i < script_claim_count(script); i++)
        count += !claim_is_suspended(script_claim(script, i));
    return count;
}

static void put_paths(const struct read_paths *paths, struct buf *out)
{
    for (size_t i = 0; i < paths->count; i++) json_text(out, NULL, paths->items[i]);
}

/* "webhooks", without tokens and secrets. */
static void put_webhooks(const struct script *script, struct buf *out)
{
    struct script_webhook_status status;
    json_open(out, "webhooks", '[');
    for (size_t i = 0; i < script_webhook_count(script); i++) {
        struct buf methods = {0};
        script_get_webhook_status(script, i, &status, &methods);
        json_open(out, NULL, '{');
        json_text(out, "path", status.path);
        json_text(out, "methods", buf_text(&methods));
        json_bool(out, "leader", status.leader);
        json_int(out, "inFlight", (int64_t)status.in_flight);
        json_close(out, '}');
        buf_clear(&methods);
    }
    json_close(out, ']');
}

/* "states" that outlive the process. */
static void put_states(const struct script *script, struct buf *out)
{
    struct state_keep_status status;
    json_open(out, "states", '[');
    for (size_t i = 0; i < state_keep_count(script); i++) {
        state_keep_get_status(script, i, &status);
        json_open(out, NULL, '{');
        json_text(out, "name", status.name);
        json_text(out, "keep", status.keep);
        json_text(out, "place", status.where);
        json_bool(out, "read", status.is_read);
        json_bool(out, "changed", status.is_changed);
        json_int(out, "bytes", (int64_t)status.bytes);
        json_time(out, "written", status.written_us);
        json_text(out, "error", status.error);
        json_close(out, '}');
    }
    json_close(out, ']');
}

/* "sinks", without what their targets have behind the scheme, which may be a secret. */
static void put_sinks(const struct script *script, struct buf *out)
{
    struct sink_status status;
    json_open(out, "sinks", '[');
    for (size_t i = 0; i < script_sink_count(script); i++) {
        if (!script_get_sink_status(script, i, &status)) continue;
        json_open(out, NULL, '{');
        json_text(out, "name", status.name);
        json_text(out, "scheme", status.scheme);
        json_int(out, "events", (int64_t)status.events);
        json_int(out, "bytes", (int64_t)status.bytes);
        json_int(out, "waiting", (int64_t)status.waiting);
        admin_put_error(out, "error", str_of(status.error));
        json_close(out, '}');
    }
    json_close(out, ']');
}

static void put_declared(const struct declarations *declared, struct buf *out)
{
    for (size_t i = 0; i < declared->count; i++) json_text(out, NULL, declared->items[i].text);
}

/* "waitingWrites" and "waitingWritesMilliseconds" */
static void put_pace(const char *what, struct pace_status pace, struct buf *out)
{
    char key[48];
    snprintf(key, sizeof key, "waiting%s", what);
    json_int(out, key, (int64_t)pace.waiting);
    snprintf(key, sizeof key, "waiting%sMilliseconds", what);
    json_int(out, key, pace.longest_ms);
}

static void put_running(const struct script *script, struct buf *out)
{
    struct script_counters counters = script_counters(script);
    json_int(out, "handlers", (int64_t)script_handler_count(script));
    json_int(out, "informers", (int64_t)count_informers(script));
    json_int(out, "rules", (int64_t)script_rule_count(script));
    admin_put_params(script, NULL, out);
    json_int(out, "adds", (int64_t)counters.adds);
    json_int(out, "updates", (int64_t)counters.updates);
    json_int(out, "deletes", (int64_t)counters.deletes);
    json_int(out, "errors", (int64_t)counters.errors);
    json_open(out, "errorsByCall", '{');
    script_each_error(script, put_error, out);
    json_close(out, '}');
    json_time(out, "lastErrorTime", counters.failed_us);
    json_time(out, "failingSince", counters.failing_us);
    json_text(out, "dryRun", script_dry_run(script));
    json_int(out, "failedWrites", (int64_t)counters.failed_writes);
    put_pace("Writes", script_pace(script, LIMIT_WRITES), out);
    put_pace("Requests", script_pace(script, LIMIT_HTTP_REQUESTS), out);
    put_main(script, out);
    put_waits(script, out);
    json_int(out, "pending", (int64_t)script_pending_events(script));
    json_open(out, "eventHandlers", '[');
    script_each_handler(script, put_handler, out);
    json_close(out, ']');
    put_webhooks(script, out);
    put_states(script, out);
    put_sinks(script, out);
    json_open(out, "quarantined", '[');
    script_each_quarantine(script, put_quarantine, out);
    json_close(out, ']');
    json_int(out, "memoryBytes", (int64_t)script_memory(script));
    json_int(out, "cpuMilliseconds", script_cpu_ms(script));
    json_int(out, "loadMicroseconds", script_load_us(script));
    json_open(out, "reads", '[');
    put_declared(script_declared_reads(script), out);
    put_paths(script_declared_paths(script), out);
    json_close(out, ']');
    json_open(out, "writes", '[');
    put_declared(script_declared_writes(script), out);
    json_close(out, ']');
}

/* A new file that was refused, or waits for its informers, has nothing else to show. */
static void put_script(const struct managed_script *managed, struct buf *out)
{
    if (!managed->running && managed->gone) return;
    json_open(out, NULL, '{');
    json_text(out, "name", managed->name);
    json_text(out, "path", managed->path);
    admin_put_generations(managed, out);
    if (managed->running) put_running(managed->running, out);
    json_close(out, '}');
}

bool admin_put_scripts(const struct admin_engine *admin, size_t at, struct buf *out)
{
    const struct managed_scripts *scripts = engine_scripts(admin->engine);
    if (at == 0) json_open(out, "scripts", '[');
    if (at < scripts->count) put_script(scripts->items[at], out);
    if (at + 1 < scripts->count) return true;
    json_close(out, ']');
    return false;
}

/* --- queues */

static void put_failing(const struct script_queue_status *status, struct buf *out)
{
    json_open(out, "failingKeys", '[');
    for (size_t i = 0; i < status->failing_count; i++) {
        const struct workqueue_failing *f = &status->failing[i];
        json_open(out, NULL, '{');
        json_str(out, "key", f->key);
        json_int(out, "retries", (int64_t)f->failures);
        admin_put_error(out, "error", str_of(f->why));
        json_text(out, "state", f->processing ? "processing" : f->delayed ? "delayed" : "queued");
        if (f->delayed) json_int(out, "nextTryMilliseconds", f->next_ms);
        json_close(out, '}');
    }
    json_close(out, ']');
}

static void put_queue(const struct script *script, size_t i, struct buf *out)
{
    struct script_queue_status status;
    script_get_queue_status(script, i, &status);
    json_open(out, NULL, '{');
    json_text(out, "name", status.name);
    json_text(out, "script", script_name(script));
    json_int(out, "workers", (int64_t)status.workers);
    json_int(out, "depth", (int64_t)status.queue.depth);
    json_int(out, "delayed", (int64_t)status.queue.delayed);
    json_int(out, "processing", (int64_t)status.queue.processing);
    json_int(out, "failing", (int64_t)status.queue.failing);
    json_int(out, "adds", (int64_t)status.queue.adds);
    json_int(out, "retries", (int64_t)status.queue.retries);
    json_int(out, "dropped", (int64_t)status.queue.dropped);
    json_int(out, "errors", (int64_t)status.errors);
    json_int(out, "longestMilliseconds", status.queue.longest_ms);
    json_str(out, "longestKey", status.queue.longest_key);
    put_failing(&status, out);
    json_bool(out, "shutDown", status.queue.shut_down);
    json_close(out, '}');
}

bool admin_put_queues(const struct admin_engine *admin, size_t at, struct buf *out)
{
    const struct managed_scripts *scripts = engine_scripts(admin->engine);
    const struct script *script = at < scripts->count ? scripts->items[at]->running : NULL;
    if (at == 0) json_open(out, "queues", '[');
    for (size_t i = 0; script && i < script_queue_count(script); i++) put_queue(script, i, out);
    if (at + 1 < scripts->count) return true;
    json_close(out, ']');
    return false;
}
