/* Slots whose objects the cache of a shared informer holds, as this replica owns them. What the reflector
 * sends is checked here once more, as it may be older than the last change of owners. Owner: the applier that
 * has it, on the engine thread. */
#pragma once
#include "informer/reflect/delta_fifo.h"
#include "informer/shard/shard_filter.h"
#include "informer/store/indexer.h"

struct ranges {
    enum shard_by by;
    struct slot_set owned;  /* of this replica */
    struct slot_set listed; /* of those: a list had them since they were gained */
    int64_t generation;     /* of the lists that have all of `owned` */
    struct slot_set lost;   /* whose objects are to be taken out */
    struct slot_set gained; /* that came with the list in progress */
    bool is_losing;         /* there are some in `lost` */
    bool is_taking_out;     /* the cursor of the applier is that of lost objects */
};

/* Returns whether objects of lost slots are yet to be taken out, or handlers notified of that. `ranges` NULL:
 * the cache holds objects of all slots. */
static inline bool ranges_are_losing(const struct ranges *ranges)
{
    return ranges && (ranges->is_losing || ranges->is_taking_out);
}
/* Replaces `owned`. Returns whether there are new ones, so that a list of the new generation is needed. */
bool ranges_set(struct ranges *ranges, const struct slot_set *owned);
/* Returns whether the delta of one object concerns the cache. */
bool ranges_want(const struct ranges *ranges, const struct root *object);
/* Drops objects of a list that are of others, and notes what the list brings. Call once for a list, first. */
void ranges_take_list(struct ranges *ranges, struct delta *list);
/* Returns whether an object that a list added came with slots that were gained. */
bool ranges_gained(const struct ranges *ranges, const struct root *object);
/* Takes the objects of lost slots out of the store. */
void ranges_take_out(struct ranges *ranges, struct indexer *store, struct replacement *out);
