/* Walk of a store in parts, between which the store may change: it meets each object once that is there all
 * the time, in the order in which keys came, in the state that it has then. Owner: its creator, by
 * indexer_walk_end. On the engine thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "informer/store/indexer.h"
#include "object/value/path.h"

struct indexer_walk {
    LIST_ENTRY(indexer_walk) link;
    struct indexer *indexer; /* NULL: it has gone, or the walk is over */
    size_t at;               /* next entry */
    const struct path *path; /* that is read of most objects, which are prefetched for it; NULL: none */
};

void indexer_walk_begin(struct indexer_walk *walk, struct indexer *indexer);
/* Calls `fn` for the next `max` entries or fewer, until it returns false, which ends the walk. Returns
 * whether there are more. */
bool indexer_walk_on(struct indexer_walk *walk, size_t max, bool (*fn)(void *ctx, struct root *object),
                     void *ctx);
void indexer_walk_end(struct indexer_walk *walk);

/* --- for the store: its entries have new numbers, as of indexes_renumber; it ends */

void indexer_walks_renumber(struct indexer *indexer, const uint32_t *numbers);
void indexer_walks_stop(struct indexer *indexer);
