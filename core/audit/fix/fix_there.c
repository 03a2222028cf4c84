/* Manifests and the objects of the audit; see fix_there.h. */
#include "audit/fix/fix_there.h"

#include <string.h>

#include "informer/shared/shared_factory.h"
#include "informer/store/indexer.h"

/* In whatever version. */
static bool is_of(const struct informer_claim *claim, const struct resource *resource)
{
    const struct resource *own = claim_resource(claim);
    return own && strcmp(own->group, resource->group) == 0 && strcmp(own->plural, resource->plural) == 0;
}

static bool is_cached(const struct shared_factory *factory, const struct audit_fix *fix)
{
    struct informer_claim *claim = NULL;
    while (fix->resource.plural && (claim = shared_factory_next_claim(factory, claim))) {
        if (!is_of(claim, &fix->resource)) continue;
        struct indexer *cache = claim_indexer(claim);
        if (cache && indexer_get(cache, str_of(fix->ns), str_of(fix->name))) return true;
    }
    return false;
}

void fixes_mark_there(struct audit_fixes *fixes, const struct shared_factory *factory)
{
    for (size_t i = 0; i < fixes->count; i++) {
        struct audit_fix *fix = &fixes->items[i];
        if (!fix->is_manifest) continue;
        fix->is_patched = audit_fixes_have_patch(fixes, fix);
        fix->is_there = fix->is_patched || is_cached(factory, fix);
        fixes->there += fix->is_there;
    }
}
