/* Driver of `run` and `exec`: an engine and its surroundings; see driver.h. */
#include "app/cmd/driver.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "app/admin/admin_document.h"
#include "app/admin/admin_engine.h"
#include "app/admin/admin_socket.h"
#include "app/audit/audit_serve.h"
#include "app/cmd/cmd.h"
#include "app/cmd/exec_end.h"
#include "app/cmd/shutdown_watch.h"
#include "app/cmd/terminal.h"
#include "app/monitor/observe.h"
#include "app/monitor/ui.h"
#include "app/options/config_reload.h"
#include "app/repl/repl_serve.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/engine_view.h"
#include "net/bind_address.h"
#include "net/unix_socket.h"

enum { REPL, AUDIT, SESSIONS };
enum { CACHE_INTERVAL_MIN_MS = 10 };

struct driver {
    const struct driver_options *started;
    const struct options *options;
    struct loop *loop; /* of the engine thread */
    struct engine *engine;
    struct shutdown_watch *shutdown_watch;
    int signum;                     /* that ended the engine; 0: none */
    bool ends_with_terminal;        /* the one that it was started from */
    struct exec_end end;            /* of `exec` */
    struct config_reload *settings; /* NULL: no file of settings */
    struct warm_start *warm;        /* NULL: caches are not stored */

    /* For `run` only; NULL for `exec`. */
    struct monitor *monitor;
    struct observer observer;
    struct admin_socket *admin; /* NULL: disabled */
    struct ui *ui;              /* likewise */
    struct admin_engine admin_engine;
    struct admin_part parts[1];
    struct admin_session sessions[SESSIONS];
    struct repl_sessions *repls;
    struct audit_sessions *audits;
};

/* --- callbacks of the engine */

static void on_claims_changed(void *ctx)
{
    const struct driver *driver = ctx;
    if (driver->repls) repl_sessions_claims_changed(driver->repls);
}

static void on_touched(void *ctx)
{
    const struct driver *driver = ctx;
    monitor_touch(driver->monitor);
}

/* Called for `exec` only. */
static void on_main_done(void *ctx, enum script_result result, int exit_code)
{
    struct driver *driver = ctx;
    exec_end_main_done(&driver->end, result, exit_code);
}

/* Signals itself, so that a stuck thread cannot hold up this end either (shutdown_watch.h). */
static bool on_hangup(void *ctx)
{
    const struct driver *driver = ctx;
    if (driver->ends_with_terminal && !terminal_is_open()) {
        log_info("Terminal closed");
        kill(getpid(), SIGTERM);
        return false;
    }
    if (driver->settings) config_reload(driver->settings);
    return true;
}

static void on_ending(void *ctx)
{
    const struct driver *driver = ctx;
    if (driver->repls) repl_sessions_end(driver->repls);
    if (driver->audits) audit_sessions_end(driver->audits);
}

/* --- surroundings */

static void on_signal(void *ctx, int signum)
{
    struct driver *driver = ctx;
    if (engine_is_stopping(driver->engine)) return;
    /* Before the engine ends: readiness must fail as soon as traffic should go elsewhere. */
    if (driver->monitor) health_set_stopping(monitor_health(driver->monitor));
    log_info("Stopping", F("signal", signum == SIGINT ? "SIGINT" : "SIGTERM"));
    driver->signum = signum;
    engine_end(driver->engine);
}

/* Creates the monitor before any script runs, so that a port in use is found first. */
static bool make_monitor(struct driver *driver)
{
    struct err err;
    struct engine *engine = driver->engine;
    driver->monitor = monitor_new(
        &(struct monitor_options){
            .engine_loop = engine_loop(engine),
            .io_loop = engine_io_loop(engine),
            .metrics_address = driver->options->metrics_address,
            .health_address = driver->options->health_address,
            .client =
                options_reviews_tokens(driver->options) ? io_thread_client(engine_cluster(engine)->io) : NULL,
            .running = engine_host(engine)->running,
            .leaders = engine_cluster(engine)->parts.leaders,
            .tick = observe,
            .ctx = &driver->observer,
        },
        &err);
    driver->observer = (struct observer){.engine = engine, .monitor = driver->monitor};
    if (!driver->monitor) log_fatal("kubelua run", err.text);
    return driver->monitor != NULL;
}

