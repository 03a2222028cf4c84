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

/* Waits for the next catalogue. Belongs to who waits; in place until `ready` or kinds_cancel. */
struct kinds_waiter {
    /* There is a catalogue; or there will be none soon, and `err` says why. */
    void (*ready)(struct kinds_waiter *waiter, const struct err *err);
    struct kinds *kinds; /* NULL: does not wait */
    TAILQ_ENTRY(kinds_waiter) link;
};

/* `ask` has the server asked for a new catalogue, soon; kinds_set or kinds_fail follows. */
struct kinds *kinds_new(struct clock *clock, void (*refresh)(void *ctx), void *ctx);
/* Nobody may wait any more. */
void kinds_free(struct kinds *kinds);
/* A new catalogue; takes a reference of its own. */
void kinds_set(struct kinds *kinds, const struct catalogue *catalogue);
/* Discovery failed. The last complete catalogue stays. */
void kinds_fail(struct kinds *kinds, const struct err *err);
bool kinds_known(const struct kinds *kinds);
/* Borrowed; NULL before the first. */
const struct catalogue *kinds_catalogue(const struct kinds *kinds);
/* The last one in which all groups responded; borrowed, NULL before the first. */
const struct catalogue *kinds_complete_catalogue(const struct kinds *kinds);
/* Invalidates the catalogue: a kind is missing, or the server rejected one. Returns false if discovery ran a
 * moment ago, else starts it. With a partial
 * catalogue it is going on, and waited for. */
bool kinds_invalidate(struct kinds *kinds);
void kinds_wait(struct kinds *kinds, struct kinds_waiter *waiter);
/* Harmless when it does not wait. */
void kinds_cancel(struct kinds_waiter *waiter);
/* As catalogue_resolve, once something is known; an unknown name's error names the one that was meant, and
 * the groups that did not answer. Names that a
 * partial catalogue lacks resolve as before it. */
bool kinds_resolve(const struct kinds *kinds, struct str name, struct resource *out, struct err *err);
