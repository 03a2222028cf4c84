/* All informers of the process: claims with the same resource, scope, selectors and projection share one
 * informer (F-1), which ends with its last claim (B-6, F-7). Owner: the engine, on the engine thread. A
 * script holds claims: they are created while it loads, by a name that may not be known yet (F-4), and
 * receive their informers when discovery has responded. Reflectors live on the I/O thread; they are started
 * and stopped through its mailbox. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "informer/reflect/reflector.h"
#include "informer/shared/claim_status.h"
#include "informer/shared/shared_informer.h"
#include "informer/store/lister.h"
#include "kube/kinds/resource.h"
#include "net/loop.h"

struct shared_factory;
struct informer_claim;

struct shared_factory_options {
    struct loop *engine_loop, *io_loop;
    /* Creates the source of a resource's objects; called on the I/O thread. */
    struct list_watch *(*new_source)(void *ctx, const struct resource *resource,
                                     const struct lw_scope *scope);
    void *ctx;
    const char *cluster; /* whose objects these are, if it is not the home cluster; borrowed; else NULL */
    uint64_t seed;
    struct reflector_tuning tuning; /* of all reflectors */
    bool shares; /* specs with `shard` hold a share of the objects, that of shared_factory_set_slots */
    /* Kinds whose specs with `may_shard` have that too: NAME, or NAME=namespace. Borrowed. */
    const char *const *shard_kinds;
    size_t shard_kind_count;
    /* Grace period during which an unclaimed informer is kept up to date (B-6); 0: none. */
    int64_t grace_ms;
    /* Called on the engine thread when a claim's status changed (resolved, synced, an error came or went);
     * optional. It must not release claims. */
    void (*changed)(void *ctx, struct informer_claim *claim);
    /* Takes the list that an earlier run stored of the informer with this identity; false: there is none.
     * Optional. */
    bool (*stored)(void *ctx, const char *identity, struct stored_list *list);
    /* Called when an informer holds its first list, before `changed` of its claims; optional. */
    void (*synced)(void *ctx, const char *informer, size_t objects);
};

/* NAMESPACE_WATCHES_MAX: most namespaces that are followed by a watch of each, as one of all is forbidden. */
enum { NAMESPACE_WATCHES_MAX = 200 };

struct informer_spec {
    const char *kind;       /* in any form that kubectl accepts */
    const char *cluster;    /* name, in texts; NULL: that of the factory */
    const char *namespace_; /* "": all */
    /* Namespaces to read as one, instead of `namespace_`; a kind that has none is watched as a whole. */
    const char *const *namespaces;
    size_t namespace_count;
    /* Labels of the namespaces to read, instead of both: it follows them as they come and go; NULL or "": not
     * by labels. */
    const char *namespace_selector;
    const char *label_selector; /* in any form; "": all labels */
    const char *field_selector; /* "" */
    /* Projection of each object; NULL: everything. With `metadata_only` it must keep metadata alone. */
    struct projection *projection;
    bool metadata_only; /* request metadata alone (F-9) */
    /* Transform of objects before they are stored; `fn` NULL: none. Taken by the claim. The informer is
     * shared only with claims that have the same `fn` with the same `ctx`. */
    struct transform transform;
    enum shard_by shard; /* the objects of this replica alone, if the factory shares them */
    bool may_shard;      /* likewise, if its kind is one of those of the factory */
};

struct shared_factory *shared_factory_new(const struct shared_factory_options *options);
/* Stops all reflectors, waits until the I/O thread no longer uses them, and frees everything (F-5). The I/O
 * loop must still run. */
void shared_factory_free(struct shared_factory *factory);

/* Creates a claim. Copies `spec`, the projection by a reference. Release it by claim_release; with the last
 * claim its informer ends. Not from a call of a handler, a filter, a transform or an index: its cache and its
 * transform may end with it. */
struct informer_claim *shared_factory_claim(struct shared_factory *factory, const struct informer_spec *spec);
/* Creates a further claim on the informers of `claim`, which must have them and no transform. Release it like
 * any other. */
