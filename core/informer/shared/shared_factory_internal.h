/* Internals of a shared factory and its claims: shared.c has the factory, its turns and the informers,
 * informer_set.c several informers read as one, informer_claim.c the claims of scripts, claim_resolve.c how
 * they get their informers, claim_handlers.c their handlers. Owner: the engine thread, unless stated
 * otherwise. */
#pragma once
#include <stdatomic.h>
#include <sys/queue.h>

#include "informer/reflect/feed.h"
#include "informer/shared/claim_index.h"
#include "informer/shared/informer_key.h"
#include "informer/shared/informer_metrics.h"
#include "informer/shared/informer_set.h"
#include "informer/shared/shared_factory.h"

struct claim_handler {
    TAILQ_ENTRY(claim_handler) link;
    struct informer_claim *claim;
    struct event_handler handler;
    struct registration **registrations; /* one for each informer of the set; NULL until there is one */
};

/* The informer of the namespaces with certain labels, for an informer that has only their objects: shared
 * with whoever else has these labels. Its adds and deletes become joins and leaves of the feed, which begins
 * with its first list. */
struct shared_namespaces {
    struct shared *informer;           /* NULL: the informer has objects of all namespaces */
    struct registration *registration; /* with it */
    bool begun;
    /* A watch of all is forbidden: the sets of its claims have an informer for each namespace beside this
     * one, which stays empty. `stale`: the namespaces have changed since, or some that left are not empty
     * yet. */
    bool each, stale;
    struct err limit; /* more of them than may be watched so */
};

/* One informer with its feed. `stopping`: from the last release until the I/O thread no longer uses it. */
struct shared {
    TAILQ_ENTRY(shared) link;
    struct shared_factory *factory;
    struct informer_key key;
    struct shared_informer *informer;
    struct feed *feed;
    size_t claims;
    struct timer grace; /* runs while there is no claim (B-6) */
    bool stopping;
    enum claim_state state; /* as its claims show it, and the wall time of its last change (B-7) */
    int64_t since_us;
    struct err gone; /* error while the server no longer has its resource; else ERR_NONE */
    size_t refused;  /* as recorded last, on the engine thread; see claim_note_refused */
    struct buf refused_text;
    struct informer_metrics metrics;
    struct shared_namespaces namespaces; /* whose objects it has, if not all */
    bool left; /* it is that of one namespace, which has lost its labels: it has ended, and empties itself */
    _Atomic bool changed; /* its status changed, and its claims were not notified yet */
};

struct informer_claim {
    TAILQ_ENTRY(informer_claim) link;
    struct shared_factory *factory;
    struct informer_spec spec; /* with owned strings */
    struct informer_set *set;  /* NULL until resolved */
    TAILQ_HEAD(, claim_handler) handlers;
    struct claim_index_list indexes;
    bool builds_in_steps;  /* the indexes */
    bool read_early;       /* before it was synced */
    bool suspended, known; /* `held`: suspended; `known`: it would be resolved otherwise */
    bool stopped, closed;  /* see claim_stop and claim_close */
    bool undecided;        /* unknown, but its group may respond later */
    struct err *unknown;   /* reason why it is not resolved; NULL: none, or discovery has not responded */
    int64_t since_us;      /* wall time of its creation */
    struct series **down;  /* one for each namespace, until it is resolved (B-7) */
    size_t down_count;
};

struct shared_factory {
    struct shared_factory_options options;
    struct waker *waker;
    struct watch_list_memory *memory; /* of the server; used on the I/O thread */
    TAILQ_HEAD(, shared) informers;
    size_t informer_count;
    size_t following; /* of them that follow namespaces by labels */
    TAILQ_HEAD(, informer_set) sets;
    TAILQ_HEAD(, informer_claim) claims;
    uint64_t started;
    bool closing;
    struct slot_set slots; /* of this replica, if `options.shares` */
    bool in_doubt;         /* nobody knows whether they still are */
    struct pool *pool;     /* of transformed objects, with their packer; NULL until there are any */
    struct packer *packer;
};

/* Adds a claim on the informer of this identity (F-1); creates and starts it if missing. Takes the content of
 * the key. */
struct shared *shared_acquire(struct shared_factory *factory, struct informer_key *key);
/* The key of the informer that a claim asks for in a namespace; for informer_key_clear. */
void informer_spec_key(const struct informer_spec *spec, const struct resource *resource, const char *ns,
                       struct informer_key *key);
/* Removes a claim; after the last one the informer lives for the grace period, with its cache kept up to
 * date. */
void shared_release(struct shared *shared);
/* Stops it now. */
void shared_close(struct shared *shared);
/* Frees it; call after its feed has ended. */
void shared_free(struct shared *shared);
/* Lists again, so that failed objects are delivered again. The store stays unchanged until then. */
void shared_relist(struct shared *shared);
/* Notifies the claims if the I/O thread reported a change. */
void shared_notify_claims(struct shared *shared);
/* Returns whether nothing is to be waited for: it is synced, forbidden, or gone. */
bool shared_is_settled(const struct shared *shared);
/* Updates its state and, if that changed, the time. */
void shared_note_state(struct shared *shared, const struct reflector_status *status);
/* Copies the figures of refused objects from the status. */
void shared_note_refused(struct shared *shared, const struct reflector_status *status);
/* Ends the series that a claim shows while it has no informer. */
void claim_end_down(struct informer_claim *claim);
/* Adds the claim's handlers to its informers. */
void claim_handlers_attach(struct informer_claim *claim);
/* Returns an estimate of the bytes of a cache's objects; inspects some thousand of them at most. */
size_t indexer_estimate_bytes(const struct indexer *indexer);
/* Creates its series, under its present name and resource. */
void shared_start_metrics(struct shared *shared);
/* Creates an informer without looking for an equal one. Takes the content of the key. */
struct shared *shared_start(struct shared_factory *factory, const struct informer_key *key);
/* Schedules a notification of its claims, as its state may have changed. */
void shared_touch(struct shared *shared);

/* --- shared_slots.c */

/* Does nothing for a key that is not shared by replicas. */
void shared_slots_start(struct shared *shared);

/* --- shared_follow.c */

/* Returns whether the server reported that it does not have the resource. */
bool shared_is_missing(const struct shared *shared, const struct reflector_status *status);
/* Moves a missing one to the version that discovery knows now, or keeps it waiting. */
void shared_follow(struct shared *shared, const struct catalogue *catalogue);
/* Adds registrations for informers that are new in the claim's set, and removes those for others. */
void claim_handlers_join(struct informer_claim *claim, const struct informer_set *before);
/* Gives a new claim the informers of single namespaces, if its others have them. Before handlers and indexes
 * are attached. */
void claim_follow_each(struct informer_claim *claim);
/* Does nothing for a key that does not follow namespaces. */
void shared_namespaces_start(struct shared *shared);
void shared_namespaces_end(struct shared *shared);
/* Begins feeds whose namespaces are known by now. */
void shared_namespaces_check(struct shared_factory *factory);
/* Returns the informer of namespaces while the feed has not begun; else NULL. */
static inline struct shared *shared_namespaces_awaited(const struct shared *shared)
{
    return shared->namespaces.begun ? NULL : shared->namespaces.informer;
}
