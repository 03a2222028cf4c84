/* Reads of a cache: objects by key, by namespace, by label selector (contract F-11..F-13). Owner: a result
 * array belongs to the caller, with a reference for each object; lister_free_list releases both. `stop` ends
 * a walk early once it is true; NULL: never. On the engine thread, from any callback; results do not change
 * when the cache does. */
#pragma once
#include <stddef.h>

#include "informer/store/index.h"
#include "informer/store/indexer.h"
#include "object/value/selector.h"

struct lister_list {
    struct root **objects;
    size_t count;
};

/* Lists objects in the order in which their keys came (B-9). `ns` empty: all namespaces. `selector` NULL:
 * everything. Uses an index of a label where that pays (label_index.h). */
void lister_list(struct indexer *indexer, struct str ns, const struct selector *selector,
                 const volatile bool *stop, struct lister_list *out);
void lister_free_list(struct lister_list *list);
size_t lister_count(struct indexer *indexer, struct str ns, const struct selector *selector,
                    const volatile bool *stop);
/* Lists the objects under a value of an index, in the order in which keys came (S-7, B-9). `index` NULL: the
 * namespace index. */
void lister_by_index(const struct indexer *indexer, const struct index *index, struct str ns,
                     struct str value, const volatile bool *stop, struct lister_list *out);
/* Lists the objects that share a value with `object`, each once (S-7). */
void lister_by_index_like(const struct indexer *indexer, struct index *index, struct str ns,
                          struct root *object, const volatile bool *stop, struct lister_list *out);
/* Returns the values of an index that any object of the namespace has, sorted, each once (S-7, B-9): strings
 * borrowed until the store changes, in a malloc'ed array. Once `stop` is true they are in no order. */
struct str *lister_index_values(const struct indexer *indexer, const struct index *index, struct str ns,
                                const volatile bool *stop, size_t *count);
