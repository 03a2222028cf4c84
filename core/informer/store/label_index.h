/* Indexes of labels that come by themselves: a cache that is asked for the same label again and again gets an
 * index of it, once it has looked at so many objects in vain that the index would have been cheaper, and
 * loses it when the cache changes on and nobody asks any more.
 *
 * The rule: a list by `key=value` that has to look at n objects (1,000 or more) adds n to the debt of that
 * key. With a debt of LABEL_INDEX_PAYS times the objects of the cache the index is built, four of them at
 * most. It goes when the cache has changed LABEL_INDEX_IDLE times as often as it has objects since the index
 * last served. Owner: the store. On the engine thread, from any callback. */
#pragma once
#include "informer/store/index.h"
#include "informer/store/indexer.h"
#include "object/value/selector.h"

enum {
    LABEL_INDEX_OBJECTS_MIN = 1000,
    LABEL_INDEX_PAYS = 8,
    LABEL_INDEX_IDLE = 4,
    LABEL_INDEX_MAX = 4,
};

/* The index and the value under which all are that `selector` selects, when that is less than the `otherwise`
 * objects that would be looked at; NULL: look at those. What is under it still has to be matched. */
const struct index *label_index_serve(struct indexer *store, const struct selector *selector,
                                      size_t otherwise, struct str *value);

/* For the store: it changed; and its end. */
void label_indexes_changed(struct indexer *store);
void label_indexes_free(struct indexer *store);
