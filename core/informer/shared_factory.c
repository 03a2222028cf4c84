/* Informers shared by their identity, across the two threads; see shared_factory.h. */
#include "informer/shared_factory.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "base/mem.h"
#include "base/must.h"
#include "informer/feed.h"
#include "object/selector.h"

/* Deltas of one informer before the others, the timers and the signals have their turn. */
enum { SLICE = 1000 };

struct claim_handler {
    TAILQ_ENTRY(claim_handler) link;
    struct informer_claim *claim;
    struct event_handler handler;
    struct registration *registration; /* NULL until there is an informer */
};

/* One informer with its feed. `stopping` from the last release until the I/O thread has let go. */
struct shared {
    TAILQ_ENTRY(shared) link;
    struct shared_factory *factory;
    struct resource resource;
    char *namespace_, *label_selector, *field_selector;
    struct shared_informer *informer;
    struct feed *feed;
    size_t claims;
    bool stopping;
};

struct informer_claim {
    TAILQ_ENTRY(informer_claim) link;
    struct shared_factory *factory;
    struct informer_spec spec; /* owned texts */
    struct shared *shared;     /* NULL until resolved */
    TAILQ_HEAD(, claim_handler) handlers;
    struct err unknown; /* why it is not resolved; ERR_NONE: discovery has not answered */
};

#ifndef TAILQ_FOREACH_SAFE /* glibc has the BSD lists without it */
#define TAILQ_FOREACH_SAFE(var, head, field, tmp) \
    for ((var) = TAILQ_FIRST(head); (var) && ((tmp) = TAILQ_NEXT(var, field), 1); (var) = (tmp))
#endif

