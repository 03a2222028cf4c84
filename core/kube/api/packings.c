/* Texts that a stream has dealt to packers, in order; see packers.h. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/metrics.h"
#include "base/must.h"
#include "kube/api/packers_internal.h"

METRIC(metric_objects_dealt, 19, "kubelua_objects_dealt_total",
       "Number of objects that went through the lanes of --io-threads.");
METRIC(metric_packers_full, 20, "kubelua_packers_full_total",
       "Number of times that a stream waited for the threads of --io-threads.");

enum {
    UNDERWAY_MAX = 1 << 20, /* bytes of one stream */
    IDLE_MAX = 128,         /* texts whose memory is kept */
    IDLE_TEXT_MAX = 64 << 10,
};

void packings_init(struct packings *packings, struct packers *packers)
{
    packings->packers = packers;
    STAILQ_INIT(&packings->queue);
    TAILQ_INSERT_TAIL(&packers->streams, packings, link);
}

struct dealt_text *packings_make(struct packings *packings)
{
    struct packers *packers = packings->packers;
    struct dealt_text *packing = STAILQ_FIRST(&packers->idle);
    if (packing) {
        STAILQ_REMOVE_HEAD(&packers->idle, next);
        packers->idle_count--;
    } else {
        packing = NEW(struct dealt_text);
    }
    packing->of = packings;
    packing->root = NULL;
    packing->text.len = 0;
    return packing;
}

void packings_deal(struct packings *packings, struct dealt_text *packing, uint32_t group)
{
    struct packers *packers = packings->packers;
    struct pack_lane *lane = &packers->lane[group % packers->count];
    packing->lane = lane;
    atomic_store_explicit(&packing->done, false, memory_order_relaxed);
    metric_inc(&metric_objects_dealt);
    STAILQ_INSERT_TAIL(&packings->queue, packing, next);
    packings->count++;
    packings->bytes += packing->text.len;
    pthread_mutex_lock(&packers->lock);
    STAILQ_INSERT_TAIL(&lane->queue, packing, waiting);
    bool wakes = ++lane->waiting >= PACKERS_MANY && !lane->busy && packers->asleep > 0;
    if (wakes) pthread_cond_signal(&packers->work);
    pthread_mutex_unlock(&packers->lock);
    packers_wake_later(packers);
}

bool packings_is_full(const struct packings *packings)
{
    bool is_full = packings->bytes > UNDERWAY_MAX;
    if (is_full) metric_inc(&metric_packers_full);
    return is_full;
}

/* The lane of the first text comes first, then any that is free. */
void packings_wait(struct packings *packings)
{
    struct packers *packers = packings->packers;
    const struct dealt_text *first = STAILQ_FIRST(&packings->queue);
    size_t packed = 0;
    if (!first || packing_is_done(first)) return;
    pthread_mutex_lock(&packers->lock);
    while (!packing_is_done(first)) {
        struct pack_lane *lane = packers_claim(packers, first->lane);
        if (lane)
            packed += packers_pack(packers, lane);
        else
            pthread_cond_wait(&packers->freed, &packers->lock);
    }
    pthread_mutex_unlock(&packers->lock);
    if (packed > 0) packers_wake_later(packers); /* texts of others may be among them */
}

struct dealt_text *packings_take(struct packings *packings)
{
    struct dealt_text *first = STAILQ_FIRST(&packings->queue);
    if (!first || !packing_is_done(first)) return NULL;
    STAILQ_REMOVE_HEAD(&packings->queue, next);
    packings->count--;
    packings->bytes -= first->text.len;
    return first;
}

void packing_free(struct packings *packings, struct dealt_text *packing)
{
    struct packers *packers = packings->packers;
    if (packers->idle_count >= IDLE_MAX || packing->text.cap > IDLE_TEXT_MAX) {
        packing_drop(packing);
        return;
    }
    STAILQ_INSERT_HEAD(&packers->idle, packing, next);
    packers->idle_count++;
}

static bool is_waiting(const struct dealt_text *packing)
{
    const struct dealt_text *other;
    STAILQ_FOREACH (other, &packing->lane->queue, waiting)
        if (other == packing) return true;
    return false;
}

/* Takes a text out of its lane, or waits until it is packed. */
static void withdraw(struct packers *packers, struct dealt_text *packing)
{
    pthread_mutex_lock(&packers->lock);
    if (is_waiting(packing)) {
        STAILQ_REMOVE(&packing->lane->queue, packing, dealt_text, waiting);
        packing->lane->waiting--;
    } else {
        while (!packing_is_done(packing)) pthread_cond_wait(&packers->freed, &packers->lock);
    }
    pthread_mutex_unlock(&packers->lock);
}

void packings_clear(struct packings *packings)
{
    struct dealt_text *packing;
    while ((packing = STAILQ_FIRST(&packings->queue))) {
        STAILQ_REMOVE_HEAD(&packings->queue, next);
        if (!packing_is_done(packing)) withdraw(packings->packers, packing);
        root_unref(packing->root);
        packing_free(packings, packing);
    }
    TAILQ_REMOVE(&packings->packers->streams, packings, link);
}
