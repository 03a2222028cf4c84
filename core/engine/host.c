/* Parts and settings of a host, put together; see host.h. */
#include "engine/host.h"

#include <stdlib.h>

#include "base/mem.h"

static void give_leases(const struct engine_settings *settings, struct script_host *host)
{
    const char *pod = nonempty(getenv("POD_NAMESPACE"));
    const struct lease_config lease = {
        .namespace_ = pod ? pod : "default", .name = "kubelua", .times = leader_times_default};
    host->lease = settings->lease.name ? settings->lease : lease;
    host->any_lease = !settings->lease.name;
    host->elects = settings->elects;
}

static void give_writes(const struct engine_settings *settings, struct script_host *host)
{
    host->write_mode = settings->write_mode;
    host->dry_runs = settings->dry_runs;
    host->dry_run_count = settings->dry_run_count;
    host->field_manager = settings->field_manager;
    host->not_sent = settings->not_sent;
}

struct script_host host_of(const struct host_parts *parts, const struct engine_settings *settings)
{
    static const struct cluster_parts no_cluster;
    struct script_host host = {
        .cluster = parts->cluster ? parts->cluster : &no_cluster,
        .loop = parts->loop,
        .turns = parts->turns,
        .web = parts->web,
        .webhooks = parts->webhooks,
        .running = parts->running,
        .watch = parts->watch,
        .audit = parts->audit,
        .is_given_up = parts->is_given_up,
        .is_given_up_ctx = parts->is_given_up_ctx,
        .attached = parts->attached,
        .attached_ctx = parts->attached_ctx,
        .print_waits = parts->print_waits,
        .resync_ms = settings->resync_ms,
        .default_namespace = settings->default_namespace,
        .hooks = settings->hooks,
        .runs_rules = settings->runs_rules,
        .limits = settings->limits,
        .params = settings->params,
        .lacks_params = settings->lacks_params,
        .lacks_state_files = settings->lacks_state_files,
        .trusted = settings->trusted,
        .trusted_count = settings->trusted_count,
        .lua_path = settings->lua_path,
        .lua_path_count = settings->lua_path_count,
        .notes_functions = settings->notes_functions,
        .knows_missing_kinds = settings->knows_missing_kinds,
    };
    give_leases(settings, &host);
    give_writes(settings, &host);
    return host;
}
