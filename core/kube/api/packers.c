/* Threads that pack objects for streams; see packers.h. */
#include "kube/api/packers.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/metrics.h"
#include "base/must.h"
#include "kube/api/packers_internal.h"

METRIC(metric_packed_elsewhere, 21, "kubelua_objects_packed_elsewhere_total",
       "Number of objects that other threads than the I/O thread packed.");

enum { PACKED_AT_ONCE = 16 }; /* texts that are packed before the lane is free for others */

/* --- packing, on any thread */

static bool claim(struct pack_lane *lane)
{
    bool can = !lane->busy && (lane->waiting > 0 || lane->drains);
    if (can) lane->busy = true;
    return can;
}

struct pack_lane *packers_claim(struct packers *packers, struct pack_lane *preferred)
{
    if (claim(preferred)) return preferred;
    for (unsigned i = 0; i < packers->count; i++)
        if (claim(&packers->lane[i])) return &packers->lane[i];
    return NULL;
}

static struct pack_job *take_next(struct pack_lane *lane)
{
    struct pack_job *job = STAILQ_FIRST(&lane->queue);
    if (!job) return NULL;
    STAILQ_REMOVE_HEAD(&lane->queue, waiting);
    lane->waiting--;
    return job;
}

/* Packs without the lock; nobody else uses the pool of a busy lane. */
static void pack(struct pack_lane *lane, struct pack_job *const *texts, size_t count, bool drains)
{
    pool_adopt(lane->pool);
    for (size_t i = 0; i < count; i++) {
        texts[i]->of->pack(texts[i]->of, texts[i], lane->packer);
        atomic_store_explicit(&texts[i]->done, true, memory_order_release);
    }
    if (drains) pool_drain(lane->pool);
    pool_leave(lane->pool);
}

size_t packers_pack(struct packers *packers, struct pack_lane *lane)
{
    struct pack_job *texts[PACKED_AT_ONCE], *job;
    size_t count = 0;
    bool drains = lane->drains;
    while (count < PACKED_AT_ONCE && (job = take_next(lane))) texts[count++] = job;
    lane->drains = false;
    pthread_mutex_unlock(&packers->lock);
    pack(lane, texts, count, drains);
    pthread_mutex_lock(&packers->lock);
    lane->busy = false;
    pthread_cond_broadcast(&packers->freed);
    return count;
}

/* --- the threads */

struct pack_thread {
    struct packers *packers;
    struct pack_lane *own; /* which it prefers */
};

/* Returns a busy lane, or NULL at the end. With the lock. */
static struct pack_lane *wait_for_work(struct packers *packers, struct pack_lane *own)
{
    struct pack_lane *lane = NULL;
    while (!packers->ends && !(lane = packers_claim(packers, own))) {
        packers->asleep++;
        pthread_cond_wait(&packers->work, &packers->lock);
        packers->asleep--;
    }
    return lane;
}

static void *run(void *arg)
{
    struct pack_thread thread = *(struct pack_thread *)arg;
    struct packers *packers = thread.packers;
    struct pack_lane *lane;
    free(arg);
    pthread_setname_np(pthread_self(), "kubelua-pack");
    pthread_mutex_lock(&packers->lock);
    while ((lane = wait_for_work(packers, thread.own))) {
        size_t packed = packers_pack(packers, lane);
        if (packed == 0) continue;
        metric_add(&metric_packed_elsewhere, packed);
        pthread_mutex_unlock(&packers->lock);
        waker_wake(packers->waker);
        pthread_mutex_lock(&packers->lock);
    }
    pthread_mutex_unlock(&packers->lock);
    return NULL;
}

