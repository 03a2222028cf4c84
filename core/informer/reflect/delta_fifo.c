/* Queue between the I/O thread and the engine thread; see delta_fifo.h. Two arrays alternate: the producer
 * appends to one while the consumer works through the other, so the lock is held for an append or a swap and
 * never while handlers run. */
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

/* An array that grew longer than this in a burst is freed, so that one burst does not cost memory for good.
 */
enum { KEEP_DELTAS = 4096 };

/* Progress towards "synced" (Q-11, V3). */
enum population {
    POPULATION_NONE,    /* nothing was queued yet */
    POPULATION_INITIAL, /* the first list is queued or being processed */
    POPULATION_DONE,
};

struct delta_fifo {
    pthread_mutex_t lock; /* guards the next four members */
    struct delta_run filling;
    size_t waiting; /* in both arrays, not taken yet */
    enum population population;
    bool closed;
    struct delta_run draining; /* used by the consumer alone, without the lock */
    size_t drained;            /* used by the consumer alone: how many of `draining` it took */
    _Atomic int64_t resync_ms;
    size_t mark;        /* most deltas in `filling` before they are compressed */
    int64_t generation; /* used by the producer alone */
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

/* Call with the lock held. A list that comes before any object is the initial one. Bookmarks and resyncs
 * carry no objects, and one namespace is not the whole, so they decide nothing. */
static void note_population(struct delta_fifo *fifo, struct delta *delta)
{
    if (fifo->population != POPULATION_NONE || delta->type == DELTA_BOOKMARK ||
        delta->type == DELTA_SYNC_ALL || delta->part)
        return;
    delta->initial = delta->type == DELTA_REPLACED_ALL;
    fifo->population = delta->initial ? POPULATION_INITIAL : POPULATION_DONE;
}

/* Call with the lock held. Takes the content of `delta` and leaves in it what the caller must release;
 * returns the deltas that were replaced, which the caller must release too. */
static struct delta_run put(struct delta_fifo *fifo, struct delta *delta)
{
    struct delta_run *run = &fifo->filling, dropped = {0};
    bool list = delta_is_whole_list(delta);
    /* Two resyncs in the queue would call every handler twice with the same objects; the later instant alone
     * decides which handlers are due (I-16). */
    if (delta->type == DELTA_SYNC_ALL && delta_run_join_resync(run, delta)) {
        metric_inc(&metric_deltas_coalesced);
        return dropped;
    }
    /* A consumer that is behind skips what a list replaces. Below the mark every delta is kept, as its
     * handlers may need each state. The objects of queued lists count too, because they use as much memory.
     */
    if (list && run->count && (delta_run_compresses(run) || run->count + run->listed >= fifo->mark))
        dropped = delta_run_replace(run, delta);
    if (delta_run_compresses(run)) {
        if (!delta_run_merge(run, delta)) metric_inc(&metric_deltas_coalesced);
        return dropped;
    }
    delta_run_append(run, delta);
    *delta = (struct delta){0};
    /* A list has no key to merge by, so it alone never starts compression; the next delta does. */
    if (run->count > fifo->mark && !list) dropped = delta_run_compress(run);
    if (dropped.count) metric_add(&metric_deltas_coalesced, dropped.count);
    return dropped;
}

/* Takes the content of `delta`. Every delta passes through here, so the order of calls is the order of the
 * queue. */
static void append(struct delta_fifo *fifo, struct delta delta)
{
    struct delta_run dropped = {0};
    pthread_mutex_lock(&fifo->lock);
    /* The consumer closes the queue while the I/O thread may still append: what comes later is released here.
     */
    bool accepted = !fifo->closed;
    size_t before = fifo->waiting;
    if (accepted) {
        /* Compression may shrink the array, so its count is taken out before and added back after. */
        fifo->waiting -= fifo->filling.count;
        note_population(fifo, &delta);
        dropped = put(fifo, &delta);
        fifo->waiting += fifo->filling.count;
    }
    pthread_mutex_unlock(&fifo->lock);
    /* Released without the lock: a list may have a million objects, and the consumer would wait for all of
     * them. */
    delta_clear(&delta);
    delta_run_clear(&dropped, 0);
    /* Only the first delta wakes the consumer, which schedules itself again while deltas are left. */
    if (accepted && before == 0) fifo->ready(fifo->ctx);
    /* A `ready` that is delayed to the end of the turn would let a burst pile up, so a full batch is
     * announced at once. */
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
                                .generation = fifo->generation,
                                .resource_version = xstrdup(resource_version),
                                .objects = objects,
                                .count = count,
                                .refused = refused,
                                .received_us = received_us});
}

void delta_fifo_set_generation(struct delta_fifo *fifo, int64_t generation)
{
    fifo->generation = generation;
}

int64_t delta_fifo_generation(const struct delta_fifo *fifo)
{
    return fifo->generation;
}

void delta_fifo_replace_part(struct delta_fifo *fifo, const char *ns, struct root **objects, size_t count,
                             struct delta_refused *refused, int64_t received_us)
{
    append(fifo, (struct delta){.type = DELTA_REPLACED_ALL,
                                .generation = fifo->generation,
                                .part = xstrdup(ns),
                                .objects = objects,
                                .count = count,
                                .refused = refused,
                                .received_us = received_us});
}

void delta_fifo_restore(struct delta_fifo *fifo, const char *resource_version, struct root **objects,
                        size_t count)
{
    append(fifo, (struct delta){.type = DELTA_REPLACED_ALL,
                                .stored = true,
                                .resource_version = xstrdup(resource_version),
                                .objects = objects,
                                .count = count});
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
    /* Atomic instead of locked: the I/O thread reads the period in a timer, the engine thread sets it
     * whenever handlers change. */
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

/* the consumer's side */

/* Call with the lock held. All of the consumer's array was processed: takes the producer's array and leaves
 * the empty one, so that its memory is used again. */
static void swap_runs(struct delta_fifo *fifo)
{
    struct delta_run empty = fifo->draining;
    empty.count = empty.listed = empty.sync_at = 0;
    /* A merged delta keeps the place of an older one, so only a bookmark at the end may carry its version. */
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
    /* Without the lock: the consumer alone uses this array. */
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
