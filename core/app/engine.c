/* Start, run and stop of the engine; see engine.h. */
#include "app/engine.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "app/cmd.h"
#include "app/discoverer.h"
#include "app/io_thread.h"
#include "app/stopper.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "base/writer.h"
#include "informer/shared_factory.h"
#include "script/script.h"

/* A kind that the server does not serve yet is asked for again after this time. */
enum { UNKNOWN_KIND_RETRY_MS = 10000 };

struct engine {
    struct engine_options options;
    struct loop *loop;
    struct io_thread *io;
    struct shared_factory *factory;
    struct discoverer *discoverer;
    struct script_host host;
    struct script **scripts; /* one for each file; the same order */
    bool *main_done;
    size_t script_count;
    struct stopper *stopper;
    bool started;
    struct timer sync_deadline;
    struct timer check; /* looks for scripts whose main can run, outside of any callback of the factory */
    bool stopping;
    int exit_code;
};

static void stop(struct engine *engine, int exit_code)
{
    if (engine->stopping) return;
    engine->stopping = true;
    engine->exit_code = exit_code;
    loop_stop(engine->loop);
}

static void on_signal(void *ctx, int signum)
{
    struct engine *engine = ctx;
    if (engine->stopping) return;
    log_info("Stopping", F("signal", signum == SIGINT ? "SIGINT" : "SIGTERM"));
    bool complete = engine->options.mode == ENGINE_RUN;
    stop(engine, signum == SIGINT ? EXIT_INTERRUPTED : complete ? EXIT_OK : EXIT_INCOMPLETE);
}

/* --- scripts
 * ---------------------------------------------------------------------------------------------------- */

/* What was refused is missing from the answer: exec may not call it done. */
static int check_complete(int code)
{
    unsigned long long refused = metric_get(METRIC_OBJECTS_REFUSED);
    if (refused == 0) return code;
    fprintf(stderr, "kubelua exec: incomplete: %llu objects were refused\n", refused);
    return EXIT_INCOMPLETE;
}

static void run_main(struct engine *engine, size_t i)
{
    int code = EXIT_OK;
    engine->main_done[i] = true;
    enum script_result result =
        script_has_main(engine->scripts[i]) ? script_run_main(engine->scripts[i], &code) : SCRIPT_OK;
    if (engine->options.mode == ENGINE_EXEC)
        stop(engine, result == SCRIPT_OK ? check_complete(code) : EXIT_INCOMPLETE);
}

static void on_check(struct timer *timer)
{
    struct engine *engine = container_of(timer, struct engine, check);
    for (size_t i = 0; i < engine->script_count && !engine->stopping; i++)
        if (!engine->main_done[i] && script_has_synced(engine->scripts[i])) run_main(engine, i);
}

static void check_soon(struct engine *engine)
{
    if (!timer_running(&engine->check)) timer_start(&engine->check, loop_clock(engine->loop), 0);
}

static void on_claim_changed(void *ctx, struct informer_claim *claim)
{
    if (claim_has_synced(claim)) check_soon(ctx);
}

static void on_synced(void *ctx, const char *informer, size_t objects)
{
    struct engine *engine = ctx;
    if (engine->options.mode == ENGINE_RUN)
        log_info("Synced", F("informer", informer), FI("objects", objects));
}

static bool load_scripts(struct engine *engine)
{
    const struct script_files *files = engine->options.files;
    bool ok = true;
    engine->scripts = xcalloc(files->count, sizeof *engine->scripts);
    engine->main_done = xcalloc(files->count, sizeof *engine->main_done);
    for (size_t i = 0; i < files->count; i++) {
        struct err err;
        struct script *script = script_load(&engine->host, files->paths[i], files->names[i], &err);
        if (script) {
            engine->scripts[engine->script_count++] = script;
            if (engine->options.mode == ENGINE_RUN || script_has_main(script)) continue;
            err_set(&err, ERR_INVALID, "%s: nothing to run: it gives no function to k8s.main",
                    files->paths[i]);
        }
        fprintf(stderr, "kubelua: %s\n", err.text);
        ok = false; /* the others are loaded too, so that all faults are named at once */
    }
    return ok;
}

/* --- kinds
 * ------------------------------------------------------------------------------------------------------ */

struct resolution {
    struct engine *engine;
    const struct catalogue *catalogue;
    size_t refused, waiting;
};

static const char *script_of(const struct engine *engine, const struct informer_claim *claim)
{
    for (size_t i = 0; i < engine->script_count; i++)
        for (size_t j = 0; j < script_claim_count(engine->scripts[i]); j++)
            if (script_claim(engine->scripts[i], j) == claim) return engine->options.files->paths[i];
    return "";
}

/* A bare name that no group serves is a mistake, unless a group did not answer; a name with its group may
 * come with a CRD. */
static void on_unknown_kind(void *ctx, struct informer_claim *claim, const struct err *err)
{
    struct resolution *r = ctx;
    const char *kind = claim_spec(claim)->kind, *script = script_of(r->engine, claim);
    const char *failures = catalogue_failures(r->catalogue);
    bool may_come = err->code == ERR_NOT_FOUND && (resource_name_has_group(str_of(kind)) || *failures);
    if (!may_come) {
        r->refused++;
        fprintf(stderr, "kubelua: %s: %s\n", script, err->text);
        return;
    }
    r->waiting++;
    log_warn("Waiting for a kind the server does not serve", F("script", script), F("kind", kind),
             F("unanswered", failures));
}

static void on_catalogue(void *ctx, const struct catalogue *catalogue)
{
    struct resolution r = {.engine = ctx, .catalogue = catalogue};
    shared_factory_resolve(r.engine->factory, catalogue, on_unknown_kind, &r);
    if (r.refused)
        stop(r.engine, EXIT_USAGE);
    else if (r.waiting)
        discoverer_ask(r.engine->discoverer, UNKNOWN_KIND_RETRY_MS);
}

