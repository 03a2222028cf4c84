/* Queue, dirty and processing sets of W-1, and the end of a queue; see workqueue.h. */
#include "informer/workqueue/workqueue.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"
#include "informer/workqueue/workqueue_internal.h"

/* --- items */

struct workqueue_item *workqueue_find(const struct workqueue *queue, struct str key)
{
    struct workqueue_item *item;
    HASH_FIND(hh, queue->items, key.p, key.n, item);
    return item;
}

struct workqueue_item *workqueue_item(struct workqueue *queue, struct str key, struct err *err)
{
    struct workqueue_quota *quota = queue->options.quota;
    struct workqueue_item *item = workqueue_find(queue, key);
    if (item) return item;
    if (key.n > WORKQUEUE_KEY_MAX) {
        err_set(err, ERR_LIMIT, "the key has %zu bytes, the maximum is %d", key.n, WORKQUEUE_KEY_MAX);
        return NULL;
    }
    if (quota->keys >= quota->max) {
        err_set(err, ERR_LIMIT, "over the limit queue-keys (%zu)", quota->max);
        return NULL;
    }
    quota->keys++;
    quota->bytes += sizeof *item + key.n;
    item = xcalloc(1, sizeof *item + key.n);
    item->queue = queue;
    item->delay.fn = workqueue_on_delay;
    item->key_len = key.n;
    memcpy(item->key, key.p, key.n);
    HASH_ADD_KEYPTR(hh, queue->items, item->key, item->key_len, item);
    return item;
}

static void free_item(struct workqueue *queue, struct workqueue_item *item)
{
    HASH_DELETE(hh, queue->items, item);
    workqueue_drop_why(queue, item);
    queue->options.quota->keys--;
    queue->options.quota->bytes -= sizeof *item + item->key_len;
    free(item);
}

void workqueue_settle(struct workqueue *queue, struct workqueue_item *item)
{
    if (!item->dirty && !item->processing && !item->failures && !timer_running(&item->delay))
        free_item(queue, item);
}

/* --- waiters */

static void wake(struct workqueue_waiters *list, struct workqueue_waiter *waiter, struct str key)
{
    TAILQ_REMOVE(list, waiter, link);
    waiter->waiting = false;
    waiter->key = key;
    waiter->wake(waiter);
}

void workqueue_wake_all(struct workqueue_waiters *list)
{
    struct workqueue_waiter *waiter;
    while ((waiter = TAILQ_FIRST(list))) wake(list, waiter, (struct str){0});
}

static void wait_in(struct workqueue_waiters *list, struct workqueue_waiter *waiter)
{
    waiter->key = (struct str){0};
    waiter->waiting = true;
    TAILQ_INSERT_TAIL(list, waiter, link);
}

void workqueue_wait(struct workqueue *queue, struct workqueue_waiter *waiter)
{
    must(queue->queued == 0 && !workqueue_is_closed(queue));
    wait_in(&queue->getters, waiter);
}

void workqueue_stop_waiting(struct workqueue *queue, struct workqueue_waiter *waiter)
{
    struct workqueue_waiter *w;
    if (!waiter->waiting) return;
    waiter->waiting = false;
    TAILQ_FOREACH (w, &queue->getters, link)
        if (w == waiter) {
            TAILQ_REMOVE(&queue->getters, waiter, link);
            return;
        }
    TAILQ_REMOVE(&queue->drainers, waiter, link);
}

/* Passes a queued key to the first waiter directly, so that no other caller can take it before the waiter
 * runs. Without a waiter calls `ready`. */
static void announce(struct workqueue *queue)
{
    struct workqueue_waiter *waiter = TAILQ_FIRST(&queue->getters);
    struct str key;
    if (!waiter) {
        queue->options.ready(queue->options.ctx);
        return;
    }
    must(workqueue_get(queue, &key));
    wake(&queue->getters, waiter, key);
}

/* --- the three structures */

