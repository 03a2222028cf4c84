/* Internals of a shared factory and its claims: shared.c has the factory, its turns and the informers,
 * informer_set.c several informers read as one, informer_claim.c the claims of scripts and their handlers.
 * Owner: the engine thread, except what says otherwise. */
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

/* One informer with its feed. `stopping` from the last release until the I/O thread has let go. */
struct shared {
    TAILQ_ENTRY(shared) link;
    struct shared_factory *factory;
    struct informer_key key;
    struct shared_informer *informer;
    struct feed *feed;
    size_t claims;
    struct timer grace; /* runs while there is no claim (B-6) */
    bool stopping;
    enum claim_state state; /* as its claims show it, and the wall time at which it came about (B-7) */
    int64_t since_us;
    struct err gone; /* why the server no longer has its resource; ERR_NONE while it has */
    size_t refused;  /* as it was noted last, on the engine thread; see claim_note_refused */
    struct buf refused_text;
    struct informer_metrics metrics;
    _Atomic bool changed; /* its status did, and its claims have not been told */
};

struct informer_claim {
    TAILQ_ENTRY(informer_claim) link;
    struct shared_factory *factory;
    struct informer_spec spec; /* owned texts */
    struct informer_set *set;  /* NULL until resolved */
    TAILQ_HEAD(, claim_handler) handlers;
    struct claim_index_list indexes;
    bool builds_in_steps;  /* the indexes */
    bool suspended, known; /* `known`: it would be resolved were it not held */
    struct err unknown;    /* why it is not resolved; ERR_NONE: discovery has not responded */
    int64_t since_us;      /* wall time at which it was made */
    struct series **down;  /* one for each namespace, until it is resolved (B-7) */
    size_t down_count;
};

struct shared_factory {
    struct shared_factory_options options;
    struct waker *waker;
    struct watch_list_memory *memory; /* of the server; used on the I/O thread */
    TAILQ_HEAD(, shared) informers;
    size_t informer_count;
    TAILQ_HEAD(, informer_set) sets;
    TAILQ_HEAD(, informer_claim) claims;
    uint64_t started;
    bool closing;
    struct pool *pool; /* of transformed objects, with their packer; NULL until there are any */
    struct packer *packer;
};

/* One claim more on the informer of this identity (F-1), which is made and started when there is none. Takes
 * what the key owns. */
struct shared *shared_acquire(struct shared_factory *factory, struct informer_key *key);
/* The key of the informer that a claim asks for in a namespace; for informer_key_clear. */
void informer_spec_key(const struct informer_spec *spec, const struct resource *resource, const char *ns,
                       struct informer_key *key);
/* One less; after the last one the informer lives for the grace period, with its cache kept up to date. */
void shared_release(struct shared *shared);
/* Ends it now. */
void shared_close(struct shared *shared);
/* After its feed has ended. */
void shared_free(struct shared *shared);
/* Lists again, so that failed objects are delivered again. The store stays unchanged until then. */
void shared_relist(struct shared *shared);
/* Tells the claims what the other thread noted, if it did. */
void shared_notify_claims(struct shared *shared);
/* Looks what state it is in, and keeps the time when that is news. */
void shared_note_state(struct shared *shared, const struct reflector_status *status);
/* Keeps what the status says of refused objects. */
void shared_note_refused(struct shared *shared, const struct reflector_status *status);
/* Hands the handlers that wait to the informers. */
void claim_handlers_attach(struct informer_claim *claim);
/* Returns an estimate of the bytes of a cache's objects; inspects some thousand of them at most. */
size_t indexer_estimate_bytes(const struct indexer *indexer);
/* Its series begin, under its name and resource of now. */
void shared_start_metrics(struct shared *shared);
/* A new informer, whatever others there are. Takes what the key owns. */
struct shared *shared_start(struct shared_factory *factory, const struct informer_key *key);
/* Its state may be another one: its claims are told soon. */
void shared_touch(struct shared *shared);

/* --- shared_follow.c */

/* The server says that it does not have the resource. */
bool shared_is_missing(const struct shared *shared, const struct reflector_status *status);
/* One that is missing goes where discovery knows it now, or waits for it. */
void shared_follow(struct shared *shared, const struct catalogue *catalogue);
