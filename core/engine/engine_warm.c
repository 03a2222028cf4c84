/* Stored caches of an engine: used at the start once the cluster is known, saved from then on; see
 * engine_internal.h and warm/. */
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "engine/engine_internal.h"
#include "engine/warm/cache_saver.h"
#include "engine/warm/cluster_id.h"
#include "script/handlers/handler.h"

struct engine_warm {
    struct engine *engine;
    struct warm_start *start; /* borrowed from the driver */
    struct cluster_id *id;    /* being read */
    bool identified;          /* or known not to be for now, as informers do not wait any longer */
    struct timer again;       /* until the cluster is asked again */
    struct cache_saver *saver;
};

static void each_handler(void *ctx, void (*add)(void *to, const char *script, const char *handler), void *to)
{
    const struct engine *engine = ctx;
    for (size_t i = 0; i < engine->scripts.count; i++)
        if (engine->scripts.items[i]->running)
            handlers_each_caught_up(engine->scripts.items[i]->running, add, to);
}

static void on_identified(void *ctx, const char *id, const char *why);

static void read_identity(struct engine_warm *warm)
{
    const struct cluster *cluster = warm->engine->cluster;
    cluster_id_free(warm->id);
    warm->id = cluster_id_read(cluster->parts.live, cluster->options.config, on_identified, warm);
}

static void on_again(struct timer *timer)
{
    read_identity(container_of(timer, struct engine_warm, again));
}

/* A server that fails once must not keep caches from being saved for as long as the engine runs. */
static void try_again(struct engine_warm *warm, const char *why)
{
    if (!warm->identified)
        log_warn("Caches are not saved yet, the cluster cannot be identified", F("err", why));
    timer_start(&warm->again, loop_clock(warm->engine->loop), warm_start_options(warm->start)->interval_ms);
}

static void on_identified(void *ctx, const char *id, const char *why)
{
    struct engine_warm *warm = ctx;
    const struct cluster *cluster = warm->engine->cluster;
    bool first = !warm->identified;
    warm_start_decide(warm->start, id, why);
    if (*id)
        cache_saver_begin(warm->saver, id);
    else
        try_again(warm, why);
    warm->identified = true;
    if (first) cluster->watcher.found_kinds(cluster->watcher.ctx, kinds_catalogue(cluster->parts.kinds));
}

void engine_make_warm(struct engine *engine)
{
    struct warm_start *start = engine->cluster->options.warm;
    if (!start) return;
    engine->warm = NEW(struct engine_warm);
    *engine->warm = (struct engine_warm){.engine = engine, .start = start, .again.fn = on_again};
    engine->warm->saver =
        cache_saver_new(&(const struct cache_saver_options){.engine_loop = engine->loop,
                                                            .io_loop = io_thread_loop(engine->cluster->io),
                                                            .warm = start,
                                                            .factory = engine->cluster->parts.factory,
                                                            .pool = io_thread_pool(engine->cluster->io),
                                                            .each_handler = each_handler,
                                                            .ctx = engine});
    engine->host.knew_handler = warm_start_knew_handler;
    engine->host.knew_ctx = start;
}

bool engine_awaits_cluster(struct engine *engine)
{
    struct engine_warm *warm = engine->warm;
    if (!warm || warm->identified || !warm_start_path(warm->start)) return false;
    if (!warm->id) read_identity(warm);
    return true;
}

void engine_end_warm_start(struct engine *engine)
{
    if (engine->warm) warm_start_end(engine->warm->start);
}

void engine_save_caches(struct engine *engine, int64_t wait_ms)
{
    if (engine->warm) cache_saver_finish(engine->warm->saver, wait_ms);
}

void engine_free_warm(struct engine *engine)
{
    if (!engine->warm) return;
    timer_cancel(&engine->warm->again);
    cluster_id_free(engine->warm->id);
    cache_saver_free(engine->warm->saver);
    free(engine->warm);
    engine->warm = NULL;
}
