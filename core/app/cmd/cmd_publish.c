/* `kubelua publish`: objects of a cluster into a bucket of NATS. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/cmd/cmd.h"
#include "app/monitor/monitor.h"
#include "app/options/bucket_flags.h"
#include "app/publish/publisher.h"
#include "app/record/script_claims.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/writer.h"
#include "object/pack/pool.h"

enum { DISCOVERY_EVERY_MS = 300000, DISCOVERY_RETRY_MS = 5000, TICK_MS = 100, FLUSH_MS = 2000 };

static struct {
    struct bucket_flags bucket;
    const char *selector;
    int replicas;
} own = {.replicas = 1};
static struct options options = {.metrics_address = "0", .health_address = "0"};

struct publish_run {
    struct script_files files;
    const struct flag_list *kinds;
    struct bucket_place place;
    char *identity;
    struct loop *loop;
    struct pool *pool;
    struct kube_client *client;
    struct publisher *publisher;
    struct monitor *monitor;
    struct discovery *discovery;
    struct catalogue *catalogue;
    struct timer tick, discover;
    bool has_started;
    struct err err;
    int exit_code;
};

static const struct flag flags[] = {
    {"filename", 'f', FLAG_LIST, &options.files, "FILE|DIR", NULL,
     "Publish the kinds of the informers of a script, or of a directory of scripts (repeatable)"},
    FLAG_RECURSIVE(&options.recursive),
    {"selector", 'l', FLAG_STRING, &own.selector, "SELECTOR", NULL, "Label selector for all kinds"},
    {"nats-replicas", 0, FLAG_INT, &own.replicas, "N", NULL,
     "Servers of NATS that keep a bucket which is made (default 1)"},
    {"metrics-bind-address", 0, FLAG_STRING, &options.metrics_address, "ADDR:PORT", NULL,
     "Address to serve /metrics on (default 0: disabled)"},
    {"metrics-auth", 0, FLAG_CHOICE, &options.metrics_auth, "none|token", "none|token",
     "Authentication of /metrics, as of kubelua run (default token, or none if the address is a loopback "
     "address)"},
    {"health-probe-bind-address", 0, FLAG_STRING, &options.health_address, "ADDR:PORT", NULL,
     "Address to serve /healthz, /livez and /readyz on (default 0: disabled)"},
    {NULL, 0, FLAG_STRING, NULL, NULL, NULL, NULL},
};

static const struct flag_group *groups(void)
{
    static struct flag_group all[4];
    all[0] = (struct flag_group){"NATS:", bucket_flags_to(&own.bucket)};
    all[1] = (struct flag_group){"Connection:", connection_flags(&options)};
    all[2] = (struct flag_group){"Script flags (as for kubelua run):", script_flags(&options)};
    return all;
}

/* --- what is published */

static const char *default_namespace(void)
{
    return !options.all_namespaces && options.cluster.namespace_ ? options.cluster.namespace_ : "";
}

static bool add(struct publish_run *run, const char *kind, struct err *err)
{
    const struct lw_scope scope = {
        .namespace_ = default_namespace(), .label_selector = own.selector, .field_selector = ""};
    struct resource resource;
    if (!catalogue_resolve(run->catalogue, str_of(kind), &resource, err)) {
        catalogue_explain(run->catalogue, str_of(kind), err);
        return false;
    }
    publisher_add(run->publisher, &resource, &scope);
    resource_clear(&resource);
    return true;
}

/* The kind as a whole: other engines may read more of it. */
static bool add_claim(void *ctx, const struct informer_spec *spec, struct err *err)
{
    bool follows = spec->namespace_selector && *spec->namespace_selector;
    return (!follows || add(ctx, "namespaces", err)) && add(ctx, spec->kind, err);
}

static bool add_all(struct publish_run *run, struct err *err)
{
    bool ok = script_claims_each(&run->files, &options, default_namespace(), add_claim, run, err);
    for (size_t i = 0; ok && i < run->kinds->count; i++) ok = add(run, run->kinds->items[i], err);
    if (ok && publisher_kind_count(run->publisher) == 0)
        return err_set(err, ERR_INVALID, "nothing to publish: the scripts have no informers");
    return ok;
}

