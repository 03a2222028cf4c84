/* Notes and logs requests that the server throttles; see throttled.h. */
#include "kube/api/throttled.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"

enum { LOG_EVERY_MS = 60000 };

struct throttled {
    const char *server, *cluster;
    struct clock *clock;
    int64_t logged_ms;    /* -1: not yet */
    int64_t unlogged;     /* waits since */
    pthread_mutex_t lock; /* guards all below */
    size_t waiting;
    int64_t since_us;
};

struct throttled *throttled_new(const char *server, const char *cluster, struct clock *clock)
{
    struct throttled *t = NEW(struct throttled);
    t->server = server;
    t->cluster = cluster;
    t->clock = clock;
    t->logged_ms = -1;
    pthread_mutex_init(&t->lock, NULL);
    return t;
}

void throttled_free(struct throttled *t)
{
    if (!t) return;
    pthread_mutex_destroy(&t->lock);
    free(t);
}

static void note(struct throttled *t, const char *method, const char *path, int64_t wait_ms)
{
    int64_t now_ms = clock_now_ms(t->clock);
    t->unlogged++;
    if (t->logged_ms >= 0 && now_ms - t->logged_ms < LOG_EVERY_MS) return;
    log_warn("Server throttles requests, retrying", F("server", t->server), F("method", method),
             F("path", path), FI("retryInMs", wait_ms), FI("waits", t->unlogged),
             FLAST("cluster", t->cluster));
    t->logged_ms = now_ms;
    t->unlogged = 0;
}

void throttled_begin(struct throttled *t, const char *method, const char *path, int64_t wait_ms)
{
    note(t, method, path, wait_ms);
    pthread_mutex_lock(&t->lock);
    if (t->waiting++ == 0) t->since_us = clock_wall_us(t->clock);
    pthread_mutex_unlock(&t->lock);
}

void throttled_end(struct throttled *t)
{
    pthread_mutex_lock(&t->lock);
    t->waiting--;
    pthread_mutex_unlock(&t->lock);
}

size_t throttled_count(struct throttled *t, int64_t *since_us)
{
    pthread_mutex_lock(&t->lock);
    size_t waiting = t->waiting;
    *since_us = waiting ? t->since_us : 0;
    pthread_mutex_unlock(&t->lock);
    return waiting;
}
