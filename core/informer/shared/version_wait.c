/* Waits for versions; see version_wait.h. */
#include "informer/shared/version_wait.h"

#include <stdlib.h>

#include "base/mem.h"
#include "kube/kinds/resource.h"

struct version_wait {
    TAILQ_ENTRY(version_wait) link;
    struct version_waits *waits; /* NULL when the list was cleared */
    const void *reader;
    void (*reached)(void *ctx);
    void *ctx;
    size_t len;
    char version[];
};

void version_waits_init(struct version_waits *waits)
{
    TAILQ_INIT(&waits->queue);
    waits->notified = (struct buf){0};
}

void version_waits_clear(struct version_waits *waits)
{
    struct version_wait *wait;
    while ((wait = TAILQ_FIRST(&waits->queue))) {
        TAILQ_REMOVE(&waits->queue, wait, link);
        wait->waits = NULL;
    }
    buf_clear(&waits->notified);
}

static struct str version_of(const struct version_wait *wait)
{
    return (struct str){wait->version, wait->len};
}

/* Sorted by version, so that a change for which none waits costs one comparison, however many wait. Who waits
 * for its own write comes last, mostly. */
static void insert(struct version_waits *waits, struct version_wait *wait)
{
    struct version_wait *before = TAILQ_LAST(&waits->queue, version_wait_queue);
    while (before && !version_reached(version_of(wait), version_of(before)))
        before = TAILQ_PREV(before, version_wait_queue, link);
    if (before)
        TAILQ_INSERT_AFTER(&waits->queue, before, wait, link);
    else
        TAILQ_INSERT_HEAD(&waits->queue, wait, link);
}

struct version_wait *version_waits_add(struct version_waits *waits, struct str version, const void *reader,
                                       void (*reached)(void *ctx), void *ctx, struct err *err)
{
    if (!resource_version_check(version, err)) return NULL;
    struct version_wait *wait = xcalloc(1, sizeof *wait + version.n);
    *wait = (struct version_wait){
        .waits = waits, .reader = reader, .reached = reached, .ctx = ctx, .len = version.n};
    memcpy(wait->version, version.p, version.n);
    insert(waits, wait);
    return wait;
}

void version_waits_move(struct version_waits *from, struct version_waits *to, const void *reader)
{
    struct version_wait *wait, *next;
    for (wait = TAILQ_FIRST(&from->queue); wait; wait = next) {
        next = TAILQ_NEXT(wait, link);
        if (wait->reader != reader) continue;
        TAILQ_REMOVE(&from->queue, wait, link);
        wait->waits = to;
        insert(to, wait);
    }
}

void version_wait_cancel(struct version_wait *wait)
{
    if (wait->waits) TAILQ_REMOVE(&wait->waits->queue, wait, link);
    free(wait);
}

bool version_reached(struct str now, struct str wanted)
{
    return !version_may_be_newer(wanted, now);
}

struct str version_waits_version(const struct version_waits *waits)
{
    return buf_slice(&waits->notified);
}

/* Only the first is looked at, each time: the call before may have cancelled any. */
void version_waits_notify(struct version_waits *waits, struct str now)
{
    struct version_wait *wait;
    waits->notified.len = 0;
    buf_str(&waits->notified, now);
    while ((wait = TAILQ_FIRST(&waits->queue)) && version_reached(now, version_of(wait))) {
        void (*reached)(void *ctx) = wait->reached;
        void *ctx = wait->ctx;
        /* Freed before the call: the callback may free its context. */
        version_wait_cancel(wait);
        reached(ctx);
    }
}
