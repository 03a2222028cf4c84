/* The queue between the two threads; see delta_fifo.h. Two arrays take turns: the producer appends to one
 * while the consumer works through the other, so that the lock is held for an append or a swap and never
 * while handling. */
#include "informer/delta_fifo.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"

/* A run that grew longer than this in a burst is given back to the system. */
enum { KEEP_DELTAS = 4096 };

struct run {
    struct delta *deltas;
    size_t count, cap;
};

/* */
enum population {
    POPULATION_NONE,    /* nothing came */
    POPULATION_INITIAL, /* the first list is queued or being processed */
    POPULATION_DONE,
};

struct delta_fifo {
    pthread_mutex_t lock; /* of the next four */
    struct run filling;
    size_t waiting; /* in both runs, not taken yet */
    enum population population;
    bool closed;
    struct run draining; /* the consumer's */
    size_t drained;      /* the consumer's: how many of `draining` were taken */
    _Atomic int64_t resync_ms;
    void (*ready)(void *ctx);
    void *ctx;
};

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
    if (delta->refused) buf_clear(&delta->refused->keys);
    free(delta->refused);
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

/* --- the producer's side
 * ----------------------------------------------------------------------------------------- */

static struct delta *run_append(struct run *run, const struct delta *delta)
{
    if (run->count == run->cap) {
        run->cap = run->cap ? run->cap * 2 : 64;
        run->deltas = xrealloc(run->deltas, run->cap * sizeof *run->deltas);
    }
    run->deltas[run->count] = *delta;
    return &run->deltas[run->count++];
}

/* Under the lock. A list that comes before any object is the initial one; versions and resyncs say nothing.
 */
static void note_population(struct delta_fifo *fifo, struct delta *delta)
{
    if (fifo->population != POPULATION_NONE || delta->type == DELTA_BOOKMARK || delta->type == DELTA_SYNC_ALL)
        return;
    delta->initial = delta->type == DELTA_REPLACED_ALL;
    fifo->population = delta->initial ? POPULATION_INITIAL : POPULATION_DONE;
}

/* Takes what `delta` owns. Every delta passes here, in order. */
static void append(struct delta_fifo *fifo, struct delta delta)
{
    pthread_mutex_lock(&fifo->lock);
    bool accepted = !fifo->closed, first = fifo->waiting == 0;
    if (accepted) {
        note_population(fifo, run_append(&fifo->filling, &delta));
        fifo->waiting++;
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
    delta_fifo_replace_partly(fifo, resource_version, objects, count, NULL, received_us);
}

void delta_fifo_replace_partly(struct delta_fifo *fifo, const char *resource_version, struct root **objects,
                               size_t count, struct delta_refused *refused, int64_t received_us)
{
    append(fifo, (struct delta){.type = DELTA_REPLACED_ALL,
                                .resource_version = xstrdup(resource_version),
                                .objects = objects,
                                .count = count,
                                .refused = refused,
                                .received_us = received_us});
}

void delta_fifo_bookmark(struct delta_fifo *fifo, const char *resource_version)
{
    append(fifo, (struct delta){.type = DELTA_BOOKMARK, .resource_version = xstrdup(resource_version)});
}

void delta_fifo_resync(struct delta_fifo *fifo, int64_t tick_ms)
{
    append(fifo, (struct delta){.type = DELTA_SYNC_ALL, .tick_ms = tick_ms});
}

void delta_fifo_set_resync(struct delta_fifo *fifo, int64_t period_ms)
{
    atomic_store(&fifo->resync_ms, period_ms);
}

int64_t delta_fifo_resync_ms(const struct delta_fifo *fifo)
{
    return atomic_load(&fifo->resync_ms);
}

void delta_fifo_close(struct delta_fifo *fifo)
{
    pthread_mutex_lock(&fifo->lock);
    fifo->closed = true;
    pthread_mutex_unlock(&fifo->lock);
}

/* --- the consumer's side
 * ----------------------------------------------------------------------------------------- */

/* Under the lock. The consumer's run is used up: it takes the producer's and leaves it the empty one. */
static void swap_runs(struct delta_fifo *fifo)
{
    struct run empty = fifo->draining;
    empty.count = 0;
    fifo->draining = fifo->filling;
    fifo->filling = empty;
    fifo->drained = 0;
}

static void shrink(struct run *run)
{
    if (run->cap <= KEEP_DELTAS) return;
    free(run->deltas);
    *run = (struct run){0};
}

/* How many of the next deltas are one batch. */
static size_t batch_size(const struct delta *deltas, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (deltas[i].initial) return i + 1;
    return count;
}

size_t delta_fifo_take(struct delta_fifo *fifo, size_t max, struct delta **batch)
{
    bool used_up = fifo->drained == fifo->draining.count;
    if (used_up) shrink(&fifo->draining);
    pthread_mutex_lock(&fifo->lock);
    if (used_up) swap_runs(fifo);
    size_t left = fifo->draining.count - fifo->drained;
    *batch = left ? fifo->draining.deltas + fifo->drained : NULL;
    size_t count = batch_size(*batch, left < max ? left : max);
    fifo->drained += count;
    fifo->waiting -= count;
    pthread_mutex_unlock(&fifo->lock);
    return count;
}

void delta_fifo_release(struct delta_fifo *fifo, struct delta *batch, size_t count)
{
    bool initial = count > 0 && batch[count - 1].initial;
    for (size_t i = 0; i < count; i++) delta_clear(&batch[i]);
    if (!initial) return;
    pthread_mutex_lock(&fifo->lock);
    fifo->population = POPULATION_DONE;
    pthread_mutex_unlock(&fifo->lock);
}

size_t delta_fifo_len(struct delta_fifo *fifo)
{
    pthread_mutex_lock(&fifo->lock);
    size_t waiting = fifo->waiting;
    pthread_mutex_unlock(&fifo->lock);
    return waiting;
}

bool delta_fifo_has_synced(struct delta_fifo *fifo)
{
    pthread_mutex_lock(&fifo->lock);
    bool synced = fifo->population == POPULATION_DONE;
    pthread_mutex_unlock(&fifo->lock);
    return synced;
}