struct shared_factory {
    struct shared_factory_options options;
    struct waker *waker;
    TAILQ_HEAD(, shared) informers;
    TAILQ_HEAD(, informer_claim) claims;
    uint64_t started;
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

static void on_synced(void *ctx)
{
    struct shared *shared = ctx;
    struct shared_factory *factory = shared->factory;
    struct informer_claim *claim, *next;
    const struct shared_factory_options *o = &factory->options;
    if (o->synced)
        o->synced(o->ctx, shared_informer_name(shared->informer),
                  indexer_count(shared_informer_indexer(shared->informer)));
    if (!o->changed) return;
    TAILQ_FOREACH_SAFE(claim, &factory->claims, link, next)
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
    TAILQ_INSERT_TAIL(&factory->informers, shared, link);
    shared->feed = feed_start(&(struct feed_options){
        .name = name,
        .io_loop = factory->options.io_loop,
        .resource = &shared->resource,
        .scope = {.namespace_ = ns, .label_selector = labels, .field_selector = fields},
        .new_source = factory->options.new_source,
        .source_ctx = factory->options.ctx,
        .fifo = shared_informer_fifo(shared->informer),
        .seed = factory->options.seed + factory->started++,
        .ended = wake,
        .ctx = factory,
    });
    free(name);
    return shared;
}

static void shared_free(struct shared *shared)
{
    TAILQ_REMOVE(&shared->factory->informers, shared, link);
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

bool shared_factory_process(struct shared_factory *factory)
{
    struct shared *shared, *next;
    bool more = false;
    TAILQ_FOREACH_SAFE(shared, &factory->informers, link, next)
    {
        if (!shared->stopping)
            more |= shared_informer_process(shared->informer, SLICE) == SLICE;
        else if (feed_has_ended(shared->feed))
            shared_free(shared);
    }
    return more;
}

/* With one loop for both sides, as tests have it, nobody else runs it. */
static void wait_for_feed(struct shared_factory *factory, struct feed *feed)
{
    if (factory->options.engine_loop != factory->options.io_loop)
        feed_wait(feed);
    else
        while (!feed_has_ended(feed)) loop_once(factory->options.io_loop, true);
}

void shared_factory_free(struct shared_factory *factory)
{
    struct informer_claim *claim;
    struct shared *shared;
    while ((claim = TAILQ_FIRST(&factory->claims))) claim_release(claim);
    while ((shared = TAILQ_FIRST(&factory->informers))) {
        must(shared->stopping);
        wait_for_feed(factory, shared->feed);
        shared_free(shared);
    }
    waker_free(factory->waker);
    free(factory);
}

/* --- claims
 * ----------------------------------------------------------------------------------------------------- */

struct informer_claim *shared_factory_claim(struct shared_factory *factory, const struct informer_spec *spec)
{
    struct informer_claim *claim = NEW(struct informer_claim);
    claim->factory = factory;
    claim->spec = (struct informer_spec){
        .kind = xstrdup(spec->kind),
        .namespace_ = xstrdup(spec->namespace_ ? spec->namespace_ : ""),
        .label_selector = xstrdup(spec->label_selector ? spec->label_selector : ""),
        .field_selector = xstrdup(spec->field_selector ? spec->field_selector : ""),
    };
    err_clear(&claim->unknown);
    TAILQ_INIT(&claim->handlers);
    TAILQ_INSERT_TAIL(&factory->claims, claim, link);
    return claim;
}

void claim_release(struct informer_claim *claim)
{
    struct claim_handler *handler;
    while ((handler = TAILQ_FIRST(&claim->handlers))) claim_remove_handler(handler);
    if (claim->shared && --claim->shared->claims == 0) shared_stop(claim->shared);
    TAILQ_REMOVE(&claim->factory->claims, claim, link);
    free((char *)claim->spec.kind);
    free((char *)claim->spec.namespace_);
    free((char *)claim->spec.label_selector);
    free((char *)claim->spec.field_selector);
    free(claim);
}

/* As the identity and the server want it. */
static char *canonical_selector(const char *text)
{
    struct selector *selector = selector_parse(str_of(text), NULL);
    if (!selector) return xstrdup(text); /* the server will say what is wrong with it */
    struct str canonical = selector_text(selector);
    char *copy = xstrndup(canonical.p ? canonical.p : "", canonical.n);
    selector_free(selector);
    return copy;
}

static void attach(struct informer_claim *claim, const struct resource *resource)
{
    struct shared_factory *factory = claim->factory;
    char *ns = xstrdup(resource->namespaced ? claim->spec.namespace_ : "");
    char *labels = canonical_selector(claim->spec.label_selector),
         *fields = xstrdup(claim->spec.field_selector);
    struct shared *shared = shared_find(factory, resource, ns, labels, fields);
    if (shared) {
        free(ns);
        free(labels);
        free(fields);
    } else
        shared = shared_new(factory, resource, ns, labels, fields);
    shared->claims++;
    claim->shared = shared;
    err_clear(&claim->unknown);
    struct claim_handler *handler;
    TAILQ_FOREACH (handler, &claim->handlers, link)
        handler->registration = shared_informer_add_handler(shared->informer, &handler->handler);
    if (claim_has_synced(claim) && factory->options.changed)
        factory->options.changed(factory->options.ctx, claim);
}

void shared_factory_resolve(struct shared_factory *factory, const struct catalogue *catalogue,
                            void (*unknown)(void *ctx, struct informer_claim *claim, const struct err *err),
                            void *ctx)
{
    struct informer_claim *claim, *next;
    TAILQ_FOREACH_SAFE(claim, &factory->claims, link, next)
    {
        struct resource resource;
        if (claim->shared) continue;
        if (catalogue_resolve(catalogue, str_of(claim->spec.kind), &resource, &claim->unknown)) {
            attach(claim, &resource);
            resource_clear(&resource);
        } else
            unknown(ctx, claim, &claim->unknown);
    }
}

const struct informer_spec *claim_spec(const struct informer_claim *claim)
{
    return &claim->spec;
}

const struct resource *claim_resource(const struct informer_claim *claim)
{
    return claim->shared ? &claim->shared->resource : NULL;
}

struct indexer *claim_indexer(struct informer_claim *claim)
{
    return claim->shared ? shared_informer_indexer(claim->shared->informer) : NULL;
}

bool claim_has_synced(const struct informer_claim *claim)
{
    return claim->shared && shared_informer_has_synced(claim->shared->informer);
}

static const char *why(const struct claim_status *status, const struct err *unknown)
{
    switch (status->state) {
    case CLAIM_PENDING: return "the server has not told yet which kinds it serves";
    case CLAIM_UNKNOWN_KIND: return unknown->text;
    case CLAIM_STARTED:
        return status->reflector.last_error.code ? status->reflector.last_error.text
                                                 : "the first list is under way";
    case CLAIM_SYNCED: return status->reflector.last_error.text;
    }
    return "";
}

void claim_get_status(struct informer_claim *claim, struct claim_status *out)
{
    *out = (struct claim_status){.state = claim->unknown.code ? CLAIM_UNKNOWN_KIND : CLAIM_PENDING};
    err_clear(&out->reflector.last_error);
    if (claim->shared) {
        out->state = claim_has_synced(claim) ? CLAIM_SYNCED : CLAIM_STARTED;
        out->objects = indexer_count(claim_indexer(claim));
        feed_get_status(claim->shared->feed, &out->reflector);
    }
    snprintf(out->text, sizeof out->text, "%s", why(out, &claim->unknown));
}

/* --- handlers
 * --------------------------------------------------------------------------------------------------- */

struct claim_handler *claim_add_handler(struct informer_claim *claim, const struct event_handler *handler)
{
    struct claim_handler *h = NEW(struct claim_handler);
    h->claim = claim;
    h->handler = *handler;
    TAILQ_INSERT_TAIL(&claim->handlers, h, link);
    if (claim->shared) h->registration = shared_informer_add_handler(claim->shared->informer, handler);
    return h;
}

void claim_remove_handler(struct claim_handler *handler)
{
    struct informer_claim *claim = handler->claim;
    if (handler->registration) shared_informer_remove_handler(claim->shared->informer, handler->registration);
    TAILQ_REMOVE(&claim->handlers, handler, link);
    free(handler);
}

bool claim_handler_has_synced(const struct claim_handler *handler)
{
    return handler->registration && registration_has_synced(handler->registration);
}
