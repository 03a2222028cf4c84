/* The server that requests go to, and what asks it without a cache, reads and Events of scripts; see
 * engine_internal.h. */
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
