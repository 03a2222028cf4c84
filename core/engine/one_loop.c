/* Start and stop of what is on one loop; see one_loop.h. */
#include "engine/cluster.h"

#include "object/pack/pool.h"

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
