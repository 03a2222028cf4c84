/* Handover from one generation of a script to the next, at one instant: work of the old one goes on in the
 * new one, and exactly one of them handles each event. Owner: stateless. On the engine thread, outside of any
 * call into Lua and of any callback of an informer. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct script;

struct handover {
    size_t kept;             /* handlers that continue where the old ones were */
    size_t added, removed;   /* the others */
    size_t dropped_events;   /* pending events of handlers that are gone */
    size_t dropped_keys;     /* of queues that are gone */
    size_t cancelled_timers; /* only those created at run time */
};

/* Hands over to `to`, which was prepared and whose informers have synced. `to` runs from then on; `from`
 * drains: it starts nothing, and its calls in flight go on. Returns false and sets err if `to` cannot be
 * activated: `from` runs on unchanged, and the caller frees `to`. */
bool script_handover(struct script *from, struct script *to, struct handover *done, struct err *err);
/* Drains a script without a successor. */
void script_drain(struct script *script, struct handover *done);
/* Continues building the indexes of an incoming generation, for a few milliseconds. Returns true once all are
 * complete. */
bool script_build_indexes(struct script *script);
/* Continues copying the state of `from` for an incoming generation, for a few milliseconds. Returns true once
 * that is whole, or script_handover has to complete it. Until then `from` has no turns. */
bool script_copy_state(struct script *from, struct script *to);
/* Drops the copy, as `to` waits for something else: `from` has its turns again. */
void script_drop_state(struct script *to);
/* Returns whether a reload goes on without the claim: other clusters are waited for, but not for long, as one
 * that does not respond would have it refused. */
struct informer_claim;
bool script_claim_may_lag(const struct script *to, const struct informer_claim *claim);
/* Returns the number of informers of `to` that `from` does not have and that have not synced; sets `*claim`
 * (optional) to one of them. */
size_t script_lagging_claims(const struct script *from, const struct script *to,
                             struct informer_claim **claim);