struct informer_claim *claim_dup(const struct informer_claim *claim);
/* Returns the next claim, from the oldest; the first for `claim` NULL; NULL after the last. */
struct informer_claim *shared_factory_next_claim(const struct shared_factory *factory,
                                                 const struct informer_claim *claim);
void claim_release(struct informer_claim *claim);
/* Gives the claim its informer if `catalogue` knows its kind; else it waits like those that
 * shared_factory_resolve left without one, and `changed` is called. Like that, not from a call into Lua. */
void claim_resolve(struct informer_claim *claim, const struct catalogue *catalogue);
/* Marks a claim that will be closed: whoever reads it is to be told. */
void claim_stop(struct informer_claim *claim);
bool claim_is_stopped(const struct informer_claim *claim);
/* Ends what the claim has, as claim_release does, but not the claim: who still points at it finds neither
 * cache nor indexes nor kind. The factory no longer knows it. */
void claim_close(struct informer_claim *claim);
/* Returns how long an informer without claims is kept up to date. */
int64_t shared_factory_grace_ms(const struct shared_factory *factory);
/* Replaces the transform and frees the previous one. Call before the claim has an informer. */
void claim_set_transform(struct informer_claim *claim, const struct transform *transform);
/* Suspends or resumes a claim. A suspended claim gets no informer (rules that are not evaluated), does not
 * lag and is not missing. */
void claim_suspend(struct informer_claim *claim, bool suspended);
bool claim_is_suspended(const struct informer_claim *claim);
/* Returns whether the kind is known: the claim has its informer, or would have it if it were not suspended.
 */
bool claim_is_resolved(const struct informer_claim *claim);
/* Makes its informers list again, as if just started; the cache keeps its objects until then. */
void claim_relist(struct informer_claim *claim);
/* Starts the informers of claims whose kind `catalogue` knows. Informers whose resource the server no longer
 * has move to the version that it has, or wait. `unknown` is called, with the error, for each unknown kind
 * that never had an informer; it must not release a claim. May be called again with a newer catalogue. */
void shared_factory_resolve(struct shared_factory *factory, const struct catalogue *catalogue,
                            void (*unknown)(void *ctx, struct informer_claim *claim, const struct err *err),
                            void *ctx);
/* Returns the packer for results of transforms, with a pool of the engine thread; creates it if missing.
 * Release everything in it before the factory is freed. */
struct packer *shared_factory_packer(struct shared_factory *factory);
/* A cache that a later run could continue. */
struct cache_view {
    const char *identity; /* "v1 pods in shop with labels app=web"; borrowed for the call */
    const struct resource *resource;
    const struct indexer *store; /* its objects are those of its version */
};

/* Calls `fn` for each cache that is complete, has no transform, and lacks no object that was refused. */
void shared_factory_each_cache(const struct shared_factory *factory,
                               void (*fn)(void *ctx, const struct cache_view *cache), void *ctx);
/* Place of a walk over all caches; begins zeroed. */
struct moved_caches {
    size_t informer, entry;
};
/* Has the objects of about `max` entries of the caches moved (indexer_move_objects); false at the end. A
 * cache that comes or goes meanwhile may be missed. */
bool shared_factory_move_objects(const struct shared_factory *factory, struct moved_caches *at, size_t max);
/* Returns the pool of transformed objects, which is the engine thread's; NULL: there is none. */
struct pool *shared_factory_pool(const struct shared_factory *factory);
/* Replaces the slots of this replica, for all informers that share objects. Before the first call these have
 * not begun. Ends a doubt. */
void shared_factory_set_slots(struct shared_factory *factory, const struct slot_set *slots);
/* Puts the slots in doubt, as nobody knows whether this replica still owns them: their objects are lost for
 * handlers, and come back without a list if the next shared_factory_set_slots has their slots. That one may
 * have only slots that no other replica had meanwhile. Lists in progress go on. */
void shared_factory_doubt_slots(struct shared_factory *factory);
/* Returns whether handlers have yet to be notified of objects of slots that were lost. */
bool shared_factory_is_losing(const struct shared_factory *factory);
/* Returns by what the informers of the claim share objects. */
enum shard_by claim_shard(const struct informer_claim *claim);
/* Returns whether the objects of a slot that this replica owns are in the cache; false from when it gained
 * the slot until a list brought them. True for a claim that shares nothing, and before its first list. */
