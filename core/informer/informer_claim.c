/* What a script holds of a shared informer; see shared_factory.h. */
#include <stdlib.h>

#include "base/mem.h"
#include "informer/shared_factory_internal.h"
#include "object/projection.h"

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
        .projection = spec->projection ? projection_ref(spec->projection) : NULL,
        .metadata_only = spec->metadata_only,
    };
    err_clear(&claim->unknown);
    claim->since_us = clock_wall_us(loop_clock(factory->options.engine_loop));
    TAILQ_INIT(&claim->handlers);
    TAILQ_INIT(&claim->indexes);
    TAILQ_INSERT_TAIL(&factory->claims, claim, link);
    return claim;
}

void claim_release(struct informer_claim *claim)
{
    struct claim_handler *handler;
    while ((handler = TAILQ_FIRST(&claim->handlers))) claim_remove_handler(handler);
    claim_indexes_detach(claim);
    if (claim->shared) shared_release(claim->shared);
    claim_indexes_clear(claim);
    TAILQ_REMOVE(&claim->factory->claims, claim, link);
    free((char *)claim->spec.kind);
    free((char *)claim->spec.namespace_);
    free((char *)claim->spec.label_selector);
    free((char *)claim->spec.field_selector);
    projection_unref(claim->spec.projection);
    free(claim);
}

static struct claim_handler *first_waiting(struct informer_claim *claim)
{
    struct claim_handler *handler;
    TAILQ_FOREACH (handler, &claim->handlers, link)
        if (!handler->registration) return handler;
    return NULL;
}

/* The calls that handlers get at once may change the list. */
static void attach_handlers(struct informer_claim *claim)
{
    struct claim_handler *handler;
    while ((handler = first_waiting(claim)))
        shared_informer_add_handler(claim->shared->informer, &handler->handler, &handler->registration);
}

static void attach(struct informer_claim *claim, const struct resource *resource)
{
    struct shared_factory *factory = claim->factory;
    const struct informer_spec *spec = &claim->spec;
    struct informer_key key;
    informer_key_init(&key, resource,
                      &(struct lw_scope){
                          .namespace_ = spec->namespace_,
                          .label_selector = spec->label_selector,
                          .field_selector = spec->field_selector,
                          .projection = spec->projection,
                          .metadata_only = spec->metadata_only,
                      });
    claim->shared = shared_acquire(factory, &key);
    err_clear(&claim->unknown);
    claim_indexes_attach(claim);
    attach_handlers(claim);
    if (factory->options.changed) factory->options.changed(factory->options.ctx, claim);
}

void shared_factory_resolve(struct shared_factory *factory, const struct catalogue *catalogue,
                            void (*unknown)(void *ctx, struct informer_claim *claim, const struct err *err),
                            void *ctx)
{
    struct informer_claim *claim;
    TAILQ_FOREACH (claim, &factory->claims, link) {
        struct resource resource;
        if (claim->shared) continue;
        if (catalogue_resolve(catalogue, str_of(claim->spec.kind), &resource, &claim->unknown)) {
            attach(claim, &resource);
            resource_clear(&resource);
        } else {
            unknown(ctx, claim, &claim->unknown);
        }
    }
}

const struct informer_spec *claim_spec(const struct informer_claim *claim)
{
    return &claim->spec;
}

const struct resource *claim_resource(const struct informer_claim *claim)
{
    return claim->shared ? &claim->shared->key.resource : NULL;
}

struct indexer *claim_indexer(struct informer_claim *claim)
{
    return claim->shared ? shared_informer_indexer(claim->shared->informer) : NULL;
}

struct version_wait *claim_wait_version(struct informer_claim *claim, struct str version,
                                        void (*reached)(void *ctx), void *ctx, struct err *err)
{
    if (claim->shared)
        return shared_informer_wait_version(claim->shared->informer, version, reached, ctx, err);
    err_set(err, ERR_NOT_FOUND, "%s has no cache yet", claim->spec.kind);
    return NULL;
}

bool claim_has_synced(const struct informer_claim *claim)
{
    return claim->shared && shared_informer_has_synced(claim->shared->informer);
}

/* --- handlers
 * --------------------------------------------------------------------------------------------------- */

struct claim_handler *claim_add_handler(struct informer_claim *claim, const struct event_handler *handler)
{
    struct claim_handler *h = NEW(struct claim_handler);
    h->claim = claim;
    h->handler = *handler;
    TAILQ_INSERT_TAIL(&claim->handlers, h, link);
    if (claim->shared) shared_informer_add_handler(claim->shared->informer, handler, &h->registration);
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
