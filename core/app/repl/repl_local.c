/* A prompt's own engine as a backend; see repl_backend.h. */
#include <ev.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "app/repl/repl_backend.h"
#include "base/log.h"
#include "base/mem.h"

struct local {
    struct repl_backend base;
    struct repl_engine *engine;
    enum repl_end end;
    struct buf *result;
};

static struct local *local_of(struct repl_backend *backend)
{
    return container_of(backend, struct local, base);
}

void repl_backend_print(struct str line)
{
    fwrite(line.p, 1, line.n, stdout);
    putchar('\n');
}

static void on_print(void *ctx, struct str line)
{
    repl_backend_print(line);
}

static void on_end(void *ctx, enum repl_end end, struct str text)
{
    struct local *local = ctx;
    local->end = end;
    buf_str(local->result, text);
}

static enum repl_end eval(struct repl_backend *backend, struct str text, const struct repl_style *style,
                          struct buf *result)
{
    struct local *local = local_of(backend);
    struct repl *repl = local->engine->repl;
    local->result = result;
    repl_eval(repl, text, style);
    while (repl_is_busy(repl)) {
        fflush(stdout); /* what was printed is seen while the line waits */
        repl_engine_turn(local->engine, true);
        if (repl_was_interrupted(repl)) repl_cancel(repl);
    }
    return local->end;
}

static void complete(struct repl_backend *backend, struct str text, size_t *start, struct buf *names)
{
    repl_complete(local_of(backend)->engine->repl, text, start, names);
}

static void await_input(struct repl_backend *backend)
{
    repl_engine_await_input(local_of(backend)->engine, STDIN_FILENO);
}

/* In a signal handler. */
static void interrupt(struct repl_backend *backend)
{
    const struct local *local = local_of(backend);
    repl_interrupt(local->engine->repl);
    repl_engine_wake(local->engine);
}

static void local_free(struct repl_backend *backend)
{
    struct local *local = local_of(backend);
    repl_engine_free(local->engine);
    free(local);
}

struct repl_backend *repl_local_new(const struct repl_engine_options *options, struct err *err)
{
    struct local *local = NEW(struct local);
    struct repl_engine_options own = *options;
    local->base = (struct repl_backend){
        .eval = eval, .complete = complete, .wait = await_input, .interrupt = interrupt, .free = local_free};
    own.ops = (struct repl_ops){.printed = on_print, .ended = on_end, .ctx = local};
    local->engine = repl_engine_new(&own, err);
    if (local->engine) return &local->base;
    free(local);
    return NULL;
}

/* --- Start and stop of a prompt's engine */

/* An evaluation may compute until ^C comes, and hold what a person works with. */
enum { CPU_MS = 3600 * 1000, MEMORY = 1 << 30, INFORMERS = 1000 };

/* --- what the engine tells */

static void on_claims_changed(void *ctx)
{
    const struct repl_engine *engine = ctx;
    if (engine->repl) repl_claims_changed(engine->repl);
}

static void on_kinds(void *ctx, const struct err *err)
{
    struct repl_engine *engine = ctx;
    engine->refreshes = false;
    if (err) engine->failure = *err;
}

static void on_claimed(void *ctx)
{
    const struct repl_engine *engine = ctx;
    engine_begin(engine->engine);
}

/* The prompt tells what went wrong where it was asked for; lines of the log would lie across it. */
static void drop_line(void *ctx, enum log_level level, const char *file, int line, const char *msg,
                      const struct log_field *fields)
{
}

/* --- turns */

void repl_engine_turn(struct repl_engine *engine, bool wait)
{
    bool more = engine->dump && spec_cluster_pump(engine->dump);
    loop_once(engine->loop, wait && !more);
    engine_drain(engine->engine);
}

static void on_wake(void *ctx) {}

/* Safe in a signal handler: libev does an atomic store and a write here. */
void repl_engine_wake(struct repl_engine *engine)
{
    engine->woken = true;
    waker_wake(engine->wake);
}

static void on_input(struct ev_loop *ev, ev_io *io, int events) {}

