/* Indexes of labels that are added automatically: a cache that is listed by the same label again and again
 * gets an index of it, once it has read as many objects in vain as the index would have cost, and loses it
 * when the cache has changed often and no list used it. The rule: a list by `key=value` that has to read n
 * objects (1,000 or more) adds n to the debt of that key. With a debt of LABEL_INDEX_PAYS times the objects
 * of the cache the index is built; at most four exist. It is removed when the cache has changed
 * LABEL_INDEX_IDLE times as often as it has objects since the index last served. Owner: the store. On the
 * engine thread, from any callback. */
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

/* Returns an index and the value under which all objects that `selector` selects are, if they are fewer than
 * the `otherwise` objects of a walk; else NULL. The objects under it still have to be matched. Without
 * `builds` no index is built now, nor is one owed. */
const struct index *label_index_serve(struct indexer *store, const struct selector *selector,
                                      size_t otherwise, bool builds, struct str *value);

/* For the store: call after each change, and at its end. */
void label_indexes_changed(struct indexer *store);
void label_indexes_free(struct indexer *store);
