/* Slots of informers whose objects are shared by replicas; see shared_factory.h. The engine thread says which
 * slots this replica owns. Its caches drop the objects of others at once; the reflectors learn it by mail. */
#include "informer/shared/ranges.h"
#include "informer/shared/shared_factory_internal.h"

static bool is_shared(const struct shared *shared)
{
    return shared->key.shard != SHARD_BY_NOTHING;
}

static void set_slots(struct shared *shared)
{
    const struct slot_set *slots = &shared->factory->slots;
    struct ranges *ranges = shared_informer_ranges(shared->informer);
    ranges_set(ranges, slots);
    const struct slot_set missing = ranges_missing(ranges);
    feed_set_slots(shared->feed, slots, &missing, ranges->generation);
}

void shared_slots_start(struct shared *shared)
{
    if (!is_shared(shared)) return;
    shared_informer_share(shared->informer, shared->key.shard);
    if (!slot_set_is_empty(&shared->factory->slots)) set_slots(shared);
    if (shared->factory->in_doubt) ranges_doubt(shared_informer_ranges(shared->informer));
}

void shared_factory_doubt_slots(struct shared_factory *factory)
{
    struct shared *shared;
    factory->in_doubt = true;
    TAILQ_FOREACH (shared, &factory->informers, link) {
        if (!is_shared(shared) || shared->stopping) continue;
        ranges_doubt(shared_informer_ranges(shared->informer));
        atomic_store(&shared->changed, true);
    }
    waker_wake(factory->waker);
}

void shared_factory_set_slots(struct shared_factory *factory, const struct slot_set *slots)
{
    struct shared *shared;
    if (!factory->in_doubt && slot_set_equal(&factory->slots, slots)) return;
    factory->slots = *slots;
    factory->in_doubt = false;
    TAILQ_FOREACH (shared, &factory->informers, link) {
        if (!is_shared(shared) || shared->stopping) continue;
        set_slots(shared);
        atomic_store(&shared->changed, true);
    }
    waker_wake(factory->waker);
}

bool shared_factory_is_losing(const struct shared_factory *factory)
{
    const struct shared *shared;
    TAILQ_FOREACH (shared, &factory->informers, link)
        if (is_shared(shared) && !shared->stopping &&
            ranges_are_losing(shared_informer_ranges(shared->informer)))
            return true;
    return false;
}

struct shared_slots_figures shared_factory_slots_figures(const struct shared_factory *factory)
{
    struct shared_slots_figures figures = {0};
    const struct shared *shared;
    TAILQ_FOREACH (shared, &factory->informers, link) {
        if (!is_shared(shared) || shared->stopping) continue;
        figures.informers++;
        figures.objects += indexer_count(shared_informer_indexer(shared->informer));
        figures.behind += !slot_set_equal(&shared_informer_ranges(shared->informer)->listed, &factory->slots);
        figures.skipped += feed_get_shard(shared->feed).skipped;
    }
    return figures;
}

enum shard_by claim_shard(const struct informer_claim *claim)
{
    if (claim->set) return claim->set->members[0]->key.shard;
    /* Its handler may have events already: those of the generation before. */
    return !claim->closed && claim->factory->options.shares ? claim->spec.shard : SHARD_BY_NOTHING;
}

static bool has_slot(const struct shared *shared, size_t slot)
{
    if (!is_shared(shared) || shared->stopping || !shared_informer_has_synced(shared->informer)) return true;
    return shared_informer_has_slot(shared->informer, slot);
}

bool claim_has_slot(const struct informer_claim *claim, size_t slot)
{
    for (size_t i = 0; claim->set && i < claim->set->count; i++)
        if (!has_slot(claim->set->members[i], slot)) return false;
    return true;
}
