/* Indexes of a store: added and shared, kept up to date, read; see indexer.h. */
#include <stdlib.h>

#include "base/array.h"
#include "base/must.h"
#include "informer/store/index.h"
#include "informer/store/indexer_internal.h"
#include "informer/store/label_index.h"

/* --- kept up to date */

/* Entries stay in the order in which they changed: once one was put off, so are the next. */
static bool put_off(struct indexed *indexed, uint32_t entry)
{
    if (!indexed->late.left && !index_is_later(indexed->index)) return false;
    late_add(&indexed->late, entry);
    return true;
}

void indexes_set(struct indexer *indexer, uint32_t entry, struct root *object)
{
    indexer->indexing = true;
    for (size_t i = 0; i < indexer->index_count; i++) {
        struct indexed *indexed = &indexer->indexes[i];
        /* An entry that a growing index has not reached yet is added when it gets there. */
        if (indexed->building && entry >= indexed->built) continue;
        if (!object) late_drop(&indexed->late, entry); /* without a call of the source */
        if (!object || !put_off(indexed, entry)) index_set(indexed->index, entry, object);
    }
    indexer->indexing = false;
    label_indexes_changed(indexer);
}

/* Returns how many of the first `count` entries are left. Entries keep their order, so a growing index
 * continues there. */
static size_t count_kept(const uint32_t *numbers, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) kept += numbers[i] != INDEX_GONE;
    return kept;
}

void indexes_renumber(struct indexer *indexer, const uint32_t *numbers, size_t count)
{
    for (size_t i = 0; i < indexer->index_count; i++) {
        struct indexed *indexed = &indexer->indexes[i];
        index_renumber(indexed->index, numbers, count);
        late_renumber(&indexed->late, numbers, count);
        if (indexed->building) indexed->built = count_kept(numbers, indexed->built);
    }
}

static void free_indexed(struct indexed *indexed)
{
    index_free(indexed->index);
    late_clear(&indexed->late);
    free(indexed->path);
}

void indexes_free(struct indexer *indexer)
{
    for (size_t i = 0; i < indexer->index_count; i++) free_indexed(&indexer->indexes[i]);
    free(indexer->indexes);
    indexer->indexes = NULL;
    indexer->index_count = 0;
}

/* --- added and removed */

static struct indexed *find_path(const struct indexer *indexer, struct str path)
{
    for (size_t i = 0; i < indexer->index_count; i++)
        if (indexer->indexes[i].path && str_is(path, indexer->indexes[i].path)) return &indexer->indexes[i];
    return NULL;
}

/* Indexes of an incoming generation do not count yet: it may have as many as the running one. */
static bool may_add(const struct indexer *indexer, struct err *err)
{
    size_t whole = 0;
    if (indexer->indexing) return err_set(err, ERR_INVALID, "an index function may not add an index");
    for (size_t i = 0; i < indexer->index_count; i++) whole += !indexer->indexes[i].building;
    if (whole < INDEXES_MAX) return true;
    return err_set(err, ERR_LIMIT, "the cache already has the maximum of %d indexes", INDEXES_MAX);
}

static void build(struct indexer *indexer, struct indexed *indexed, size_t max, bool at_once)
{
    size_t left = indexer->used - indexed->built, end = indexed->built + (left < max ? left : max);
    indexer->indexing = true;
    for (; indexed->built < end; indexed->built++) {
        uint32_t entry = (uint32_t)indexed->built;
        struct root *object = indexer->entries[entry].object;
        if (object && (!at_once || !put_off(indexed, entry))) index_set(indexed->index, entry, object);
    }
    indexer->indexing = false;
    if (indexed->built == indexer->used) indexed->building = false;
}

/* Adds an index that is not filled yet. Takes `path`. */
static struct index *begin(struct indexer *indexer, const struct index_source *source, char *path)
{
    struct index *index = index_new(source);
    *array_add(indexer->indexes, indexer->index_count) =
        (struct indexed){.index = index, .path = path, .users = 1, .building = true};
    return index;
}

static struct indexed *find_index(const struct indexer *indexer, const struct index *index)
{
    size_t i = 0;
    while (i < indexer->index_count && indexer->indexes[i].index != index) i++;
    must(i < indexer->index_count);
    return &indexer->indexes[i];
}

/* Fills the index before any caller can read it (S-8), but for what its source puts off. */
static struct index *finish(struct indexer *indexer, struct index *index)
{
    struct indexed *indexed = index ? find_index(indexer, index) : NULL;
    if (indexed && indexed->building) build(indexer, indexed, SIZE_MAX, true);
    return index;
}

bool indexer_build_index(struct indexer *indexer, struct index *index, size_t max)
{
    struct indexed *indexed = find_index(indexer, index);
    if (indexed->building) build(indexer, indexed, max, false);
    return !indexed->building;
}

