/* Internals shared by packers.c, the threads and their pools, and pack_queue.c, what a stream has dealt.
 * Owner: as packers.h says. For these files only. */
#pragma once
#include <pthread.h>

#include "kube/api/packers.h"

STAILQ_HEAD(packing_queue, pack_job);

/* A pool with what waits for it. The queue and the flags are guarded by the lock of all; pool and packer
 * belong to the thread that made it busy. */
struct pack_lane {
    struct pool *pool;
    struct packer *packer;
    struct packing_queue queue;
    size_t waiting;
    bool busy, drains;
};

struct packers {
    pthread_mutex_t lock;
    pthread_cond_t work;  /* for threads that sleep */
    pthread_cond_t freed; /* a lane is no longer busy */
    unsigned asleep;      /* guarded by the lock, as is the next one */
    bool ends;
    struct waker *waker; /* texts were dealt in this turn, or some are done */
    /* Used on the I/O thread alone: */
    bool woken; /* by itself */
    unsigned round;
    TAILQ_HEAD(, pack_queue) streams;
    struct packing_queue idle;
    size_t idle_count;
    pthread_t thread[PACKERS_MAX];
    unsigned thread_count; /* that run */
    unsigned count;
    struct pack_lane lane[];
};

static inline bool pack_job_is_done(const struct pack_job *job)
{
    return atomic_load_explicit(&job->done, memory_order_acquire);
}

/* Makes a lane busy that has something to do: this one if it can, else another one. NULL: none can. With the
 * lock. */
struct pack_lane *packers_claim(struct packers *packers, struct pack_lane *preferred);
/* Packs some of what waits for a lane that the thread has made busy, and frees the lane. Returns how many
 * texts. With the lock, which is let go meanwhile. */
size_t packers_pack(struct packers *packers, struct pack_lane *lane);
/* Has the loop look at the lanes and the streams in its next turn. On the I/O thread. */
void packers_wake_later(struct packers *packers);
void pack_job_drop(struct pack_job *job);
