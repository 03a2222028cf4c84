/* Start, run and stop of the engine; see engine.h. engine_parts.c creates its parts. */
#include "engine/engine_internal.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "engine/sink/sinks.h"
#include "engine/webhook_listener.h"
#include "net/web.h"
#include "script/view/state_store.h"
#include "script/vm/cpu_watch.h"

void engine_stop_as(struct engine *engine, enum engine_outcome outcome)
{
    if (engine->stopping) return;
    engine->stopping = true;
    engine->outcome = outcome;
    engine_step_down(engine);
}

void engine_stop(struct engine *engine)
{
    engine_stop_as(engine, ENGINE_STOPPED);
}

/* --- calls in flight at a signal */

/* END_MS is the minimum for the end itself, even if that is more than a tenth of the shutdown timeout. */
enum { DRAIN_CHECK_MS = 10, END_MS = 500, WHOLE = 100, EVENTS_FLUSH_MS = 2000, SAVE_MS = 10000 };

static int64_t part_ms(const struct engine *engine, enum end_part part)
{
    return engine->options.settings->shutdown_timeout_ms * part / WHOLE;
}

int64_t engine_timeout_ms(const struct engine *engine)
{
    int64_t whole_ms = engine->options.settings->shutdown_timeout_ms,
            least_ms = part_ms(engine, END_CALLS) + END_MS;
    return whole_ms > least_ms ? whole_ms : least_ms;
}

void engine_touch(struct engine *engine)
{
    if (engine->options.watcher.touched) engine->options.watcher.touched(engine->options.watcher.ctx);
}

void engine_begin_end(struct engine *engine)
{
    if (!engine->ending_ms) engine->ending_ms = clock_now_ms(loop_clock(engine->loop));
    engine->scripts.ending = true;
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
    for (size_t i = 0; i < engine->scripts.generation_count; i++)
        waiting += script_waiting_calls(engine->scripts.generations[i]);
    if (waiting > 0 && engine_end_left_ms(engine, END_CALLS) > 0) {
        timer_start(&engine->drain, loop_clock(engine->loop), DRAIN_CHECK_MS);
        return;
    }
    if (waiting > 0) {
        char message[ENGINE_MESSAGE_MAX];
        snprintf(message, sizeof message, "Cancelled calls that did not finish within %s",
                 engine->names->shutdown_timeout);
        log_warn(message, FI("calls", waiting));
    }
    engine_stop_as(engine, ENGINE_ENDED);
}

void engine_stop_scripts(struct engine *engine)
{
    for (size_t i = 0; i < engine->scripts.generation_count; i++) script_stop(engine->scripts.generations[i]);
}

/* Stops events, and lets requests of scripts in flight end within the shutdown timeout. */
static void drain(struct engine *engine)
{
    engine_begin_end(engine);
    /* In this order: no main starts and no generation is activated any more, then sessions and audits end,
     * then scripts stop. */
    timer_cancel(&engine->check);
    reload_end(&engine->scripts);
    if (engine->options.watcher.ending) engine->options.watcher.ending(engine->options.watcher.ctx);
    engine_end_continuous(engine);
    engine_stop_scripts(engine);
    on_drain(&engine->drain);
}

bool engine_is_ending(const struct engine *engine)
{
    return engine->stopping || engine->ending_ms;
}

bool engine_is_stopping(const struct engine *engine)
{
    return engine->stopping;
}

void engine_end(struct engine *engine)
{
    if (engine->stopping) return;
    if (engine->options.keeps_running)
        drain(engine);
    else
        engine_stop_as(engine, ENGINE_ENDED); /* its result is incomplete in any case */
}

/* --- start and stop */

/* Runs on the I/O thread. The log is reopened here, so that a blocked script does not delay its rotation;
 * signals in a row cause one scan. */
static void on_hangup(void *ctx, int signum)
{
    struct engine *engine = ctx;
    write_log_reopen(engine->audit);
    if (!engine->options.keeps_running || atomic_exchange(&engine->hangup_posted, true)) return;
    mailbox_post(loop_mailbox(engine->loop), &engine->hangup);
}

static void on_hangup_mail(struct mail *mail)
{
    struct engine *engine = container_of(mail, struct engine, hangup);
    const struct engine_watcher *watcher = &engine->options.watcher;
    atomic_store(&engine->hangup_posted, false);
    if (watcher->hangup && !watcher->hangup(watcher->ctx)) return;
    log_info("Checking all scripts for changes", F("signal", "SIGHUP"));
    reload_scan(&engine->scripts,
                RELOAD_IF_REFUSED); /* not forced, as rotation of an audit log sends it too */
}

/* Handles SIGHUP, sent by tools that rotate logs and by operators to scan scripts. With neither an audit log
 * nor reloads it ends the process. */
static void watch_hangup(struct engine *engine)
{
    if (!engine->options.keeps_running && !engine->options.settings->audit_log) return;
    engine->hangup.deliver = on_hangup_mail;
    engine->on_hangup = signal_watch_new(io_thread_loop(engine->cluster->io), SIGHUP, on_hangup, engine);
}

struct engine *engine_new(const struct engine_options *options, struct err *err)
{
    if (!options->cluster) return NULL;
    struct engine *engine = NEW(struct engine);
    engine->options = *options;
    engine->check.fn = engine_on_check;
    engine->drain.fn = on_drain;
    engine->step_down_timer.fn = engine_on_step_down;
    engine->loop = options->loop;
    engine->cluster = options->cluster;
    engine_take_clusters(engine);
    turns_init(&engine->turns);
    engine_make_scripts(engine);
    if (engine_make_parts(engine, err)) return engine;
    engine_close(engine);
    engine_free(engine);
    return NULL;
}