static void append(struct workqueue *queue, struct workqueue_item *item)
{
    TAILQ_INSERT_TAIL(&queue->order, item, link);
    queue->queued++;
    announce(queue);
}

void workqueue_add_item(struct workqueue *queue, struct workqueue_item *item)
{
    if (item->dirty) return;
    item->dirty = true;
    /* The latency of a key runs from its first add; later ones join it (W-11). */
    item->added_ns = workqueue_metrics_now(&queue->metrics);
    queue->dirty++;
    queue->adds++;
    series_inc(queue->metrics.series[WORKQUEUE_ADDS]);
    series_inc(queue->metrics.series[WORKQUEUE_DEPTH]);
    /* A key is never processed twice at a time: workqueue_done queues it again (W-1). */
    if (!item->processing) append(queue, item);
}

bool workqueue_add(struct workqueue *queue, struct str key, struct err *err)
{
    if (!workqueue_takes(queue, key)) return true;
    struct workqueue_item *item = workqueue_item(queue, key, err);
    if (item) workqueue_add_item(queue, item);
    return item != NULL;
}

bool workqueue_peek(const struct workqueue *queue, struct str *key)
{
    const struct workqueue_item *item = TAILQ_FIRST(&queue->order);
    if (item) *key = workqueue_key(item);
    return item != NULL;
}

bool workqueue_get(struct workqueue *queue, struct str *key)
{
    struct workqueue_item *item = TAILQ_FIRST(&queue->order);
    if (!item) return false;
    TAILQ_REMOVE(&queue->order, item, link);
    TAILQ_INSERT_TAIL(&queue->busy, item, link);
    queue->queued--;
    queue->dirty--;
    queue->processing++;
    queue->owed -= item->owed;
    item->dirty = item->owed = false;
    item->processing = true;
    item->begun_ns = workqueue_metrics_now(&queue->metrics);
    workqueue_metrics_got(&queue->metrics, item->added_ns, item->begun_ns);
    if (!timer_running(&queue->refresh))
        timer_start(&queue->refresh, queue->options.clock, WORKQUEUE_REFRESH_MS);
    *key = workqueue_key(item);
    return true;
}

/* Returns whether a drain is complete (W-5). Queued keys count only if workers take them; else nothing would
 * end the drain. */
static bool is_drained(const struct workqueue *queue)
{
    return queue->processing == 0 && queue->owed == 0 && !(queue->has_workers && queue->queued > 0);
}

static void stop_processing(struct workqueue *queue, struct workqueue_item *item)
{
    TAILQ_REMOVE(&queue->busy, item, link);
    queue->processing--;
    item->processing = false;
    item->holder = NULL;
}

static void check_drain(struct workqueue *queue)
{
    if (queue->draining && is_drained(queue)) workqueue_wake_all(&queue->drainers);
}

void workqueue_done(struct workqueue *queue, struct str key)
{
    struct workqueue_item *item = workqueue_find(queue, key);
    if (!item || !item->processing) return;
    workqueue_metrics_done(&queue->metrics, item->begun_ns);
    stop_processing(queue, item);
    if (item->dirty) {
        /* A drain also waits for keys that were added while they were processed (W-5). */
        item->owed = queue->draining;
        queue->owed += item->owed;
        append(queue, item);
    } else {
        workqueue_settle(queue, item);
    }
    check_drain(queue);
}

void workqueue_put_back(struct workqueue *queue, struct str key)
{
    struct workqueue_item *item = workqueue_find(queue, key);
    if (!item || !item->processing) return;
    stop_processing(queue, item);
    if (!item->dirty) {
        item->dirty = true;
        queue->dirty++;
        series_inc(queue->metrics.series[WORKQUEUE_DEPTH]);
    }
    /* At the front, so that keys of a failed call keep their order (W-3). */
    TAILQ_INSERT_HEAD(&queue->order, item, link);
    queue->queued++;
    announce(queue);
    check_drain(queue);
}

void workqueue_set_holder(struct workqueue *queue, struct str key, void *holder)
{
    struct workqueue_item *item = workqueue_find(queue, key);
    must(item && item->processing);
    item->holder = holder;
}

