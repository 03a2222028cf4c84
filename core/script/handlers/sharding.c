/* Slots of calls; see sharding.h. */
#include "script/handlers/sharding.h"

#include "base/fence.h"
#include "informer/group/shards.h"
#include "script/vm/state.h"
#include "script/vm/task.h"

unsigned sharding_slot(const struct script *script, const struct informer_claim *claim,
                       const struct root *object)
{
    if (!script->host->cluster->shards) return 0;
    enum shard_by by = claim_shard(claim);
    return by == SHARD_BY_NOTHING ? 0 : (unsigned)shard_slot_of(by, object) + 1;
}

bool sharding_owns(const struct script *script, unsigned slot)
{
    return slot == 0 || shards_own(script->host->cluster->shards, slot - 1);
}

bool sharding_is_listed(const struct script *script, unsigned slot)
{
    for (size_t i = 0; slot && i < script->informers.count; i++)
        if (!claim_has_slot(script->informers.claims[i], slot - 1)) return false;
    return true;
}

struct fence *sharding_fence(const struct script *script, unsigned slot, struct fence *leader)
{
    struct fence *fence = slot ? shards_fence(script->host->cluster->shards, slot - 1) : leader;
    if (slot && leader) return fence_new_both(fence, leader);
    return fence ? fence_ref(fence) : NULL;
}

void sharding_cancel(struct script *script)
{
    struct task *task, *next;
    for (task = TAILQ_FIRST(&script->tasks.waiting); task; task = next) {
        next = TAILQ_NEXT(task, link);
        if (task->slot) task_cancel(task);
    }
}

size_t sharding_count_others(const struct script *script)
{
    const struct task *task;
    size_t count = 0;
    TAILQ_FOREACH (task, &script->tasks.waiting, link) count += !sharding_owns(script, task->slot);
    return count;
}

bool sharding_gives(const struct script *script, unsigned slot)
{
    return slot && shards_are_giving(script->host->cluster->shards, slot - 1);
}
