/* The server that requests go to, and what asks it without a cache, reads and Events of scripts; see
 * engine_internal.h. */
#include "engine/cluster.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/engine_internal.h"
#include "object/pack/pool.h"

enum { EVENTS_FLUSH_MS = 2000 }; /* for the Events that are still to be sent at the end */

/* These run on the I/O thread; `io` does not change while it runs. */
struct list_watch *engine_new_source(void *ctx, const struct resource *resource, const struct lw_scope *scope)
{
    struct engine *engine = ctx;
    return list_watch_new(io_thread_client(engine->io), resource, scope);
}

struct object_call *engine_call(void *ctx, const struct object_request *request,
                                void (*done)(void *ctx, struct root *object, const struct err *err),
                                void *done_ctx)
{
    struct engine *engine = ctx;
    return object_call_start(io_thread_client(engine->io), request, done, done_ctx);
}

/* Which engine tells of an object: the pod's name, as controllers have it, or the host's. */
static void make_recorder(struct engine *engine)
{
    char host[HOST_NAME_MAX + 1] = "";
    const char *pod = nonempty(getenv("POD_NAME")), *identity = engine->options.settings->identity;
    if (gethostname(host, sizeof host - 1) != 0) *host = '\0';
    engine->recorder = event_recorder_new(&(struct event_recorder_options){
        .io_loop = io_thread_loop(engine->io),
        .call = engine_call,
        .cancel_call = object_call_cancel,
        .ctx = engine,
        .instance = identity ? identity
                    : pod    ? pod
                             : host,
        .seed = engine->seed,
        .is_tried = engine->options.settings->write_mode == WRITES_TRIED,
    });
}

void engine_make_live_client(struct engine *engine)
{
    engine->kinds = kinds_new(loop_clock(engine->loop), engine_ask_kinds, engine);
    engine->live = live_new(&(struct live_options){
        .engine_loop = engine->loop,
        .io_loop = io_thread_loop(engine->io),
        .new_source = engine_new_source,
        .call = engine_call,
        .cancel_call = object_call_cancel,
        .ctx = engine,
        .seed = engine->seed,
        .page_size = (size_t)engine->options.settings->chunk_size,
    });
    make_recorder(engine);
}

void engine_free_live_client(struct engine *engine)
{
    int64_t left_ms = engine->options.loop ? 0
                      : engine->ending_ms  ? engine_end_left_ms(engine, END_EVENTS)
                                           : EVENTS_FLUSH_MS;
    event_recorder_free(engine->recorder, left_ms < EVENTS_FLUSH_MS ? left_ms : EVENTS_FLUSH_MS);
    live_free(engine->live);
    kinds_free(engine->kinds);
}

/* --- Start and stop of what is on one loop */

static struct list_watch *new_source(void *ctx, const struct resource *resource, const struct lw_scope *scope)
{
    return list_watch_new(((struct one_loop *)ctx)->client, resource, scope);
}

struct object_call *one_loop_call(void *parts, const struct object_request *request,
                                  void (*done)(void *ctx, struct root *object, const struct err *err),
                                  void *done_ctx)
{
    return object_call_start(((struct one_loop *)parts)->client, request, done, done_ctx);
}

static void on_claim_changed(void *ctx, struct informer_claim *claim)
{
    const struct one_loop *parts = ctx;
    parts->changed(parts->ctx, claim);
}

bool one_loop_open(struct one_loop *parts, const struct one_loop_options *options, struct err *err)
{
    struct loop *loop = options->loop;
    *parts = (struct one_loop){.loop = loop, .changed = options->changed, .ctx = options->ctx};
    parts->pool = pool_new(&(struct pool_options){0});
    parts->client = kube_client_new(loop, parts->pool, options->client, err);
    if (!parts->client) return false;
    parts->factory = shared_factory_new(&(struct shared_factory_options){.engine_loop = loop,
                                                                         .io_loop = loop,
                                                                         .new_source = new_source,
                                                                         .ctx = parts,
                                                                         .changed = on_claim_changed});
    parts->live = live_new(&(struct live_options){.engine_loop = loop,
                                                  .io_loop = loop,
                                                  .new_source = new_source,
                                                  .call = one_loop_call,
                                                  .cancel_call = object_call_cancel,
                                                  .ctx = parts});
    return true;
}

void one_loop_end(struct one_loop *parts)
{
    live_free(parts->live);
    if (parts->factory) shared_factory_free(parts->factory);
}

void one_loop_close(struct one_loop *parts)
{
    kube_client_free(parts->client);
    pool_drain(parts->pool);
    pool_free(parts->pool);
}
