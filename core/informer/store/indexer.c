/* Store: entries in the order of arrival, found by a hash table of their numbers; see indexer.h. A removed
 * entry leaves a hole, so that the order of the others stays; holes are removed when there are many. */
#include "base/array.h"
#include "informer/store/indexer_internal.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/must.h"
#include "informer/store/indexer_walk.h"
#include "informer/store/label_index.h"

static _Atomic uint64_t departed, departed_bytes;

enum { NONE = STORE_NONE, HOLES_MIN = 64, SLOTS_MIN = 16, SLOT_EMPTY = 0 };

/* --- namespaces */

struct namespace *indexer_namespace(const struct indexer *indexer, struct str name)
{
    struct namespace *found;
    HASH_FIND(hh, indexer->by_name, name.p ? name.p : "", name.n, found);
    return found;
}

static struct namespace *namespace_of(struct indexer *indexer, struct str name)
{
    struct namespace *ns = indexer_namespace(indexer, name);
    if (ns) return ns;
    ns = xcalloc(1, sizeof *ns + name.n + 1);
    if (name.n) memcpy(ns->name, name.p, name.n);
    ns->first = ns->last = NONE;
    ns->number = (uint32_t)indexer->namespace_count;
    HASH_ADD_KEYPTR(hh, indexer->by_name, ns->name, name.n, ns);
    *array_add(indexer->namespaces, indexer->namespace_count) = ns;
    return ns;
}

static void clear_namespaces(struct indexer *indexer)
{
    HASH_CLEAR(hh, indexer->by_name);
    for (size_t i = 0; i < indexer->namespace_count; i++) free(indexer->namespaces[i]);
    free(indexer->namespaces);
    indexer->namespaces = NULL;
    indexer->namespace_count = 0;
}

static void link_last(struct indexer *indexer, struct namespace *ns, int32_t at)
{
    struct entry *entry = &indexer->entries[at];
    entry->namespace_ = ns->number;
    entry->previous = ns->last;
    entry->next = NONE;
    if (ns->last != NONE)
        indexer->entries[ns->last].next = at;
    else
        ns->first = at;
    ns->last = at;
    ns->count++;
}

static void unlink_entry(struct indexer *indexer, int32_t at)
{
    struct entry *entry = &indexer->entries[at];
    struct namespace *ns = indexer->namespaces[entry->namespace_];
    if (entry->previous != NONE)
        indexer->entries[entry->previous].next = entry->next;
    else
        ns->first = entry->next;
    if (entry->next != NONE)
        indexer->entries[entry->next].previous = entry->previous;
    else
        ns->last = entry->previous;
    ns->count--;
}

/* --- creation */

struct departed indexer_departed(void)
{
    return (struct departed){atomic_load_explicit(&departed, memory_order_relaxed),
                             atomic_load_explicit(&departed_bytes, memory_order_relaxed)};
}

static void note_departed(const struct root *object)
{
    atomic_fetch_add_explicit(&departed, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&departed_bytes, pool_share(root_pool(object), root_bytes(object)),
                              memory_order_relaxed);
}

struct indexer *indexer_new(void)
{
    struct indexer *indexer = NEW(struct indexer);
    indexer->slot_count = SLOTS_MIN;
    indexer->slots = xcalloc(indexer->slot_count, sizeof *indexer->slots);
    return indexer;
}

void indexer_free(struct indexer *indexer)
{
    if (!indexer) return;
    indexer_walks_stop(indexer);
    for (size_t i = 0; i < indexer->used; i++) {
        if (indexer->entries[i].object) note_departed(indexer->entries[i].object);
        root_unref(indexer->entries[i].object);
    }
    clear_namespaces(indexer);
    indexes_free(indexer);
    label_indexes_free(indexer);
    free(indexer->entries);
    free(indexer->slots);
    buf_clear(&indexer->resource_version);
    free(indexer);
}

/* --- the table */

static void insert_slot(struct indexer *indexer, uint32_t hash, size_t number)
{
    size_t mask = indexer->slot_count - 1, at = hash & mask;
    while (indexer->slots[at] != SLOT_EMPTY) at = (at + 1) & mask;
    indexer->slots[at] = (uint32_t)number + 1;
}

/* Moves up entries behind `at` that could no longer be found across an empty slot. So the table needs no
 * marks for deleted entries, and never has to be cleaned of them. */
