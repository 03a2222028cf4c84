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

void pack_queue_init(struct pack_queue *queue, struct packers *packers)
{
    queue->packers = packers;
    STAILQ_INIT(&queue->queue);
    TAILQ_INSERT_TAIL(&packers->streams, queue, link);
}

struct pack_job *pack_queue_make(struct pack_queue *queue)
{
    struct packers *packers = queue->packers;
    struct pack_job *job = STAILQ_FIRST(&packers->idle);
    if (job) {
        STAILQ_REMOVE_HEAD(&packers->idle, next);
        packers->idle_count--;
    } else {
        job = NEW(struct pack_job);
    }
    job->of = queue;
    job->root = NULL;
    job->text.len = 0;
    return job;
}

void pack_queue_deal(struct pack_queue *queue, struct pack_job *job, uint32_t group)
{
    struct packers *packers = queue->packers;
    struct pack_lane *lane = &packers->lane[group % packers->count];
    job->lane = lane;
    atomic_store_explicit(&job->done, false, memory_order_relaxed);
    metric_inc(&metric_objects_dealt);
    STAILQ_INSERT_TAIL(&queue->queue, job, next);
    queue->count++;
    queue->bytes += job->text.len;
    pthread_mutex_lock(&packers->lock);
    STAILQ_INSERT_TAIL(&lane->queue, job, waiting);
    bool wakes = ++lane->waiting >= PACKERS_MANY && !lane->busy && packers->asleep > 0;
    if (wakes) pthread_cond_signal(&packers->work);
    pthread_mutex_unlock(&packers->lock);
    packers_wake_later(packers);
}

bool pack_queue_is_full(const struct pack_queue *queue)
{
    bool is_full = queue->bytes > UNDERWAY_MAX;
    if (is_full) metric_inc(&metric_packers_full);
    return is_full;
}

/* The lane of the first text comes first, then any that is free. */
void pack_queue_wait(struct pack_queue *queue)
{
    struct packers *packers = queue->packers;
    const struct pack_job *first = STAILQ_FIRST(&queue->queue);
    size_t packed = 0;
    if (!first || pack_job_is_done(first)) return;
    pthread_mutex_lock(&packers->lock);
    while (!pack_job_is_done(first)) {
        struct pack_lane *lane = packers_claim(packers, first->lane);
        if (lane)
            packed += packers_pack(packers, lane);
        else
            pthread_cond_wait(&packers->freed, &packers->lock);
    }
    pthread_mutex_unlock(&packers->lock);
    if (packed > 0) packers_wake_later(packers); /* texts of others may be among them */
}

struct pack_job *pack_queue_take(struct pack_queue *queue)
{
    struct pack_job *first = STAILQ_FIRST(&queue->queue);
    if (!first || !pack_job_is_done(first)) return NULL;
    STAILQ_REMOVE_HEAD(&queue->queue, next);
    queue->count--;
    queue->bytes -= first->text.len;
    return first;
}

void pack_job_free(struct pack_queue *queue, struct pack_job *job)
{
    struct packers *packers = queue->packers;
    if (packers->idle_count >= IDLE_MAX || job->text.cap > IDLE_TEXT_MAX) {
        pack_job_drop(job);
        return;
    }
    STAILQ_INSERT_HEAD(&packers->idle, job, next);
    packers->idle_count++;
}

static bool is_waiting(const struct pack_job *job)
{
    const struct pack_job *other;
    STAILQ_FOREACH (other, &job->lane->queue, waiting)
        if (other == job) return true;
    return false;
}

/* Takes a text out of its lane, or waits until it is packed. */
static void withdraw(struct packers *packers, struct pack_job *job)
{
    pthread_mutex_lock(&packers->lock);
    if (is_waiting(job)) {
        STAILQ_REMOVE(&job->lane->queue, job, pack_job, waiting);
        job->lane->waiting--;
    } else {
        while (!pack_job_is_done(job)) pthread_cond_wait(&packers->freed, &packers->lock);
    }
    pthread_mutex_unlock(&packers->lock);
}

void pack_queue_clear(struct pack_queue *queue)
{
    struct pack_job *job;
    while ((job = STAILQ_FIRST(&queue->queue))) {
        STAILQ_REMOVE_HEAD(&queue->queue, next);
        if (!pack_job_is_done(job)) withdraw(queue->packers, job);
        root_unref(job->root);
        pack_job_free(queue, job);
    }
    TAILQ_REMOVE(&queue->packers->streams, queue, link);
}