/* --- exec's deadline
 * -------------------------------------------------------------------------------------------- */

static void report_laggard(struct engine *engine, struct informer_claim *claim)
{
    struct claim_status status;
    if (claim_has_synced(claim)) return;
    claim_get_status(claim, &status);
    const char *cause = *status.text ? status.text : discoverer_error(engine->discoverer);
    fprintf(stderr, "kubelua: %s: not synced within --sync-timeout: %s%s%s\n", script_of(engine, claim),
            claim_spec(claim)->kind, *cause ? ": " : "", cause);
}

static void on_sync_deadline(struct timer *timer)
{
    struct engine *engine = container_of(timer, struct engine, sync_deadline);
    if (engine->main_done[0]) return;
    for (size_t j = 0; j < script_claim_count(engine->scripts[0]); j++)
        report_laggard(engine, script_claim(engine->scripts[0], j));
    stop(engine, EXIT_INCOMPLETE);
}

/* --- start and stop
 * --------------------------------------------------------------------------------------------- */

static struct list_watch *new_source(void *ctx, const struct resource *resource, const struct lw_scope *scope)
{
    struct engine *engine = ctx; /* on the I/O thread; `io` does not change while it runs */
    return list_watch_new(io_thread_client(engine->io), resource, scope);
}

static bool make_parts(struct engine *engine)
{
    struct err err;
    const struct options *options = engine->options.options;
    const struct kube_client_options client = {.config = engine->options.cluster,
                                               .max_object_size = options->max_object_size};
    engine->io = io_thread_new(&client, &err);
    if (!engine->io) {
        fprintf(stderr, "kubelua: %s: %s\n", engine->options.cluster->source, err.text);
        return false;
    }
    engine->factory = shared_factory_new(&(struct shared_factory_options){
        .engine_loop = engine->loop,
        .io_loop = io_thread_loop(engine->io),
        .new_source = new_source,
        .ctx = engine,
        .seed = hash_bytes(&engine, sizeof engine),
        .grace_ms = options->informer_grace_ms,
        .changed = on_claim_changed,
        .synced = on_synced,
    });
    engine->discoverer = discoverer_new(&(struct discoverer_options){
        .engine_loop = engine->loop, .io = engine->io, .found = on_catalogue, .ctx = engine});
    engine->host = (struct script_host){
        .factory = engine->factory,
        .loop = engine->loop,
        .default_namespace =
            !options->all_namespaces && options->cluster.namespace_ ? options->cluster.namespace_ : "",
        .print_waits = engine->options.mode == ENGINE_EXEC,
    };
    return true;
}

struct engine *engine_new(const struct engine_options *options, int *exit_code)
{
    struct engine *engine = NEW(struct engine);
    engine->options = *options;
    engine->check.fn = on_check;
    engine->sync_deadline.fn = on_sync_deadline;
    engine->loop = loop_new();
    if (make_parts(engine)) {
        engine->stopper = stopper_new(&(struct stopper_options){
            .engine_loop = engine->loop,
            .io_loop = io_thread_loop(engine->io),
            .stop = on_signal,
            .ctx = engine,
            .patience_ms = engine->options.options->shutdown_timeout_ms,
        });
        io_thread_start(engine->io);
        if (load_scripts(engine)) return engine;
    }
    engine_free(engine);
    *exit_code = EXIT_USAGE;
    return NULL;
}

int engine_run(struct engine *engine)
{
    engine->started = true;
    if (engine->options.mode == ENGINE_RUN)
        log_info("Starting", F("version", KUBELUA_VERSION), F("cluster", engine->options.cluster->source),
                 F("server", engine->options.cluster->server), FI("scripts", engine->script_count));
    discoverer_ask(engine->discoverer, 0);
    check_soon(engine);
    if (engine->options.mode == ENGINE_EXEC)
        timer_start(&engine->sync_deadline, loop_clock(engine->loop),
                    engine->options.options->sync_timeout_ms);
    if (!engine->stopping) loop_run(engine->loop);
    return engine->exit_code;
}

static void log_summary(struct engine *engine)
{
    struct script_counters sum = {0};
    for (size_t i = 0; i < engine->script_count; i++) {
        struct script_counters one = script_counters(engine->scripts[i]);
        sum.adds += one.adds;
        sum.updates += one.updates;
        sum.deletes += one.deletes;
        sum.errors += one.errors;
    }
    log_info("Stopped", FI("adds", sum.adds), FI("updates", sum.updates), FI("deletes", sum.deletes),
             FI("handlerErrors", sum.errors), FI("objectsRefused", metric_get(METRIC_OBJECTS_REFUSED)),
             FI("printLinesDropped", writer_dropped(WRITER_STDOUT)),
             FI("logLinesDropped", writer_dropped(WRITER_STDERR)));
}

/* Scripts let go of their objects first, then the reflectors end on the I/O thread, then the thread, then
 * what it owned. */
void engine_free(struct engine *engine)
{
    if (!engine) return;
    if (engine->started && engine->options.mode == ENGINE_RUN) log_summary(engine);
    for (size_t i = 0; i < engine->script_count; i++) script_free(engine->scripts[i]);
    free(engine->scripts);
    free(engine->main_done);
    if (engine->factory) shared_factory_free(engine->factory);
    if (engine->io) io_thread_stop(engine->io);
    stopper_free(engine->stopper);
    discoverer_free(engine->discoverer);
    io_thread_free(engine->io);
    timer_cancel(&engine->check);
    timer_cancel(&engine->sync_deadline);
    loop_free(engine->loop);
    free(engine);
}