static bool catch_up(struct indexer *indexer, struct indexed *indexed, const volatile bool *stop)
{
    uint32_t entry;
    if (!late_first(&indexed->late, &entry)) return false;
    indexer->indexing = true;
    index_set(indexed->index, entry, indexer->entries[entry].object);
    indexer->indexing = false;
    if (stop && *stop) return false;
    late_drop(&indexed->late, entry);
    return true;
}

bool indexer_catch_up(struct indexer *indexer, struct index *index)
{
    return catch_up(indexer, find_index(indexer, index), NULL);
}

void indexer_catch_up_all(struct indexer *indexer, struct index *index, const volatile bool *stop)
{
    struct indexed *indexed = find_index(indexer, index);
    while (catch_up(indexer, indexed, stop)) continue;
}

size_t indexer_late_count(const struct indexer *indexer, const struct index *index)
{
    return find_index(indexer, index)->late.left;
}

void indexer_rebuild_index(struct indexer *indexer, struct index *index)
{
    struct indexed *indexed = find_index(indexer, index);
    index_empty(index);
    late_clear(&indexed->late);
    indexed->building = true;
    indexed->built = 0;
}

struct index *indexer_begin_index(struct indexer *indexer, const struct index_source *source, struct err *err)
{
    if (may_add(indexer, err)) return begin(indexer, source, NULL);
    if (source->free) source->free(source->ctx);
    return NULL;
}

struct index *indexer_add_index(struct indexer *indexer, const struct index_source *source, struct err *err)
{
    return finish(indexer, indexer_begin_index(indexer, source, err));
}

struct index *indexer_add_path_index(struct indexer *indexer, struct str path, struct err *err)
{
    return finish(indexer, indexer_begin_path_index(indexer, path, err));
}

struct index *indexer_begin_path_index(struct indexer *indexer, struct str path, struct err *err)
{
    struct index_source source;
    struct indexed *known = find_path(indexer, path);
    if (known) {
        known->users++;
        return known->index;
    }
    if (!may_add(indexer, err) || !index_source_of_path(path, &source, err)) return NULL;
    return begin(indexer, &source, xstrndup(path.p, path.n));
}

void indexer_release_index(struct indexer *indexer, struct index *index)
{
    size_t i = (size_t)(find_index(indexer, index) - indexer->indexes);
    if (--indexer->indexes[i].users > 0) return;
    free_indexed(&indexer->indexes[i]);
    indexer->index_count--;
    for (; i < indexer->index_count; i++) indexer->indexes[i] = indexer->indexes[i + 1];
}

/* --- read */

struct index *indexer_path_index(const struct indexer *indexer, struct str path)
{
    const struct indexed *known = find_path(indexer, path);
    return known && !known->building ? known->index : NULL;
}

struct index *indexer_source_index(const struct indexer *indexer, const struct index_source *source)
{
    for (size_t i = 0; i < indexer->index_count; i++)
        if (index_is_of(indexer->indexes[i].index, source)) return indexer->indexes[i].index;
    return NULL;
}

/* Calls `fn` for the entries; takes the numbers. They were copied, so `fn` may read the index. */
static void each_entry(const struct indexer *indexer, struct buf *entries,
                       bool (*fn)(void *ctx, struct root *object), void *ctx)
{
    const uint32_t *numbers = (const uint32_t *)entries->data;
    size_t count = entries->len / sizeof *numbers;
    for (size_t i = 0; i < count; i++) {
        if (i + STORE_AHEAD < count) root_prefetch(indexer->entries[numbers[i + STORE_AHEAD]].object);
        if (i + STORE_AHEAD_LABELS < count)
            root_prefetch_labels(indexer->entries[numbers[i + STORE_AHEAD_LABELS]].object);
        if (!fn(ctx, indexer->entries[numbers[i]].object)) break;
    }
    buf_clear(entries);
}

void indexer_each_under(const struct indexer *indexer, const struct index *index, struct str value,
                        bool (*fn)(void *ctx, struct root *object), void *ctx)
{
    struct buf entries = {0};
    index_entries(index, value, &entries);
    each_entry(indexer, &entries, fn, ctx);
}

void indexer_each_like(const struct indexer *indexer, struct index *index, struct root *object,
                       bool (*fn)(void *ctx, struct root *object), void *ctx)
{
    struct buf entries = {0};
    index_entries_like(index, object, &entries);
    each_entry(indexer, &entries, fn, ctx);
}

void indexer_each_value_in(const struct indexer *indexer, const struct index *index, struct str ns,
                           void (*fn)(void *ctx, struct str value), void *ctx)
{
    const struct namespace *found = indexer_namespace(indexer, ns);
    if (!found) return;
    for (int32_t at = found->first; at != STORE_NONE; at = indexer->entries[at].next)
        index_values_of(index, (uint32_t)at, fn, ctx);
}

void indexer_each_namespace(const struct indexer *indexer,
                            void (*fn)(void *ctx, struct str name, size_t count), void *ctx)
{
    for (size_t i = 0; i < indexer->namespace_count; i++) {
        const struct namespace *ns = indexer->namespaces[i];
        if (ns->count) fn(ctx, str_of(ns->name), ns->count);
    }
}
