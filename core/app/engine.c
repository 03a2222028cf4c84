/* Start, run and stop of the engine; see engine.h. */
#include "app/engine_internal.h"
#include "app/script_options.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/cmd.h"
#include "app/reload_metrics.h"
#include "app/script_watch.h"
#include "app/unix_socket.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/web.h"
#include "script/cpu_watch.h"

void engine_stop(struct engine *engine, int exit_code)
{
    if (engine->stopping) return;
    engine->stopping = true;
    engine->exit_code = exit_code;
    engine_step_down(engine);
}

/* --- requests under way at a signal */

/* The end itself has that much, also where it is more than a tenth of --shutdown-timeout. */
enum { DRAIN_LOOK_MS = 10, END_MS = 500, WHOLE = 100 };

static int64_t part_ms(const struct engine *engine, enum end_part part)
{
    return engine->options.options->shutdown_timeout_ms * part / WHOLE;
}

static int64_t patience_ms(const struct engine *engine)
{
    int64_t whole_ms = engine->options.options->shutdown_timeout_ms,
            least_ms = part_ms(engine, END_CALLS) + END_MS;
    return whole_ms > least_ms ? whole_ms : least_ms;
}

void engine_begin_end(struct engine *engine)
{
    if (!engine->ending_ms) engine->ending_ms = clock_now_ms(loop_clock(engine->loop));
}

int64_t engine_end_left_ms(const struct engine *engine, enum end_part part)
{
    int64_t left_ms = engine->ending_ms + part_ms(engine, part) - clock_now_ms(loop_clock(engine->loop));
    return left_ms > 0 ? left_ms : 0;
}

