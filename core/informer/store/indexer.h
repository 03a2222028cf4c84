/* Store of one informer: key to object, in the order in which keys came (B-9), with the namespace index and
 * any number of others (S). Owner: the shared informer, on the engine thread. Objects are references of the
 * store. A walk is consistent only if nothing changes the store meanwhile: listers copy first. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "object/pack/pool.h"
#include "object/value/value.h"

struct indexer;

struct indexer *indexer_new(void);
void indexer_free(struct indexer *indexer);
/* Reserves memory for `count` objects in all. */
void indexer_reserve(struct indexer *indexer, size_t count);
/* Adds or updates (S-3); takes the reference. Returns the previous object as a reference for the caller, or
 * NULL. */
struct root *indexer_put(struct indexer *indexer, struct root *object);
/* Adds or updates every object of another store. */
void indexer_put_all(struct indexer *indexer, const struct indexer *from);
/* Removes the object with the key of `object`; returns it as a reference for the caller, or NULL. */
struct root *indexer_remove(struct indexer *indexer, const struct root *object);
/* Borrowed; NULL when absent. */
struct root *indexer_get(const struct indexer *indexer, struct str ns, struct str name);
struct root *indexer_get_like(const struct indexer *indexer, const struct root *object);
size_t indexer_count(const struct indexer *indexer);
/* Objects that stores have dropped, or replaced by a newer state, since the process began. */
struct departed {
    uint64_t count, bytes;
};
struct departed indexer_departed(void);
size_t indexer_namespace_count(const struct indexer *indexer, struct str ns);

/* Calls `fn` for every object, or those of one namespace by its index, in the order in which their keys came.
 * `fn` returns false to stop and must not change the store. */
void indexer_each(const struct indexer *indexer, bool (*fn)(void *ctx, struct root *object), void *ctx);
/* Returns the next object from `*at` on, which starts at 0; NULL at the end. Nothing may change the store
 * between two steps. */
struct root *indexer_next(const struct indexer *indexer, size_t *at);
void indexer_each_in(const struct indexer *indexer, struct str ns, bool (*fn)(void *ctx, struct root *object),
                     void *ctx);

/* Has the objects of the next `max` entries from `*at` on moved (pool.h), of which no other thread and no
 * caller may hold one without a reference. Returns false at the end. */
bool indexer_move_objects(struct indexer *indexer, size_t *at, size_t max);

/* --- a relist */

/* Changes of a relist: for each of its items the object that had the key before it (a reference, or NULL),
 * and the objects that the list no longer has, sorted by key (B-9). */
struct replacement {
    struct root **before;
    size_t count;
    struct root **vanished;
    size_t vanished_count;
    uint32_t *seen; /* by entry: index of the last item with its key, plus one; KEPT for one to keep */
    size_t seen_count, cap;
};

/* Replaces the content by a list (S-4), in place: an unchanged object costs nothing, nor do its indexes, and
 * its key keeps its place in the order (B-3). Do not read between `begin` and `end`. `put` takes the
 * reference; `keep` keeps an object whose listed state was refused; `end` with `keep_all` removes nothing. */
void replacement_begin(struct replacement *r, struct indexer *indexer, size_t count);
void replacement_put(struct replacement *r, struct indexer *indexer, struct root *object);
void replacement_keep(struct replacement *r, struct indexer *indexer, struct str ns, struct str name);
void replacement_end(struct replacement *r, struct indexer *indexer, bool keep_all);
/* Likewise for a list of one namespace: objects of others stay. */
void replacement_end_in(struct replacement *r, struct indexer *indexer, struct str ns, bool keep_all);
/* Instead of a list: takes the objects out that `goes` selects, as if all others had been put unchanged. */
void replacement_take_out(struct replacement *r, struct indexer *indexer,
                          bool (*goes)(const void *ctx, const struct root *object), const void *ctx);
void replacement_clear(struct replacement *r);

