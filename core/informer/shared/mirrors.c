/* Stores that follow an informer's own; see mirrors.h. */
#include "informer/shared/mirrors.h"

#include <stdlib.h>

#include "base/array.h"

void mirrors_clear(struct mirrors *mirrors)
{
    free(mirrors->stores);
    *mirrors = (struct mirrors){0};
}

void mirrors_add(struct mirrors *mirrors, struct indexer *store, const struct indexer *own)
{
    *array_add(mirrors->stores, mirrors->count) = store;
    indexer_put_all(store, own);
}

void mirrors_remove(struct mirrors *mirrors, struct indexer *store)
{
    size_t kept = 0;
    for (size_t i = 0; i < mirrors->count; i++)
        if (mirrors->stores[i] != store) mirrors->stores[kept++] = mirrors->stores[i];
    mirrors->count = kept;
}

void mirrors_put(const struct mirrors *mirrors, struct root *object)
{
    for (size_t i = 0; i < mirrors->count; i++) root_unref(indexer_put(mirrors->stores[i], root_ref(object)));
}

void mirrors_delete(const struct mirrors *mirrors, const struct root *object)
{
    for (size_t i = 0; i < mirrors->count; i++) root_unref(indexer_remove(mirrors->stores[i], object));
}

void mirrors_replace(const struct mirrors *mirrors, const struct replacement *replaced,
                     struct root *const *objects)
{
    /* Item by item, not as a replacement: a mirror also holds the objects of other informers. */
    if (mirrors->count == 0) return;
    for (size_t i = 0; i < replaced->vanished_count; i++) mirrors_delete(mirrors, replaced->vanished[i]);
    for (size_t i = 0; i < replaced->count; i++) mirrors_put(mirrors, objects[i]);
}
