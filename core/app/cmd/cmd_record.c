/* `kubelua record`: the watch streams of a cluster into a file. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/cmd/cmd.h"
#include "app/record/recorder.h"
#include "app/record/script_claims.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/writer.h"
#include "object/pack/pool.h"

enum { DISCOVERY_MS = 20000, TICK_MS = 1000, FLUSH_MS = 2000 };

static struct {
    const char *output, *selector, *field_selector, *redact;
    int64_t for_ms;
} own = {.redact = "secrets"};
static struct options options;

struct recording_run {
    struct script_files files;
    const struct flag_list *kinds;
    struct loop *loop;
    struct pool *pool;
    struct kube_client *client;
    struct recorder *recorder;
    struct discovery *discovery;
    struct catalogue *catalogue;
    struct err err; /* of discovery, or of what is to be recorded */
    struct timer tick, end;
    int exit_code;
};

static const struct flag flags[] = {
    {"output", 'o', FLAG_STRING, &own.output, "FILE", NULL,
     "File to write; an existing file is replaced once the recording is complete"},
    {"filename", 'f', FLAG_LIST, &options.files, "FILE|DIR", NULL,
     "Record what the informers of a script, or of a directory of scripts, watch (repeatable)"},
    FLAG_RECURSIVE(&options.recursive),
    {"for", 0, FLAG_DURATION_MS, &own.for_ms, "DURATION", NULL,
     "Stop after this time (default: on SIGINT or SIGTERM)"},
    {"selector", 'l', FLAG_STRING, &own.selector, "SELECTOR", NULL, "Label selector for all KINDs"},
    {"field-selector", 0, FLAG_STRING, &own.field_selector, "SELECTOR", NULL, "Field selector for all KINDs"},
    {"redact", 0, FLAG_CHOICE, &own.redact, "secrets|none", "secrets|none",
     "Data to omit: that of Secrets, or none (default secrets)"},
    {NULL, 0, FLAG_STRING, NULL, NULL, NULL, NULL},
};

static const struct flag_group *groups(void)
{
    static struct flag_group all[3];
    all[0] = (struct flag_group){"Connection:", connection_flags(&options)};
    all[1] = (struct flag_group){"Script flags (as for kubelua run):", script_flags(&options)};
    return all;
}

/* --- what is recorded */

static bool add(struct recording_run *run, const char *kind, const struct lw_scope *scope, struct err *err)
{
    struct resource resource;
    if (!catalogue_resolve(run->catalogue, str_of(kind), &resource, err)) {
        catalogue_explain(run->catalogue, str_of(kind), err);
        return false;
    }
    bool ok = recorder_add(run->recorder, &resource, scope, err);
    resource_clear(&resource);
    return ok;
}

static bool add_claim(void *ctx, const struct informer_spec *spec, struct err *err)
{
    struct lw_scope scope = {.namespace_ = spec->namespace_,
                             .label_selector = spec->label_selector,
                             .field_selector = spec->field_selector};
    const struct lw_scope namespaces = {
        .namespace_ = "", .label_selector = spec->namespace_selector, .field_selector = ""};
    /* A replay finds out by them which objects the script sees. */
    bool follows = spec->namespace_selector && *spec->namespace_selector;
    bool ok = !follows || add(ctx, "namespaces", &namespaces, err);
    ok = ok && (spec->namespace_count > 0 || add(ctx, spec->kind, &scope, err));
    for (size_t i = 0; ok && i < spec->namespace_count; i++) {
        scope.namespace_ = spec->namespaces[i];
        ok = add(ctx, spec->kind, &scope, err);
    }
    return ok;
}

static const char *default_namespace(void)
{
    return !options.all_namespaces && options.cluster.namespace_ ? options.cluster.namespace_ : "";
}

static bool add_all(struct recording_run *run, struct err *err)
{
    const struct lw_scope scope = {.namespace_ = default_namespace(),
                                   .label_selector = own.selector,
                                   .field_selector = own.field_selector};
    bool ok = script_claims_each(&run->files, &options, scope.namespace_, add_claim, run, err);
    for (size_t i = 0; ok && i < run->kinds->count; i++) ok = add(run, run->kinds->items[i], &scope, err);
    if (ok && recorder_stream_count(run->recorder) == 0)
        return err_set(err, ERR_INVALID, "nothing to record: the scripts have no informers");
    return ok;
}

/* --- while it runs */

static void stop(struct recording_run *run, int exit_code)
{
    run->exit_code = exit_code;
    loop_stop(run->loop);
}

static void on_tick(struct timer *timer)
{
    struct recording_run *run = container_of(timer, struct recording_run, tick);
    if (!recorder_flush(run->recorder)) {
        stop(run, EXIT_INCOMPLETE);
        return;
    }
    pool_drain(run->pool);
    timer_start(timer, loop_clock(run->loop), TICK_MS);
}

static void on_end(struct timer *timer)
{
    struct recording_run *run = container_of(timer, struct recording_run, end);
    if (run->discovery) {
        err_set(&run->err, ERR_TIMEOUT, "discovery did not complete within %d s", DISCOVERY_MS / 1000);
        stop(run, EXIT_INCOMPLETE);
    } else
        stop(run, EXIT_OK);
}

static void on_signal(void *ctx, int signum)
{
    stop(ctx, signum == SIGINT ? EXIT_INTERRUPTED : EXIT_OK);
}

