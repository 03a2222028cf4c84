/* The store of one informer: key to object, in the order in which keys came, with the namespace index (S).
 * Owner: the shared informer, on the engine thread. Objects are references held by the store. A walk sees the
 * store as it was when it began only if nothing changes it meanwhile: listers copy first. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "object/pool.h"
#include "object/value.h"

struct indexer;

struct indexer *indexer_new(void);
void indexer_free(struct indexer *indexer);
/* Makes room for `count` objects in all. */
void indexer_reserve(struct indexer *indexer, size_t count);
/* Everything of `a` becomes `b`'s and the other way round: how a relist takes effect at once (S-4, B-3). */
void indexer_swap(struct indexer *a, struct indexer *b);

/* Adds or updates (S-3); takes the reference. Gives the object that was there before, as a reference for the
 * caller, or NULL. */
struct root *indexer_put(struct indexer *indexer, struct root *object);
/* Removes the object with the key of `object`; gives it as a reference for the caller, or NULL. */
struct root *indexer_remove(struct indexer *indexer, const struct root *object);
/* Borrowed; NULL when absent. */
struct root *indexer_get(const struct indexer *indexer, struct str ns, struct str name);
struct root *indexer_get_like(const struct indexer *indexer, const struct root *object);
size_t indexer_count(const struct indexer *indexer);
size_t indexer_namespace_count(const struct indexer *indexer, struct str ns);

/* Every object, or those of one namespace by its index, in the order in which their keys came. `fn` gives
 * false to stop and must not change the store. */
void indexer_each(const struct indexer *indexer, bool (*fn)(void *ctx, struct root *object), void *ctx);
void indexer_each_in(const struct indexer *indexer, struct str ns, bool (*fn)(void *ctx, struct root *object),
                     void *ctx);

/* Store version (S-10): of the last object, list or bookmark. */
const char *indexer_resource_version(const struct indexer *indexer);
void indexer_set_resource_version(struct indexer *indexer, struct str resource_version);
