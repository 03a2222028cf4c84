/* All informers of the process: the same (resource, scope, selectors, projection) is one informer, shared by
 * all who claim it (F-1), and ended when nobody does any more (B-6, F-7). Owner: the engine, on the engine
 * thread. A claim is what a script holds: made while it loads, by a name that may not be known yet (F-4); it
 * meets its informer when discovery has answered. Reflectors live on the I/O thread; they are started and
 * stopped through its mailbox.*/
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
    /* Called on the I/O thread: where the objects of a resource come from. */
    struct list_watch *(*new_source)(void *ctx, const struct resource *resource,
                                     const struct lw_scope *scope);
    void *ctx;
    uint64_t seed;
    struct reflector_tuning tuning; /* of all reflectors */
    /* Grace period during which an unclaimed informer is kept up to date (B-6); 0: none. */
    int64_t grace_ms;
    /* A claim's status changed (resolved, synced, an error came or went); on the engine thread, optional. It
     * may not release claims. */
    void (*changed)(void *ctx, struct informer_claim *claim);
    /* An informer holds its first list; before `changed` of its claims; optional. */
    void (*synced)(void *ctx, const char *informer, size_t objects);
};

struct informer_spec {
    const char *kind;       /* as kubectl takes it */
    const char *namespace_; /* "": all */
    /* Instead of it: so many namespaces, read as one; a kind that has none is watched as a whole. */
    const char *const *namespaces;
    size_t namespace_count;
    const char *label_selector; /* canonical or as written; "" everything */
    const char *field_selector; /* "" */
    /* Projection of each object; NULL: everything. With `metadata_only` it must keep metadata alone. */
    struct projection *projection;
    bool metadata_only; /* ask the server for metadata alone (F-9) */
    /* Transform of objects before they are stored; `fn` NULL: none. It belongs to the claim from then on. The
     * informer is shared only with claims whose transform is the same `fn` with the same `ctx`. */
    struct transform transform;
};

struct shared_factory *shared_factory_new(const struct shared_factory_options *options);
/* Stops all reflectors, waits for the I/O thread to have let go of them, frees everything (F-5). The I/O loop
 * must still run. */
void shared_factory_free(struct shared_factory *factory);

/* Everything in `spec` is copied, the projection by a reference. The claim is released by claim_release; with
 * the last claim its informer ends. Not from a call of a handler, a filter, a transform or an index: its
 * cache and its transform may end with it. */
struct informer_claim *shared_factory_claim(struct shared_factory *factory, const struct informer_spec *spec);
/* One more on the informers of `claim`, which has them and no transform. To be released as any other. */
struct informer_claim *claim_dup(const struct informer_claim *claim);
/* All claims there are, one after the other, from the oldest; `claim` NULL: the first. NULL behind the last.
 */
struct informer_claim *shared_factory_next_claim(const struct shared_factory *factory,
                                                 const struct informer_claim *claim);
void claim_release(struct informer_claim *claim);
/* Another transform, before the claim has an informer; the one that it had is freed. */
void claim_set_transform(struct informer_claim *claim, const struct transform *transform);
/* Suspends or resumes a claim. A suspended claim gets no informer (rules that are not evaluated), does not
 * lag and is not missing. */
void claim_suspend(struct informer_claim *claim, bool suspended);
bool claim_is_suspended(const struct informer_claim *claim);
/* Its kind is known: it has its informer, or would have it were it not held. */
bool claim_is_resolved(const struct informer_claim *claim);
/* Its informers list again, as if they had just been started; what they know stays until then. */
void claim_relist(struct informer_claim *claim);
/* Gives every claim without an informer its informer, if `catalogue` knows the kind; informers whose resource
 * the server does not have any more go to the version that it has, or wait. `unknown` is called for each kind
 * it does not know that never had an informer, with the cause; it may not release a claim. May be called
 * again with a newer catalogue. */
void shared_factory_resolve(struct shared_factory *factory, const struct catalogue *catalogue,
                            void (*unknown)(void *ctx, struct informer_claim *claim, const struct err *err),
                            void *ctx);
/* Packs into a pool of the engine thread's own, made when it is first asked for: where results of transforms
 * go. Whatever is in it must have been released before the factory is freed. */
struct packer *shared_factory_packer(struct shared_factory *factory);
/* Processes what the queues hold, a bounded slice for each informer; returns true when there is more. Called
 * by the factory itself when the engine loop is woken; for tests. */
bool shared_factory_process(struct shared_factory *factory);

/* Brings the series of all informers up to date; `thorough`: also what takes longer. */
void shared_factory_update_metrics(struct shared_factory *factory, bool thorough);

const struct informer_spec *claim_spec(const struct informer_claim *claim);
/* NULL until resolved. */
const struct resource *claim_resource(const struct informer_claim *claim);
/* NULL until resolved: an empty cache. */
struct indexer *claim_indexer(struct informer_claim *claim);
/* Tells, once, when the claim's cache has a version of at least `version` (B-10), whichever cache that is by
 * then; of the namespace `ns` alone, which does not wait for what the others know; all of them when it is
 * empty. As version_waits_add, NULL with an error also while the claim has no cache, or does not have the
 * namespace. A caller looks first whether it is reached already (claim_version, version_reached). */
struct version_wait *claim_wait_version(struct informer_claim *claim, struct str ns, struct str version,
                                        void (*reached)(void *ctx), void *ctx, struct err *err);
/* Returns the version of the cache of which every handler was notified (B-10): for a list of which only some
 * were notified so far, the version before it; of the namespace `ns` alone when it is not empty. A handler
 * that was added later and whose initial delivery is not complete does not count. Empty before the first.
 * Borrowed until the cache changes. */
struct str claim_version(const struct informer_claim *claim, struct str ns);
bool claim_has_synced(const struct informer_claim *claim);
/* The server does not have the kind, or no longer: a newer catalogue may know more. */
bool claim_is_missing(const struct informer_claim *claim);

/* Handlers wait with the claim until there is an informer. */
struct claim_handler;
struct claim_handler *claim_add_handler(struct informer_claim *claim, const struct event_handler *handler);
/* From now on it is a handler of `to`, and `handler` is told in its place: it goes on where that one was.
 * `to` must have the same informers, or both have none yet. Outside of any call of a handler. */
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
