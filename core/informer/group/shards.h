/* This process's membership in a sharded group, as the engine thread sees it: the member (member.h) lives on
 * the I/O thread, with its Lease, and reads the table by a watch. Owner: the engine, on the engine thread;
 * `changed` may call everything except shards_free. */
#pragma once
#include "base/fence.h"
#include "informer/shard/slots.h"
#include "kube/api/list_watch.h"
#include "kube/api/object_call.h"
#include "kube/kinds/resource.h"
#include "net/loop.h"

struct shards;

struct shards_options {
    struct loop *engine_loop, *io_loop;
    struct object_caller caller;
    /* Creates a source; called on the I/O thread. */
    struct list_watch *(*new_source)(void *ctx, const struct resource *resource,
                                     const struct lw_scope *scope);
    void *source_ctx;
    const char *namespace_, *group; /* of Leases and table; copied */
    const char *identity;           /* of the process; copied */
    int64_t lease_ms;               /* duration of its Lease, to which all times are in proportion; 0: 15 s */
    uint64_t seed;
    void (*changed)(void *ctx); /* the status did */
    void *ctx;
};

/* The table's ConfigMap of a group is "kubelua-shard-GROUP"; its Leases have the label SHARD_LABEL=GROUP. */
#define SHARD_LABEL "kubelua.dev/shard"

enum { SHARD_GROUP_MAX = 40 }; /* bytes of its name */

/* Sets an error unless it may be the duration of Leases. */
bool shard_lease_check(int64_t lease_ms, struct err *err);
/* Sets an error unless it may be a label and a part of names. */
bool shard_group_check(const char *group, struct err *err);
struct shards *shards_new(const struct shards_options *options);
/* Joins the group. */
void shards_start(struct shards *shards);
/* Tells that nothing runs any more for slots that the table of this epoch, the last that `changed` told of,
 * does not give to this replica. */
void shards_applied(struct shards *shards, int64_t epoch);
/* Gives the Lease back, as nothing runs for any slot any more. `left` is called once, later, or never. */
void shards_leave(struct shards *shards, void (*left)(void *ctx), void *ctx);
/* Ends the member without giving its Lease back, and waits until the I/O thread, whose loop must still run,
 * no longer uses it. The engine loop must not run any more. NULL is allowed. */
void shards_end(struct shards *shards);
/* Call after shards_end. NULL is allowed. */
void shards_free(struct shards *shards);

struct shards_status {
    const char *namespace_, *group;
    const char *lease;     /* "" before there is one */
    struct slot_set slots; /* that the table gives to this replica; none without a Lease */
    /* Of those that it had when `changed` was called last, or when its term ended before: those that nobody
     * else had since, though the Lease was not renewed in time. */
    struct slot_set kept;
    struct fence *fence; /* of its Lease, borrowed; NULL: it owns nothing */
    int64_t epoch;       /* of the table; 0: none was read */
    size_t members;
    bool writes;       /* it is the one that writes the table */
    const char *error; /* of the last try; "" for none */
    int64_t handover_ms,
        failover_ms; /* longest time without an owner, after a replica left, and after one died */
};
void shards_get_status(const struct shards *shards, struct shards_status *out);
/* Returns the fence of work for the slot that begins now: that of the Lease if this replica owns the slot, or
 * has lost it in this term and not told yet that nothing runs for it any more; else a closed one. Borrowed.
 */
struct fence *shards_fence(const struct shards *shards, size_t slot);
/* Returns whether work for the slot, which is lost, may still begin under the fence of the Lease. */
bool shards_are_giving(const struct shards *shards, size_t slot);
/* Slots that this replica owns at this instant: none once its fence is closed. */
struct slot_set shards_owned(const struct shards *shards);
bool shards_own(const struct shards *shards, size_t slot);