static void make_sessions(struct driver *driver)
{
    driver->repls = repl_sessions_new(driver->engine);
    driver->audits = audit_sessions_new(driver->engine);
    driver->sessions[REPL] = (struct admin_session){"repl", repl_sessions_begin, driver->repls};
    driver->sessions[AUDIT] = (struct admin_session){"audit", audit_sessions_begin, driver->audits};
    driver->parts[0] = (struct admin_part){repl_sessions_put, driver->repls};
    driver->admin_engine = (struct admin_engine){.engine = driver->engine,
                                                 .monitor = driver->monitor,
                                                 .parts = driver->parts,
                                                 .part_count = ARRAY_LEN(driver->parts),
                                                 .flags = driver->options->flags,
                                                 .given = driver->options->given};
}

static struct admin_socket *open_socket(struct driver *driver, const char *path, struct err *err)
{
    return admin_socket_new(&(struct admin_socket_options){.engine_loop = engine_loop(driver->engine),
                                                           .io_loop = engine_io_loop(driver->engine),
                                                           .path = path,
                                                           .reply = admin_engine_reply,
                                                           .begin = admin_engine_begin,
                                                           .sessions = driver->sessions,
                                                           .session_count = SESSIONS,
                                                           .running = engine_host(driver->engine)->running,
                                                           .ctx = &driver->admin_engine},
                            err);
}

/* Opens the admin socket. A path of the user must work; the default one is a convenience, which another
 * engine may have taken. */
static bool make_admin(struct driver *driver)
{
    struct err err;
    const char *chosen = driver->options->admin_socket;
    make_sessions(driver);
    if (options_admin_is_off(driver->options)) return true;
    char *path = chosen ? xstrdup(chosen) : unix_socket_default_path();
    if (!path) {
        log_info("Admin socket is disabled, set --admin-socket or XDG_RUNTIME_DIR to use kubelua status");
        return true;
    }
    driver->admin = open_socket(driver, path, &err);
    free(path);
    if (driver->admin) return true;
    if (chosen) {
        err_wrap(&err, "--admin-socket");
        log_fatal("kubelua run", err.text);
    } else
        log_warn("Failed to open admin socket, kubelua status will not work", F("err", err.text));
    return !chosen;
}

static bool make_ui(struct driver *driver)
{
    struct err err;
    const char *address = driver->options->ui_address;
    if (!address || bind_address_is_off(address)) return true;
    driver->ui = ui_new(&(const struct ui_options){.engine_loop = engine_loop(driver->engine),
                                                   .address = address,
                                                   .write = admin_write_page,
                                                   .ctx = &driver->admin_engine},
                        &err);
    if (driver->ui) {
        driver->admin_engine.page = ui_where(driver->ui);
        log_info("Serving a page about the engine", F("address", ui_where(driver->ui)));
        return true;
    }
    err_wrap(&err, "--ui-bind-address");
    log_fatal("kubelua run", err.text);
    return false;
}

/* --- from start to end */

static bool make_parts(struct driver *driver)
{
    if (driver->started->mode == DRIVER_RUN &&
        (!make_monitor(driver) || !make_admin(driver) || !make_ui(driver)))
        return false;
    driver->shutdown_watch = shutdown_watch_new(&(struct shutdown_watch_options){
        .engine_loop = engine_loop(driver->engine),
        .stop = on_signal,
        .ctx = driver,
        .timeout_ms = engine_timeout_ms(driver->engine),
    });
    return true;
}

/* Frees sessions first, as they read caches and scripts; sockets and watches after the engine, when no thread
 * turns their loops any more. */
static void close_all(struct driver *driver)
{
    repl_sessions_free(driver->repls);
    driver->repls = NULL; /* closing caches still call on_claims_changed */
    audit_sessions_free(driver->audits);
    engine_close(driver->engine);
    admin_documents_end(&driver->admin_engine);
    shutdown_watch_free(driver->shutdown_watch);
    ui_free(driver->ui);
    admin_socket_free(driver->admin);
    monitor_free(driver->monitor);
    exec_end_clear(&driver->end);
    engine_free(driver->engine);
    loop_free(driver->loop);
}

static struct cluster *make_cluster(struct driver *driver, const struct cluster_config *config,
                                    struct cluster *home, struct err *err)
{
    return cluster_new(
        &(const struct cluster_options){.engine_loop = driver->loop,
                                        .from = home ? NULL : driver->started->from,
                                        .has_no_server = !home && driver->started->has_no_server,
                                        .config = config,
                                        .warm = home ? NULL : driver->warm,
                                        .settings = driver->started->settings,
                                        .name = home ? config->name : NULL,
                                        .home = home},
        err);
}

