/* All objects, by resource, with one version counter for all of them, and the watches that wait for changes.
 * Owner: the server. Call everything between sim_store_lock and sim_store_unlock, on any thread; borrowed
 * pointers are valid until the unlock, unless a reference was taken. */
#pragma once
#include <pthread.h>
#include <sys/queue.h>

#include "base/clock.h"
#include "sim/object/kind.h"
#include "sim/store/action.h"
#include "sim/store/history.h"
#include "sim/text/random.h"

struct sim_watcher {
    TAILQ_ENTRY(sim_watcher) link;
    struct sim_resource *resource;
    uint64_t next; /* sequence number of the event it takes next */
    int wake_fd;   /* an eventfd, written when `asleep` */
    bool asleep;
    bool ended; /* the stream is to end: the resource is gone, the history expired, the server stops */
    struct sim_actions actions; /* injected from outside */
};

struct sim_resource {
    const struct sim_kind *kind; /* the version in which objects are stored */
    struct omap *map;
    struct sim_history history;
    TAILQ_HEAD(sim_watchers, sim_watcher) watchers;
    struct sim_resource *next;
    bool gone;
};

/* One served version of a resource. Never freed before the store. */
struct sim_served {
    const struct sim_kind *kind;
    struct sim_resource *resource;
    char *api_version;
    char *head; /* kind and apiVersion as the first members of an object: "kind":"Pod","apiVersion":"v1", */
};

struct sim_store_options {
    uint64_t first_version; /* 0: from the wall clock */
    size_t history_events, history_bytes;
};

struct sim_store {
    pthread_mutex_t lock;
    struct sim_store_options options;
    uint64_t version;
    struct sim_random random; /* for uids and names */
    struct sim_resource *resources;
    struct sim_served **served;
    const struct sim_kind **kinds; /* of `served`, for discovery */
    size_t served_count;
    json_t *definitions; /* names of CustomResourceDefinitions, for effects.c, which has a lock of its own */
    bool stopping;
};

/* Creates a store with the built-in kinds, all empty. */
struct sim_store *sim_store_new(const struct sim_store_options *options);
void sim_store_free(struct sim_store *store);
void sim_store_lock(struct sim_store *store);
void sim_store_unlock(struct sim_store *store);

/* Returns the resource; NULL if it is not served. `group` is "" for the core group. */
struct sim_served *sim_store_find(struct sim_store *store, const char *group, const char *version,
                                  const char *plural);
/* Likewise, but takes the lock itself. */
struct sim_served *sim_store_found(struct sim_store *store, const char *group, const char *version,
                                   const char *plural);
/* By plural, singular, kind or short name, alone or with ".group" behind it. */
struct sim_served *sim_store_lookup(struct sim_store *store, const char *name);
/* Returns the storage version of a kind by group and kind; NULL if unknown. */
struct sim_served *sim_store_of_kind(struct sim_store *store, const char *api_version, const char *kind);
/* Adds the versions of a custom resource, or puts them in the place of those that it had; takes the kinds. */
void sim_store_serve(struct sim_store *store, struct sim_kind *const *kinds, size_t n);
/* Its objects are deleted, its watches end, discovery does not name it any more. */
void sim_store_withdraw(struct sim_store *store, const char *group, const char *plural);

/* Returns the object as the version has it, parsed: a new reference. Also without the lock. */
json_t *sim_served_json(const struct sim_served *served, const struct sim_object *object);
/* Returns a stored object of a kind by its key, parsed; NULL: there is none. Takes the lock itself. */
json_t *sim_stored(struct sim_store *store, const char *api_version, const char *kind, const char *key);
/* Returns whether another object than that of the key has the text in its spec, which is compact JSON. Takes
 * the lock itself. */
bool sim_store_has_text(struct sim_store *store, const struct sim_resource *resource, const char *key,
                        const char *text);
/* Returns all stored objects of a kind, parsed: a new array. Takes the lock itself. */
json_t *sim_stored_all(struct sim_store *store, const char *api_version, const char *kind);
/* Return and release a new reference to the object with that key, NULL if it does not exist; both take the
 * lock themselves. NULL may be released. */
struct sim_object *sim_store_ref(struct sim_store *store, const struct sim_resource *resource,
                                 const char *key);
void sim_store_release(struct sim_store *store, struct sim_object *object);

/* Stores the object, which it takes, under a new version: an event ADDED or MODIFIED. */
struct sim_object *sim_store_put(struct sim_store *store, struct sim_resource *resource,
                                 struct sim_object *object);
/* Removes an object; returns false if it does not exist. */
bool sim_store_remove(struct sim_store *store, struct sim_resource *resource, const char *key);
/* Many objects at once with the versions that they have, without events, into an empty resource. Ascending;
 * taken. */
void sim_store_fill(struct sim_store *store, struct sim_resource *resource, struct sim_object *const *objects,
                    size_t n);

void sim_store_compact(struct sim_store *store);
/* Ends open watches, and makes every version so far too old. NULL is all resources. */
void sim_store_expire(struct sim_store *store, struct sim_resource *resource);

/* Adds a watcher, from sequence number `next` on. */
void sim_watcher_join(struct sim_watcher *watcher, struct sim_resource *resource, uint64_t next);
void sim_watcher_leave(struct sim_watcher *watcher);
void sim_watcher_wake(struct sim_watcher *watcher);
/* Ends the open watches of a resource, or of all (NULL). */
void sim_store_end_watches(struct sim_store *store, struct sim_resource *resource);
/* Ends every stream from now on. */
void sim_store_stop(struct sim_store *store);