void repl_engine_await_input(struct repl_engine *engine, int fd)
{
    struct pollfd input = {.fd = fd, .events = POLLIN};
    ev_io io;
    ev_io_init(&io, on_input, fd, EV_READ);
    ev_io_start(loop_ev(engine->loop), &io);
    while (!engine->woken && poll(&input, 1, 0) == 0) repl_engine_turn(engine, true);
    engine->woken = false;
    ev_io_stop(loop_ev(engine->loop), &io);
}

bool repl_engine_refresh_kinds(struct repl_engine *engine, struct err *err)
{
    err_clear(&engine->failure);
    engine->refreshes = true;
    engine_refresh_kinds(engine->engine);
    while (engine->refreshes) repl_engine_turn(engine, true);
    if (engine->failure.code == ERR_NONE) return true;
    *err = engine->failure;
    return false;
}

/* --- start and stop */

static bool make_repl(struct repl_engine *engine, struct err *err)
{
    engine->repl = repl_new(engine_host(engine->engine), REPL_OWN_CACHES,
                            &(struct repl_ops){.claimed = on_claimed,
                                               .claimed_ctx = engine,
                                               .printed = engine->ops.printed,
                                               .ended = engine->ops.ended,
                                               .ctx = engine->ops.ctx},
                            err);
    return engine->repl != NULL;
}

static bool make_engine(struct repl_engine *engine, const struct repl_engine_options *options,
                        struct err *err)
{
    static char server[] = "http://dump.kubelua";
    static struct cluster_config inside; /* the same each time */
    struct kube_client_options client = {.config = options->config};
    engine->limits = limits_default;
    engine->limits.values[LIMIT_HANDLER_CPU] = CPU_MS;
    engine->limits.values[LIMIT_SCRIPT_MEMORY] = MEMORY;
    engine->limits.values[LIMIT_INFORMERS] = INFORMERS;
    engine->settings = (struct engine_settings){.limits = &engine->limits,
                                                .request_timeout_ms = options->request_timeout_ms,
                                                .default_namespace = engine->namespace_};
    if (!options->config) {
        engine->dump = spec_cluster_new(&(struct spec_cluster_options){.loop = engine->loop});
        test_cluster_connect(engine->dump, server, &inside, &client);
    }
    const struct engine_watcher watcher = {
        .claims_changed = on_claims_changed, .kinds = on_kinds, .ctx = engine};
    struct cluster *cluster = cluster_new(&(const struct cluster_options){.engine_loop = engine->loop,
                                                                          .io_loop = engine->loop,
                                                                          .config = client.config,
                                                                          .server = client.local,
                                                                          .settings = &engine->settings,
                                                                          .is_quiet = true},
                                          err);
    engine->engine = engine_new(&(const struct engine_options){.is_driven = true,
                                                               .loop = engine->loop,
                                                               .cluster = cluster,
                                                               .settings = &engine->settings,
                                                               .watcher = watcher},
                                err);
    return engine->engine != NULL;
}

struct repl_engine *repl_engine_new(const struct repl_engine_options *options, struct err *err)
{
    struct repl_engine *engine = NEW(struct repl_engine);
    engine->loop = loop_new_alone();
    engine->wake = waker_new(engine->loop, on_wake, NULL);
    engine->namespace_ = xstrdup(options->namespace_);
    engine->ops = options->ops;
    log_capture(drop_line, NULL);
    bool ok = make_engine(engine, options, err) && repl_engine_refresh_kinds(engine, err);
    if (ok && engine->dump) ok = repl_dump_load(engine, options->files, options->file_count, err);
    if (ok && make_repl(engine, err)) return engine;
    repl_engine_free(engine);
    return NULL;
}

void repl_engine_free(struct repl_engine *engine)
{
    if (!engine) return;
    repl_free(engine->repl);
    if (engine->engine) {
        engine_close(engine->engine);
        engine_free(engine->engine);
    }
    waker_free(engine->wake);
    spec_cluster_free(engine->dump);
    loop_free(engine->loop);
    free(engine->namespace_);
    free(engine);
    log_capture(NULL, NULL);
}
