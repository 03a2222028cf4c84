/* The server that requests go to, and all that asks it; see cluster.h. */
#include "engine/cluster.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "engine/bucket/no_server.h"
#include "informer/history/history.h"

/* These run on the I/O thread; `io` does not change while it runs. */
static struct list_watch *new_source(void *ctx, const struct resource *resource, const struct lw_scope *scope)
{
    const struct cluster *cluster = ctx;
    return list_watch_new(io_thread_client(cluster->io), resource, scope);
}

/* Of informers: live reads ask the server. */
static struct list_watch *new_informer_source(void *ctx, const struct resource *resource,
                                              const struct lw_scope *scope)
{
    const struct cluster *cluster = ctx;
    return cluster->bucket ? bucket_source_new(cluster->bucket, resource, scope)
                           : new_source(ctx, resource, scope);
}

/* Of the server, also where objects come from a bucket: shards are about its Leases. */
static struct list_watch *new_server_source(void *ctx, const struct resource *resource,
                                            const struct lw_scope *scope)
{
    const struct cluster *cluster = ctx;
    return list_watch_new(io_thread_client(cluster->io), resource, scope);
}

static struct text_stream *stream(void *ctx, const char *path, const struct text_sink *sink, void *sink_ctx)
{
    const struct cluster *cluster = ctx;
    return text_stream_start(io_thread_client(cluster->io), path, sink, sink_ctx);
}

static struct object_call *call(void *ctx, const struct object_request *request, object_done *done,
                                void *done_ctx)
{
    const struct cluster *cluster = ctx;
    return object_call_start(io_thread_client(cluster->io), request, done, done_ctx);
}

static struct object_caller caller_of(struct cluster *cluster)
{
    return (struct object_caller){.start = call, .cancel = object_call_cancel, .ctx = cluster};
}

/* --- what the engine is told */

static bool take_stored(void *ctx, const char *identity, struct stored_list *list)
{
    const struct cluster *cluster = ctx;
    return warm_start_take(cluster->options.warm, identity, list);
}

static void on_changed(void *ctx, struct informer_claim *claim)
{
    const struct cluster *cluster = ctx;
    cluster->watcher.changed(cluster->watcher.ctx, claim);
}

static void on_synced(void *ctx, const char *informer, size_t objects)
{
    const struct cluster *cluster = ctx;
    cluster->watcher.synced(cluster->watcher.ctx, informer, objects);
}

static void on_found_kinds(void *ctx, const struct catalogue *catalogue)
{
    const struct cluster *cluster = ctx;
    cluster->watcher.found_kinds(cluster->watcher.ctx, catalogue);
}

static void on_failed_kinds(void *ctx, const struct err *err)
{
    const struct cluster *cluster = ctx;
    cluster->watcher.failed_kinds(cluster->watcher.ctx, err);
}

static void on_leads(void *ctx)
{
    const struct cluster *cluster = ctx;
    cluster->watcher.leads(cluster->watcher.ctx);
}

static void on_shards(void *ctx)
{
    const struct cluster *cluster = ctx;
    cluster->watcher.shards(cluster->watcher.ctx);
}

/* A dry run takes no share: what it only tries would be done by nobody. */
static bool shares(const struct cluster *cluster)
{
    const struct engine_settings *settings = cluster->options.settings;
    return !cluster->name && settings->shard && settings->write_mode == WRITES_SENT;
}

/* --- the parts */

/* Packers have pools of their own, and stored caches are an image of one pool (engine/warm/cache_file.h). An
 * engine that is driven by hand has no threads. */
static unsigned packers_of(const struct cluster_options *options)
{
    bool one = options->io_loop || options->warm || options->settings->io_threads < 2;
    return one ? 0 : options->settings->io_threads;
}

static bool make_io(struct cluster *cluster, struct err *err)
{
    const struct cluster_options *options = &cluster->options;
    const struct engine_settings *settings = options->settings;
    const struct kube_client_options client = {
        .config = options->config,
        .cluster = cluster->name,
        .local = cluster->no_server ? no_server_local(cluster->no_server) : options->server,
        .max_object_size = settings->max_object_size,
        .request_timeout_ms = settings->request_timeout_ms,
        .qps = settings->qps,
        .burst = settings->burst};
    if (options->home) {
        cluster->io = io_thread_join(options->home->io, &client, err);
        return cluster->io != NULL;
    }
    struct pool *stored = options->warm ? warm_start_pool(options->warm) : NULL;
    cluster->io = io_thread_new(&client, options->io_loop, stored, packers_of(options), err);
    if (cluster->io && options->warm) warm_start_take_pool(options->warm);
    return cluster->io != NULL;
}

