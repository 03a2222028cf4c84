/* Further stores that hold the objects of an informer among those of others, so that several informers are
 * read as one. They change with the store, before any handler is notified, so that no reader ever sees half a
 * list (B-3, V7). Owner: the applier that embeds the list; the stores are borrowed. Engine thread. */
#pragma once
#include <stddef.h>

#include "informer/store/indexer.h"

struct mirrors {
    struct indexer **stores;
    size_t count;
};

void mirrors_clear(struct mirrors *mirrors);
/* Adds a mirror and copies the objects of `own` into it. */
void mirrors_add(struct mirrors *mirrors, struct indexer *store, const struct indexer *own);
/* Removes a mirror; its store keeps its content. */
void mirrors_remove(struct mirrors *mirrors, struct indexer *store);

void mirrors_put(const struct mirrors *mirrors, struct root *object);
void mirrors_delete(const struct mirrors *mirrors, const struct root *object);
/* Applies a complete list; `objects` are its items. */
void mirrors_replace(const struct mirrors *mirrors, const struct replacement *replaced,
                     struct root *const *objects);
