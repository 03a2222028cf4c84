/* Indexes of labels that are added and removed automatically; see label_index.h. */
#include "informer/store/label_index.h"

#include <stdlib.h>

#include "base/mem.h"
#include "informer/store/indexer_internal.h"

/* KEYS_MAX: most keys with a debt; the one with the least is forgotten. LOOK_EVERY: changes of the store
 * between two searches for idle indexes. */
enum { KEYS_MAX = 16, CHECK_EVERY = 1024 };

struct label {
    char *key;
    uint64_t debt;
    struct index *index; /* NULL: not built */
    uint64_t served_at;  /* value of `changes` when it last served */
};

struct label_indexes {
    struct label labels[KEYS_MAX];
    size_t count, built;
    uint64_t changes;
};

static struct label *label_of(struct label_indexes *all, struct str key)
{
    struct label *least = NULL;
    for (size_t i = 0; i < all->count; i++) {
        struct label *label = &all->labels[i];
        if (str_is(key, label->key)) return label;
        if (!label->index && (!least || label->debt < least->debt)) least = label;
    }
    if (all->count < KEYS_MAX) least = &all->labels[all->count++];
    free(least->key); /* fewer than KEYS_MAX have an index, so `least` is not NULL */
    *least = (struct label){.key = xstrndup(key.p, key.n)};
    return least;
}

/* Returns an index of the label that a script added. */
static struct index *named_index(const struct indexer *store, struct str key)
{
    struct buf path = {0};
    buf_printf(&path, "metadata.labels.%.*s", STR_ARG(key));
    struct index *found = indexer_path_index(store, buf_slice(&path));
    path.len = 0;
    buf_printf(&path, "metadata.labels['%.*s']", STR_ARG(key));
    if (!found) found = indexer_path_index(store, buf_slice(&path));
    buf_clear(&path);
    return found;
}

static void build(struct indexer *store, struct label *label)
{
    struct buf path = {0};
    buf_printf(&path, "metadata.labels['%s']", label->key);
    label->index = indexer_add_path_index(store, buf_slice(&path), NULL);
    buf_clear(&path);
    label->debt = 0;
    store->labels->built += label->index != NULL;
}

static void drop(struct indexer *store, struct label *label)
{
    indexer_release_index(store, label->index);
    label->index = NULL;
    store->labels->built--;
}

static void charge(struct indexer *store, struct label *label, size_t scanned)
{
    if (scanned < LABEL_INDEX_OBJECTS_MIN) return;
    label->debt += scanned;
    if (label->debt < LABEL_INDEX_PAYS * (uint64_t)store->count) return;
    /* A source that lists would otherwise add an index while indexes are updated. */
    if (store->labels->built < LABEL_INDEX_MAX && !store->indexing) build(store, label);
}

const struct index *label_index_serve(struct indexer *store, const struct selector *selector,
                                      size_t otherwise, bool builds, struct str *value)
{
    const struct index *best = NULL;
    struct label *serving = NULL;
    struct str key, wanted;
    for (size_t i = 0; (key = selector_equality(selector, i, &wanted)).p; i++) {
        if (wanted.n == 0) continue; /* an index has no entries for a label that is null */
        if (!store->labels) store->labels = NEW(struct label_indexes);
        struct label *label = label_of(store->labels, key);
        const struct index *index = label->index ? label->index : named_index(store, key);
        if (!index && builds) charge(store, label, otherwise);
        if (!index) index = label->index;
        if (!index || index_count(index, wanted) >= otherwise) continue;
        otherwise = index_count(index, wanted);
        best = index;
        serving = label;
        *value = wanted;
    }
    if (serving) serving->served_at = store->labels->changes;
    return best;
}

void label_indexes_changed(struct indexer *store)
{
    struct label_indexes *all = store->labels;
    if (!all || ++all->changes % CHECK_EVERY != 0 || all->built == 0) return;
    for (size_t i = 0; i < all->count; i++) {
        struct label *label = &all->labels[i];
        if (label->index && all->changes - label->served_at > LABEL_INDEX_IDLE * (uint64_t)store->count)
            drop(store, label);
    }
}

void label_indexes_free(struct indexer *store)
{
    if (!store->labels) return;
    for (size_t i = 0; i < store->labels->count; i++) free(store->labels->labels[i].key);
    free(store->labels);
    store->labels = NULL;
}
