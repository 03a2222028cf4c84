/* Informers shared by their identity, across the two threads; see shared_factory.h. */
#include "informer/shared_factory.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "informer/shared_factory_internal.h"

/* What one informer may take before the others have their turn. */
enum {
    SLICE = 1000, /* deltas */
    STEP = 50,    /* after so many the clock is asked */
    SLICE_MS = 20,
    TURN_MS = 50, /* of all informers together, before timers and signals have theirs */
};

/* Any thread: an informer has deltas, or a feed has ended. */
static void wake(void *ctx)
{
    waker_wake(((struct shared_factory *)ctx)->waker);
}

static void on_wake(void *ctx)
{
    struct shared_factory *factory = ctx;
    if (shared_factory_process(factory)) waker_wake(factory->waker);
}

struct shared_factory *shared_factory_new(const struct shared_factory_options *options)
{
    struct shared_factory *factory = NEW(struct shared_factory);
    factory->options = *options;
    factory->waker = waker_new(options->engine_loop, on_wake, factory);
    TAILQ_INIT(&factory->informers);
    TAILQ_INIT(&factory->claims);
    return factory;
}

/* --- informers
 * -------------------------------------------------------------------------------------------------- */

/* On the I/O thread. */
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

static void on_synced(void *ctx)
{
    struct shared *shared = ctx;
    const struct shared_factory_options *o = &shared->factory->options;
    atomic_store(&shared->changed, true);
    if (o->synced)
        o->synced(o->ctx, shared_informer_name(shared->informer),
                  indexer_count(shared_informer_indexer(shared->informer)));
}

static void tell_claims(struct shared *shared)
{
    struct shared_factory *factory = shared->factory;
    struct informer_claim *claim;
    struct reflector_status status = {0};
    if (!atomic_exchange(&shared->changed, false)) return;
    feed_get_status(shared->feed, &status);
    shared_note_state(shared, &status);
    if (!factory->options.changed) return;
    TAILQ_FOREACH (claim, &factory->claims, link)
        if (claim->shared == shared) factory->options.changed(factory->options.ctx, claim);
}

static char *describe(const struct resource *resource, const char *ns, const char *labels, const char *fields)
{
    struct buf name = {0};
    resource_name(resource, &name);
    if (*ns) buf_printf(&name, " in %s", ns);
    if (*labels) buf_printf(&name, " with labels %s", labels);
    if (*fields) buf_printf(&name, " with fields %s", fields);
    return buf_take(&name);
}

/* Takes the texts. */
static struct shared *shared_new(struct shared_factory *factory, const struct resource *resource, char *ns,
                                 char *labels, char *fields)
{
    struct shared *shared = NEW(struct shared);
    char *name = describe(resource, ns, labels, fields);
    shared->factory = factory;
    resource_copy(&shared->resource, resource);
    shared->namespace_ = ns;
    shared->label_selector = labels;
    shared->field_selector = fields;
    shared->informer = shared_informer_new(name, on_synced, shared);
    shared_informer_set_ready(shared->informer, wake, factory);
    shared->state = CLAIM_LISTING;
    shared->since_us = clock_wall_us(loop_clock(factory->options.engine_loop));
    TAILQ_INSERT_TAIL(&factory->informers, shared, link);
    factory->informer_count++;
    shared->feed = feed_start(&(struct feed_options){
        .name = name,
        .io_loop = factory->options.io_loop,
        .resource = &shared->resource,
        .scope = {.namespace_ = ns, .label_selector = labels, .field_selector = fields},
        .new_source = factory->options.new_source,
        .source_ctx = factory->options.ctx,
        .fifo = shared_informer_fifo(shared->informer),
        .seed = factory->options.seed + factory->started++,
        .changed = on_feed_changed,
        .ended = on_feed_ended,
        .ctx = shared,
    });
    free(name);
    return shared;
}

static void shared_free(struct shared *shared)
{
    TAILQ_REMOVE(&shared->factory->informers, shared, link);
    shared->factory->informer_count--;
    feed_free(shared->feed);
    shared_informer_free(shared->informer);
    resource_clear(&shared->resource);
    free(shared->namespace_);
    free(shared->label_selector);
    free(shared->field_selector);
    free(shared);
}

static void shared_stop(struct shared *shared)
{
    shared->stopping = true;
    delta_fifo_close(shared_informer_fifo(shared->informer));
    feed_stop(shared->feed);
}

/* The identity (F-1): the same resource, scope and selectors are one informer. */
static struct shared *shared_find(struct shared_factory *factory, const struct resource *r, const char *ns,
                                  const char *labels, const char *fields)
{
    struct shared *s;
    TAILQ_FOREACH (s, &factory->informers, link) {
        if (s->stopping || strcmp(s->resource.group, r->group) != 0 ||
            strcmp(s->resource.version, r->version) != 0)
            continue;
        if (strcmp(s->resource.plural, r->plural) != 0 || strcmp(s->namespace_, ns) != 0) continue;
        if (strcmp(s->label_selector, labels) == 0 && strcmp(s->field_selector, fields) == 0) return s;
    }
    return NULL;
}

struct shared *shared_acquire(struct shared_factory *factory, const struct resource *resource, char *ns,
                              char *labels, char *fields)
{
    struct shared *shared = shared_find(factory, resource, ns, labels, fields);
    if (shared) {
        free(ns);
        free(labels);
        free(fields);
    } else {
        shared = shared_new(factory, resource, ns, labels, fields);
    }
    shared->claims++;
    return shared;
}

void shared_release(struct shared *shared)
{
    if (--shared->claims == 0) shared_stop(shared);
}

/* --- turns
 * ------------------------------------------------------------------------------------------------------ */

/* True when there is more. */
static bool process_slice(struct shared *shared, struct clock *clock)
{
    int64_t end_ms = clock_now_ms(clock) + SLICE_MS;
    size_t done = 0, count;
    while (done < SLICE && (count = shared_informer_process(shared->informer, STEP)) > 0) {
        done += count;
        if (clock_now_ms(clock) >= end_ms) break;
    }
    return delta_fifo_len(shared_informer_fifo(shared->informer)) > 0;
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
            tell_claims(shared);
        }
        if (shared->stopping && feed_has_ended(shared->feed)) shared_free(shared);
        over = clock_now_ms(clock) >= end_ms;
    }
    return more || over;
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
    while ((claim = TAILQ_FIRST(&factory->claims))) claim_release(claim);
    while ((shared = TAILQ_FIRST(&factory->informers))) shared_finish(shared);
    waker_free(factory->waker);
    free(factory);
}
