/* One informer with its feed, from its first claim to the end of its grace period (B-6), and the turns of all
 * informers; see shared_factory_internal.h. */
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "informer/reflect/watch_list_memory.h"
#include "informer/shared/shared_factory.h"
#include "informer/shared/shared_factory_internal.h"
#include "object/pack/pack.h"

/* Wakes the engine thread because an informer has deltas or a feed has ended. Any thread. The feed calls it
 * once for all events of a turn of the I/O loop, at the turn's end, and immediately when DELTA_FIFO_MANY
 * deltas wait. So the first delta of a turn may wait for what the other connections receive in it: at most
 * HTTP_TURN_BYTES each, some 30 ms. */
static void wake(void *ctx)
{
    waker_wake(((struct shared_factory *)ctx)->waker);
}

/* Run on the I/O thread, as does on_feed_ended. */
static void on_feed_ready(void *ctx)
{
    wake(((struct shared *)ctx)->factory);
}

static void on_feed_changed(void *ctx)
{
    struct shared *shared = ctx;
    atomic_store(&shared->changed, true);
    wake(shared->factory);
}

static void on_feed_ended(void *ctx)
{
    wake(((struct shared *)ctx)->factory);
}

/* A claim may be synced before its handlers are (I-6), so the end of their initial delivery is a change of
 * status too. */
static void on_shown(void *ctx)
{
    atomic_store(&((struct shared *)ctx)->changed, true);
}

static void on_synced(void *ctx)
{
    struct shared *shared = ctx;
    const struct shared_factory_options *o = &shared->factory->options;
    atomic_store(&shared->changed, true);
    if (o->synced)
        o->synced(o->ctx, shared_informer_name(shared->informer),
                  indexer_count(shared_informer_indexer(shared->informer)));
}

void shared_notify_claims(struct shared *shared)
{
    struct shared_factory *factory = shared->factory;
    struct informer_claim *claim;
    struct reflector_status status = {0};
    if (!atomic_exchange(&shared->changed, false)) return;
    feed_get_status(shared->feed, &status);
    shared_note_state(shared, &status);
    shared_note_refused(shared, &status);
    if (!factory->options.changed) return;
    TAILQ_FOREACH (claim, &factory->claims, link)
        if (claim->set && informer_set_has(claim->set, shared))
            factory->options.changed(factory->options.ctx, claim);
}

/* Ends the feed and drops queued deltas (I-2). Closing the queue first bounds what the I/O thread may still
 * add. */
static void shared_stop(struct shared *shared)
{
    must(!shared->stopping); /* the feed is freed once it has ended */
    shared->stopping = true;
    timer_cancel(&shared->grace);
    shared_namespaces_end(shared);
    delta_fifo_close(shared_informer_fifo(shared->informer));
    feed_stop(shared->feed);
}

static void on_grace_over(struct timer *timer)
{
    struct shared *shared = container_of(timer, struct shared, grace);
    log_v(2, "Stopping unused informer", F("informer", shared_informer_name(shared->informer)));
    shared_stop(shared);
}

void shared_touch(struct shared *shared)
{
    atomic_store(&shared->changed, true);
    wake(shared->factory);
}

void shared_start_metrics(struct shared *shared)
{
    informer_metrics_init(&shared->metrics, shared_informer_name(shared->informer), &shared->key.resource,
                          shared->key.transform.fn != NULL);
    shared_informer_set_latency(shared->informer, shared->metrics.series[INFORMER_PROCESSING]);
}

/* Takes what an earlier run stored of it. */
static struct stored_list take_stored(const struct shared *shared)
{
    const struct shared_factory_options *o = &shared->factory->options;
    struct stored_list list = {0};
    struct buf identity = {0};
    bool is_part = *shared->key.namespace_selector || shared->key.shard != SHARD_BY_NOTHING;
    if (!o->stored || shared->key.transform.fn || is_part) return list;
    informer_key_identify(&shared->key, &identity);
    if (!o->stored(o->ctx, buf_text(&identity), &list)) list = (struct stored_list){0};
    buf_clear(&identity);
    return list;
}

struct shared *shared_start(struct shared_factory *factory, const struct informer_key *key)
{
    struct shared *shared = NEW(struct shared);
    struct buf name = {0};
    *shared = (struct shared){.factory = factory, .key = *key};
    shared->key.cluster = factory->options.cluster;
    shared->grace.fn = on_grace_over;
    informer_key_describe(&shared->key, &name);
    shared->informer = shared_informer_new(buf_text(&name), on_synced, shared);
    shared_informer_set_transform(shared->informer, &key->transform);
    shared_informer_set_ready(shared->informer, wake, factory);
    shared_informer_set_initial_done(shared->informer, on_shown, shared);
    shared_informer_set_clock(shared->informer, loop_clock(factory->options.engine_loop));
    shared_start_metrics(shared);
    shared->state = CLAIM_LISTING;
    shared->since_us = clock_wall_us(loop_clock(factory->options.engine_loop));
    TAILQ_INSERT_TAIL(&factory->informers, shared, link);
    factory->informer_count++;
    shared->feed = feed_start(&(struct feed_options){
        .name = buf_text(&name),
        .io_loop = factory->options.io_loop,
        .resource = &shared->key.resource,
        .scope = informer_key_scope(&shared->key),
        .follows = informer_key_follows(&shared->key),
        .shard_by = shared->key.shard,
        .new_source = factory->options.new_source,
        .source_ctx = factory->options.ctx,
        .fifo = shared_informer_fifo(shared->informer),
        .stored = take_stored(shared),
        .tuning = factory->options.tuning,
        .memory = factory->memory,
        .seed = factory->options.seed + factory->started++,
        .ready = on_feed_ready,
        .changed = on_feed_changed,
        .ended = on_feed_ended,
        .ctx = shared,
    });
    buf_clear(&name);
    shared_namespaces_start(shared);
    shared_slots_start(shared);
    return shared;
}

