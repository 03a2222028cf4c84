/* Copies of a store: a frozen one, with the same objects by the same numbers and without indexes, and its
 * objects put into a store that goes on; see indexer.h. */
#include <stdlib.h>

#include "base/mem.h"
#include "informer/store/indexer_internal.h"

static void copy_namespaces(struct indexer *copy, const struct indexer *indexer)
{
    copy->namespace_count = indexer->namespace_count;
    copy->namespaces = xcalloc(indexer->namespace_count + 1, sizeof *copy->namespaces);
    for (size_t i = 0; i < indexer->namespace_count; i++) {
        const struct namespace *ns = indexer->namespaces[i];
        size_t size = sizeof *ns + ns->hh.keylen + 1;
        struct namespace *fresh = xmalloc(size);
        memcpy(fresh, ns, size);
        HASH_ADD_KEYPTR(hh, copy->by_name, fresh->name, ns->hh.keylen, fresh);
        copy->namespaces[i] = fresh;
    }
}

struct indexer *indexer_copy(const struct indexer *indexer)
{
    struct indexer *copy = NEW(struct indexer);
    *copy = (struct indexer){.used = indexer->used,
                             .cap = indexer->used,
                             .count = indexer->count,
                             .slot_count = indexer->slot_count};
    copy->entries = xmalloc((indexer->used + 1) * sizeof *copy->entries);
    copy->slots = xmalloc(indexer->slot_count * sizeof *copy->slots);
    if (indexer->used) memcpy(copy->entries, indexer->entries, indexer->used * sizeof *copy->entries);
    memcpy(copy->slots, indexer->slots, indexer->slot_count * sizeof *copy->slots);
    for (size_t i = 0; i < copy->used; i++)
        if (copy->entries[i].object) root_ref(copy->entries[i].object);
    copy_namespaces(copy, indexer);
    indexer_set_resource_version(copy, str_of(indexer_resource_version(indexer)));
    return copy;
}

static bool put(void *ctx, struct root *object)
{
    root_unref(indexer_put(ctx, root_ref(object)));
    return true;
}

void indexer_put_all(struct indexer *indexer, const struct indexer *from)
{
    indexer_reserve(indexer, indexer->count + from->count);
    indexer_each(from, put, indexer);
}

size_t indexer_bytes(const struct indexer *indexer)
{
    size_t bytes = sizeof *indexer + indexer->cap * sizeof *indexer->entries +
                   indexer->slot_count * sizeof *indexer->slots +
                   indexer->namespace_count * (sizeof(struct namespace) + sizeof(struct namespace *));
    for (size_t i = 0; i < indexer->index_count; i++) bytes += index_bytes(indexer->indexes[i].index);
    return bytes;
}
