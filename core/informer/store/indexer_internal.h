/* Internals of a store, for indexer.c and its parts: indexer_indexes.c, indexer_replace.c. Owner: see
 * indexer.h. */
#pragma once
#include <sys/queue.h>
#include <uthash.h>

#include "base/buf.h"
#include "informer/store/index.h"
#include "informer/store/indexer.h"
#include "informer/store/late_entries.h"

enum { STORE_NONE = -1 };
/* Number of no entry. */
#define NO_ENTRY UINT32_MAX

/* The objects of one namespace, linked through the entries. Cluster-scoped objects are in the one without a
 * name. */
struct namespace
{
    UT_hash_handle hh;
    int32_t first, last;
    uint32_t count;
    uint32_t number; /* in `namespaces` */
    char name[];
};

struct entry {
    struct root *object; /* NULL: a hole */
    uint32_t hash;
    uint32_t namespace_;
    int32_t previous, next; /* in its namespace */
};

struct label_indexes;

struct indexer {
    struct entry *entries;
    size_t used, cap, count; /* entries with holes, room, objects */
    uint32_t *slots;         /* an entry's number plus one, or SLOT_EMPTY */
    size_t slot_count;       /* a power of two */
    struct namespace *by_name;
    struct namespace **namespaces;
    size_t namespace_count;
    struct buf resource_version;
    struct indexed *indexes;
    size_t index_count;
    struct label_indexes *labels; /* NULL until the first list by a label */
    LIST_HEAD(, indexer_walk) walks;
    bool indexing; /* a source is being called: indexes must not be added or released */
};

/* Walks prefetch objects, their labels, and their fields down to a path's second one, this many objects
 * ahead. */
enum {
    STORE_AHEAD = 16,
    STORE_AHEAD_LABELS = 8,
    STORE_AHEAD_FIELDS = 10,
    STORE_AHEAD_PATH = 5,
    STORE_AHEAD_VALUE = 2
};

/* Index of the store with the number of its users. */
struct indexed {
    struct index *index;
    char *path; /* of an index by path, which is shared; else NULL */
    size_t users;
    bool building; /* it has only the first `built` entries, and is not read yet */
    size_t built;
    struct late_entries late; /* whose values were put off */
};

struct namespace *indexer_namespace(const struct indexer *indexer, struct str name);
/* Returns the number of the entry with the key of `like`, or NO_ENTRY. */
uint32_t indexer_find(const struct indexer *indexer, const struct root *like);
/* Adds an object that the store does not have; takes the reference; returns the entry's number. */
uint32_t indexer_append(struct indexer *indexer, struct root *object);
/* Replaces the object of an entry; takes the reference and returns that of the previous object. */
struct root *indexer_exchange(struct indexer *indexer, uint32_t entry, struct root *object);
/* Removes an object and leaves a hole; returns its reference. The caller removes holes by indexer_tidy. */
struct root *indexer_take_out(struct indexer *indexer, uint32_t entry);
void indexer_tidy(struct indexer *indexer);

/* Update every index: the entry holds `object`, NULL for none; entries have new numbers. */
void indexes_set(struct indexer *indexer, uint32_t entry, struct root *object);
void indexes_renumber(struct indexer *indexer, const uint32_t *numbers, size_t count);
void indexes_free(struct indexer *indexer);