/* Ends clusters that no engine took; none of their threads runs yet. */
static void drop_clusters(struct cluster *home, struct cluster **others, size_t count)
{
    for (size_t i = 0; i < count; i++) cluster_end(others[i], 0);
    cluster_end(home, 0);
    for (size_t i = 0; i < count; i++) cluster_free(others[i]);
    cluster_free(home);
}

/* Creates the clusters beside `home`; if one cannot be had, ends all of them, `home` too. */
static bool make_others(struct driver *driver, struct cluster *home, struct cluster **others, struct err *err)
{
    for (size_t i = 0; i < driver->started->other_count; i++) {
        others[i] = make_cluster(driver, &driver->started->others[i], home, err);
        if (others[i]) continue;
        drop_clusters(home, others, i);
        return false;
    }
    return true;
}

static struct engine *make_engine(struct driver *driver, struct err *err)
{
    const struct driver_options *started = driver->started;
    bool exec = started->mode == DRIVER_EXEC;
    struct cluster *others[CLUSTERS_MAX], *cluster = make_cluster(driver, started->config, NULL, err);
    if (!cluster || !make_others(driver, cluster, others, err)) return NULL;
    return engine_new(&(const struct engine_options){.keeps_running = !exec,
                                                     .needs_main = exec,
                                                     .print_waits = exec,
                                                     .loop = driver->loop,
                                                     .cluster = cluster,
                                                     .others = others,
                                                     .other_count = started->other_count,
                                                     .settings = started->settings,
                                                     .files = started->files,
                                                     .watcher = {.claims_changed = on_claims_changed,
                                                                 .hangup = on_hangup,
                                                                 .touched = on_touched,
                                                                 .main_done = exec ? on_main_done : NULL,
                                                                 .ending = on_ending,
                                                                 .ctx = driver}},
                      err);
}

/* Before anything else: the stored objects come with their keys and the seed of their hashes. */
static bool open_caches(struct driver *driver, struct err *err)
{
    const struct options *o = driver->options;
    if (!o->cache_dir) return true;
    if (o->cache_interval_ms < CACHE_INTERVAL_MIN_MS)
        return err_set(err, ERR_INVALID, "--cache-interval: must be at least %d ms", CACHE_INTERVAL_MIN_MS);
    driver->warm = warm_start_new(&(const struct warm_options){.dir = o->cache_dir,
                                                               .with_secrets = o->cache_secrets,
                                                               .interval_ms = o->cache_interval_ms},
                                  err);
    return driver->warm || err_wrap(err, "--cache-dir");
}

/* SIGTERM is a normal end of `run`, which has no result; it interrupts `exec` before its result. */
static int exit_code_of(const struct driver *driver, enum engine_outcome outcome)
{
    if (outcome == ENGINE_REFUSED) return EXIT_USAGE;
    if (outcome == ENGINE_STOPPED) return driver->end.exit_code;
    if (driver->signum == SIGINT) return EXIT_INTERRUPTED;
    return driver->started->mode == DRIVER_RUN ? EXIT_OK : EXIT_INCOMPLETE;
}

int driver_run(const struct driver_options *options)
{
    struct driver driver = {.started = options,
                            .options = options->options,
                            .loop = loop_new(),
                            .ends_with_terminal = terminal_ends_process(),
                            .settings = config_reload_new(options->options)};
    struct err err;
    bool opened = open_caches(&driver, &err);
    driver.engine = opened ? make_engine(&driver, &err) : NULL;
    if (!driver.engine) {
        log_fatal("kubelua", err.text);
        warm_start_free(driver.warm);
        config_reload_free(driver.settings);
        loop_free(driver.loop);
        return EXIT_USAGE;
    }
    bool ok = make_parts(&driver) && engine_load(driver.engine);
    if (ok && options->mode == DRIVER_EXEC)
        exec_end_begin(&driver.end, driver.engine, options->options->sync_timeout_ms);
    int exit_code = ok ? exit_code_of(&driver, engine_run(driver.engine)) : EXIT_USAGE;
    close_all(&driver);
    warm_start_free(driver.warm);
    config_reload_free(driver.settings);
    return exit_code;
}
