/* A script in a replica that shares pods by namespace, "mine" and "shop"; the spec says which it owns. On the
 * cluster that a spec plays, with a clock by hand. Owner: the spec, from sharing_load to sharing_end. */
#pragma once
#include "core/script/support/cluster.h"
#include "informer/group/shards.h"

struct sharing {
    struct cluster *cluster;
    struct shards *shards;
    struct script *script;
    struct slot_set mine, both; /* the slot of namespace "mine"; and that of "shop" too */
    struct slot_set owned;
    const char *lease; /* its name */
};

/* A fence of a term without an end; the spec has the reference. */
struct fence *sharing_fence(struct cluster *c);
/* Loads the script; owns both namespaces under the fence. Their objects mine/a, shop/b and shop/c are listed.
 */
void sharing_load(struct sharing *s, struct cluster *c, const char *text, struct fence *fence);
/* The I/O thread's half has news; NULL: there is no term. */
void sharing_give(struct sharing *s, struct fence *fence, const struct slot_set *slots);
/* Returns whether calls for lost slots are under way, or to come. */
bool sharing_is_busy(const struct sharing *s);
void sharing_end(struct sharing *s);
