/* Informers that a script makes while it runs, and stops: each with a claim of its own. What may still point
 * at the claim holds the informer: its userdata, which what reads it keeps alive by its environment, and in C
 * handlers and waits by running_informer_ref. Once stopped, its claim is closed in the script's next turn; it
 * is freed in one when nothing holds it any more. Owner: the script. On the engine thread. */
#pragma once
#include <lua.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "script/vm/state.h"

struct informer_claim;

struct running_informer {
    TAILQ_ENTRY(running_informer) link;
    struct script *script;
    struct informer_claim *claim;
    const struct cluster_parts *cluster; /* held until it is closed, then NULL */
    size_t refs;
    bool resolved; /* as far as the kinds were known in its first turn */
    bool closed;
};

/* Of a script. */
struct running_informers {
    TAILQ_HEAD(, running_informer) list;
    /* Times until which informers that were stopped may still be kept up to date: they count, as the number
     * of watches is what the limit is about. */
    int64_t *grace_ends_ms;
    size_t grace_count;
    bool ended; /* the script has no turns any more */
};

/* Takes the claim; the caller has the first reference. */
struct running_informer *running_informer_new(struct script *script, struct informer_claim *claim,
                                              const struct cluster_parts *cluster);
/* Returns its argument; NULL stays NULL, also below: an informer of the load phase lives as long as the
 * script. */
struct running_informer *running_informer_ref(struct running_informer *informer);
void running_informer_unref(struct running_informer *informer);
/* Closes it soon: it may not be used any more. Its handlers and waits are the caller's to end. */
void running_informer_stop(struct running_informer *informer);
/* Returns the number of informers that count for the limit, besides those of the load phase. */
size_t running_informers_count(struct script *script);