static void on_discovered(void *ctx, struct catalogue *catalogue, const struct err *err)
{
    struct recording_run *run = ctx;
    run->discovery = NULL;
    timer_cancel(&run->end);
    run->catalogue = catalogue;
    if (err) {
        run->err = *err;
        stop(run, EXIT_INCOMPLETE);
        return;
    }
    if (!add_all(run, &run->err)) {
        stop(run, EXIT_USAGE);
        return;
    }
    err_clear(&run->err);
    recorder_start(run->recorder);
    on_tick(&run->tick);
    if (own.for_ms > 0) timer_start(&run->end, loop_clock(run->loop), own.for_ms);
}

/* --- the end */

static const char *s_of(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void print_totals(const struct recording_run *run, const struct recorder_totals *totals)
{
    struct buf line = {0};
    buf_printf(&line, "Recorded %zu stream%s to %s: %llu object%s listed, %llu change%s", totals->streams,
               s_of(totals->streams), own.output, (unsigned long long)totals->objects, s_of(totals->objects),
               (unsigned long long)totals->changes, s_of(totals->changes));
    if (totals->relists)
        buf_printf(&line, ", relisted %llu time%s", (unsigned long long)totals->relists,
                   s_of(totals->relists));
    fprintf(stderr, "%s (%llu bytes)\n", buf_text(&line), (unsigned long long)totals->bytes);
    buf_clear(&line);
}

static int report(struct recording_run *run)
{
    struct recorder_totals totals;
    struct err err;
    struct buf lag = {0};
    if (run->err.code != ERR_NONE) {
        fprintf(stderr, "kubelua record: %s\n", run->err.text);
        return run->exit_code;
    }
    recorder_describe_lag(run->recorder, &lag);
    bool ok = recorder_finish(run->recorder, &totals, &err);
    if (lag.len) fprintf(stderr, "kubelua record: %s", buf_text(&lag));
    if (!ok) fprintf(stderr, "kubelua record: %s\n", err.text);
    if (ok) print_totals(run, &totals);
    buf_clear(&lag);
    return ok && totals.unlisted == 0 ? run->exit_code : EXIT_INCOMPLETE;
}

static void clear(struct recording_run *run)
{
    timer_cancel(&run->tick);
    timer_cancel(&run->end);
    if (run->discovery) discovery_cancel(run->discovery);
    recorder_free(run->recorder);
    kube_client_free(run->client);
    catalogue_free(run->catalogue);
    if (run->pool) {
        pool_drain(run->pool);
        pool_free(run->pool);
    }
    loop_free(run->loop);
}

static bool set_up(struct recording_run *run, const struct cluster_config *cluster, struct err *err)
{
    run->loop = loop_new();
    run->pool = pool_new(&(struct pool_options){0});
    run->tick.fn = on_tick;
    run->end.fn = on_end;
    run->client = kube_client_new(
        run->loop, run->pool,
        &(struct kube_client_options){.config = cluster, .request_timeout_ms = options.request_timeout_ms},
        err);
    if (!run->client) return false;
    run->recorder = recorder_new(&(struct recorder_options){.loop = run->loop,
                                                            .client = run->client,
                                                            .path = own.output,
                                                            .redacts = strcmp(own.redact, "secrets") == 0},
                                 err);
    return run->recorder != NULL;
}

static int record(struct recording_run *run, const struct cluster_config *cluster)
{
    struct err err;
    if (!set_up(run, cluster, &err)) {
        fprintf(stderr, "kubelua record: %s\n", err.text);
        return EXIT_USAGE;
    }
    struct signal_watch *term = signal_watch_new(run->loop, SIGTERM, on_signal, run);
    struct signal_watch *interrupt = signal_watch_new(run->loop, SIGINT, on_signal, run);
    run->discovery = discovery_start(run->client, on_discovered, run);
    timer_start(&run->end, loop_clock(run->loop), DISCOVERY_MS);
    loop_run(run->loop);
    signal_watch_free(term);
    signal_watch_free(interrupt);
    return report(run);
}

static bool check(struct recording_run *run, struct err *err)
{
    if (!own.output) return err_set(err, ERR_INVALID, "no output file given; use -o FILE");
    if (!run->kinds->count && !options.files.count)
        return err_set(err, ERR_INVALID, "nothing to record; give KINDs, or scripts with -f");
    return options_complete(&options, false, &run->files, err);
}

static int run(struct command_line *line)
{
    struct recording_run r = {.kinds = &line->arguments, .err.code = ERR_NONE};
    struct cluster_config cluster = {0};
    struct err err;
    int exit_code;
    log_setup(LOG_TEXT, 0);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    if (check(&r, &err) && cluster_config_load(&options.cluster, &cluster, &err)) {
        writer_start(WRITER_BUFFER_DEFAULT, clock_real());
        exit_code = record(&r, &cluster);
        clear(&r);
        writer_stop(FLUSH_MS);
    } else {
        exit_code = command_fail(line, err.text);
    }
    cluster_config_clear(&cluster);
    script_files_clear(&r.files);
    return exit_code;
}

const struct command cmd_record = {
    .name = "record",
    .summary = "Record watch streams of a cluster to a file",
    .flags = flags,
    .groups = groups,
    .run = run,
};
