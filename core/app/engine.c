/* Start, run and stop of the engine; see engine.h. */
#include "app/engine_internal.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/cmd.h"
#include "app/unix_socket.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "base/writer.h"

void engine_stop(struct engine *engine, int exit_code)
{
    if (engine->stopping) return;
    engine->stopping = true;
    engine->exit_code = exit_code;
    loop_stop(engine->loop);
}

/* --- requests under way at a signal */

enum { DRAIN_LOOK_MS = 10, DRAIN_MARGIN_MS = 1000 };

static void on_drain(struct timer *timer)
{
    struct engine *engine = container_of(timer, struct engine, drain);
    struct clock *clock = loop_clock(engine->loop);
    size_t waiting = 0;
    for (size_t i = 0; i < engine->script_count; i++) waiting += script_waiting_calls(engine->scripts[i]);
    if (waiting > 0 && clock_now_ms(clock) < engine->drain_until_ms) {
        timer_start(&engine->drain, clock, DRAIN_LOOK_MS);
        return;
    }
    if (waiting > 0)
        log_warn("Calls were cancelled: they did not end within --shutdown-timeout", FI("calls", waiting));
    engine_stop(engine, engine->drained_code);
}

/* Intake stops; requests of scripts that are under way come to their end within --shutdown-timeout. */
static void drain(struct engine *engine, int exit_code)
{
    engine->drained_code = exit_code;
    engine->drain_until_ms =
        clock_now_ms(loop_clock(engine->loop)) + engine->options.options->shutdown_timeout_ms;
    timer_cancel(&engine->check);
    for (size_t i = 0; i < engine->script_count; i++) script_stop(engine->scripts[i]);
    on_drain(&engine->drain);
}

static void on_signal(void *ctx, int signum)
{
    struct engine *engine = ctx;
    if (engine->stopping) return;
    if (engine->monitor) health_set_stopping(monitor_health(engine->monitor));
    log_info("Stopping", F("signal", signum == SIGINT ? "SIGINT" : "SIGTERM"));
    bool complete = engine->options.mode == ENGINE_RUN;
    int exit_code = signum == SIGINT ? EXIT_INTERRUPTED : complete ? EXIT_OK : EXIT_INCOMPLETE;
    if (complete)
        drain(engine, exit_code);
    else
        engine_stop(engine, exit_code);
}

/* --- scripts */

/* What was refused or failed is missing from the answer: exec may not call it done. */
static int check_complete(const struct engine *engine, int code)
{
    const struct {
        uint64_t count;
        const char *text;
    } faults[] = {
        {metric_get(METRIC_OBJECTS_REFUSED), "objects were refused"},
        {metric_get(METRIC_TRANSFORM_ERRORS), "transforms failed"},
        {metric_get(METRIC_INDEX_ERRORS), "calls of index functions failed"},
        {script_counters(engine->scripts[0]).errors, "calls of handlers, filters or timers failed"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        if (faults[i].count == 0) continue;
        fprintf(stderr, "kubelua exec: incomplete: %llu %s\n", (unsigned long long)faults[i].count,
                faults[i].text);
        code = EXIT_INCOMPLETE;
    }
    return code;
}

static void on_main_done(void *ctx, enum script_result result, int exit_code)
{
    struct engine *engine = ctx;
    if (engine->options.mode == ENGINE_EXEC)
        engine_stop(engine, result == SCRIPT_OK ? check_complete(engine, exit_code) : EXIT_INCOMPLETE);
}

static void start_main(struct engine *engine, size_t i)
{
    engine->main_started[i] = true;
    if (script_has_main(engine->scripts[i])) script_run_main(engine->scripts[i], on_main_done, engine);
}

static void on_check(struct timer *timer)
{
    struct engine *engine = container_of(timer, struct engine, check);
    for (size_t i = 0; i < engine->script_count && !engine->stopping; i++)
        if (!engine->main_started[i] && script_has_synced(engine->scripts[i])) start_main(engine, i);
}

static void check_soon(struct engine *engine)
{
    if (!timer_running(&engine->check) && !engine->drain_until_ms)
        timer_start(&engine->check, loop_clock(engine->loop), 0);
}

static void on_claim_changed(void *ctx, struct informer_claim *claim)
{
    struct engine *engine = ctx;
    if (claim_has_synced(claim)) {
        check_soon(engine);
        for (size_t i = 0; i < engine->script_count; i++) script_claims_changed(engine->scripts[i]);
    }
    if (claim_is_missing(claim)) engine_ask_kinds(engine);
    monitor_touch(engine->monitor);
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
    engine->main_started = xcalloc(files->count, sizeof *engine->main_started);
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

/* --- start and stop */

static struct list_watch *new_source(void *ctx, const struct resource *resource, const struct lw_scope *scope)
{
    struct engine *engine = ctx; /* on the I/O thread; `io` does not change while it runs */
    return list_watch_new(io_thread_client(engine->io), resource, scope);
}

static enum watch_list_mode watch_list_mode(const char *name)
{
    return strcmp(name, "on") == 0    ? WATCH_LIST_ON
           : strcmp(name, "off") == 0 ? WATCH_LIST_OFF
                                      : WATCH_LIST_AUTO;
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
        .tuning = {.watch_list = watch_list_mode(options->watch_list),
                   .watch_list_deadline_ms = options->watch_list_deadline_ms,
                   .page_size = options->chunk_size},
        .changed = on_claim_changed,
        .synced = on_synced,
    });
    engine->discoverer = discoverer_new(&(struct discoverer_options){.engine_loop = engine->loop,
                                                                     .io = engine->io,
                                                                     .found = engine_found_kinds,
                                                                     .failed = engine_failed_kinds,
                                                                     .ctx = engine});
    engine_make_live(engine);
    engine->host = (struct script_host){
        .factory = engine->factory,
        .loop = engine->loop,
        .live = engine->live,
        .kinds = engine->kinds,
        .resync_ms = options->resync_ms,
        .default_namespace =
            !options->all_namespaces && options->cluster.namespace_ ? options->cluster.namespace_ : "",
        .print_waits = engine->options.mode == ENGINE_EXEC,
    };
    return true;
}