struct loop *engine_loop(const struct engine *engine)
{
    return engine->loop;
}

struct loop *engine_io_loop(const struct engine *engine)
{
    return io_thread_loop(engine->cluster->io);
}

struct managed_scripts *engine_scripts(struct engine *engine)
{
    return &engine->scripts;
}

const struct script_host *engine_host(const struct engine *engine)
{
    return &engine->host;
}

const struct cluster *engine_cluster_at(const struct engine *engine, size_t at)
{
    return clusters_at(&engine->clusters, at);
}

const struct cluster *engine_cluster(const struct engine *engine)
{
    return engine->cluster;
}

const char *engine_webhook_address(const struct engine *engine)
{
    return engine->listener ? webhook_listener_where(engine->listener) : "";
}

int64_t engine_started_us(const struct engine *engine)
{
    return engine->started_us;
}

bool engine_load(struct engine *engine)
{
    /* The watch is on the I/O thread's loop, which must not run yet. */
    watch_hangup(engine);
    io_thread_lend_to(engine->cluster->io, engine->loop);
    io_thread_start(engine->cluster->io);
    return engine_load_scripts(engine);
}

enum engine_outcome engine_run(struct engine *engine)
{
    engine->started = true;
    engine->started_us = clock_wall_us(loop_clock(engine->loop));
    const struct cluster_config *config = engine->cluster->options.config;
    const struct bucket_place *from = engine->cluster->options.from;
    if (engine->options.keeps_running)
        log_info("Starting", F("version", KUBELUA_VERSION), F("cluster", config->source),
                 F("server", cluster_server(engine->cluster)), FI("scripts", engine->scripts.count),
                 F(from ? "from" : NULL, from ? from->target.shown : NULL));
    /* Each step may stop the engine. */
    engine_refresh_kinds(engine);
    if (!engine->stopping) engine_start_leaders(engine);
    if (!engine->stopping) engine_start_shards(engine);
    engine_check_soon(engine);
    if (engine->options.keeps_running) {
        reload_watch(&engine->scripts);
        probations_begin(&engine->scripts);
    }
    if (engine->stopping) return engine->outcome;
    io_thread_lend(engine->cluster->io, true);
    loop_run(engine->loop);
    io_thread_lend(engine->cluster->io, false);
    return engine->outcome;
}

void engine_drain(struct engine *engine)
{
    io_thread_drain(engine->cluster->io);
}

/* Returns the time left for Events that are still to be sent. */
static int64_t flush_ms(const struct engine *engine)
{
    int64_t left_ms = engine->ending_ms ? engine_end_left_ms(engine, END_EVENTS) : EVENTS_FLUSH_MS;
    if (engine->options.is_driven) return 0;
    return left_ms < EVENTS_FLUSH_MS ? left_ms : EVENTS_FLUSH_MS;
}

/* Returns the time left for a last save of caches. */
static int64_t save_ms(const struct engine *engine)
{
    return engine->ending_ms ? engine_end_left_ms(engine, END_EVENTS) : SAVE_MS;
}

static void end_webhooks(struct engine *engine)
{
    if (!engine->listener) webhook_paths_free(engine->paths);
    webhook_listener_free(engine->listener);
    engine->listener = NULL;
    engine->paths = NULL;
}

/* Frees in this order: scripts release their objects, then the reflectors end on the I/O thread, then the
 * thread, then everything it owned. */
void engine_close(struct engine *engine)
{
    engine->summary = engine_sum_up(engine);
    if (engine->started) engine_save_caches(engine, save_ms(engine));
    engine_free_continuous(engine);
    webhook_listener_stop(engine->listener);
    managed_scripts_clear(&engine->scripts);
    if (engine->owns_sinks) sinks_free(engine->sinks);
    state_store_free(engine->state_files);
    state_store_free(engine->state_maps);
    end_webhooks(engine);
    cpu_watch_free(engine->watch);
    web_end(engine->web);
    engine_free_warm(engine);
    cluster_secrets_free(engine->cluster_secrets);
    engine_end_shards(engine);
    clusters_end(&engine->clusters, flush_ms(engine));
    cluster_end(engine->cluster, flush_ms(engine));
    web_free(engine->web);
}

/* Logs each line by itself: each is an entry of a JSON log. */
static void print_refused(struct buf *refused)
{
    const char *line = refused->len ? buf_text(refused) : "", *end;
    for (; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        char *one = xstrndup(line, (size_t)(end - line));
        log_fatal("kubelua", one);
        free(one);
    }
    buf_clear(refused);
}

void engine_free(struct engine *engine)
{
    /* The summary comes last, after everything that may still log, but for the reason why nothing was
     * started. */
    bool is_notified = engine->started && engine->options.keeps_running;
    struct engine_summary summary = engine->summary;
    struct buf refused = engine->refused;
    signal_watch_free(engine->on_hangup);
    write_log_free(engine->audit);
    clusters_free(&engine->clusters);
    cluster_free(engine->cluster);
    timer_cancel(&engine->check);
    timer_cancel(&engine->drain);
    timer_cancel(&engine->step_down_timer);
    engine_free_shards(engine);
    free(engine);
    if (is_notified) engine_log_summary(&summary);
    print_refused(&refused);
}
