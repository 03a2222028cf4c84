/* Objects of one name in all namespaces; see indexer.h. */
#include <stdlib.h>

#include "base/mem.h"
#include "informer/store/indexer_internal.h"

size_t indexer_namespaces(const struct indexer *indexer)
{
    return indexer->namespace_count;
}

static int by_number(const void *a, const void *b)
{
    uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    return one < other ? -1 : one > other;
}

void indexer_each_named(const struct indexer *indexer, struct str name,
                        bool (*fn)(void *ctx, struct root *object), void *ctx)
{
    uint32_t *found = xcalloc(indexer->namespace_count + 1, sizeof *found);
    size_t count = 0;
    bool goes_on = true;
    for (size_t i = 0; i < indexer->namespace_count; i++) {
        const struct root *object = indexer_get(indexer, str_of(indexer->namespaces[i]->name), name);
        if (object) found[count++] = indexer_find(indexer, object);
    }
    qsort(found, count, sizeof *found, by_number);
    for (size_t i = 0; goes_on && i < count; i++) goes_on = fn(ctx, indexer->entries[found[i]].object);
    free(found);
}