/* A port that is taken is found before a script has run. */
static bool make_monitor(struct engine *engine)
{
    struct err err;
    const struct options *options = engine->options.options;
    if (engine->options.mode != ENGINE_RUN) return true;
    engine->monitor = monitor_new(
        &(struct monitor_options){
            .engine_loop = engine->loop,
            .io_loop = io_thread_loop(engine->io),
            .metrics_address = options->metrics_address,
            .health_address = options->health_address,
            .tick = engine_observe,
            .ctx = engine,
        },
        &err);
    if (!engine->monitor) fprintf(stderr, "kubelua run: %s\n", err.text);
    return engine->monitor != NULL;
}

/* A path that was asked for must work. The default one is a convenience: another engine may have it. */
static bool make_admin(struct engine *engine)
{
    struct err err;
    const struct options *options = engine->options.options;
    if (engine->options.mode != ENGINE_RUN || options_admin_is_off(options)) return true;
    char *path = options->admin_socket ? xstrdup(options->admin_socket) : unix_socket_default_path();
    if (!path) return true;
    engine->admin = admin_socket_new(&(struct admin_socket_options){.engine_loop = engine->loop,
                                                                    .io_loop = io_thread_loop(engine->io),
                                                                    .path = path,
                                                                    .answer = engine_answer_admin,
                                                                    .ctx = engine},
                                     &err);
    free(path);
    if (engine->admin) return true;
    if (options->admin_socket)
        fprintf(stderr, "kubelua run: --admin-socket: %s\n", err.text);
    else
        log_warn("No admin socket: kubelua status will not find this engine", F("err", err.text));
    return !options->admin_socket;
}

struct engine *engine_new(const struct engine_options *options, int *exit_code)
{
    struct engine *engine = NEW(struct engine);
    engine->options = *options;
    engine->check.fn = on_check;
    engine->drain.fn = on_drain;
    engine->sync_deadline.fn = engine_on_sync_deadline;
    engine->loop = loop_new();
    if (make_parts(engine) && make_monitor(engine) && make_admin(engine)) {
        engine->stopper = stopper_new(&(struct stopper_options){
            .engine_loop = engine->loop,
            .io_loop = io_thread_loop(engine->io),
            .stop = on_signal,
            .ctx = engine,
            .patience_ms = engine->options.options->shutdown_timeout_ms + DRAIN_MARGIN_MS,
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
    engine->started_us = clock_wall_us(loop_clock(engine->loop));
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
    engine_observe_end(engine);
    for (size_t i = 0; i < engine->script_count; i++) script_free(engine->scripts[i]);
    free(engine->scripts);
    free(engine->main_started);
    engine_free_live(engine);
    if (engine->factory) shared_factory_free(engine->factory);
    if (engine->io) io_thread_stop(engine->io);
    stopper_free(engine->stopper);
    admin_socket_free(engine->admin);
    monitor_free(engine->monitor);
    discoverer_free(engine->discoverer);
    io_thread_free(engine->io);
    timer_cancel(&engine->check);
    timer_cancel(&engine->drain);
    timer_cancel(&engine->sync_deadline);
    loop_free(engine->loop);
    free(engine);
}
