/* The queue between the two threads; see delta_fifo.h. Two arrays take turns: the producer appends to one
 * while the consumer works through the other, so that the lock is held for an append or a swap and never
 * while handling. */
#include "informer/reflect/delta_fifo.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/metrics.h"
#include "base/must.h"
#include "informer/reflect/delta_list.h"

METRIC(metric_deltas_coalesced, 5, "kubelua_deltas_coalesced_total",
       "Number of deltas merged into another delta of the same object because the queue was full.");

/* A run that grew longer than this in a burst is given back to the system. */
enum { KEEP_DELTAS = 4096 };

/* Q-11, V3 */
enum population {
    POPULATION_NONE,    /* nothing came */
    POPULATION_INITIAL, /* the first list is queued or being processed */
    POPULATION_DONE,
};

struct delta_fifo {
    pthread_mutex_t lock; /* of the next four */
    struct delta_run filling;
    size_t waiting; /* in both runs, not taken yet */
    enum population population;
    bool closed;
    struct delta_run draining; /* the consumer's */
    size_t drained;            /* the consumer's: how many of `draining` were taken */
    _Atomic int64_t resync_ms;
    size_t mark; /* of `filling` */
    void (*ready)(void *ctx), (*many)(void *ctx);
    void *ctx;
};

struct delta_fifo *delta_fifo_new(void (*ready)(void *ctx), void *ctx)
{
    struct delta_fifo *fifo = NEW(struct delta_fifo);
    pthread_mutex_init(&fifo->lock, NULL);
    fifo->mark = DELTA_FIFO_MARK;
    fifo->ready = ready;
    fifo->ctx = ctx;
    return fifo;
}

void delta_fifo_set_ready(struct delta_fifo *fifo, void (*ready)(void *ctx), void (*many)(void *ctx),
                          void *ctx)
{
    fifo->ready = ready;
    fifo->many = many;
    fifo->ctx = ctx;
}

void delta_fifo_set_mark(struct delta_fifo *fifo, size_t mark)
{
    fifo->mark = mark;
}

void delta_fifo_free(struct delta_fifo *fifo)
{
    if (!fifo) return;
    delta_run_clear(&fifo->filling, 0);
    delta_run_clear(&fifo->draining, fifo->drained);
    pthread_mutex_destroy(&fifo->lock);
    free(fifo);
}

/* --- the producer's side */

/* Under the lock. A list that comes before any object is the initial one; versions and resyncs say nothing.
 */
static void note_population(struct delta_fifo *fifo, struct delta *delta)
{
    if (fifo->population != POPULATION_NONE || delta->type == DELTA_BOOKMARK || delta->type == DELTA_SYNC_ALL)
        return;
    delta->initial = delta->type == DELTA_REPLACED_ALL;
    fifo->population = delta->initial ? POPULATION_INITIAL : POPULATION_DONE;
}

/* Under the lock. Takes what `delta` owns and leaves in it what is to be released; returns what fell out. */
static struct delta_run put(struct delta_fifo *fifo, struct delta *delta)
{
    struct delta_run *run = &fifo->filling, dropped = {0};
    bool list = delta->type == DELTA_REPLACED_ALL;
    if (delta->type == DELTA_SYNC_ALL && delta_run_join_resync(run, delta)) {
        metric_inc(&metric_deltas_coalesced);
        return dropped;
    }
    /* A slow consumer skips what a list replaces; below the mark every delta is kept. */
    if (list && run->count && (delta_run_compresses(run) || run->count + run->listed >= fifo->mark))
        dropped = delta_run_replace(run, delta);
    if (delta_run_compresses(run)) {
        if (!delta_run_merge(run, delta)) metric_inc(&metric_deltas_coalesced);
        return dropped;
    }
    delta_run_append(run, delta);
    *delta = (struct delta){0};
    if (run->count > fifo->mark && !list) dropped = delta_run_compress(run);
    if (dropped.count) metric_add(&metric_deltas_coalesced, dropped.count);
    return dropped;
}

/* Takes what `delta` owns. Every delta passes here, in order. */
static void append(struct delta_fifo *fifo, struct delta delta)
{
    struct delta_run dropped = {0};
    pthread_mutex_lock(&fifo->lock);
    bool accepted = !fifo->closed;
    size_t before = fifo->waiting;
    if (accepted) {
        fifo->waiting -= fifo->filling.count;
        note_population(fifo, &delta);
        dropped = put(fifo, &delta);
        fifo->waiting += fifo->filling.count;
    }
    pthread_mutex_unlock(&fifo->lock);
    /* Outside of the lock, as releasing many objects takes long. */
    delta_clear(&delta);
    delta_run_clear(&dropped, 0);
    /* Only the first delta wakes the consumer, which comes back by itself while any wait. */
    if (accepted && before == 0) fifo->ready(fifo->ctx);
    if (accepted && before == DELTA_FIFO_MANY && fifo->many) fifo->many(fifo->ctx);
}

void delta_fifo_add(struct delta_fifo *fifo, enum delta_type type, struct root *object, int64_t received_us)
{
    must(type == DELTA_ADDED || type == DELTA_UPDATED || type == DELTA_DELETED);
    append(fifo, (struct delta){.type = type, .object = object, .received_us = received_us});
}

void delta_fifo_replace(struct delta_fifo *fifo, const char *resource_version, struct root **objects,
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

/* --- the consumer's side */

/* Under the lock. The consumer's run is used up: it takes the producer's and leaves it the empty one. */
static void swap_runs(struct delta_fifo *fifo)
{
    struct delta_run empty = fifo->draining;
    empty.count = empty.listed = empty.sync_at = 0;
    /* A merged delta keeps the place of an older one, so only a bookmark at the end may have its version. */
    if (delta_run_compresses(&fifo->filling) && delta_run_finish(&fifo->filling)) fifo->waiting++;
    fifo->draining = fifo->filling;
    fifo->filling = empty;
    fifo->drained = 0;
}

static void shrink(struct delta_run *run)
{
    if (run->cap <= KEEP_DELTAS) return;
    free(run->deltas);
    *run = (struct delta_run){0};
}

/* Returns the number of the next deltas that form one batch. */
static size_t batch_size(const struct delta *deltas, size_t count)
{
    for (size_t i = 0; i < count; i++)
        /* The initial list ends its batch, because its release marks the queue as synced. */
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