/* --- a point in time */

/* Copies the store: the same objects in the same order, with a reference for each, and the version, without
 * indexes: those are added on demand. The caller frees it by indexer_free. */
struct indexer *indexer_copy(const struct indexer *indexer);
/* Returns an estimate of the store's bytes, its objects not counted. */
size_t indexer_bytes(const struct indexer *indexer);

/* --- indexes */

struct index;
struct index_source;

/* Adds an index and fills it (S-8). Takes the source; returns NULL with an error, and adds nothing, if the
 * store has INDEXES_MAX, or if called from a source. */
enum { INDEXES_MAX = 64 };
struct index *indexer_add_index(struct indexer *indexer, const struct index_source *source, struct err *err);
/* Likewise for a path; users of one path share the index. */
struct index *indexer_add_path_index(struct indexer *indexer, struct str path, struct err *err);
/* Likewise for an index that is not read before indexer_build_index has returned true: it is built in steps,
 * and follows changes of the store meanwhile. */
struct index *indexer_begin_index(struct indexer *indexer, const struct index_source *source,
                                  struct err *err);
struct index *indexer_begin_path_index(struct indexer *indexer, struct str path, struct err *err);
/* Adds about `max` more objects to the index. Returns true once it is complete. */
bool indexer_build_index(struct indexer *indexer, struct index *index, size_t max);
/* The source of an index may put off entries that change. Computes the values of the oldest of them; returns
 * false if there is none. */
bool indexer_catch_up(struct indexer *indexer, struct index *index);
/* Likewise for all of them, until `*stop`: the last computation is then repeated later. Not from a source. */
void indexer_catch_up_all(struct indexer *indexer, struct index *index, const volatile bool *stop);
size_t indexer_late_count(const struct indexer *indexer, const struct index *index);
/* Rebuilds the index in such steps, because its source returns other values now. Until it is complete,
 * lookups find the objects added so far. */
void indexer_rebuild_index(struct indexer *indexer, struct index *index);
/* Releases an index, once for each add; frees it with the last user. */
void indexer_release_index(struct indexer *indexer, struct index *index);
/* Returns the index for a path, or NULL. */
struct index *indexer_path_index(const struct indexer *indexer, struct str path);
/* Returns the index of a source, identified by its function and its ctx, or NULL. */
struct index *indexer_source_index(const struct indexer *indexer, const struct index_source *source);
/* Calls `fn` for the objects under a value, in the order in which their keys came. */
void indexer_each_under(const struct indexer *indexer, const struct index *index, struct str value,
                        bool (*fn)(void *ctx, struct root *object), void *ctx);
/* Calls `fn` for the objects that share a value with `object` (S-7). */
void indexer_each_like(const struct indexer *indexer, struct index *index, struct root *object,
                       bool (*fn)(void *ctx, struct root *object), void *ctx);
/* Calls `fn` for the values of each object of a namespace. */
void indexer_each_value_in(const struct indexer *indexer, const struct index *index, struct str ns,
                           void (*fn)(void *ctx, struct str value), void *ctx);
/* Returns how many namespaces the store has had since it was last tidied: lookups of indexer_each_named. */
size_t indexer_namespaces(const struct indexer *indexer);
/* Calls `fn` for the objects of this name, of any namespace, in the order in which their keys came. `fn` must
 * not change the store. */
void indexer_each_named(const struct indexer *indexer, struct str name,
                        bool (*fn)(void *ctx, struct root *object), void *ctx);
/* Calls `fn` for each namespace with objects, in no order; "" is that of cluster-scoped objects. */
void indexer_each_namespace(const struct indexer *indexer,
                            void (*fn)(void *ctx, struct str name, size_t count), void *ctx);

/* Return and set the version of the store (S-10): that of the last object, list or bookmark. */
const char *indexer_resource_version(const struct indexer *indexer);
void indexer_set_resource_version(struct indexer *indexer, struct str resource_version);
