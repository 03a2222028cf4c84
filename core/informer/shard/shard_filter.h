/* Slots whose objects a reflector takes: the shardSelector of its requests, and the check of what the
 * server sends, which is never trusted. Owner: the feed, on the I/O thread, but for the counts. */
#pragma once
#include <stdatomic.h>

#include "informer/shard/slots.h"
#include "kube/api/list_watch.h"
#include "object/value/value.h"

/* By what the objects of an informer are shared. */
enum shard_by { SHARD_BY_NOTHING, SHARD_BY_UID, SHARD_BY_NAMESPACE };

/* SHARD_RANGES_MAX: most ranges of a selector; with more slots than these it has some too many. */
enum { SHARD_RANGES_MAX = 32 };

/* Any thread. */
struct shard_counts {
    uint64_t skipped; /* objects and events that the server sent for other replicas */
    bool selects;     /* it says that it observed the selector of the last list */
};

struct shard_filter {
    struct lw_shard shard; /* of the scope of its source */
    struct slot_set slots;
    _Atomic uint64_t skipped;
    _Atomic bool selects;
};

/* Begins without slots. The struct stays in place. */
void shard_filter_init(struct shard_filter *filter, enum shard_by by);
/* Returns whether the object is wanted; counts others. */
bool shard_filter_wants(struct shard_filter *filter, const struct root *object);
struct shard_counts shard_filter_counts(const struct shard_filter *filter);

/* Returns the slot of an object. */
size_t shard_slot_of(enum shard_by by, const struct root *object);
