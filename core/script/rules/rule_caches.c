/* What rules look at, each cache once; see rule_caches.h. */
#include "script/rules/rule_caches.h"

#include "base/mem.h"
#include "informer/shared/shared_factory.h"
#include "script/rules/rule.h"

struct caches {
    struct indexer **items;
    size_t count;
};

static void add(struct caches *caches, struct indexer *cache)
{
    for (size_t i = 0; i < caches->count; i++)
        if (caches->items[i] == cache) return;
    caches->items = xrealloc(caches->items, (caches->count + 1) * sizeof(struct indexer *));
    caches->items[caches->count++] = cache;
}

struct indexer **rule_caches(struct script *const *scripts, size_t script_count, size_t *count)
{
    struct caches caches = {0};
    for (size_t s = 0; s < script_count; s++)
        for (size_t i = 0; i < script_rule_count(scripts[s]); i++) {
            const struct script_rule *rule = script_rule(scripts[s], i);
            for (size_t k = 0; k < rule->kind_count; k++) {
                struct indexer *cache = claim_indexer(rule->kinds[k]);
                if (cache) add(&caches, cache);
            }
        }
    *count = caches.count;
    return caches.items;
}