void packers_start(struct packers *packers)
{
    if (!packers) return;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    /* The I/O thread is the one that is missing. */
    for (unsigned i = 0; i + 1 < packers->count; i++) {
        struct pack_thread *thread = NEW(struct pack_thread);
        *thread = (struct pack_thread){packers, &packers->lane[i]};
        must(pthread_create(&packers->thread[packers->thread_count++], NULL, run, thread) == 0);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void packers_stop(struct packers *packers)
{
    if (!packers) return;
    pthread_mutex_lock(&packers->lock);
    packers->ends = true;
    pthread_cond_broadcast(&packers->work);
    pthread_mutex_unlock(&packers->lock);
    while (packers->thread_count > 0) pthread_join(packers->thread[--packers->thread_count], NULL);
    packers->ends = false;
}

/* --- the I/O thread */

/* Packs few texts here rather than wake a thread for them: that takes longer, and the texts have to go to
 * another core. */
static void settle(struct packers *packers)
{
    bool work = false;
    pthread_mutex_lock(&packers->lock);
    for (unsigned i = 0; i < packers->count; i++) {
        struct pack_lane *lane = &packers->lane[i];
        bool few = lane->waiting < PACKERS_MANY || packers->thread_count == 0;
        while (lane->waiting > 0 && few && claim(lane)) packers_pack(packers, lane);
        work = work || (lane->waiting > 0 && !lane->busy);
    }
    if (work && packers->asleep > 0) pthread_cond_broadcast(&packers->work);
    pthread_mutex_unlock(&packers->lock);
}

/* A stream that is told may free any of them. */
static struct pack_queue *next_ready(const struct packers *packers)
{
    struct pack_queue *queue;
    TAILQ_FOREACH (queue, &packers->streams, link) {
        const struct pack_job *first = STAILQ_FIRST(&queue->queue);
        if (queue->seen != packers->round && first && pack_job_is_done(first)) return queue;
    }
    return NULL;
}

static void on_wake(void *ctx)
{
    struct packers *packers = ctx;
    struct pack_queue *queue;
    packers->woken = false;
    packers->round++;
    settle(packers);
    while ((queue = next_ready(packers))) {
        queue->seen = packers->round;
        queue->ready(queue->ctx);
    }
}

void packers_wake_later(struct packers *packers)
{
    if (packers->woken) return;
    packers->woken = true;
    waker_wake(packers->waker);
}

static void lane_init(struct pack_lane *lane, const struct pool_options *options)
{
    lane->pool = pool_new(options);
    lane->packer = packer_new(lane->pool);
    pool_leave(lane->pool);
    STAILQ_INIT(&lane->queue);
}

struct packers *packers_new(struct loop *loop, unsigned count, const struct pool_options *options)
{
    must(count <= PACKERS_MAX);
    struct packers *packers = xcalloc(1, sizeof *packers + count * sizeof packers->lane[0]);
    packers->waker = waker_new(loop, on_wake, packers);
    packers->count = count;
    pthread_mutex_init(&packers->lock, NULL);
    pthread_cond_init(&packers->work, NULL);
    pthread_cond_init(&packers->freed, NULL);
    TAILQ_INIT(&packers->streams);
    STAILQ_INIT(&packers->idle);
    for (unsigned i = 0; i < count; i++) lane_init(&packers->lane[i], options);
    return packers;
}

static void lane_clear(struct pack_lane *lane)
{
    must(!lane->busy && STAILQ_EMPTY(&lane->queue));
    pool_adopt(lane->pool);
    packer_free(lane->packer);
    pool_free(lane->pool);
}

void pack_job_drop(struct pack_job *job)
{
    buf_clear(&job->text);
    free(job);
}

void packers_free(struct packers *packers)
{
    if (!packers) return;
    must(TAILQ_EMPTY(&packers->streams) && packers->thread_count == 0);
    for (unsigned i = 0; i < packers->count; i++) lane_clear(&packers->lane[i]);
    struct pack_job *job;
    while ((job = STAILQ_FIRST(&packers->idle))) {
        STAILQ_REMOVE_HEAD(&packers->idle, next);
        pack_job_drop(job);
    }
    waker_free(packers->waker);
    pthread_mutex_destroy(&packers->lock);
    pthread_cond_destroy(&packers->work);
    pthread_cond_destroy(&packers->freed);
    free(packers);
}

/* Who has made a lane busy drains its pool when it has it again. */
void packers_drain(struct packers *packers)
{
    if (!packers) return;
    pthread_mutex_lock(&packers->lock);
    for (unsigned i = 0; i < packers->count; i++) {
        struct pack_lane *lane = &packers->lane[i];
        lane->drains = true;
        if (claim(lane)) packers_pack(packers, lane);
    }
    pthread_mutex_unlock(&packers->lock);
}

unsigned packers_count(const struct packers *packers)
{
    return packers ? packers->count : 0;
}

size_t packers_under_way(const struct packers *packers)
{
    const struct pack_queue *queue;
    size_t count = 0;
    TAILQ_FOREACH (queue, &packers->streams, link) count += queue->count;
    return count;
}

size_t packers_used_bytes(const struct packers *packers)
{
    size_t bytes = 0;
    for (unsigned i = 0; i < packers_count(packers); i++) bytes += pool_used_bytes(packers->lane[i].pool);
    return bytes;
}

struct pool *packers_pool(const struct packers *packers, unsigned lane)
{
    return packers->lane[lane].pool;
}

void packers_hold(struct packers *packers)
{
    if (!packers) return;
    pthread_mutex_lock(&packers->lock);
    for (unsigned i = 0; i < packers->count; i++) {
        while (packers->lane[i].busy) pthread_cond_wait(&packers->freed, &packers->lock);
        packers->lane[i].busy = true;
    }
    pthread_mutex_unlock(&packers->lock);
}

void packers_let_go(struct packers *packers)
{
    if (!packers) return;
    pthread_mutex_lock(&packers->lock);
    for (unsigned i = 0; i < packers->count; i++) packers->lane[i].busy = false;
    pthread_cond_broadcast(&packers->freed);
    pthread_cond_broadcast(&packers->work);
    pthread_mutex_unlock(&packers->lock);
}