void *workqueue_holder(const struct workqueue *queue, struct str key)
{
    const struct workqueue_item *item = workqueue_find(queue, key);
    return item ? item->holder : NULL;
}

size_t workqueue_len(const struct workqueue *queue)
{
    return queue->queued;
}

bool workqueue_is_closed(const struct workqueue *queue)
{
    return queue->shut_down && queue->queued == 0;
}

/* --- the end */

static void close_queue(struct workqueue *queue)
{
    queue->shut_down = true;
    workqueue_cancel_delays(queue);
    workqueue_wake_all(&queue->getters); /* waiters exist only while the queue is empty */
}

void workqueue_shut_down(struct workqueue *queue)
{
    close_queue(queue);
    queue->draining = false;
    workqueue_wake_all(&queue->drainers);
}

bool workqueue_drain(struct workqueue *queue, struct workqueue_waiter *waiter)
{
    close_queue(queue);
    queue->draining = true;
    if (is_drained(queue)) return false;
    wait_in(&queue->drainers, waiter);
    return true;
}

void workqueue_has_workers(struct workqueue *queue)
{
    queue->has_workers = true;
}

/* --- creation and state */

static int64_t longest_ns(const struct workqueue *queue, int64_t now_ns)
{
    const struct workqueue_item *oldest = TAILQ_FIRST(&queue->busy);
    return oldest ? now_ns - oldest->begun_ns : 0;
}

static void on_refresh(struct timer *timer)
{
    struct workqueue *queue = container_of(timer, struct workqueue, refresh);
    const struct workqueue_item *item;
    int64_t now_ns = workqueue_metrics_now(&queue->metrics), sum_ns = 0;
    TAILQ_FOREACH (item, &queue->busy, link) sum_ns += now_ns - item->begun_ns;
    workqueue_metrics_busy(&queue->metrics, sum_ns, longest_ns(queue, now_ns));
    /* An idle queue costs no timer; workqueue_get starts it again. */
    if (queue->processing > 0) timer_start(timer, queue->options.clock, WORKQUEUE_REFRESH_MS);
}

struct workqueue *workqueue_new(const struct workqueue_options *options)
{
    struct workqueue *queue = NEW(struct workqueue);
    queue->options = *options;
    TAILQ_INIT(&queue->order);
    TAILQ_INIT(&queue->busy);
    TAILQ_INIT(&queue->getters);
    TAILQ_INIT(&queue->drainers);
    queue->refresh.fn = on_refresh;
    rate_limiter_start(&queue->options.limiter, clock_now_ms(options->clock));
    workqueue_metrics_init(&queue->metrics, options->name, options->script, options->measure_ns);
    return queue;
}

void workqueue_free(struct workqueue *queue)
{
    struct workqueue_item *item, *next;
    if (!queue) return;
    must(TAILQ_EMPTY(&queue->getters) && TAILQ_EMPTY(&queue->drainers));
    HASH_ITER (hh, queue->items, item, next) {
        timer_cancel(&item->delay);
        free_item(queue, item);
    }
    timer_cancel(&queue->refresh);
    series_add(queue->metrics.series[WORKQUEUE_DEPTH], -(double)queue->dirty);
    workqueue_metrics_clear(&queue->metrics);
    free(queue);
}

void workqueue_get_status(const struct workqueue *queue, struct workqueue_status *status)
{
    const struct workqueue_item *oldest = TAILQ_FIRST(&queue->busy);
    *status = (struct workqueue_status){
        .depth = queue->dirty,
        .delayed = queue->delayed,
        .processing = queue->processing,
        .failing = queue->failing,
        .adds = queue->adds,
        .retries = queue->retries,
        .dropped = queue->dropped,
        .longest_key = oldest ? workqueue_key(oldest) : (struct str){0},
        .longest_ms = longest_ns(queue, workqueue_metrics_now(&queue->metrics)) / 1000000,
        .shut_down = queue->shut_down,
    };
}
