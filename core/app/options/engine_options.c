/* Flags as plain values; see engine_options.h. */
#include "app/options/engine_options.h"

#include <string.h>

#include "app/options/cores.h"

static enum watch_list_mode watch_list_mode(const char *name)
{
    return strcmp(name, "on") == 0    ? WATCH_LIST_ON
           : strcmp(name, "off") == 0 ? WATCH_LIST_OFF
                                      : WATCH_LIST_AUTO;
}

static enum write_mode write_mode(const char *dry_run)
{
    return strcmp(dry_run, "client") == 0   ? WRITES_RECORDED
           : strcmp(dry_run, "server") == 0 ? WRITES_TRIED
                                            : WRITES_SENT;
}

static const struct setting_names names_of_flags = {
    .http_hosts = "--allow-http",
    .sinks = "--allow-sink",
    .webhook_address = "--webhook-bind-address",
    .webhook_cert = "--webhook-tls-cert-file",
    .audit_log = "--audit-log",
    .state_dir = "--state-dir",
    .report = "--report",
    .clusters_from = "--clusters-from",
    .dry_run = "--dry-run",
    .recorded = "--dry-run=client",
    .tried = "--dry-run=server",
    .shutdown_timeout = "--shutdown-timeout",
    .reload_timeout = "--reload-timeout",
    .reload = "kubelua reload",
};

/* Below four cores the engine thread and what else runs there need the others. Stored caches are an image of
 * the one pool that a single thread packs into. */
static unsigned io_threads_of(const struct options *o)
{
    enum { FROM_CORES = 4 };
    if (o->io_threads > 0) return (unsigned)o->io_threads;
    return !o->cache_dir && cores_usable() >= FROM_CORES ? 2 : 1;
}

struct engine_settings options_for_engine(const struct options *o, const char *here)
{
    struct engine_settings settings = {
        .names = &names_of_flags,
        .max_object_size = o->max_object_size,
        .request_timeout_ms = o->request_timeout_ms,
        .qps = o->kube_api_qps,
        .burst = o->kube_api_burst,
        .io_threads = io_threads_of(o),
        .http_hosts = o->allow_http.items,
        .http_host_count = o->allow_http.count,
        .sinks = o->allow_sinks.items,
        .sink_count = o->allow_sinks.count,
        .webhook_address = o->webhook_address,
        .webhook_cert_file = o->webhook_cert_file,
        .webhook_key_file = o->webhook_key_file,
        .watch_list = watch_list_mode(o->watch_list),
        .watch_list_deadline_ms = o->watch_list_deadline_ms,
        .informer_grace_ms = o->informer_grace_ms,
        .resync_ms = o->resync_ms,
        .chunk_size = o->chunk_size,
        .history = o->history_kinds,
        .history_count = o->history_count,
        .history_memory = o->history_memory,
        .history_deleted_ms = o->history_deleted_ms,
        .shard = o->shard,
        .shard_lease_ms = o->shard_lease_ms,
        .shard_kinds = o->shard_kinds.items,
        .shard_kind_count = o->shard_kinds.count,
        .clusters_from = o->clusters_from,
        .search = options_search(o),
        .default_namespace = !o->all_namespaces && o->cluster.namespace_ ? o->cluster.namespace_ : "",
        .lease = leader_flags_lease(&o->leader, here),
        .runs_rules = o->report != NULL,
        .elects = o->leader.elect,
        .write_mode = write_mode(o->dry_run),
        .dry_runs = o->dry_runs.items,
        .dry_run_count = o->dry_runs.count,
        .field_manager = o->field_manager,
        .audit_log = o->audit_log,
        .state_dir = o->state_dir,
        .report = o->report,
        .suppression = options_suppression(o),
        .shutdown_timeout_ms = o->shutdown_timeout_ms,
        .reload_timeout_ms = o->reload_timeout_ms,
        .reload_probation_ms = o->reload_probation_ms,
    };
    options_give_scripts(o, &settings);
    return settings;
}