void shared_free(struct shared *shared)
{
    TAILQ_REMOVE(&shared->factory->informers, shared, link);
    shared->factory->informer_count--;
    feed_free(shared->feed);
    shared_informer_free(shared->informer);
    informer_metrics_clear(&shared->metrics);
    buf_clear(&shared->refused_text);
    informer_key_clear(&shared->key);
    free(shared);
}

static struct shared *shared_find(struct shared_factory *factory, const struct informer_key *key)
{
    struct shared *s;
    TAILQ_FOREACH (s, &factory->informers, link)
        /* One that is stopping belongs to the I/O thread for a while; a new claim needs a new informer. */
        if (!s->stopping && informer_key_equal(&s->key, key)) return s;
    return NULL;
}

struct shared *shared_acquire(struct shared_factory *factory, struct informer_key *key)
{
    struct shared *shared = shared_find(factory, key);
    if (shared)
        informer_key_clear(key);
    else
        shared = shared_start(factory, key);
    timer_cancel(&shared->grace);
    shared->claims++;
    return shared;
}

void shared_release(struct shared *shared)
{
    const struct shared_factory_options *o = &shared->factory->options;
    /* At the end of the factory, one of namespaces may stop before the one that follows it. */
    if (--shared->claims > 0 || shared->stopping) return;
    /* A transformed informer has no grace period: its transform is a function of the script, which ends with
     * the claim. */
    if (o->grace_ms > 0 && !shared->key.transform.fn && !shared->factory->closing)
        timer_start(&shared->grace, loop_clock(o->engine_loop), o->grace_ms);
    else
        shared_stop(shared);
}

/* A restart in progress is going to list anyway. */
void shared_relist(struct shared *shared)
{
    if (!shared->stopping && !feed_is_restarting(shared->feed)) feed_restart(shared->feed);
}

void shared_close(struct shared *shared)
{
    if (!shared->stopping) shared_stop(shared);
}

/* --- Informers shared by their identity, across the two threads */

/* Limits of one informer's turn before the others have theirs. */
enum {
    SLICE = 1000, /* deltas of one informer */
    STEP =
        10, /* deltas between two looks at the clock: a slow function delays the end of a turn by as much */
    SLICE_MS = 20,
    TURN_MS = 50, /* of all informers together, before timers and signals run */
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

/* Processes a slice of one informer; returns true if it has more. */
static bool process_slice(struct shared *shared, struct clock *clock)
{
    int64_t end_ms = clock_now_ms(clock) + SLICE_MS;
    size_t done = 0, count;
    size_t step = shared->key.transform.fn ? 1 : STEP; /* a call for each object */
    while (done < SLICE && (count = shared_informer_process(shared->informer, step)) > 0) {
        done += count;
        if (clock_now_ms(clock) >= end_ms) break;
    }
    return shared_informer_has_work(shared->informer);
}

/* Updates the versions of the sets. A callback of a wait may add and cancel waits, but not claims: that would
 * change this list. */
static void note_versions(struct shared *shared)
{
    struct informer_set *set;
    TAILQ_FOREACH (set, &shared->factory->sets, link)
        if (set->count > 1 && informer_set_has(set, shared)) informer_set_note_version(set);
}

/* Processes each informer, starting with the one that waits longest, until the turn is over. An informer goes
 * to the end of the list first, so that the next turn continues where this one ended. */
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
            shared_notify_claims(shared);
        }
        if (shared->stopping && feed_has_ended(shared->feed)) shared_free(shared);
        over = clock_now_ms(clock) >= end_ms;
    }
    shared_namespaces_check(factory);
    return more || over;
}

void shared_factory_go_on(struct shared_factory *factory)
{
    wake(factory);
}

void shared_factory_update_metrics(struct shared_factory *factory, bool thorough)
{
    struct shared *shared;
    TAILQ_FOREACH (shared, &factory->informers, link) {
        struct reflector_status status = {0};
        const struct indexer *store = shared_informer_indexer(shared->informer);
        feed_get_status(shared->feed, &status);
        informer_metrics_update(&shared->metrics,
                                &(struct informer_figures){
                                    .reflector = &status,
                                    .store_version = indexer_resource_version(store),
                                    .queued = delta_fifo_len(shared_informer_fifo(shared->informer)),
                                    .objects = indexer_count(store),
                                    .synced = shared_informer_has_synced(shared->informer),
                                    .transform = shared_informer_transform_counts(shared->informer),
                                });
        if (thorough) informer_metrics_update_bytes(&shared->metrics, indexer_estimate_bytes(store));
    }
}

/* With one loop for both sides, as in specs, no other thread runs it; a turn of it frees what has ended. */
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
    /* No grace periods from here on: the loop that would end them stops. */
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
