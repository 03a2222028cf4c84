/* The latest catalogue and its waiters; see kinds.h. */
#include "kube/kinds/kinds.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"

/* Time for which a response is considered fresh. */
enum { FRESH_MS = 5000 };

struct kinds {
    struct catalogue *catalogue; /* NULL before the first */
    struct catalogue *complete;  /* the one before a partial one; NULL: none */
    struct clock *clock;
    int64_t set_ms; /* when it came */
    void (*refresh)(void *ctx);
    void *ctx;
    TAILQ_HEAD(waiter_list, kinds_waiter) waiters;
};

struct kinds *kinds_new(struct clock *clock, void (*refresh)(void *ctx), void *ctx)
{
    struct kinds *kinds = NEW(struct kinds);
    kinds->clock = clock;
    kinds->refresh = refresh;
    kinds->ctx = ctx;
    TAILQ_INIT(&kinds->waiters);
    return kinds;
}

void kinds_free(struct kinds *kinds)
{
    if (!kinds) return;
    must(TAILQ_EMPTY(&kinds->waiters));
    catalogue_free(kinds->catalogue);
    catalogue_free(kinds->complete);
    free(kinds);
}

/* Calls all waiters. Those that wait again meanwhile are not called twice. */
static void wake_all(struct kinds *kinds, const struct err *err)
{
    struct kinds_waiter *waiter;
    struct kinds waking = {.catalogue = NULL};
    TAILQ_INIT(&waking.waiters);
    TAILQ_CONCAT(&waking.waiters, &kinds->waiters, link);
    TAILQ_FOREACH (waiter, &waking.waiters, link) waiter->kinds = &waking;
    while ((waiter = TAILQ_FIRST(&waking.waiters))) {
        kinds_cancel(waiter);
        waiter->ready(waiter, err);
    }
}

void kinds_set(struct kinds *kinds, const struct catalogue *catalogue)
{
    struct catalogue *old = kinds->catalogue;
    if (!catalogue_is_partial(catalogue)) {
        catalogue_free(kinds->complete);
        kinds->complete = NULL;
    } else if (old && !catalogue_is_partial(old)) {
        kinds->complete = old;
        old = NULL;
    }
    kinds->catalogue = catalogue_ref(catalogue);
    kinds->set_ms = clock_now_ms(kinds->clock);
    catalogue_free(old);
    wake_all(kinds, NULL);
}

/* Restores the last complete catalogue: a partial one has less, and its missing groups will not come. */
void kinds_fail(struct kinds *kinds, const struct err *err)
{
    if (kinds->complete) {
        catalogue_free(kinds->catalogue);
        kinds->catalogue = kinds->complete;
        kinds->complete = NULL;
    }
    wake_all(kinds, err);
}

const struct catalogue *kinds_catalogue(const struct kinds *kinds)
{
    return kinds->catalogue;
}

const struct catalogue *kinds_complete_catalogue(const struct kinds *kinds)
{
    bool is_partial = kinds->catalogue && catalogue_is_partial(kinds->catalogue);
    return is_partial ? kinds->complete : kinds->catalogue;
}

bool kinds_known(const struct kinds *kinds)
{
    return kinds->catalogue != NULL;
}

bool kinds_invalidate(struct kinds *kinds)
{
    return kinds_invalidate_older(kinds, FRESH_MS);
}

bool kinds_invalidate_older(struct kinds *kinds, int64_t age_ms)
{
    if (kinds->catalogue && catalogue_is_partial(kinds->catalogue)) return true;
    if (kinds->catalogue && clock_now_ms(kinds->clock) - kinds->set_ms < age_ms) return false;
    kinds->refresh(kinds->ctx);
    return true;
}

void kinds_wait(struct kinds *kinds, struct kinds_waiter *waiter)
{
    must(!waiter->kinds);
    waiter->kinds = kinds;
    TAILQ_INSERT_TAIL(&kinds->waiters, waiter, link);
}

void kinds_cancel(struct kinds_waiter *waiter)
{
    if (!waiter->kinds) return;
    TAILQ_REMOVE(&waiter->kinds->waiters, waiter, link);
    waiter->kinds = NULL;
}

bool kinds_resolve(const struct kinds *kinds, struct str name, struct resource *out, struct err *err)
{
    if (!kinds->catalogue)
        return err_set(err, ERR_NOT_FOUND, "%.*s: the kinds of the server are not known yet", STR_ARG(name));
    if (catalogue_resolve(kinds->catalogue, name, out, err)) return true;
    if (catalogue_is_partial(kinds->catalogue) && kinds->complete &&
        catalogue_resolve(kinds->complete, name, out, NULL))
        return true;
    catalogue_explain(kinds->catalogue, name, err);
    return false;
}
