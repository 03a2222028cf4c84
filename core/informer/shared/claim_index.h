/* The indexes that a claim names: names are the claim's own, the indexes those of the cache, where equal
 * paths are one (S-5..S-9). They may be named before the claim has its cache. Owner: the claim. On the engine
 * thread, from any callback but an index function. */
#pragma once
#include <stdbool.h>
#include <sys/queue.h>

#include "informer/store/index.h"
#include "informer/store/indexer.h"

struct informer_claim;
struct claim_index;
TAILQ_HEAD(claim_index_list, claim_index);

/* False with an error, and nothing added, when the claim has an index of that name, "namespace" included
 * (S-8, S-9), or the path does not compile, or there are too many. */
bool claim_add_path_index(struct informer_claim *claim, struct str name, struct str path, struct err *err);
/* Takes the source, also when it fails. */
bool claim_add_index(struct informer_claim *claim, struct str name, const struct index_source *source,
                     struct err *err);
/* Calls `fn` for each index by a path; strings are borrowed. */
void claim_each_path_index(const struct informer_claim *claim,
                           void (*fn)(void *ctx, const char *name, const char *path), void *ctx);
/* Promises that the claim's indexes are not read before claim_build_indexes has returned true. Call before
 * adding any. */
void claim_build_in_steps(struct informer_claim *claim);
/* Adds about `max` more objects to each index. Returns true once all are complete. */
bool claim_build_indexes(struct informer_claim *claim, size_t max);
/* The index of this source, if the claim has its cache: it is rebuilt, and known as far as it is. */
void claim_rebuild_index(struct informer_claim *claim, const struct index_source *source);
/* Adds one more object to the index. Returns true once it is complete, or does not exist. */
bool claim_build_index(struct informer_claim *claim, const struct index_source *source);
/* NULL with the error of S-7 when there is no such name; `*is_namespace` for the one that every cache has,
 * which is no struct claim_index. */
struct claim_index *claim_find_index(struct informer_claim *claim, struct str name, bool *is_namespace,
                                     struct err *err);
/* Borrowed; all zero for an index by a path. */
const struct index_source *claim_index_source(const struct claim_index *index);
/* The index in a cache of the claim, or in a copy of it, which gets the index now. NULL with an error when it
 * cannot have it. */
struct index *claim_index_in(struct claim_index *index, struct indexer *cache, struct err *err);

/* For informer_claim.c: the claim has a cache now, or is about to lose it; and the end. */
void claim_indexes_attach(struct informer_claim *claim);
void claim_indexes_detach(struct informer_claim *claim);
void claim_indexes_clear(struct informer_claim *claim);
