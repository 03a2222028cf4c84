/* Walks in parts; see indexer_walk.h. */
#include "informer/store/indexer_walk.h"

#include "informer/store/indexer_internal.h"

void indexer_walk_begin(struct indexer_walk *walk, struct indexer *indexer)
{
    *walk = (struct indexer_walk){.indexer = indexer};
    LIST_INSERT_HEAD(&indexer->walks, walk, link);
}

void indexer_walk_end(struct indexer_walk *walk)
{
    if (walk->indexer) LIST_REMOVE(walk, link);
    walk->indexer = NULL;
}

/* Objects, their fields and the path's are each a part of memory that the one before names. */
static void prefetch(const struct indexer_walk *walk, const struct entry *entry, size_t left)
{
    if (left > STORE_AHEAD) root_prefetch(entry[STORE_AHEAD].object);
    if (!walk->path) return;
    if (left > STORE_AHEAD_FIELDS) root_prefetch_fields(entry[STORE_AHEAD_FIELDS].object);
    const struct root *near = left > STORE_AHEAD_PATH ? entry[STORE_AHEAD_PATH].object : NULL;
    if (near) path_prefetch(walk->path, 0, root_value(near));
    const struct root *next = left > STORE_AHEAD_VALUE ? entry[STORE_AHEAD_VALUE].object : NULL;
    if (next) path_prefetch(walk->path, 1, root_value(next));
}

bool indexer_walk_on(struct indexer_walk *walk, size_t max, bool (*fn)(void *ctx, struct root *object),
                     void *ctx)
{
    const struct indexer *indexer = walk->indexer;
    if (!indexer) return false;
    size_t end = indexer->used - walk->at > max ? walk->at + max : indexer->used;
    bool goes_on = true;
    while (goes_on && walk->at < end) {
        const struct entry *entry = &indexer->entries[walk->at];
        prefetch(walk, entry, end - walk->at++);
        if (entry->object) goes_on = fn(ctx, entry->object);
    }
    if (goes_on && walk->at < indexer->used) return true;
    indexer_walk_end(walk);
    return false;
}

void indexer_walks_renumber(struct indexer *indexer, const uint32_t *numbers)
{
    struct indexer_walk *walk;
    LIST_FOREACH (walk, &indexer->walks, link) {
        size_t left = 0;
        for (size_t i = 0; i < walk->at; i++) left += numbers[i] != INDEX_GONE;
        walk->at = left;
    }
}

void indexer_walks_stop(struct indexer *indexer)
{
    struct indexer_walk *walk;
    while ((walk = LIST_FIRST(&indexer->walks))) indexer_walk_end(walk);
}

bool indexer_move_objects(struct indexer *indexer, size_t *at, size_t max)
{
    size_t left = *at < indexer->used ? indexer->used - *at : 0, end = *at + (left > max ? max : left);
    for (; *at < end; ++*at) {
        struct entry *entry = &indexer->entries[*at];
        if (end - *at > STORE_AHEAD) root_prefetch(entry[STORE_AHEAD].object);
        if (entry->object) entry->object = root_move(entry->object);
    }
    return left > max;
}