static void remove_slot(struct indexer *indexer, size_t at)
{
    size_t mask = indexer->slot_count - 1, free_at = at;
    for (at = (at + 1) & mask; indexer->slots[at] != SLOT_EMPTY; at = (at + 1) & mask) {
        size_t home = indexer->entries[indexer->slots[at] - 1].hash & mask;
        if (((at - home) & mask) < ((at - free_at) & mask)) continue;
        indexer->slots[free_at] = indexer->slots[at];
        free_at = at;
    }
    indexer->slots[free_at] = SLOT_EMPTY;
}

/* Rebuilds the hash table, at most three quarters full with `count` objects: fuller tables probe long. */
static void rebuild_slots(struct indexer *indexer, size_t count)
{
    size_t slots = SLOTS_MIN;
    while (slots / 4 * 3 < count) slots *= 2;
    free(indexer->slots);
    indexer->slots = xcalloc(slots, sizeof *indexer->slots);
    indexer->slot_count = slots;
    for (size_t i = 0; i < indexer->used; i++)
        if (indexer->entries[i].object) insert_slot(indexer, indexer->entries[i].hash, i);
}

static void resize_entries(struct indexer *indexer, size_t cap)
{
    /* Links between entries are int32_t, to save memory. */
    must(cap < INT32_MAX);
    indexer->cap = cap;
    indexer->entries = xrealloc(indexer->entries, cap * sizeof *indexer->entries);
}

void indexer_reserve(struct indexer *indexer, size_t count)
{
    size_t cap = indexer->used - indexer->count + count;
    if (cap > indexer->cap) resize_entries(indexer, cap);
    if (count > indexer->slot_count / 4 * 3) rebuild_slots(indexer, count);
}

/* Removes the holes, and namespaces without objects; keeps every order. */
static void compact(struct indexer *indexer)
{
    size_t used = 0;
    uint32_t *numbers = xmalloc((indexer->used + 1) * sizeof *numbers);
    clear_namespaces(indexer);
    for (size_t i = 0; i < indexer->used; i++) {
        struct text text;
        numbers[i] = INDEX_GONE;
        if (!indexer->entries[i].object) continue;
        numbers[i] = (uint32_t)used;
        indexer->entries[used] = indexer->entries[i];
        link_last(indexer, namespace_of(indexer, root_namespace(indexer->entries[used].object, &text)),
                  (int32_t)used);
        used++;
    }
    indexes_renumber(indexer, numbers, indexer->used);
    indexer_walks_renumber(indexer, numbers);
    free(numbers);
    indexer->used = used;
    resize_entries(indexer, used + used / 8 + 1);
    rebuild_slots(indexer, indexer->count);
}

/* Returns the slot of a key, or (size_t)-1. The key is that of `like`, or else ns and name. */
static size_t find_slot(const struct indexer *indexer, uint32_t hash, const struct root *like, struct str ns,
                        struct str name)
{
    size_t mask = indexer->slot_count - 1;
    for (size_t at = hash & mask; indexer->slots[at] != SLOT_EMPTY; at = (at + 1) & mask) {
        const struct entry *entry = &indexer->entries[indexer->slots[at] - 1];
        if (entry->hash != hash) continue;
        if (entry->object == like) return at;
        if (like ? root_key_equal(entry->object, like) : root_key_is(entry->object, ns, name)) return at;
    }
    return (size_t)-1;
}

/* --- objects */

uint32_t indexer_find(const struct indexer *indexer, const struct root *like)
{
    size_t slot = find_slot(indexer, root_key_hash(like), like, (struct str){0}, (struct str){0});
    return slot == (size_t)-1 ? NO_ENTRY : indexer->slots[slot] - 1;
}

uint32_t indexer_append(struct indexer *indexer, struct root *object)
{
    struct text text;
    struct namespace *ns = namespace_of(indexer, root_namespace(object, &text));
    uint32_t hash = root_key_hash(object), number = (uint32_t)indexer->used;
    if (indexer->used == indexer->cap) resize_entries(indexer, indexer->cap + indexer->cap / 2 + 16);
    if (indexer->count == indexer->slot_count / 4 * 3) rebuild_slots(indexer, indexer->count + 1);
    indexer->entries[number] = (struct entry){.object = object, .hash = hash};
    insert_slot(indexer, hash, number);
    link_last(indexer, ns, (int32_t)number);
    indexer->used++;
    indexer->count++;
    indexes_set(indexer, number, object);
    return number;
}

