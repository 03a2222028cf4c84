/* The informers that one claim reads as one: that of each namespace it names, or a single one. Each namespace
 * has a watch of its own, shared with every other set that has it, so that a set that differs in one
 * namespace starts and stops only that (B-6), and one without rights in a namespace goes on with the others.
 * A set of several has a store of all their objects. Owner: the factory; shared by count by the claims with
 * the same set. Engine thread. */
#pragma once
#include <sys/queue.h>

#include "informer/shared/version_wait.h"
#include "informer/store/indexer.h"
#include "kube/kinds/resource.h"

struct informer_spec;
struct shared;
struct shared_factory;

struct informer_set {
    TAILQ_ENTRY(informer_set) link;
    struct shared_factory *factory;
    size_t claims;
    struct shared **members; /* sorted by namespace */
    size_t count;
    struct indexer *store;      /* of all members; the one member's own */
    struct version_waits waits; /* of sets with several members; see informer_set_waits */
};

/* One claim more on the informers that `spec` asks for. */
struct informer_set *informer_set_acquire(struct shared_factory *factory, const struct resource *resource,
                                          const struct informer_spec *spec);
/* The same for these informers, sorted by namespace. Takes the malloc'ed array and a claim on each. */
struct informer_set *informer_set_join(struct shared_factory *factory, struct shared **members, size_t count);
void informer_set_release(struct informer_set *set);

bool informer_set_has(const struct informer_set *set, const struct shared *member);
bool informer_set_has_synced(const struct informer_set *set);
/* Returns the waits for a version of its store. */
struct version_waits *informer_set_waits(struct informer_set *set);
/* Of the members that have this namespace alone; of all when `ns` is empty. NULL when none has it. */
struct version_waits *informer_set_waits_in(struct informer_set *set, struct str ns);
/* Members may have moved on: a store of several is as old as the oldest of them (S-10), and a member whose
 * list is being told is as it was before. There is no way to know more of the oldest than its own list and
 * watch tell. Versions are counted for the whole server, but a bookmark promises that one watch is complete
 * up to it: the watch of another namespace may be behind, with a change on its way. So a namespace in which
 * nothing happens holds a wait up to its next bookmark, which servers send once a minute or so. */
void informer_set_note_version(struct informer_set *set);