/* The kinds of the bucket have changed. */
static void on_published_kinds(void *ctx)
{
    const struct cluster *cluster = ctx;
    discoverer_wake(cluster->discoverer);
}

static void make_bucket(struct cluster *cluster)
{
    const struct cluster_options *options = &cluster->options;
    if (cluster->no_server) no_server_set_loop(cluster->no_server, io_thread_loop(cluster->io));
    if (!options->from) return;
    cluster->bucket = bucket_new(&(const struct bucket_options){.place = options->from,
                                                                .io_loop = io_thread_loop(cluster->io),
                                                                .client = io_thread_client(cluster->io)});
    bucket_on_kinds(cluster->bucket, on_published_kinds, cluster);
}

static void make_kinds(struct cluster *cluster)
{
    const struct cluster_options *options = &cluster->options;
    cluster->discoverer = discoverer_new(&(struct discoverer_options){.engine_loop = options->engine_loop,
                                                                      .io = cluster->io,
                                                                      .bucket = cluster->bucket,
                                                                      .found = on_found_kinds,
                                                                      .failed = on_failed_kinds,
                                                                      .ctx = cluster,
                                                                      .cluster = cluster->name,
                                                                      .is_quiet = options->is_quiet});
    cluster->parts.kinds = kinds_new(loop_clock(options->engine_loop), cluster_refresh_kinds, cluster);
}

static void make_factory(struct cluster *cluster)
{
    const struct engine_settings *settings = cluster->options.settings;
    cluster->parts.factory = shared_factory_new(&(struct shared_factory_options){
        .engine_loop = cluster->options.engine_loop,
        .io_loop = io_thread_loop(cluster->io),
        .new_source = new_informer_source,
        .ctx = cluster,
        .cluster = cluster->name,
        .seed = cluster->seed,
        .grace_ms = settings->informer_grace_ms,
        .tuning = {.watch_list = cluster->bucket ? WATCH_LIST_ON : settings->watch_list,
                   .watch_list_deadline_ms = settings->watch_list_deadline_ms,
                   .page_size = settings->chunk_size},
        .shares = shares(cluster),
        .shard_kinds = settings->shard_kinds,
        .shard_kind_count = settings->shard_kind_count,
        .stored = cluster->options.warm ? take_stored : NULL,
        .changed = on_changed,
        .synced = on_synced,
    });
}

static void make_history(struct cluster *cluster)
{
    const struct engine_settings *settings = cluster->options.settings;
    if (settings->history_count == 0) return;
    cluster->parts.history =
        history_new(&(const struct history_options){.factory = cluster->parts.factory,
                                                    .clock = loop_clock(cluster->options.engine_loop),
                                                    .namespace_ = settings->default_namespace,
                                                    .memory_bytes = settings->history_memory,
                                                    .deleted_ms = settings->history_deleted_ms});
    for (size_t i = 0; i < settings->history_count; i++)
        history_add_kind(cluster->parts.history, settings->history[i].kind, settings->history[i].versions);
}

static void make_live(struct cluster *cluster)
{
    cluster->parts.live = live_new(&(struct live_options){
        .engine_loop = cluster->options.engine_loop,
        .io_loop = io_thread_loop(cluster->io),
        .new_source = new_source,
        .ctx = cluster,
        .caller = caller_of(cluster),
        .texts = {stream, text_stream_pause, text_stream_cancel, cluster},
        .seed = cluster->seed,
        .page_size = (size_t)cluster->options.settings->chunk_size,
    });
}

static void make_leaders(struct cluster *cluster)
{
    const char *given = cluster->options.settings->identity;
    char *identity = given ? xstrdup(given) : leader_identity(getenv("POD_NAME"));
    cluster->parts.leaders = leaders_new(&(struct leaders_options){
        .engine_loop = cluster->options.engine_loop,
        .io_loop = io_thread_loop(cluster->io),
        .caller = caller_of(cluster),
        .changed = on_leads,
        .ctx = cluster,
        .identity = identity,
        .seed = hash_bytes(identity, strlen(identity)),
    });
    free(identity);
}