/* --- while it runs */

static void stop(struct publish_run *run, int exit_code)
{
    run->exit_code = exit_code;
    loop_stop(run->loop);
}

static void on_failed(void *ctx, const struct err *err)
{
    struct publish_run *run = ctx;
    run->err = *err;
    stop(run, EXIT_INCOMPLETE);
}

static void on_tick(struct timer *timer)
{
    struct publish_run *run = container_of(timer, struct publish_run, tick);
    pool_drain(run->pool);
    timer_start(timer, loop_clock(run->loop), TICK_MS);
}

/* One that waits for another is ready: a rollout must not wait for its turn. */
static void describe_lag(struct publish_run *run, struct buf *out)
{
    struct publisher_status status;
    if (!run->has_started) {
        buf_puts(out, "the kinds of the cluster are not known yet");
        return;
    }
    publisher_get_status(run->publisher, &status);
    if (status.fails)
        buf_printf(out, "%s: %s", run->place.target.shown, status.error);
    else if (status.state == PUBLISHER_BEGINS)
        buf_printf(out, "%s: not reached yet", run->place.target.shown);
    else if (status.state == PUBLISHER_LEADS && status.listed < status.kinds)
        buf_printf(out, "%zu of %zu kinds are published", status.listed, status.kinds);
}

static void observe_publisher(void *ctx)
{
    struct publish_run *run = ctx;
    struct buf lag = {0};
    describe_lag(run, &lag);
    health_set_informers(monitor_health(run->monitor), buf_text(&lag));
    buf_clear(&lag);
}

static bool make_monitor(struct publish_run *run, struct err *err)
{
    run->monitor = monitor_new(
        &(const struct monitor_options){.engine_loop = run->loop,
                                        .io_loop = run->loop,
                                        .metrics_address = options.metrics_address,
                                        .health_address = options.health_address,
                                        .client = options_reviews_tokens(&options) ? run->client : NULL,
                                        .tick = observe_publisher,
                                        .ctx = run},
        err);
    return run->monitor != NULL;
}

static void on_signal(void *ctx, int signum)
{
    const struct publish_run *run = ctx;
    health_set_stopping(monitor_health(run->monitor));
    stop(ctx, signum == SIGINT ? EXIT_INTERRUPTED : EXIT_OK);
}

static bool begin(struct publish_run *run)
{
    if (!add_all(run, &run->err)) {
        stop(run, EXIT_USAGE);
        return false;
    }
    err_clear(&run->err);
    run->has_started = true;
    publisher_start(run->publisher);
    on_tick(&run->tick);
    return true;
}

static void on_discovered(void *ctx, struct catalogue *catalogue, const struct err *err)
{
    struct publish_run *run = ctx;
    run->discovery = NULL;
    timer_start(&run->discover, loop_clock(run->loop), err ? DISCOVERY_RETRY_MS : DISCOVERY_EVERY_MS);
    if (err) {
        log_warn("Discovery failed, retrying", F("err", err->text), FI("retryInMs", DISCOVERY_RETRY_MS));
        return;
    }
    catalogue_free(run->catalogue);
    run->catalogue = catalogue;
    if (run->has_started || begin(run)) publisher_set_catalogue(run->publisher, catalogue);
}

static void on_discover(struct timer *timer)
{
    struct publish_run *run = container_of(timer, struct publish_run, discover);
    run->discovery = discovery_start(run->client, on_discovered, run);
}

/* --- the end */