static void on_drain(struct timer *timer)
{
    struct engine *engine = container_of(timer, struct engine, drain);
    size_t waiting = 0;
    for (size_t i = 0; i < engine->script_count; i++) waiting += script_waiting_calls(engine->scripts[i]);
    if (waiting > 0 && engine_end_left_ms(engine, END_CALLS) > 0) {
        timer_start(&engine->drain, loop_clock(engine->loop), DRAIN_LOOK_MS);
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
    engine_begin_end(engine);
    timer_cancel(&engine->check);
    reload_end(engine);
    engine_end_repls(engine);
    engine_end_audit(engine);
    engine_end_report(engine);
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

/* --- start and stop */

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

/* What http.request asks with. */
static bool make_web(struct engine *engine)
{
    struct err err;
    const struct flag_list *hosts = &engine->options.options->allow_http;
    struct web_allow *allow = web_allow_new(hosts->items, hosts->count, &err);
    if (!allow) {
        fprintf(stderr, "kubelua: --allow-http: %s\n", err.text);
        return false;
    }
    engine->web = web_new(&(struct web_options){.engine_loop = engine->loop,
                                                .io_loop = io_thread_loop(engine->io),
                                                .allow = allow,
                                                .user_agent = "kubelua/" KUBELUA_VERSION});
    return true;
}

/* False when the connection or the audit log cannot be had. */
static bool make_inputs(struct engine *engine)
{
    struct err err;
    const struct options *options = engine->options.options;
    const struct kube_client_options client = {.config = engine->options.cluster,
                                               .max_object_size = options->max_object_size,
                                               .request_timeout_ms = options->request_timeout_ms,
                                               .qps = options->kube_api_qps,
                                               .burst = options->kube_api_burst};
    engine->io = io_thread_new(&client, &err);
    if (!engine->io) {
        fprintf(stderr, "kubelua: %s\n", err.text);
        return false;
    }
    engine->audit = audit_trail_new(options->audit_log, &err);
    if (!engine->audit) fprintf(stderr, "kubelua: --audit-log: %s\n", err.text);
    return engine->audit != NULL && make_web(engine);
}

static void make_factory(struct engine *engine)
{
    const struct options *options = engine->options.options;
    engine->factory = shared_factory_new(&(struct shared_factory_options){
        .engine_loop = engine->loop,
        .io_loop = io_thread_loop(engine->io),
        .new_source = engine_new_source,
        .ctx = engine,
        .seed = hash_bytes(&engine, sizeof engine),
        .grace_ms = options->informer_grace_ms,
        .tuning = {.watch_list = watch_list_mode(options->watch_list),
                   .watch_list_deadline_ms = options->watch_list_deadline_ms,
                   .page_size = options->chunk_size},
        .changed = engine_claim_changed,
        .synced = engine_claim_synced,
    });
}

/* What scripts see of the engine: after its parts. */
static void make_host(struct engine *engine)
{
    const struct options *options = engine->options.options;
    engine->host = (struct script_host){
        .factory = engine->factory,
        .loop = engine->loop,
        .turns = &engine->turns,
        .live = engine->live,
        .web = engine->web,
        .recorder = engine->recorder,
        .kinds = engine->kinds,
        .leaders = engine->leaders,
        .lease = leader_flags_lease(&options->leader, engine->options.cluster->namespace_),
        .elects = options->leader.elect,
        .resync_ms = options->resync_ms,
        .default_namespace =
            !options->all_namespaces && options->cluster.namespace_ ? options->cluster.namespace_ : "",
        .running = &engine->running,
        .watch = engine->watch,
        .print_waits = engine->options.mode == ENGINE_EXEC,
        .write_mode = write_mode(options->dry_run),
        .field_manager = options->field_manager,
        .audit = engine->audit,
        .runs_rules = options->report != NULL,
        .is_given_up = probation_ends_by,
        .is_given_up_ctx = engine,
    };
    options_give_scripts(options, &engine->host);
}

static void make_watch(struct engine *engine)
{
    struct err err;
    engine->watch = cpu_watch_new(&err);
    if (!engine->watch)
        log_warn("Slow functions of C are not timed while a script calls them", F("err", err.text));
}

static bool make_parts(struct engine *engine)
{
    if (!make_inputs(engine)) return false;
    make_factory(engine);
    engine->discoverer = discoverer_new(&(struct discoverer_options){.engine_loop = engine->loop,
                                                                     .io = engine->io,
                                                                     .found = engine_found_kinds,
                                                                     .failed = engine_failed_kinds,
                                                                     .ctx = engine});
    engine_make_live(engine);
    engine_make_leaders(engine);
    make_watch(engine);
    make_host(engine);
    engine_make_report(engine);
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
            .running = &engine->running,
            .leaders = engine->leaders,
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
    static const char *const sessions[] = {"repl", "audit", NULL};
    struct err err;
    const struct options *options = engine->options.options;
    if (engine->options.mode != ENGINE_RUN || options_admin_is_off(options)) return true;
    char *path = options->admin_socket ? xstrdup(options->admin_socket) : unix_socket_default_path();
    if (!path) {
        log_info("No admin socket, as neither --admin-socket nor XDG_RUNTIME_DIR is set: kubelua status will "
                 "not find this engine");
        return true;
    }
    engine->admin = admin_socket_new(&(struct admin_socket_options){.engine_loop = engine->loop,
                                                                    .io_loop = io_thread_loop(engine->io),
                                                                    .path = path,
                                                                    .answer = engine_answer_admin,
                                                                    .begin = engine_begin_admin,
                                                                    .sessions = sessions,
                                                                    .running = &engine->running,
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

/* On the I/O thread. */
static void on_hangup(void *ctx, int signum)
{
    struct engine *engine = ctx;
    audit_trail_reopen(engine->audit);
    if (engine->options.mode != ENGINE_RUN || atomic_exchange(&engine->hangup_posted, true)) return;
    mailbox_post(loop_mailbox(engine->loop), &engine->hangup);
}

/* Who rotates logs sends SIGHUP, and who wants scripts to be looked at. `exec` without a log is ended by it,
 * as when a terminal is closed. */
static void watch_hangup(struct engine *engine)
{
    if (engine->options.mode != ENGINE_RUN && !engine->options.options->audit_log) return;
    engine->hangup.deliver = reload_on_hangup;
    engine->on_hangup = signal_watch_new(io_thread_loop(engine->io), SIGHUP, on_hangup, engine);
}

struct engine *engine_new(const struct engine_options *options, int *exit_code)
{
    struct engine *engine = NEW(struct engine);
    engine->options = *options;
    engine->check.fn = engine_on_check;
    engine->drain.fn = on_drain;
    engine->farewell.fn = engine_on_farewell;
    engine->look_again.fn = reload_on_look_again;
    engine->sync_deadline.fn = engine_on_sync_deadline;
    engine->loop = loop_new();
    turns_init(&engine->turns);
    if (make_parts(engine) && make_monitor(engine) && make_admin(engine)) {
        engine->stopper = stopper_new(&(struct stopper_options){
            .engine_loop = engine->loop,
            .io_loop = io_thread_loop(engine->io),
            .stop = on_signal,
            .ctx = engine,
            .patience_ms = patience_ms(engine),
        });
        if (options->mode == ENGINE_RUN) engine->reload_metrics = reload_metrics_new();
        watch_hangup(engine);
        io_thread_start(engine->io);
        if (engine_load_scripts(engine)) return engine;
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
                 F("server", engine->options.cluster->server), FI("scripts", engine->slot_count));
    discoverer_ask(engine->discoverer, 0);
    if (!engine->stopping) engine_start_leaders(engine);
    engine_check_soon(engine);
    if (engine->options.mode == ENGINE_EXEC)
        timer_start(&engine->sync_deadline, loop_clock(engine->loop),
                    engine->options.options->sync_timeout_ms);
    if (engine->options.mode == ENGINE_RUN) reload_watch(engine);
    if (!engine->stopping) loop_run(engine->loop);
    return engine->exit_code;
}

/* Scripts let go of their objects first, then the reflectors end on the I/O thread, then the thread, then
 * what it owned. */
void engine_free(struct engine *engine)
{
    if (!engine) return;
    bool is_told = engine->started && engine->options.mode == ENGINE_RUN;
    struct engine_summary summary = engine_sum_up(engine);
    script_watch_free(engine->file_watch);
    engine_end_repls(engine);
    engine_free_audit(engine);
    engine_free_report(engine);
    slots_clear(engine);
    cpu_watch_free(engine->watch);
    reload_metrics_free(engine->reload_metrics);
    engine_free_live(engine);
    web_end(engine->web);
    leaders_end(engine->leaders);
    if (engine->factory) shared_factory_free(engine->factory);
    if (engine->io) io_thread_stop(engine->io);
    web_free(engine->web);
    signal_watch_free(engine->on_hangup);
    stopper_free(engine->stopper);
    audit_trail_free(engine->audit);
    admin_socket_free(engine->admin);
    monitor_free(engine->monitor);
    leaders_free(engine->leaders);
    discoverer_free(engine->discoverer);
    io_thread_free(engine->io);
    timer_cancel(&engine->check);
    timer_cancel(&engine->drain);
    timer_cancel(&engine->farewell);
    timer_cancel(&engine->sync_deadline);
    loop_free(engine->loop);
    free(engine);
    if (is_told) engine_log_summary(&summary);
}
