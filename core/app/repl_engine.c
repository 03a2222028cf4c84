/* Start and stop of a prompt's engine; see repl_engine.h. */
#include "app/repl_engine.h"

#include <ev.h>
#include <poll.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "object/pool.h"

/* An evaluation may compute until ^C comes, and hold what a person works with. */
enum { MAILS_MAX = 1000 };
enum { CPU_MS = 3600 * 1000, MEMORY = 1 << 30, INFORMERS = 1000 };

/* --- what the parts call */

static struct list_watch *new_source(void *ctx, const struct resource *resource, const struct lw_scope *scope)
{
    return list_watch_new(((struct repl_engine *)ctx)->client, resource, scope);
}

static struct object_call *call(void *ctx, const struct object_request *request,
                                void (*done)(void *ctx, struct root *object, const struct err *err),
                                void *done_ctx)
{
    return object_call_start(((struct repl_engine *)ctx)->client, request, done, done_ctx);
}

static void on_claim_changed(void *ctx, struct informer_claim *claim)
{
    const struct repl_engine *engine = ctx;
    if (engine->repl && claim_has_synced(claim)) repl_claims_changed(engine->repl);
}

/* What a prompt asks for was looked up before: nothing is unknown. */
static void on_unknown(void *ctx, struct informer_claim *claim, const struct err *err) {}

static void resolve(void *ctx)
{
    struct repl_engine *engine = ctx;
    const struct catalogue *catalogue = kinds_catalogue(engine->kinds);
    if (catalogue) shared_factory_resolve(engine->factory, catalogue, on_unknown, engine);
}

static void on_found(void *ctx, struct catalogue *catalogue, const struct err *err)
{
    struct repl_engine *engine = ctx;
    engine->discovery = NULL;
    if (err) {
        engine->failure = *err;
        kinds_fail(engine->kinds, err);
        return;
    }
    kinds_set(engine->kinds, catalogue);
    catalogue_free(catalogue);
    resolve(engine);
}

static void ask_kinds(void *ctx)
{
    struct repl_engine *engine = ctx;
    if (!engine->discovery) engine->discovery = discovery_start(engine->client, on_found, engine);
}

/* The prompt tells what went wrong where it was asked for; lines of the log would lie across it. */
static void drop_line(void *ctx, enum log_level level, const char *file, int line, const char *msg,
                      const struct log_field *fields)
{
}

static void drop_write(void *ctx, const struct test_write *write) {}

/* --- turns */

void repl_engine_turn(struct repl_engine *engine, bool wait)
{
    bool more = engine->dump && test_cluster_pump(engine->dump);
    loop_once(engine->loop, wait && !more);
    pool_drain(engine->pool);
}

static void on_wake(void *ctx) {}

/* What libev does here is an atomic store and a write. */
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

bool repl_engine_ask_kinds(struct repl_engine *engine, struct err *err)
{
    err_clear(&engine->failure);
    ask_kinds(engine);
    while (engine->discovery) repl_engine_turn(engine, true);
    if (engine->failure.code == ERR_NONE) return true;
    *err = engine->failure;
    return false;
}

/* --- start and stop */

static bool make_client(struct repl_engine *engine, const struct repl_engine_options *options,
                        struct err *err)
{
    static char server[] = "http://dump.kubelua", source[] = "the dump", ns[] = "default";
    const struct cluster_config inside = {.server = server, .source = source, .namespace_ = ns};
    struct kube_client_options client = {.config = &inside};
    if (options->config)
        client = *options->client;
    else {
        engine->dump = test_cluster_new(
            &(struct test_cluster_options){.loop = engine->loop, .written = drop_write, .ctx = engine});
        client.local = test_cluster_server(engine->dump);
    }
    engine->client = kube_client_new(engine->loop, engine->pool, &client, err);
    return engine->client != NULL;
}

static void make_parts(struct repl_engine *engine)
{
    struct loop *loop = engine->loop;
    engine->factory = shared_factory_new(&(struct shared_factory_options){.engine_loop = loop,
                                                                          .io_loop = loop,
                                                                          .new_source = new_source,
                                                                          .ctx = engine,
                                                                          .changed = on_claim_changed});
    engine->live = live_new(&(struct live_options){.engine_loop = loop,
                                                   .io_loop = loop,
                                                   .new_source = new_source,
                                                   .call = call,
                                                   .cancel_call = object_call_cancel,
                                                   .ctx = engine});
    engine->kinds = kinds_new(loop_clock(loop), ask_kinds, engine);
    turns_init(&engine->turns);
}

static bool make_repl(struct repl_engine *engine, struct err *err)
{
    engine->limits = limits_default;
    engine->limits.values[LIMIT_HANDLER_CPU] = CPU_MS;
    engine->limits.values[LIMIT_SCRIPT_MEMORY] = MEMORY;
    engine->limits.values[LIMIT_INFORMERS] = INFORMERS;
    engine->host = (struct script_host){.factory = engine->factory,
                                        .loop = engine->loop,
                                        .turns = &engine->turns,
                                        .live = engine->live,
                                        .kinds = engine->kinds,
                                        .limits = &engine->limits,
                                        .default_namespace = engine->namespace_};
    engine->repl = repl_new(&engine->host,
                            &(struct repl_ops){.claimed = resolve,
                                               .claimed_ctx = engine,
                                               .printed = engine->ops.printed,
                                               .ended = engine->ops.ended,
                                               .ctx = engine->ops.ctx},
                            err);
    return engine->repl != NULL;
}

struct repl_engine *repl_engine_new(const struct repl_engine_options *options, struct err *err)
{
    struct repl_engine *engine = NEW(struct repl_engine);
    engine->loop = loop_new_alone();
    engine->wake = waker_new(engine->loop, on_wake, NULL);
    engine->pool = pool_new(&(struct pool_options){0});
    engine->namespace_ = xstrdup(options->namespace_);
    engine->ops = options->ops;
    log_capture(drop_line, NULL);
    if (make_client(engine, options, err)) {
        make_parts(engine);
        bool ok = repl_engine_ask_kinds(engine, err);
        if (ok && engine->dump) ok = repl_dump_load(engine, options->files, options->file_count, err);
        if (ok && make_repl(engine, err)) return engine;
    }
    repl_engine_free(engine);
    return NULL;
}

void repl_engine_free(struct repl_engine *engine)
{
    if (!engine) return;
    repl_free(engine->repl);
    loop_settle(engine->loop, MAILS_MAX); /* what is under way to the reads that it had */
    live_free(engine->live);
    if (engine->factory) shared_factory_free(engine->factory);
    if (engine->discovery) discovery_cancel(engine->discovery);
    if (engine->kinds) kinds_free(engine->kinds);
    kube_client_free(engine->client);
    test_cluster_free(engine->dump);
    pool_drain(engine->pool);
    pool_free(engine->pool);
    waker_free(engine->wake);
    loop_free(engine->loop);
    free(engine->namespace_);
    free(engine);
    log_capture(NULL, NULL);
}
