/* What a script holds of a shared informer; see shared_factory.h. */
#include <stdlib.h>

#include "base/mem.h"
#include "informer/shared_factory_internal.h"
#include "object/projection.h"

static const char *const *copy_texts(const char *const *texts, size_t count)
{
    char **copy = xcalloc(count + 1, sizeof *copy);
    for (size_t i = 0; i < count; i++) copy[i] = xstrdup(texts[i]);
    return (const char *const *)copy;
}

struct informer_claim *shared_factory_claim(struct shared_factory *factory, const struct informer_spec *spec)
{
    struct informer_claim *claim = NEW(struct informer_claim);
    claim->factory = factory;
    claim->spec = (struct informer_spec){
        .kind = xstrdup(spec->kind),
        .namespace_ = xstrdup(spec->namespace_ ? spec->namespace_ : ""),
        .label_selector = xstrdup(spec->label_selector ? spec->label_selector : ""),
        .field_selector = xstrdup(spec->field_selector ? spec->field_selector : ""),
        .namespaces = copy_texts(spec->namespaces, spec->namespace_count),
        .namespace_count = spec->namespace_count,
        .projection = spec->projection ? projection_ref(spec->projection) : NULL,
        .metadata_only = spec->metadata_only,
        .transform = spec->transform,
    };
    err_clear(&claim->unknown);
    claim->since_us = clock_wall_us(loop_clock(factory->options.engine_loop));
    TAILQ_INIT(&claim->handlers);
    TAILQ_INIT(&claim->indexes);
    TAILQ_INSERT_TAIL(&factory->claims, claim, link);
    return claim;
}

static void clear_spec(struct informer_spec *spec)
{
    free((char *)spec->kind);
    free((char *)spec->namespace_);
    free((char *)spec->label_selector);
    free((char *)spec->field_selector);
    for (size_t i = 0; i < spec->namespace_count; i++) free((char *)spec->namespaces[i]);
    free((void *)spec->namespaces);
    projection_unref(spec->projection);
    if (spec->transform.free) spec->transform.free(spec->transform.ctx);
}

void claim_release(struct informer_claim *claim)
{
    struct claim_handler *handler;
    while ((handler = TAILQ_FIRST(&claim->handlers))) claim_remove_handler(handler);
    claim_indexes_detach(claim);
    if (claim->set) informer_set_release(claim->set);
    claim_indexes_clear(claim);
    TAILQ_REMOVE(&claim->factory->claims, claim, link);
    clear_spec(&claim->spec);
    free(claim);
}

static void attach(struct informer_claim *claim, const struct resource *resource)
{
    struct shared_factory *factory = claim->factory;
    claim->set = informer_set_acquire(factory, resource, &claim->spec);
    err_clear(&claim->unknown);
    claim_indexes_attach(claim);
    claim_handlers_attach(claim);
    if (factory->options.changed) factory->options.changed(factory->options.ctx, claim);
}

void shared_factory_resolve(struct shared_factory *factory, const struct catalogue *catalogue,
                            void (*unknown)(void *ctx, struct informer_claim *claim, const struct err *err),
                            void *ctx)
{
    struct informer_claim *claim;
    struct shared *shared;
    TAILQ_FOREACH (shared, &factory->informers, link)
        if (!shared->stopping) shared_follow(shared, catalogue);
    TAILQ_FOREACH (claim, &factory->claims, link) {
        struct resource resource;
        if (claim->set) continue;
        if (catalogue_resolve(catalogue, str_of(claim->spec.kind), &resource, &claim->unknown)) {
            attach(claim, &resource);
            resource_clear(&resource);
        } else {
            catalogue_explain(catalogue, str_of(claim->spec.kind), &claim->unknown);
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
    return claim->set ? &claim->set->members[0]->key.resource : NULL;
}

struct indexer *claim_indexer(struct informer_claim *claim)
{
    return claim->set ? claim->set->store : NULL;
}

static struct version_waits *waits_in(const struct informer_claim *claim, struct str ns, struct err *err)
{
    struct version_waits *waits = claim->set ? informer_set_waits_in(claim->set, ns) : NULL;
    if (!claim->set)
        err_set(err, ERR_NOT_FOUND, "%s has no cache yet", claim->spec.kind);
    else if (!waits)
        err_set(err, ERR_NOT_FOUND, "the informer of %s does not have the namespace %.*s", claim->spec.kind,
                STR_ARG(ns));
    return waits;
}

struct version_wait *claim_wait_version(struct informer_claim *claim, struct str ns, struct str version,
                                        void (*reached)(void *ctx), void *ctx, struct err *err)
{
    struct version_waits *waits = waits_in(claim, ns, err);
    return waits ? version_waits_add(waits, version, claim, reached, ctx, err) : NULL;
}

struct str claim_version(const struct informer_claim *claim, struct str ns)
{
    struct version_waits *waits = waits_in(claim, ns, NULL);
    return waits ? version_waits_told(waits) : (struct str){0};
}

bool claim_is_missing(const struct informer_claim *claim)
{
    bool missing = !claim->set && claim->unknown.code;
    for (size_t i = 0; claim->set && i < claim->set->count; i++) {
        struct reflector_status status = {0};
        feed_get_status(claim->set->members[i]->feed, &status);
        missing |= shared_is_missing(claim->set->members[i], &status);
    }
    return missing;
}

bool claim_has_synced(const struct informer_claim *claim)
{
    return claim->set && informer_set_has_synced(claim->set);
}
