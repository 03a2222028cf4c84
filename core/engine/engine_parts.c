/* Construction of an engine by its options, in the order in which one part needs another; see
 * engine_internal.h. engine_free of engine.c ends the parts. */
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "engine/engine_internal.h"
#include "engine/host.h"
#include "engine/sink/sink_allow.h"
#include "engine/sink/sinks.h"
#include "engine/state_files.h"
#include "engine/state_maps.h"
#include "engine/webhook_listener.h"
#include "net/web.h"
#include "script/vm/cpu_watch.h"

/* --- hooks of managed scripts */

static void resolve_kinds(void *ctx)
{
    struct engine *engine = ctx;
    if (kinds_known(engine->cluster->parts.kinds)) engine_resolve_kinds(engine);
    clusters_resolve(&engine->clusters);
}

static void on_activated(void *ctx, struct script *before, struct script *now)
{
    engine_continuous_take(ctx, before, now);
}

static void on_now_running(void *ctx, const struct script *script)
{
    engine_check_writes_of(ctx, script);
    engine_check_soon(ctx);
    engine_touch(ctx);
}

static void on_scanned(void *ctx)
{
    engine_warn_params(ctx);
}

/* Names for a driver without flags. */
static const struct setting_names plain_names = {
    .http_hosts = "allowed hosts",
    .sinks = "allowed targets",
    .webhook_address = "the address for webhooks",
    .webhook_cert = "the certificate for webhooks",
    .audit_log = "log of writes",
    .report = "continuous audit",
    .clusters_from = "Secrets of clusters",
    .dry_run = "the dry run",
    .recorded = "the dry run",
    .tried = "the dry run on the server",
    .shutdown_timeout = "the shutdown timeout",
    .reload_timeout = "the reload timeout",
    .reload = "a reload",
};

void engine_make_scripts(struct engine *engine)
{
    const struct engine_settings *settings = engine->options.settings;
    engine->names = settings->names ? settings->names : &plain_names;
    managed_scripts_init(&engine->scripts, &(struct managed_scripts_options){
                                               .loop = engine->loop,
                                               .host = &engine->host,
                                               .search = settings->search,
                                               .reload_name = engine->names->reload,
                                               .timeout_name = engine->names->reload_timeout,
                                               .reload_timeout_ms = settings->reload_timeout_ms,
                                               .reload_probation_ms = settings->reload_probation_ms,
                                               .is_counted = engine->options.keeps_running,
                                               .hooks = {.resolve_kinds = resolve_kinds,
                                                         .refresh_kinds = engine_refresh_kinds,
                                                         .params_stay = engine_params_stay,
                                                         .activated = on_activated,
                                                         .now_running = on_now_running,
                                                         .scanned = on_scanned,
                                                         .ctx = engine}});
}

/* --- clusters beside the home cluster */

static void on_changed(void *ctx, struct informer_claim *claim)
{
    engine_note_claim(ctx, claim);
}

static void on_settled(void *ctx)
{
    engine_claims_settled(ctx);
}

static void on_found(void *ctx)
{
    struct engine *engine = ctx;
    reload_check_soon(&engine->scripts);
}

static void on_left(void *ctx, const struct cluster_parts *parts)
{
    struct engine *engine = ctx;
    for (size_t i = 0; i < engine->scripts.generation_count; i++)
        script_end_cluster(engine->scripts.generations[i], parts);
}

static const char *script_of_claim(void *ctx, const struct informer_claim *claim)
{
    return engine_script_of(ctx, claim);
}

void engine_take_clusters(struct engine *engine)
{
    const struct engine_options *options = &engine->options;
    clusters_init(&engine->clusters, engine->cluster,
                  &(const struct clusters_hooks){.changed = on_changed,
                                                 .synced = engine_claim_synced,
                                                 .settled = on_settled,
                                                 .found = on_found,
                                                 .left = on_left,
                                                 .script_of = script_of_claim,
                                                 .ctx = engine});
    for (size_t i = 0; i < options->other_count; i++) clusters_add(&engine->clusters, options->others[i]);
}

void engine_join_cluster(struct engine *engine, struct cluster *cluster)
{
    clusters_add(&engine->clusters, cluster);
    cluster_refresh_kinds(cluster);
}

bool engine_leave_cluster(struct engine *engine, const char *name)
{
    const struct cluster *cluster;
    for (size_t i = 1; (cluster = clusters_at(&engine->clusters, i)); i++) {
        if (strcmp(cluster->name, name) != 0 || !cluster->options.comes_and_goes) continue;
        clusters_leave(&engine->clusters, cluster);
        return true;
    }
    return false;
}

/* --- the parts */

/* Creates the client of http.request. */
static bool make_web(struct engine *engine, struct err *err)
{
    const struct engine_options *options = &engine->options;
    const struct engine_settings *settings = options->settings;
    const char *identity = settings->identity;
    struct web_allow *allow =
        options->servers ? NULL : web_allow_new(settings->http_hosts, settings->http_host_count, err);
    if (!allow && !options->servers) return err_wrap(err, "%s", engine->names->http_hosts);
    engine->web =
        web_new(&(struct web_options){.engine_loop = engine->loop,
                                      .io_loop = io_thread_loop(engine->cluster->io),
                                      .allow = allow,
                                      .local = options->servers,
                                      .user_agent = identity ? identity : "kubelua/" KUBELUA_VERSION});
    return true;
}

