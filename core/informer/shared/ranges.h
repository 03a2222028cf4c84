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
    struct slot_set
        restorable;     /* of those: a list had them, and their objects come back without another one */
    int64_t generation; /* of the lists that have all of `owned` */
    int64_t gained_at[SHARD_SLOTS]; /* of the first list that may have the slot since it was last gained */
    struct slot_set lost;           /* whose objects are to be taken out */
    struct slot_set gained;         /* that came with the list in progress */
    struct root **kept;             /* objects of `restorable` that were taken out */
    size_t kept_count;
    struct root **returning; /* while they are put back */
    size_t returning_count;
    bool in_doubt;        /* nobody knows which slots this replica owns, until ranges_set */
    bool is_losing;       /* there are some in `lost` */
    bool has_restorable;  /* there are some in `restorable` */
    bool is_taking_out;   /* the cursor of the applier is that of lost objects */
    bool is_putting_back; /* it is that of objects that come back */
};

void ranges_clear(struct ranges *ranges);

/* Returns whether objects of lost slots are yet to be taken out, or handlers notified of that. `ranges` NULL:
 * the cache holds objects of all slots. */
static inline bool ranges_are_losing(const struct ranges *ranges)
{
    return ranges && (ranges->is_losing || ranges->is_taking_out);
}
/* Returns whether objects are to be taken out or put back, or handlers notified of that. */
static inline bool ranges_are_moving(const struct ranges *ranges)
{
    return ranges_are_losing(ranges) ||
           (ranges && (ranges->is_putting_back || (ranges->has_restorable && !ranges->in_doubt)));
}
/* Replaces `owned`, and ends a doubt. Returns whether there are new ones, so that a list of the new
 * generation is needed. */
bool ranges_set(struct ranges *ranges, const struct slot_set *owned);
/* Puts all of `owned` in doubt, as nobody knows whether this replica still owns them: their objects are taken
 * out, and nothing is applied until ranges_set. With those that it still has nobody else had them meanwhile:
 * what was taken out comes back, and what came since is applied, lists included. */
void ranges_doubt(struct ranges *ranges);
/* Returns the slots of which a list is needed, or under way. */
struct slot_set ranges_missing(const struct ranges *ranges);
/* Returns whether the delta of one object concerns the cache. */
bool ranges_want(const struct ranges *ranges, const struct root *object);
/* Drops objects of a list that are of others, and notes what the list brings. Call once for a list, first. */
void ranges_take_list(struct ranges *ranges, struct delta *list);
/* Returns whether an object that a list added came with slots that were gained. */
bool ranges_gained(const struct ranges *ranges, const struct root *object);
/* Takes the objects of lost slots out of the store. */
void ranges_take_out(struct ranges *ranges, struct indexer *store, struct replacement *out);
/* Begins to put back what may be put back: `returning`, until ranges_have_back. */
void ranges_put_back(struct ranges *ranges);
void ranges_have_back(struct ranges *ranges);
