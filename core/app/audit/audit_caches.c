/* Complete caches; see audit_caches.h. */
#include "app/audit/audit_caches.h"

#include <string.h>

#include "object/pack/projection.h"

/* Projection that an audit accepts as complete: rules have no use for managed fields, and operators are
 * advised to prune them. */
static const char harmless[] = "prune metadata.managedFields";

/* From the worst to the best. */
enum fit { FIT_NONE, FIT_CHANGED, FIT_PART, FIT_NAMESPACES, FIT_NOT_SYNCED, FIT_WHOLE };

static bool has_namespace(const struct informer_spec *spec, const struct resource *resource, const char *ns)
{
    if (!resource->namespaced) return true;
    if (spec->namespace_count || *spec->namespace_selector) return false;
    return !*spec->namespace_ || (*ns && strcmp(spec->namespace_, ns) == 0);
}

static enum fit fit_of(const struct informer_claim *claim, const struct resource *resource, const char *ns)
{
    const struct informer_spec *spec = claim_spec(claim);
    const struct resource *own = claim_resource(claim);
    if (!own || !resource_equal(own, resource)) return FIT_NONE;
    if (spec->transform.fn) return FIT_CHANGED;
    if (spec->metadata_only || *spec->label_selector || *spec->field_selector) return FIT_PART;
    if (spec->projection && strcmp(projection_text(spec->projection), harmless) != 0) return FIT_PART;
    if (!has_namespace(spec, resource, ns)) return FIT_NAMESPACES;
    return claim_has_synced(claim) ? FIT_WHOLE : FIT_NOT_SYNCED;
}

static const char *reason(enum fit fit)
{
    switch (fit) {
    case FIT_CHANGED: return "the engine's cache contains transformed objects";
    case FIT_PART: return "the engine's cache is filtered or contains partial objects";
    case FIT_NAMESPACES: return "the engine's cache covers only some namespaces; select one with -n";
    case FIT_NOT_SYNCED: return "the engine's cache has not synced";
    default: return "the engine has no cache for it";
    }
}

struct informer_claim *audit_cache_of(const struct shared_factory *factory, const struct resource *resource,
                                      const char *ns, struct buf *why)
{
    struct informer_claim *claim = NULL;
    enum fit best = FIT_NONE;
    while ((claim = shared_factory_next_claim(factory, claim))) {
        enum fit fit = fit_of(claim, resource, ns);
        if (fit == FIT_WHOLE) return claim;
        if (fit > best) best = fit;
    }
    if (why) buf_puts(why, reason(best));
    return NULL;
}

struct informer_claim *audit_cache_like(const struct shared_factory *factory, const struct resource *resource)
{
    struct informer_claim *claim = NULL;
    while ((claim = shared_factory_next_claim(factory, claim)))
        if (claim_resource(claim) && resource_equal(claim_resource(claim), resource) &&
            claim_has_synced(claim))
            break;
    return claim;
}
