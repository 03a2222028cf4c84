/* Notes and logs outages of the API server; see reachability.h. */
#include "kube/api/reachability.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"

struct reachability {
    const char *server, *cluster;
    struct clock *clock;
    pthread_mutex_t lock; /* guards all below */
    TAILQ_HEAD(, reach_waiter) waiters;
    int64_t lost_us; /* wall time; 0: reachable. Written on the I/O thread alone */
    struct err err;
};

struct reachability *reachability_new(const char *server, const char *cluster, struct clock *clock)
{
    struct reachability *r = NEW(struct reachability);
    r->server = server;
    r->cluster = cluster;
    r->clock = clock;
    pthread_mutex_init(&r->lock, NULL);
    TAILQ_INIT(&r->waiters);
    err_clear(&r->err);
    return r;
}

void reachability_free(struct reachability *r)
{
    if (!r) return;
    pthread_mutex_destroy(&r->lock);
    free(r);
}

void reachability_ok(struct reachability *r)
{
    const struct reach_waiter *waiter;
    if (!r->lost_us) return;
    int64_t after_ms = (clock_wall_us(r->clock) - r->lost_us) / 1000;
    pthread_mutex_lock(&r->lock);
    r->lost_us = 0;
    if (!TAILQ_EMPTY(&r->waiters))
        log_info("Server reachable again", F("server", r->server), FI("afterMs", after_ms),
                 FLAST("cluster", r->cluster));
    TAILQ_FOREACH (waiter, &r->waiters, link) waiter->fn(waiter->ctx);
    pthread_mutex_unlock(&r->lock);
}

void reachability_failed(struct reachability *r, struct err *err)
{
    if (err->code != ERR_CONNECT) return;
    err->unreachable = true;
    pthread_mutex_lock(&r->lock);
    if (!r->lost_us && !TAILQ_EMPTY(&r->waiters))
        log_warn("Server unreachable, retrying", F("server", r->server), F("err", err->text),
                 FLAST("cluster", r->cluster));
    if (!r->lost_us) r->lost_us = clock_wall_us(r->clock);
    r->err = *err;
    pthread_mutex_unlock(&r->lock);
}

void reachability_add(struct reachability *r, struct reach_waiter *waiter)
{
    pthread_mutex_lock(&r->lock);
    TAILQ_INSERT_TAIL(&r->waiters, waiter, link);
    pthread_mutex_unlock(&r->lock);
}

void reachability_remove(struct reachability *r, struct reach_waiter *waiter)
{
    pthread_mutex_lock(&r->lock);
    TAILQ_REMOVE(&r->waiters, waiter, link);
    pthread_mutex_unlock(&r->lock);
}

int64_t reachability_lost_us(struct reachability *r, struct err *err)
{
    pthread_mutex_lock(&r->lock);
    int64_t lost_us = r->lost_us;
    *err = r->err;
    pthread_mutex_unlock(&r->lock);
    return lost_us;
}
