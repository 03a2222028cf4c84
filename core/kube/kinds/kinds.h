/* Kinds that the server serves, as far as known by now, and callers that wait for them: names of live reads
 * are resolved here. Owner: the engine, on the engine thread. Callbacks may wait again and cancel any
 * waiter. */
#pragma once
#include <stdbool.h>
#include <sys/queue.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "kube/kinds/resource.h"

struct kinds;

/* Waiter for the next catalogue. Owner: the caller, which keeps it in place until `ready` or kinds_cancel. */
struct kinds_waiter {
    /* Called when there is a catalogue; or none soon, and `err` has the reason. */
    void (*ready)(struct kinds_waiter *waiter, const struct err *err);
    struct kinds *kinds; /* NULL: not waiting */
    TAILQ_ENTRY(kinds_waiter) link;
};

/* `refresh` starts discovery soon; kinds_set or kinds_fail follows. */
struct kinds *kinds_new(struct clock *clock, void (*refresh)(void *ctx), void *ctx);
/* Call when no waiter is left. */
void kinds_free(struct kinds *kinds);
/* Sets a new catalogue; takes a reference of its own. */
void kinds_set(struct kinds *kinds, const struct catalogue *catalogue);
/* Call when discovery has failed. The last complete catalogue stays. */
void kinds_fail(struct kinds *kinds, const struct err *err);
bool kinds_known(const struct kinds *kinds);
/* Returns the latest catalogue, borrowed; NULL before the first. */
const struct catalogue *kinds_catalogue(const struct kinds *kinds);
/* Returns the last one in which all groups responded, borrowed; NULL before the first. */
const struct catalogue *kinds_complete_catalogue(const struct kinds *kinds);
/* Invalidates the catalogue, as a kind is missing or the server rejected one. Returns false if discovery ran
 * a moment ago, else starts it. With a partial catalogue, discovery is in progress already, and true is
 * returned. */
bool kinds_invalidate(struct kinds *kinds);
/* Likewise, for who has another idea of a moment. */
bool kinds_invalidate_older(struct kinds *kinds, int64_t age_ms);
void kinds_wait(struct kinds *kinds, struct kinds_waiter *waiter);
/* Does nothing if it is not waiting. */
void kinds_cancel(struct kinds_waiter *waiter);
/* Like catalogue_resolve; false before the first catalogue. The error of an unknown name suggests the nearest
 * one, and names the groups that did not respond. Names that a partial catalogue lacks resolve as before it.
 */
bool kinds_resolve(const struct kinds *kinds, struct str name, struct resource *out, struct err *err);
