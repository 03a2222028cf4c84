/* Replacement by a list: changes the store in place and keeps the previous objects for the calls of handlers;
 * see indexer.h. */
#include <stdlib.h>

#include "base/array.h"
#include "informer/store/indexer_internal.h"

#define KEPT UINT32_MAX

void replacement_begin(struct replacement *r, struct indexer *indexer, size_t count)
{
    *r = (struct replacement){.seen_count = indexer->used, .cap = count};
    r->before = xcalloc(count + 1, sizeof(struct root *));
    r->seen = xcalloc(indexer->used + 1, sizeof *r->seen);
    if (count > indexer->count) indexer_reserve(indexer, count);
}

/* Returns the object that the entry had before the list. If a list contains a key twice, both items are
 * compared with that. */
static struct root *before_of(const struct replacement *r, const struct indexer *indexer, uint32_t entry)
{
    uint32_t item = entry < r->seen_count ? r->seen[entry] : 0;
    if (entry >= r->seen_count) return NULL; /* new in this list */
    return item && item != KEPT ? r->before[item - 1] : indexer->entries[entry].object;
}

void replacement_put(struct replacement *r, struct indexer *indexer, struct root *object)
{
    uint32_t entry = indexer_find(indexer, object);
    if (entry == NO_ENTRY) {
        indexer_append(indexer, object);
        r->count++;
        return;
    }
    struct root *before = before_of(r, indexer, entry);
    r->before[r->count++] = before ? root_ref(before) : NULL;
    if (entry < r->seen_count) r->seen[entry] = (uint32_t)r->count;
    root_unref(indexer_exchange(indexer, entry, object));
}

void replacement_keep(struct replacement *r, struct indexer *indexer, struct str ns, struct str name)
{
    struct root *known = indexer_get(indexer, ns, name);
    uint32_t entry = known ? indexer_find(indexer, known) : NO_ENTRY;
    /* An item of this list is newer than the kept state. */
    if (entry < r->seen_count && !r->seen[entry]) r->seen[entry] = KEPT;
}

struct vanished {
    char *key;
    struct root *object;
};

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct vanished *)a)->key, ((const struct vanished *)b)->key);
}

static void sort_vanished(struct replacement *r)
{
    /* Keys are built once and not in the comparison, as objects are packed. */
    if (r->vanished_count < 2) return;
    struct vanished *list = xcalloc(r->vanished_count, sizeof *list);
    for (size_t i = 0; i < r->vanished_count; i++) {
        struct buf key = {0};
        root_key(r->vanished[i], &key);
        list[i] = (struct vanished){buf_take(&key), r->vanished[i]};
    }
    qsort(list, r->vanished_count, sizeof *list, by_key);
    for (size_t i = 0; i < r->vanished_count; i++) {
        r->vanished[i] = list[i].object;
        free(list[i].key);
    }
    free(list);
}

/* Takes an entry out unless the list has it; entries that came with the list are behind those it has seen. */
static void take_unseen(struct replacement *r, struct indexer *indexer, uint32_t entry, struct buf *vanished)
{
    if (entry >= r->seen_count || r->seen[entry] || !indexer->entries[entry].object) return;
    struct root *object = indexer_take_out(indexer, entry);
    buf_append(vanished, &object, sizeof object);
}

static void end(struct replacement *r, struct indexer *indexer, struct buf vanished)
{
    /* Only now, because it changes the numbers of entries, by which `seen` refers to them. */
    indexer_tidy(indexer);
    free(r->seen);
    r->seen = NULL;
    r->vanished = (struct root **)vanished.data;
    r->vanished_count = vanished.len / sizeof(struct root *);
    /* Sorted, so that tests and replays are exact (B-9). */
    sort_vanished(r);
}

void replacement_end(struct replacement *r, struct indexer *indexer, bool keep_all)
{
    struct buf vanished = {0};
    /* If refused items have unknown keys, any entry may be one of them, so nothing is removed. */
    for (uint32_t entry = 0; !keep_all && entry < r->seen_count; entry++)
        take_unseen(r, indexer, entry, &vanished);
    end(r, indexer, vanished);
}

void replacement_end_in(struct replacement *r, struct indexer *indexer, struct str ns, bool keep_all)
{
    const struct namespace *part = keep_all ? NULL : indexer_namespace(indexer, ns);
    struct buf vanished = {0};
    for (int32_t entry = part ? part->first : STORE_NONE, next; entry != STORE_NONE; entry = next) {
        next = indexer->entries[entry].next; /* before it is taken out of the namespace */
        take_unseen(r, indexer, (uint32_t)entry, &vanished);
    }
    end(r, indexer, vanished);
}

void replacement_take_out(struct replacement *r, struct indexer *indexer,
                          bool (*goes)(const void *ctx, const struct root *object), const void *ctx)
{
    struct buf vanished = {0};
    replacement_begin(r, indexer, 0);
    for (uint32_t entry = 0; entry < r->seen_count; entry++) {
        const struct root *object = indexer->entries[entry].object;
        if (object && goes(ctx, object)) take_unseen(r, indexer, entry, &vanished);
    }
    end(r, indexer, vanished);
}

void replacement_clear(struct replacement *r)
{
    for (size_t i = 0; i < r->count; i++) root_unref(r->before[i]);
    for (size_t i = 0; i < r->vanished_count; i++) root_unref(r->vanished[i]);
    free(r->before);
    free(r->vanished);
    free(r->seen);
    *r = (struct replacement){0};
}

/* --- Copies of a store: a frozen one, with the same objects by the same numbers and without indexes; and its
 * objects copied into another store */

static void copy_namespaces(struct indexer *copy, const struct indexer *indexer)
{
    for (size_t i = 0; i < indexer->namespace_count; i++) {
        const struct namespace *ns = indexer->namespaces[i];
        size_t size = sizeof *ns + ns->hh.keylen + 1;
        struct namespace *fresh = xmalloc(size);
        memcpy(fresh, ns, size);
        HASH_ADD_KEYPTR(hh, copy->by_name, fresh->name, ns->hh.keylen, fresh);
        *array_add(copy->namespaces, copy->namespace_count) = fresh;
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
