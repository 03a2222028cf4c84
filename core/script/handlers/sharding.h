/* Slots of the objects that calls of a script are about, when replicas share the objects of its informers.
 * Work for a slot begins only while this replica owns it, and has the fence of its Lease. On the engine
 * thread, anywhere.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct fence;
struct informer_claim;
struct root;
struct script;

/* Returns the slot of an object of the claim, plus one; 0 if its objects are not shared. */
unsigned sharding_slot(const struct script *script, const struct informer_claim *claim,
                       const struct root *object);
/* Returns whether work for the slot, as sharding_slot has it, may begin. */
bool sharding_owns(const struct script *script, unsigned slot);
/* Returns whether the caches of the script have the objects of such a slot: not before the list that follows
 * a gain. */
bool sharding_is_listed(const struct script *script, unsigned slot);
/* Returns a reference to the fence of such work, within `leader` (NULL: none); NULL: it needs none. */
struct fence *sharding_fence(const struct script *script, unsigned slot, struct fence *leader);
/* Cancels calls for slots, as the Lease under whose fence they run is lost. */
void sharding_cancel(struct script *script);
/* Returns the number of calls in flight for slots that this replica does not own. */
size_t sharding_count_others(const struct script *script);
/* Returns whether the slot is lost, and calls for it may still write: until shards_applied. */
bool sharding_gives(const struct script *script, unsigned slot);
