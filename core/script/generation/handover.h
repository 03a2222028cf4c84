/* From one generation of a script to the next, at one instant: what the old one held goes on in the new one,
 * and each event is handled by exactly one of them. Owner: nothing is kept. On the engine thread, outside of
 * any call into Lua and of any processing of an informer. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct script;

struct handover {
    size_t kept;             /* handlers that go on where the old ones were */
    size_t added, removed;   /* the others */
    size_t dropped_events;   /* that handlers which are no more were not notified of yet */
    size_t dropped_keys;     /* of queues that are no more */
    size_t cancelled_timers; /* of those made at run time */
};

/* `to` was prepared, and its informers hold their first lists. It runs from then on; `from` drains: it takes
 * nothing in, and what waits in it goes on. False when `to` cannot take over: `from` goes on as if nothing
 * had been, and `to` is to be freed. */
bool script_handover(struct script *from, struct script *to, struct handover *done, struct err *err);
/* The same without a successor: it takes nothing in any more. */
void script_drain(struct script *script, struct handover *done);
/* Goes on to build the indexes of one that is to take over, for a few milliseconds. True once all are whole.
 */
bool script_build_indexes(struct script *script);
/* Informers of `to` that `from` does not have, and that hold no first list yet; `*claim` (optional) is one of
 * them. */
struct informer_claim;
size_t script_lagging_claims(const struct script *from, const struct script *to,
                             struct informer_claim **claim);