/* Replaces the object of an entry. The identical object costs nothing, as a relist finds most objects
 * unchanged. */
struct root *indexer_exchange(struct indexer *indexer, uint32_t entry, struct root *object)
{
    struct root *before = indexer->entries[entry].object;
    indexer->entries[entry].object = object;
    if (before == object) return before;
    note_departed(before);
    indexes_set(indexer, entry, object);
    return before;
}

struct root *indexer_put(struct indexer *indexer, struct root *object)
{
    uint32_t entry = indexer_find(indexer, object);
    if (entry != NO_ENTRY) return indexer_exchange(indexer, entry, object);
    indexer_append(indexer, object);
    return NULL;
}

struct root *indexer_take_out(struct indexer *indexer, uint32_t entry)
{
    struct root *object = indexer->entries[entry].object;
    indexes_set(indexer, entry, NULL);
    /* Before the object is removed: the slot is found by its key. */
    unlink_entry(indexer, (int32_t)entry);
    remove_slot(indexer,
                find_slot(indexer, indexer->entries[entry].hash, object, (struct str){0}, (struct str){0}));
    indexer->entries[entry].object = NULL;
    indexer->count--;
    note_departed(object);
    return object;
}

void indexer_tidy(struct indexer *indexer)
{
    /* Only if there are many holes, so that a removal is cheap on average. */
    if (indexer->used - indexer->count > HOLES_MIN + indexer->count / 2) compact(indexer);
}

struct root *indexer_remove(struct indexer *indexer, const struct root *object)
{
    uint32_t entry = indexer_find(indexer, object);
    if (entry == NO_ENTRY) return NULL;
    struct root *before = indexer_take_out(indexer, entry);
    indexer_tidy(indexer);
    return before;
}

struct root *indexer_get(const struct indexer *indexer, struct str ns, struct str name)
{
    size_t slot = find_slot(indexer, key_hash(ns, name), NULL, ns, name);
    return slot == (size_t)-1 ? NULL : indexer->entries[indexer->slots[slot] - 1].object;
}

struct root *indexer_get_like(const struct indexer *indexer, const struct root *object)
{
    uint32_t entry = indexer_find(indexer, object);
    return entry == NO_ENTRY ? NULL : indexer->entries[entry].object;
}

size_t indexer_count(const struct indexer *indexer)
{
    return indexer->count;
}

size_t indexer_namespace_count(const struct indexer *indexer, struct str ns)
{
    const struct namespace *found = indexer_namespace(indexer, ns);
    return found ? found->count : 0;
}

void indexer_each(const struct indexer *indexer, bool (*fn)(void *ctx, struct root *object), void *ctx)
{
    for (size_t i = 0; i < indexer->used; i++) {
        const struct entry *entry = indexer->entries + i;
        if (i + STORE_AHEAD < indexer->used) root_prefetch(entry[STORE_AHEAD].object);
        if (i + STORE_AHEAD_LABELS < indexer->used) root_prefetch_labels(entry[STORE_AHEAD_LABELS].object);
        if (entry->object && !fn(ctx, entry->object)) return;
    }
}

struct root *indexer_next(const struct indexer *indexer, size_t *at)
{
    struct root *object = NULL;
    while (!object && *at < indexer->used) object = indexer->entries[(*at)++].object;
    return object;
}

void indexer_each_in(const struct indexer *indexer, struct str ns, bool (*fn)(void *ctx, struct root *object),
                     void *ctx)
{
    const struct namespace *found = indexer_namespace(indexer, ns);
    if (!found) return;
    for (int32_t at = found->first; at != NONE; at = indexer->entries[at].next)
        if (!fn(ctx, indexer->entries[at].object)) return;
}

const char *indexer_resource_version(const struct indexer *indexer)
{
    return indexer->resource_version.data ? indexer->resource_version.data : "";
}

void indexer_set_resource_version(struct indexer *indexer, struct str resource_version)
{
    indexer->resource_version.len = 0;
    buf_str(&indexer->resource_version, resource_version);
    buf_text(&indexer->resource_version);
}