static void make_shards(struct cluster *cluster)
{
    const struct engine_settings *settings = cluster->options.settings;
    if (!shares(cluster)) return;
    char *identity = settings->identity ? xstrdup(settings->identity) : leader_identity(getenv("POD_NAME"));
    cluster->parts.shards = shards_new(&(struct shards_options){
        .engine_loop = cluster->options.engine_loop,
        .io_loop = io_thread_loop(cluster->io),
        .caller = caller_of(cluster),
        .new_source = new_server_source,
        .source_ctx = cluster,
        .namespace_ = settings->lease.namespace_,
        .group = settings->shard,
        .lease_ms = settings->shard_lease_ms,
        .identity = identity,
        .seed = hash_bytes(identity, strlen(identity)),
        .changed = on_shards,
        .ctx = cluster,
    });
    free(identity);
}

/* Makes the recorder of Events. It names the reporting engine by the pod's name, as controllers do, or the
 * host's. */
static void make_recorder(struct cluster *cluster)
{
    char host[HOST_NAME_MAX + 1] = "";
    const struct engine_settings *settings = cluster->options.settings;
    const char *pod = nonempty(getenv("POD_NAME")), *identity = settings->identity;
    if (gethostname(host, sizeof host - 1) != 0) *host = '\0';
    cluster->parts.recorder = event_recorder_new(&(struct event_recorder_options){
        .io_loop = io_thread_loop(cluster->io),
        .caller = caller_of(cluster),
        .instance = identity ? identity
                    : pod    ? pod
                             : host,
        .seed = cluster->seed,
    });
}

/* --- from start to end */

struct cluster *cluster_new(const struct cluster_options *options, struct err *err)
{
    struct cluster *cluster = NEW(struct cluster);
    cluster->options = *options;
    cluster->name = options->name ? xstrdup(options->name) : NULL;
    cluster->parts.name = cluster->name;
    cluster->parts.comes_and_goes = options->comes_and_goes;
    if (options->comes_and_goes) cluster->parts.users = &cluster->users;
    cluster->seed = options->io_loop ? 0 : hash_bytes(&cluster, sizeof cluster);
    if (options->has_no_server) cluster->no_server = no_server_new();
    if (!make_io(cluster, err)) {
        no_server_free(cluster->no_server);
        free(cluster->name);
        free(cluster);
        return NULL;
    }
    make_bucket(cluster);
    make_kinds(cluster);
    make_factory(cluster);
    make_live(cluster);
    if (!cluster->name) {
        make_history(cluster);
        make_leaders(cluster);
        make_shards(cluster);
    }
    make_recorder(cluster);
    return cluster;
}

const char *cluster_server(const struct cluster *cluster)
{
    return cluster->options.has_no_server ? "" : cluster->options.config->server;
}

void cluster_watch(struct cluster *cluster, const struct cluster_watcher *watcher)
{
    cluster->watcher = *watcher;
}

void cluster_refresh_kinds(void *ctx)
{
    const struct cluster *cluster = ctx;
    discoverer_refresh(cluster->discoverer, 0);
}

void cluster_end(struct cluster *cluster, int64_t flush_ms)
{
    if (!cluster) return;
    event_recorder_free(cluster->parts.recorder, flush_ms);
    live_free(cluster->parts.live);
    kinds_free(cluster->parts.kinds);
    leaders_end(cluster->parts.leaders);
    shards_end(cluster->parts.shards);
    history_free(cluster->parts.history);
    shared_factory_free(cluster->parts.factory);
    /* Stored objects that no informer took, as the start failed or was too short. */
    if (cluster->options.warm) warm_start_end(cluster->options.warm);
    io_thread_stop(cluster->io);
}

static void free_discoverer(void *ctx)
{
    const struct cluster *cluster = ctx;
    discoverer_free(cluster->discoverer);
}

void cluster_free(struct cluster *cluster)
{
    if (!cluster) return;
    leaders_free(cluster->parts.leaders);
    shards_free(cluster->parts.shards);
    io_thread_call(cluster->io, free_discoverer, cluster);
    bucket_free(cluster->bucket);
    io_thread_free(cluster->io);
    no_server_free(cluster->no_server);
    if (cluster->options.owned) {
        cluster_config_clear(cluster->options.owned);
        free(cluster->options.owned);
    }
    free(cluster->name);
    free(cluster);
}
