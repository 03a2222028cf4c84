/* Informers that one claim reads as one: one for each namespace it names, or a single one. Each namespace has
 * a watch of its own, shared with every other set that has it, so that a set that differs in one namespace
 * starts and stops only that (B-6), and one without permissions in a namespace continues with the others. A
 * set of several has a store of all their objects. Owner: the factory; shared by count by the claims with the
 * same set. Engine thread. */
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
    struct indexer *store;      /* of all members; with one member its own */
    struct version_waits waits; /* of sets with several members; see informer_set_waits */
};

/* Adds a claim on the informers of `spec`; creates the set if missing. */
struct informer_set *informer_set_acquire(struct shared_factory *factory, const struct resource *resource,
                                          const struct informer_spec *spec);
/* Likewise for these informers, sorted by namespace. Takes the malloc'ed array and a claim on each. */
struct informer_set *informer_set_join(struct shared_factory *factory, struct shared **members, size_t count);
void informer_set_release(struct informer_set *set);

bool informer_set_has(const struct informer_set *set, const struct shared *member);
bool informer_set_has_synced(const struct informer_set *set);
/* Returns the waits for a version of its store. */
struct version_waits *informer_set_waits(struct informer_set *set);
/* Returns the waits of the member that has this namespace; of the set if `ns` is empty; NULL if no member has
 * it. */
struct version_waits *informer_set_waits_in(struct informer_set *set, struct str ns);
/* Updates the version of a store of several members: it is as old as the oldest of them (S-10), and a member
 * whose list is being delivered counts as before it. Only a member's own list and watch tell its version.
 * Versions are counted for the whole server, but a bookmark promises that one watch is complete up to it: the
 * watch of another namespace may be behind, with a change on its way. So a namespace in which nothing happens
 * delays a wait until its next bookmark, which servers send about once a minute. */
void informer_set_note_version(struct informer_set *set);
