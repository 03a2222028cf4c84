/* Indexes that a claim names: the names belong to the claim, the indexes to the cache, where equal paths
 * share one (S-5..S-9). They may be named before the claim has its cache. Owner: the claim. On the engine
 * thread, from any callback except an index function. */
#pragma once
#include <stdbool.h>
#include <sys/queue.h>

#include "informer/store/index.h"
#include "informer/store/indexer.h"

struct informer_claim;
struct claim_index;
TAILQ_HEAD(claim_index_list, claim_index);

/* Adds an index by a path. Returns false and sets err if the claim has an index of that name, "namespace"
 * included (S-8, S-9), if the path does not compile, or if there are too many. */
bool claim_add_path_index(struct informer_claim *claim, struct str name, struct str path, struct err *err);
/* Likewise by a function. Takes the source, even if it fails. */
bool claim_add_index(struct informer_claim *claim, struct str name, const struct index_source *source,
                     struct err *err);
/* Calls `fn` for each index by a path; strings are borrowed. */
void claim_each_path_index(const struct informer_claim *claim,
                           void (*fn)(void *ctx, const char *name, const char *path), void *ctx);
/* Promises that the claim's indexes are not read before claim_build_indexes has returned true. Call before
 * adding any. */
void claim_build_in_steps(struct informer_claim *claim);
/* Adds about `max` more objects to one of the indexes, only one if that is by a function. Returns true once
 * all are complete. */
bool claim_build_indexes(struct informer_claim *claim, size_t max);
/* Rebuilds the index of this source, if the claim has its cache; lookups find the objects added so far. */
void claim_rebuild_index(struct informer_claim *claim, const struct index_source *source);
/* Computes the values of one object that the source has put off. Returns how many are left. */
size_t claim_catch_up_index(struct informer_claim *claim, const struct index_source *source);
size_t claim_late_count(struct informer_claim *claim, const struct index_source *source);
/* Adds one more object to the index. Returns true once it is complete, or does not exist. */
bool claim_build_index(struct informer_claim *claim, const struct index_source *source);
/* Returns NULL with the error of S-7 if there is no such name; sets `*is_namespace` for the index that every
 * cache has, which is not a struct claim_index. */
struct claim_index *claim_find_index(struct informer_claim *claim, struct str name, bool *is_namespace,
                                     struct err *err);
/* Borrowed; all zero for an index by a path. */
const struct index_source *claim_index_source(const struct claim_index *index);
/* Returns the index in the claim's cache or in a copy of it, and adds it there if missing. NULL with an error
 * if that fails. */
struct index *claim_index_in(struct claim_index *index, struct indexer *cache, struct err *err);

/* For informer_claim.c: call when the claim has received a cache, before it loses it, and at its end. */
void claim_indexes_attach(struct informer_claim *claim);
void claim_indexes_detach(struct informer_claim *claim);
void claim_indexes_clear(struct informer_claim *claim);
