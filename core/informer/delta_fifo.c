/* The queue between the two threads; see delta_fifo.h. Two arrays take turns: the producer appends to one
 * while the consumer works through the other, so that the lock is held for an append or a swap and never
 * while handling. */
#include "informer/delta_fifo.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"

struct run {
    struct delta *deltas;
    size_t count, cap;
};

struct delta_fifo {
    pthread_mutex_t lock;
    struct run filling;     /* under the lock */
    bool closed;            /* under the lock */
    struct run draining;    /* the consumer's */
    size_t drained;         /* the consumer's: how many of `draining` were taken */
    _Atomic size_t waiting; /* in both runs, not taken yet */
    void (*ready)(void *ctx);
    void *ctx;
};

/* A run this long after a burst is given back to the system. */
enum { KEEP_DELTAS = 4096 };

struct delta_fifo *delta_fifo_new(void (*ready)(void *ctx), void *ctx)
{
    struct delta_fifo *fifo = NEW(struct delta_fifo);
    pthread_mutex_init(&fifo->lock, NULL);
    fifo->ready = ready;
    fifo->ctx = ctx;
    return fifo;
}

static void delta_clear(struct delta *delta)
{
    root_unref(delta->object);
    for (size_t i = 0; i < delta->count; i++) root_unref(delta->objects[i]);
    free(delta->objects);
    free(delta->resource_version);
    *delta = (struct delta){0};
}

static void run_free(struct run *run, size_t from)
{
    for (size_t i = from; i < run->count; i++) delta_clear(&run->deltas[i]);
    free(run->deltas);
}

void delta_fifo_free(struct delta_fifo *fifo)
{
    if (!fifo) return;
    run_free(&fifo->filling, 0);
    run_free(&fifo->draining, fifo->drained);
    pthread_mutex_destroy(&fifo->lock);
    free(fifo);
}

/* Takes what `delta` owns. */
static void append(struct delta_fifo *fifo, struct delta delta)
{
    pthread_mutex_lock(&fifo->lock);
    bool first = fifo->filling.count == 0, accepted = !fifo->closed;
    if (accepted) {
        struct run *run = &fifo->filling;
        if (run->count == run->cap) {
            run->cap = run->cap ? run->cap * 2 : 64;
            run->deltas = xrealloc(run->deltas, run->cap * sizeof *run->deltas);
        }
        run->deltas[run->count++] = delta;
        atomic_fetch_add(&fifo->waiting, 1);
    }
    pthread_mutex_unlock(&fifo->lock);
    if (!accepted)
        delta_clear(&delta);
    else if (first)
        fifo->ready(fifo->ctx);
}

void delta_fifo_add(struct delta_fifo *fifo, enum delta_type type, struct root *object, int64_t received_us)
{
    must(type == DELTA_ADDED || type == DELTA_UPDATED || type == DELTA_DELETED);
    append(fifo, (struct delta){.type = type, .object = object, .received_us = received_us});
}

void delta_fifo_replace(struct delta_fifo *fifo, const char *resource_version, struct root **objects,
                        size_t count, int64_t received_us)
{
    append(fifo, (struct delta){.type = DELTA_REPLACED_ALL,
                                .resource_version = xstrdup(resource_version),
                                .objects = objects,
                                .count = count,
                                .received_us = received_us});
}

void delta_fifo_bookmark(struct delta_fifo *fifo, const char *resource_version)
{
    append(fifo, (struct delta){.type = DELTA_BOOKMARK, .resource_version = xstrdup(resource_version)});
}

void delta_fifo_resync(struct delta_fifo *fifo)
{
    append(fifo, (struct delta){.type = DELTA_SYNC_ALL});
}

void delta_fifo_close(struct delta_fifo *fifo)
{
    pthread_mutex_lock(&fifo->lock);
    fifo->closed = true;
    pthread_mutex_unlock(&fifo->lock);
}

/* The consumer's run is used up: takes the producer's and leaves it the empty one. */
static void swap_runs(struct delta_fifo *fifo)
{
    struct run empty = fifo->draining;
    empty.count = 0;
    if (empty.cap > KEEP_DELTAS) {
        free(empty.deltas);
        empty = (struct run){0};
    }
    pthread_mutex_lock(&fifo->lock);
    fifo->draining = fifo->filling;
    fifo->filling = empty;
    pthread_mutex_unlock(&fifo->lock);
    fifo->drained = 0;
}

size_t delta_fifo_take(struct delta_fifo *fifo, size_t max, struct delta **batch)
{
    if (fifo->drained == fifo->draining.count) swap_runs(fifo);
    size_t left = fifo->draining.count - fifo->drained, count = left < max ? left : max;
    *batch = fifo->draining.deltas + fifo->drained;
    fifo->drained += count;
    atomic_fetch_sub(&fifo->waiting, count);
    return count;
}

void delta_fifo_release(struct delta_fifo *fifo, struct delta *batch, size_t count)
{
    for (size_t i = 0; i < count; i++) delta_clear(&batch[i]);
}

size_t delta_fifo_len(struct delta_fifo *fifo)
{
    return atomic_load(&fifo->waiting);
}
