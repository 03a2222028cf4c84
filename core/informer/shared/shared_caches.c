/* Walks over all caches: as they may be stored for a later run, and to move their objects; see
 * shared_factory.h. */
#include "informer/shared/shared_factory_internal.h"

/* One of namespaces by labels is not, nor a share of the objects: what left meanwhile would be in it. */
static bool may_be_stored(const struct shared *shared)
{
    bool is_part = *shared->key.namespace_selector || shared->key.shard != SHARD_BY_NOTHING;
    return !is_part && !shared->stopping && !shared->key.transform.fn && shared->refused == 0 &&
           shared->gone.code == ERR_NONE && shared_informer_has_synced(shared->informer);
}

void shared_factory_each_cache(const struct shared_factory *factory,
                               void (*fn)(void *ctx, const struct cache_view *cache), void *ctx)
{
    struct shared *shared;
    struct buf identity = {0};
    TAILQ_FOREACH (shared, &factory->informers, link) {
        const struct indexer *store = shared_informer_indexer(shared->informer);
        if (!may_be_stored(shared) || !*indexer_resource_version(store)) continue;
        identity.len = 0;
        informer_key_identify(&shared->key, &identity);
        fn(ctx, &(const struct cache_view){buf_text(&identity), &shared->key.resource, store});
    }
    buf_clear(&identity);
}

int64_t shared_factory_grace_ms(const struct shared_factory *factory)
{
    return factory->options.grace_ms;
}

bool shared_factory_move_objects(const struct shared_factory *factory, struct moved_caches *at, size_t max)
{
    const struct shared *shared;
    size_t number = 0;
    TAILQ_FOREACH (shared, &factory->informers, link) {
        if (number++ < at->informer) continue;
        if (indexer_move_objects(shared_informer_indexer(shared->informer), &at->entry, max)) return true;
        *at = (struct moved_caches){.informer = number};
        return true;
    }
    return false;
}

struct pool *shared_factory_pool(const struct shared_factory *factory)
{
    return factory->pool;
}