bool claim_has_slot(const struct informer_claim *claim, size_t slot);
/* Figures of the informers that share objects. */
struct shared_slots_figures {
    size_t informers, objects;
    size_t behind;    /* of them: slots were gained whose objects are still being listed */
    uint64_t skipped; /* objects and events that the server sent for other replicas */
};
struct shared_slots_figures shared_factory_slots_figures(const struct shared_factory *factory);
/* Processes queued deltas, a bounded slice for each informer; returns true if there is more. Called by the
 * factory when the engine loop is woken; public for tests. */
bool shared_factory_process(struct shared_factory *factory);

/* Continues informers whose transforms had to wait for a turn of their script. */
void shared_factory_go_on(struct shared_factory *factory);

/* Updates the series of all informers; `thorough`: also those that take longer. */
void shared_factory_update_metrics(struct shared_factory *factory, bool thorough);

/* Wall time of its creation. */
int64_t claim_since_us(const struct informer_claim *claim);
struct shared_factory *claim_factory(const struct informer_claim *claim);
const struct informer_spec *claim_spec(const struct informer_claim *claim);
/* Returns whether it reads the home cluster; others may respond late or never. */
static inline bool claim_is_of_home(const struct informer_claim *claim)
{
    return !claim_spec(claim)->cluster;
}
/* NULL until resolved. */
const struct resource *claim_resource(const struct informer_claim *claim);
/* NULL until resolved: an empty cache. */
struct indexer *claim_indexer(struct informer_claim *claim);
/* Calls `reached` once when the claim's cache has a version of at least `version` (B-10), even if it is
 * another cache by then; for the namespace `ns` alone, independent of the others, or for all if it is empty.
 * Returns NULL with an error like version_waits_add, and also while the claim has no cache or does not have
 * the namespace. A caller first checks whether the version is reached already (claim_version,
 * version_reached). */
struct version_wait *claim_wait_version(struct informer_claim *claim, struct str ns, struct str version,
                                        void (*reached)(void *ctx), void *ctx, struct err *err);
/* Returns the version of the cache of which every handler was notified (B-10): for a list of which only some
 * were notified so far, the version before it; of the namespace `ns` alone when it is not empty. A handler
 * that was added later and whose initial delivery is not complete does not count. Empty before the first.
 * Borrowed until the cache changes. */
struct str claim_version(const struct informer_claim *claim, struct str ns);
bool claim_has_synced(const struct informer_claim *claim);
/* Notes a read before the claim is synced. Returns true for the first one. */
bool claim_note_early(struct informer_claim *claim);
/* Returns whether there is nothing to wait for: the claim is synced or suspended, its kind is unknown though
 * its group responded, or what is not synced of it is forbidden or gone. */
bool claim_has_settled(const struct informer_claim *claim);
/* Returns whether the server does not have the kind; a newer catalogue may know more. */
bool claim_is_missing(const struct informer_claim *claim);

/* Adds a handler; it is kept with the claim until that has an informer. */
struct claim_handler;
struct claim_handler *claim_add_handler(struct informer_claim *claim, const struct event_handler *handler);
/* Moves a handler to the claim `to` and replaces its functions by `with`; it continues at the same position.
 * `to` must have the same informers, or both none yet. Not from a handler. */
void claim_move_handler(struct claim_handler *handler, struct informer_claim *to,
                        const struct event_handler *with);
/* Returns whether two claims read the same informers. False while either has none. */
bool claims_share(const struct informer_claim *a, const struct informer_claim *b);
/* Returns whether `claim` reads objects like this one, which is or was in the cache of `other`: its kind, in
 * any version, its namespace and its labels. Only the server can evaluate field selectors: both must have the
 * same. False while either has no informer. */
bool claim_reads(const struct informer_claim *claim, const struct informer_claim *other,
                 const struct root *object);
void claim_remove_handler(struct claim_handler *handler);
bool claim_handler_has_synced(const struct claim_handler *handler);