static void clear(struct publish_run *run)
{
    static struct publish_run left __attribute__((used)); /* what a thread may still have in its hands */
    struct publisher_totals totals = {0};
    timer_cancel(&run->tick);
    timer_cancel(&run->discover);
    if (run->discovery) discovery_cancel(run->discovery);
    monitor_free(run->monitor);
    bool has_ended = publisher_end(run->publisher, &totals);
    if (run->has_started)
        fprintf(stderr,
                "Published %zu kind%s: %" PRIu64 " written, %" PRIu64 " deleted, %" PRIu64 " too large\n",
                totals.kinds, totals.kinds == 1 ? "" : "s", totals.written, totals.deleted, totals.refused);
    if (!has_ended) {
        left = *run;
        return;
    }
    kube_client_free(run->client);
    catalogue_free(run->catalogue);
    if (run->pool) {
        pool_drain(run->pool);
        pool_free(run->pool);
    }
    loop_free(run->loop);
    free(run->identity);
}

static char *identity(void)
{
    char host[256] = "";
    const char *pod = nonempty(getenv("POD_NAME"));
    if (gethostname(host, sizeof host - 1) != 0) *host = '\0';
    return xasprintf("%s-%d-%" PRId64, pod ? pod : host, (int)getpid(), clock_wall_us(clock_real()));
}

static bool set_up(struct publish_run *run, const struct cluster_config *cluster, struct err *err)
{
    run->loop = loop_new();
    run->pool = pool_new(&(struct pool_options){0});
    run->tick.fn = on_tick;
    run->discover.fn = on_discover;
    run->identity = identity();
    run->client = kube_client_new(
        run->loop, run->pool,
        &(struct kube_client_options){.config = cluster, .request_timeout_ms = options.request_timeout_ms},
        err);
    if (!run->client) return false;
    run->publisher = publisher_new(&(const struct publisher_options){.loop = run->loop,
                                                                     .client = run->client,
                                                                     .module = run->place.module,
                                                                     .target = &run->place.target,
                                                                     .identity = run->identity,
                                                                     .replicas = own.replicas,
                                                                     .failed = on_failed,
                                                                     .ctx = run});
    return make_monitor(run, err);
}

static int publish(struct publish_run *run, const struct cluster_config *cluster)
{
    struct err err;
    if (!set_up(run, cluster, &err)) {
        fprintf(stderr, "kubelua publish: %s\n", err.text);
        return EXIT_USAGE;
    }
    struct signal_watch *term = signal_watch_new(run->loop, SIGTERM, on_signal, run);
    struct signal_watch *interrupt = signal_watch_new(run->loop, SIGINT, on_signal, run);
    on_discover(&run->discover);
    loop_run(run->loop);
    signal_watch_free(term);
    signal_watch_free(interrupt);
    if (run->err.code != ERR_NONE) fprintf(stderr, "kubelua publish: %s\n", run->err.text);
    return run->exit_code;
}

static bool check(struct publish_run *run, struct err *err)
{
    if (!own.bucket.url) return err_set(err, ERR_INVALID, "no bucket given; use --to nats://HOST/BUCKET");
    if (!run->kinds->count && !options.files.count)
        return err_set(err, ERR_INVALID, "nothing to publish; give KINDs, or scripts with -f");
    if (own.replicas < 1 || own.replicas > 5)
        return err_set(err, ERR_INVALID, "--nats-replicas must be between 1 and 5");
    return options_complete(&options, false, &run->files, err) &&
           bucket_flags_read(&own.bucket, &run->place, err);
}

static int run(struct command_line *line)
{
    struct publish_run r = {.kinds = &line->arguments, .err.code = ERR_NONE};
    struct cluster_config cluster = {0};
    struct err err;
    int exit_code;
    log_setup(LOG_TEXT, 0);
    signal(SIGPIPE, SIG_IGN);
    if (check(&r, &err) && cluster_config_load(&options.cluster, &cluster, &err)) {
        writer_start(WRITER_BUFFER_DEFAULT, clock_real());
        exit_code = publish(&r, &cluster);
        clear(&r);
        writer_stop(FLUSH_MS);
    } else {
        exit_code = command_fail(line, err.text);
    }
    bucket_target_clear(&r.place.target);
    cluster_config_clear(&cluster);
    script_files_clear(&r.files);
    return exit_code;
}

const struct command cmd_publish = {
    .name = "publish",
    .summary = "Publish objects of a cluster to NATS",
    .flags = flags,
    .groups = groups,
    .run = run,
};
