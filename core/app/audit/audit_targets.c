/* Kinds and namespaces of rules; see audit_targets.h. */
#include "app/audit/audit_targets.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "informer/shared/shared_factory.h"

/* Takes the resource. */
static void add(struct audit_targets *targets, struct resource *resource, const char *ns,
                struct indexer *cache)
{
    for (size_t i = 0; i < targets->count; i++) {
        const struct audit_target *other = &targets->items[i];
        if (!resource_equal(&other->resource, resource) || strcmp(other->namespace_, ns) != 0) continue;
        resource_clear(resource);
        return;
    }
    targets->items = xrealloc(targets->items, (targets->count + 1) * sizeof *targets->items);
    targets->items[targets->count++] = (struct audit_target){*resource, ns, cache};
}

static void add_kind(struct audit_targets *targets, const struct catalogue *catalogue,
                     struct informer_claim *claim)
{
    struct resource resource;
    struct err err;
    if (!catalogue_resolve(catalogue, str_of(claim_spec(claim)->kind), &resource, &err)) return;
    add(targets, &resource, resource.namespaced ? claim_spec(claim)->namespace_ : "", claim_indexer(claim));
}

void audit_targets_find(struct audit_targets *targets, const struct audit_scripts *scripts,
                        const struct catalogue *catalogue)
{
    uint32_t number = 0; /* in the table */
    for (size_t s = 0; s < scripts->count; s++)
        for (size_t i = 0; i < script_rule_count(scripts->items[s]); i++) {
            const struct script_rule *rule = script_rule(scripts->items[s], i);
            if (auditor_leaves_out(scripts->auditor, number++)) continue;
            for (size_t k = 0; k < rule->kind_count; k++) add_kind(targets, catalogue, rule->kinds[k]);
        }
}

void audit_targets_clear(struct audit_targets *targets)
{
    for (size_t i = 0; i < targets->count; i++) resource_clear(&targets->items[i].resource);
    free(targets->items);
    *targets = (struct audit_targets){0};
}
