/* Resolution of claims: the kind that a script named becomes an informer as soon as discovery knows it; see
 * shared_factory.h. */
#include <stdlib.h>

#include "base/mem.h"
#include "informer/shared/shared_factory_internal.h"

/* Sets the reason why it is not resolved; NULL for none. Few claims ever have one, and it is larger than all
 * else of them. */
static void set_unknown(struct informer_claim *claim, const struct err *err)
{
    free(claim->unknown);
    claim->unknown = err ? NEW(struct err) : NULL;
    if (err) *claim->unknown = *err;
}

/* Returns by what the objects of the kind are shared, as the operator says. */
static enum shard_by shard_of_kind(const struct shared_factory *factory, const struct resource *resource,
                                   const struct catalogue *catalogue)
{
    const struct shared_factory_options *options = &factory->options;
    for (size_t i = 0; i < options->shard_kind_count; i++) {
        struct str by = str_of(options->shard_kinds[i]), kind;
        struct resource found;
        str_cut(&by, '=', &kind);
        if (!catalogue_resolve(catalogue, kind, &found, NULL)) continue;
        bool is_this = resource_equal(&found, resource);
        resource_clear(&found);
        if (is_this) return by.p ? SHARD_BY_NAMESPACE : SHARD_BY_UID;
    }
    return SHARD_BY_NOTHING;
}

static void attach(struct informer_claim *claim, const struct resource *resource,
                   const struct catalogue *catalogue)
{
    struct shared_factory *factory = claim->factory;
    if (claim->spec.may_shard && claim->spec.shard == SHARD_BY_NOTHING)
        claim->spec.shard = shard_of_kind(factory, resource, catalogue);
    claim->set = informer_set_acquire(factory, resource, &claim->spec);
    claim_follow_each(claim);
    claim_end_down(claim); /* the informer now has a series of its own */
    set_unknown(claim, NULL);
    claim_indexes_attach(claim);
    claim_handlers_attach(claim);
    if (factory->options.changed) factory->options.changed(factory->options.ctx, claim);
}

/* Labels of namespaces choose nothing among objects that have none. */
static bool fits_scope(const struct informer_claim *claim, const struct resource *resource, struct err *err)
{
    const char *labels = claim->spec.namespace_selector;
    if (!labels || !*labels || resource->namespaced) return true;
    return err_set(err, ERR_INVALID, "%s are not namespaced, so namespaces.selector cannot choose any",
                   resource->plural);
}

/* Returns false if nobody knows the kind, or if it cannot be what the claim asks for. */
static bool resolve(struct informer_claim *claim, const struct catalogue *catalogue)
{
    struct resource resource;
    struct err err;
    claim->known = catalogue_resolve(catalogue, str_of(claim->spec.kind), &resource, &err);
    claim->undecided =
        !claim->known && err.code == ERR_NOT_FOUND && catalogue_may_have(catalogue, str_of(claim->spec.kind));
    if (!claim->known) {
        catalogue_explain(catalogue, str_of(claim->spec.kind), &err);
        set_unknown(claim, &err);
        return false;
    }
    bool fits = fits_scope(claim, &resource, &err);
    if (!fits || claim->suspended)
        set_unknown(claim, fits ? NULL : &err);
    else
        attach(claim, &resource, catalogue);
    resource_clear(&resource);
    return fits;
}

void claim_resolve(struct informer_claim *claim, const struct catalogue *catalogue)
{
    const struct shared_factory_options *options = &claim->factory->options;
    if (!claim->set && !resolve(claim, catalogue) && options->changed) options->changed(options->ctx, claim);
}

void shared_factory_resolve(struct shared_factory *factory, const struct catalogue *catalogue,
                            void (*unknown)(void *ctx, struct informer_claim *claim, const struct err *err),
                            void *ctx)
{
    struct informer_claim *claim;
    struct shared *shared;
    TAILQ_FOREACH (shared, &factory->informers, link)
        if (!shared->stopping && !catalogue_is_partial(catalogue)) shared_follow(shared, catalogue);
    TAILQ_FOREACH (claim, &factory->claims, link)
        if (!claim->set && !resolve(claim, catalogue)) unknown(ctx, claim, claim->unknown);
}
