/* What comes later, and how much later: W-7 to W-10; see workqueue.h. */
#include "informer/workqueue.h"

#include "base/mem.h"
#include "base/must.h"
#include "informer/workqueue_internal.h"

/* W-7: each item is a timer in the heap of the clock: at its time to the millisecond, without a heartbeat. */
void workqueue_on_delay(struct timer *timer)
{
    struct workqueue_item *item = container_of(timer, struct workqueue_item, delay);
    item->queue->delayed--;
    workqueue_add_item(item->queue, item);
}

static void add_after(struct workqueue *queue, struct workqueue_item *item, int64_t delay_ms)
{
    queue->retries++;
    series_inc(queue->metrics.series[WORKQUEUE_RETRIES]);
    if (delay_ms <= 0) {
        workqueue_add_item(queue, item);
        return;
    }
    int64_t due_ms = clock_now_ms(queue->options.clock) + delay_ms;
    if (timer_running(&item->delay)) {
        if (item->delay.due_ms <= due_ms) return;
    } else {
        queue->delayed++;
    }
    timer_start(&item->delay, queue->options.clock, delay_ms);
}

bool workqueue_add_after(struct workqueue *queue, struct str key, int64_t delay_ms, struct err *err)
{
    if (queue->shut_down) return true;
    struct workqueue_item *item = workqueue_item(queue, key, err);
    if (item) add_after(queue, item, delay_ms);
    return item != NULL;
}

/* W-10. */
static void add_rate_limited(struct workqueue *queue, struct workqueue_item *item)
{
    struct rate_limiter *limiter = &queue->options.limiter;
    int64_t delay_ms = rate_limiter_when_ms(limiter, item->failures, clock_now_ms(queue->options.clock));
    if (rate_limiter_counts(limiter) && item->failures++ == 0) queue->failing++;
    add_after(queue, item, delay_ms);
}

bool workqueue_add_rate_limited(struct workqueue *queue, struct str key, struct err *err)
{
    if (queue->shut_down) return true;
    struct workqueue_item *item = workqueue_item(queue, key, err);
    if (item) add_rate_limited(queue, item);
    return item != NULL;
}

static void forget(struct workqueue *queue, struct workqueue_item *item)
{
    queue->failing -= item->failures > 0;
    item->failures = 0;
    workqueue_settle(queue, item);
}

void workqueue_forget(struct workqueue *queue, struct str key)
{
    struct workqueue_item *item = workqueue_find(queue, key);
    if (item) forget(queue, item);
}

bool workqueue_retry(struct workqueue *queue, struct str key, uint64_t max)
{
    struct workqueue_item *item = workqueue_find(queue, key);
    must(item && item->processing);
    if (queue->shut_down) return true;
    if (item->failures < max) {
        add_rate_limited(queue, item);
        return true;
    }
    forget(queue, item);
    queue->dropped++;
    series_inc(queue->metrics.series[WORKQUEUE_DROPPED]);
    return false;
}

uint64_t workqueue_num_requeues(const struct workqueue *queue, struct str key)
{
    const struct workqueue_item *item = workqueue_find(queue, key);
    return item ? item->failures : 0;
}

/* W-6. */
void workqueue_cancel_delays(struct workqueue *queue)
{
    struct workqueue_item *item, *next;
    HASH_ITER (hh, queue->items, item, next) {
        if (!timer_running(&item->delay)) continue;
        timer_cancel(&item->delay);
        queue->delayed--;
        workqueue_settle(queue, item);
    }
}
