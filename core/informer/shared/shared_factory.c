/* Informers shared by their identity, across the two threads; see shared_factory.h. */
#include "informer/shared/shared_factory.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"
#include "informer/reflect/watch_list_memory.h"
#include "informer/shared/shared_factory_internal.h"
#include "object/pack/pack.h"

/* What one informer may take before the others have their turn. */
enum {
    SLICE = 1000, /* deltas */
    STEP = 10,    /* after so many the clock is asked: a slow function is what a turn takes at most */
    SLICE_MS = 20,
    TURN_MS = 50, /* of all informers together, before timers and signals have theirs */
};

static void on_wake(void *ctx)
{
    struct shared_factory *factory = ctx;
    if (shared_factory_process(factory)) waker_wake(factory->waker);
}

struct shared_factory *shared_factory_new(const struct shared_factory_options *options)
{
    struct shared_factory *factory = NEW(struct shared_factory);
    factory->options = *options;
    factory->memory = watch_list_memory_new();
    factory->waker = waker_new(options->engine_loop, on_wake, factory);
    TAILQ_INIT(&factory->informers);
    TAILQ_INIT(&factory->sets);
    TAILQ_INIT(&factory->claims);
    return factory;
}

struct packer *shared_factory_packer(struct shared_factory *factory)
{
    if (!factory->packer) {
        factory->pool = pool_new(NULL);
        factory->packer = packer_new(factory->pool);
    }
    return factory->packer;
}

/* --- turns */

/* True when there is more. */
static bool process_slice(struct shared *shared, struct clock *clock)
{
    int64_t end_ms = clock_now_ms(clock) + SLICE_MS;
    size_t done = 0, count;
    while (done < SLICE && (count = shared_informer_process(shared->informer, STEP)) > 0) {
        done += count;
        if (clock_now_ms(clock) >= end_ms) break;
    }
    return shared_informer_has_work(shared->informer);
}

/* Whoever waits for a version may make and cancel waits when he is told, but no claim. */
static void note_versions(struct shared *shared)
{
    struct informer_set *set;
    TAILQ_FOREACH (set, &shared->factory->sets, link)
        if (set->count > 1 && informer_set_has(set, shared)) informer_set_note_version(set);
}

/* Each informer in turn, from the one that waits longest, until the turn is over. */
bool shared_factory_process(struct shared_factory *factory)
{
    struct clock *clock = loop_clock(factory->options.engine_loop);
    int64_t end_ms = clock_now_ms(clock) + TURN_MS;
    bool more = false, over = false;
    for (size_t left = factory->informer_count; left > 0 && !over; left--) {
        struct shared *shared = TAILQ_FIRST(&factory->informers);
        TAILQ_REMOVE(&factory->informers, shared, link);
        TAILQ_INSERT_TAIL(&factory->informers, shared, link);
        if (!shared->stopping) {
            more |= process_slice(shared, clock);
            note_versions(shared);
            shared_tell_claims(shared);
        }
        if (shared->stopping && feed_has_ended(shared->feed)) shared_free(shared);
        over = clock_now_ms(clock) >= end_ms;
    }
    return more || over;
}

void shared_factory_show_metrics(struct shared_factory *factory, bool thorough)
{
    struct shared *shared;
    TAILQ_FOREACH (shared, &factory->informers, link) {
        struct reflector_status status = {0};
        const struct indexer *store = shared_informer_indexer(shared->informer);
        feed_get_status(shared->feed, &status);
        informer_metrics_show(&shared->metrics,
                              &(struct informer_figures){
                                  .reflector = &status,
                                  .store_version = indexer_resource_version(store),
                                  .queued = delta_fifo_len(shared_informer_fifo(shared->informer)),
                                  .objects = indexer_count(store),
                                  .synced = shared_informer_has_synced(shared->informer),
                                  .transform = shared_informer_transform_counts(shared->informer),
                              });
        if (thorough) informer_metrics_show_bytes(&shared->metrics, indexer_estimate_bytes(store));
    }
}

/* With one loop for both sides, as specs have it, nobody else runs it: it frees what has ended by itself. */
static void shared_finish(struct shared *shared)
{
    const struct shared_factory_options *o = &shared->factory->options;
    must(shared->stopping);
    if (o->engine_loop == o->io_loop) {
        loop_once(o->io_loop, true);
        return;
    }
    feed_wait(shared->feed);
    shared_free(shared);
}

void shared_factory_free(struct shared_factory *factory)
{
    struct informer_claim *claim;
    struct shared *shared;
    factory->closing = true;
    while ((claim = TAILQ_FIRST(&factory->claims))) claim_release(claim);
    TAILQ_FOREACH (shared, &factory->informers, link) shared_close(shared); /* F-5 */
    while ((shared = TAILQ_FIRST(&factory->informers))) shared_finish(shared);
    watch_list_memory_free(factory->memory);
    packer_free(factory->packer);
    if (factory->pool) pool_free(factory->pool);
    waker_free(factory->waker);
    free(factory);
}
