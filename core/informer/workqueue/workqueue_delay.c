/* Delayed and retried items: W-7 to W-10; see workqueue.h. */
#include "informer/workqueue/workqueue.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "informer/workqueue/workqueue_internal.h"

/* Most bytes of a failure's reason that a key keeps. */
enum { WHY_MAX = 256 };

/* Adds an item whose time has come. Each item is a timer of the clock, exact to the millisecond, without
 * client-go's heartbeat (W-7). */
void workqueue_on_delay(struct timer *timer)
{
    struct workqueue_item *item = container_of(timer, struct workqueue_item, delay);
    item->queue->delayed--;
    workqueue_add_item(item->queue, item);
}

static void delay(struct workqueue *queue, struct workqueue_item *item, int64_t delay_ms)
{
    if (delay_ms <= 0) {
        workqueue_add_item(queue, item);
        return;
    }
    int64_t due_ms = clock_now_ms(queue->options.clock) + delay_ms;
    if (timer_running(&item->delay)) {
        /* The earlier of two times counts (W-7). */
        if (item->delay.due_ms <= due_ms) return;
    } else {
        queue->delayed++;
    }
    timer_start(&item->delay, queue->options.clock, delay_ms);
}

static void add_after(struct workqueue *queue, struct workqueue_item *item, int64_t delay_ms)
{
    /* Every delayed add counts as a retry (W-11). */
    queue->retries++;
    series_inc(queue->metrics.series[WORKQUEUE_RETRIES]);
    delay(queue, item, delay_ms);
}

bool workqueue_add_after(struct workqueue *queue, struct str key, int64_t delay_ms, struct err *err)
{
    if (!workqueue_takes(queue, key)) return true;
    struct workqueue_item *item = workqueue_item(queue, key, err);
    if (item) add_after(queue, item, delay_ms);
    return item != NULL;
}

void workqueue_postpone(struct workqueue *queue, struct str key, int64_t delay_ms)
{
    struct workqueue_item *item = workqueue_find(queue, key);
    must(item && item->processing);
    if (workqueue_takes(queue, key)) delay(queue, item, delay_ms);
    workqueue_done(queue, key);
}

/* Adds an item after the limiter's delay (W-10), or a longer one. A limiter that counts no failures leaves no
 * trace of the key. */
static void add_rate_limited(struct workqueue *queue, struct workqueue_item *item, int64_t least_ms)
{
    struct rate_limiter *limiter = &queue->options.limiter;
    int64_t delay_ms = rate_limiter_when_ms(limiter, item->failures, clock_now_ms(queue->options.clock));
    if (rate_limiter_counts(limiter) && item->failures++ == 0) queue->failing++;
    add_after(queue, item, delay_ms > least_ms ? delay_ms : least_ms);
}

bool workqueue_add_rate_limited(struct workqueue *queue, struct str key, struct err *err)
{
    if (!workqueue_takes(queue, key)) return true;
    struct workqueue_item *item = workqueue_item(queue, key, err);
    if (item) add_rate_limited(queue, item, 0);
    return item != NULL;
}

/* --- failures */

void workqueue_drop_why(struct workqueue *queue, struct workqueue_item *item)
{
    if (!item->why) return;
    queue->options.quota->bytes -= strlen(item->why) + 1;
    free(item->why);
    item->why = NULL;
}

void workqueue_set_why(struct workqueue *queue, struct str key, struct str why)
{
    struct workqueue_item *item = workqueue_find(queue, key);
    if (!item || !item->failures) return;
    size_t n = why.n < WHY_MAX ? why.n : WHY_MAX;
    /* Cut between two characters of UTF-8, not inside one. */
    while (n > 0 && n < why.n && (why.p[n] & 0xc0) == 0x80) n--;
    workqueue_drop_why(queue, item);
    item->why = xstrndup(why.p, n);
    queue->options.quota->bytes += strlen(item->why) + 1;
}

static void forget(struct workqueue *queue, struct workqueue_item *item)
{
    queue->failing -= item->failures > 0;
    item->failures = 0;
    workqueue_drop_why(queue, item);
    workqueue_settle(queue, item);
}

void workqueue_forget(struct workqueue *queue, struct str key)
{
    struct workqueue_item *item = workqueue_find(queue, key);
    if (item) forget(queue, item);
}

bool workqueue_retry(struct workqueue *queue, struct str key, uint64_t max, int64_t least_ms)
{
    struct workqueue_item *item = workqueue_find(queue, key);
    must(item && item->processing);
    if (!workqueue_takes(queue, key)) return true;
    if (item->failures < max) {
        add_rate_limited(queue, item, least_ms);
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

size_t workqueue_get_failing(const struct workqueue *queue, struct workqueue_failing *out, size_t max)
{
    const struct workqueue_item *item;
    size_t n = 0, most = queue->failing < max ? queue->failing : max;
    int64_t now_ms = clock_now_ms(queue->options.clock);
    for (item = queue->items; item && n < most; item = item->hh.next) {
        if (!item->failures) continue;
        bool delayed = timer_running(&item->delay);
        out[n++] = (struct workqueue_failing){
            .key = workqueue_key(item),
            .failures = item->failures,
            .why = item->why ? item->why : "",
            .processing = item->processing,
            .delayed = delayed,
            .next_ms = delayed && item->delay.due_ms > now_ms ? item->delay.due_ms - now_ms : 0,
        };
    }
    return n;
}

void workqueue_note_slot(struct workqueue *queue, struct str key, unsigned slot)
{
    struct workqueue_item *item = workqueue_find(queue, key);
    if (!item) return;
    item->slot = !item->has_slot || item->slot == slot ? slot : 0;
    item->has_slot = true;
}

unsigned workqueue_slot(const struct workqueue *queue, struct str key)
{
    const struct workqueue_item *item = workqueue_find(queue, key);
    return item ? item->slot : 0;
}

/* Cancels all delays at once; client-go loses them at the next heartbeat (W-6). */
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