static void watch_cluster(struct engine *engine)
{
    cluster_watch(engine->cluster, &(const struct cluster_watcher){.changed = engine_claim_changed,
                                                                   .synced = engine_claim_synced,
                                                                   .found_kinds = engine_found_kinds,
                                                                   .failed_kinds = engine_failed_kinds,
                                                                   .leads = engine_leadership_changed,
                                                                   .shards = engine_shards_changed,
                                                                   .ctx = engine});
}

/* Opens the directory of states that are kept, if there is one. */
static bool make_states(struct engine *engine, struct err *err)
{
    const char *dir = engine->options.settings->state_dir;
    engine->state_files = engine->options.state_store;
    if (engine->state_files || !dir) return true;
    engine->state_files = state_files_new(dir, engine->loop, err);
    return engine->state_files || err_wrap(err, "%s", engine->names->state_dir);
}

/* Creates sinks, if there is a directory for them; after the client of http.request. */
static bool make_sinks(struct engine *engine, struct err *err)
{
    const struct engine_settings *settings = engine->options.settings;
    for (size_t i = 0; i < settings->sink_count; i++)
        if (!sink_allow_check(settings->sinks[i], err)) return err_wrap(err, "%s", engine->names->sinks);
    engine->sinks = engine->options.sinks;
    if (engine->sinks || !settings->state_dir || engine->options.is_driven) return true;
    engine->sinks = sinks_new(&(const struct sinks_options){.dir = settings->state_dir,
                                                            .loop = engine->loop,
                                                            .web = engine->web,
                                                            .allowed = settings->sinks,
                                                            .allowed_count = settings->sink_count,
                                                            .allow_name = engine->names->sinks});
    engine->owns_sinks = true;
    return true;
}

static bool make_cluster_secrets(struct engine *engine, struct err *err)
{
    const struct engine_settings *settings = engine->options.settings;
    if (!settings->clusters_from) return true;
    engine->cluster_secrets = cluster_secrets_new(&engine->clusters, settings->clusters_from, settings, err);
    return engine->cluster_secrets || err_wrap(err, "%s", engine->names->clusters_from);
}

/* False when Secrets of clusters, the log of writes, the directory of states or the client of http.request
 * cannot be had. */
static bool make_inputs(struct engine *engine, struct err *err)
{
    if (!make_states(engine, err) || !make_cluster_secrets(engine, err)) return false;
    engine->audit = write_log_new(engine->options.settings->audit_log, err);
    if (!engine->audit) return err_wrap(err, "%s", engine->names->audit_log);
    return make_web(engine, err) && make_sinks(engine, err);
}

/* Only an engine that keeps running can be called. */
static void make_webhooks(struct engine *engine)
{
    static const struct webhook_paths_options none;
    const struct engine_settings *settings = engine->options.settings;
    if (!engine->options.keeps_running || engine->options.is_driven) {
        engine->paths = webhook_paths_new(&none);
        return;
    }
    engine->listener = webhook_listener_new(
        &(const struct webhook_listener_options){.loop = engine->loop,
                                                 .address = settings->webhook_address,
                                                 .cert_file = settings->webhook_cert_file,
                                                 .key_file = settings->webhook_key_file,
                                                 .address_name = engine->names->webhook_address,
                                                 .cert_name = engine->names->webhook_cert});
    engine->paths = webhook_listener_paths(engine->listener);
}

static void on_attached(void *ctx)
{
    engine_check_soon(ctx);
}

/* Fills the host, which scripts see of the engine; call after its parts exist. */
static void make_host(struct engine *engine)
{
    engine->host = host_of(
        &(const struct host_parts){
            .cluster = &engine->cluster->parts,
            .loop = engine->loop,
            .turns = &engine->turns,
            .web = engine->web,
            .webhooks = engine->paths,
            .running = &engine->running,
            .watch = engine->watch,
            .audit = engine->audit,
            .is_given_up = probation_ends_by,
            .is_given_up_ctx = &engine->scripts,
            .attached = on_attached,
            .attached_ctx = engine,
            .print_waits = engine->options.print_waits,
        },
        engine->options.settings);
    engine->host.clusters = clusters_names(&engine->clusters);
    engine->host.state_files = engine->state_files;
    engine->host.sinks = engine->sinks;
    if (!engine->options.state_store)
        engine->state_maps =
            state_maps_new(&(const struct state_maps_options){.live = engine->cluster->parts.live,
                                                              .clock = loop_clock(engine->loop),
                                                              .namespace_ = engine->host.lease.namespace_,
                                                              .field_manager = engine->host.field_manager});
    engine->host.state_maps = engine->state_maps ? engine->state_maps : engine->state_files;
    if (!engine->state_files) engine->host.lacks_state_files = engine->names->state_dir;
}

/* Creates the CPU watch. It measures the clock of a thread, which means nothing to an engine turned by
 * hand. */
static void make_watch(struct engine *engine)
{
    struct err err;
    if (engine->options.is_driven) return;
    engine->watch = cpu_watch_new(&err);
    if (!engine->watch) log_warn("CPU time of C functions is not limited", F("err", err.text));
}

bool engine_make_parts(struct engine *engine, struct err *err)
{
    watch_cluster(engine);
    engine_make_shards(engine);
    if (!make_inputs(engine, err)) return false;
    make_watch(engine);
    make_webhooks(engine);
    make_host(engine);
    engine_make_warm(engine);
    engine_make_continuous(engine);
    return true;
}
