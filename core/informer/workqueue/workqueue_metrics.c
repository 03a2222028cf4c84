/* Series of work queues; see workqueue_metrics.h. */
#include "informer/workqueue/workqueue_metrics.h"

#include "base/must.h"
#include "informer/workqueue/workqueue.h"
#include "informer/workqueue/workqueue_internal.h"

/* Buckets of client-go (W-11): from 1 us, each ten times the one before. */
static const struct buckets queues = BUCKETS(1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1000);
static struct family families[WORKQUEUE_SERIES] = {
    [WORKQUEUE_DEPTH] =
        FAMILY_OF(800, GAUGE, "workqueue_depth", "name,script", NULL, "Current depth of the work queue."),
    [WORKQUEUE_ADDS] = FAMILY_OF(801, COUNTER, "workqueue_adds_total", "name,script", NULL,
                                 "Number of adds handled by the work queue."),
    [WORKQUEUE_LATENCY] =
        FAMILY_OF(802, HISTOGRAM, "workqueue_queue_duration_seconds", "name,script", &queues,
                  "How long a key stays in the work queue before it is requested."),
    [WORKQUEUE_WORK] = FAMILY_OF(803, HISTOGRAM, "workqueue_work_duration_seconds", "name,script", &queues,
                                 "How long processing a key takes."),
    [WORKQUEUE_UNFINISHED] =
        FAMILY_OF(804, GAUGE, "workqueue_unfinished_work_seconds", "name,script", NULL,
                  "Total seconds of work in progress that has not been observed by work_duration."),
    [WORKQUEUE_LONGEST] =
        FAMILY_OF(805, GAUGE, "workqueue_longest_running_processor_seconds", "name,script", NULL,
                  "Seconds that the longest running worker has been processing its key."),
    [WORKQUEUE_RETRIES] = FAMILY_OF(806, COUNTER, "workqueue_retries_total", "name,script", NULL,
                                    "Number of retries handled by the work queue."),
    [WORKQUEUE_DROPPED] = FAMILY_OF(807, COUNTER, "kubelua_queue_dropped_total", "name,script", NULL,
                                    "Number of keys dropped after max_retries."),
};

void workqueue_metrics_init(struct workqueue_metrics *m, const char *name, const char *script,
                            int64_t (*measure_ns)(void))
{
    *m = (struct workqueue_metrics){.measure_ns = measure_ns ? measure_ns : clock_measure_ns};
    for (int i = 0; name && i < WORKQUEUE_SERIES; i++) m->series[i] = SERIES(&families[i], name, script);
}

void workqueue_metrics_clear(struct workqueue_metrics *m)
{
    for (int i = 0; i < WORKQUEUE_SERIES; i++) {
        series_free(m->series[i]);
        m->series[i] = NULL;
    }
}

int64_t workqueue_metrics_now(const struct workqueue_metrics *m)
{
    return m->measure_ns();
}

void workqueue_metrics_got(struct workqueue_metrics *m, int64_t added_ns, int64_t now_ns)
{
    series_add(m->series[WORKQUEUE_DEPTH], -1);
    series_observe(m->series[WORKQUEUE_LATENCY], (double)(now_ns - added_ns) / 1e9);
}

void workqueue_metrics_done(struct workqueue_metrics *m, int64_t begun_ns)
{
    series_observe(m->series[WORKQUEUE_WORK], (double)(workqueue_metrics_now(m) - begun_ns) / 1e9);
}

void workqueue_metrics_busy(struct workqueue_metrics *m, int64_t sum_ns, int64_t longest_ns)
{
    series_set(m->series[WORKQUEUE_UNFINISHED], (double)sum_ns / 1e9);
    series_set(m->series[WORKQUEUE_LONGEST], (double)longest_ns / 1e9);
}

/* --- A work queue that outlives its creator: */

/* Moves the count of its keys to another quota, even beyond its maximum, as they were accepted already. */
static void count_at(struct workqueue *queue, struct workqueue_quota *quota)
{
    struct workqueue_quota *before = queue->options.quota;
    struct workqueue_item *item, *next;
    queue->options.quota = quota;
    HASH_ITER (hh, queue->items, item, next) {
        size_t bytes = sizeof *item + item->key_len + (item->why ? strlen(item->why) + 1 : 0);
        before->keys--;
        before->bytes -= bytes;
        quota->keys++;
        quota->bytes += bytes;
    }
}

/* Replaces the limiter. An unchanged bucket keeps its tokens, so that a reload does not allow a burst. */
static void set_limiter(struct workqueue *queue, const struct rate_limiter *limiter)
{
    struct rate_limiter *mine = &queue->options.limiter;
    struct rate_limiter before = *mine;
    *mine = *limiter;
    rate_limiter_start(mine, clock_now_ms(queue->options.clock));
    bool same = before.bucket.on == mine->bucket.on && before.bucket.per_second == mine->bucket.per_second &&
                before.bucket.burst == mine->bucket.burst;
    if (same) mine->bucket.tokens = before.bucket.tokens;
}

static void unpark(struct workqueue *queue, const struct workqueue_owner *owner)
{
    queue->parked = false;
    workqueue_metrics_init(&queue->metrics, owner->name, owner->script, queue->options.measure_ns);
    series_add(queue->metrics.series[WORKQUEUE_DEPTH], (double)queue->dirty);
}

void workqueue_handover(struct workqueue *queue, const struct workqueue_owner *owner,
                        const struct rate_limiter *limiter)
{
    count_at(queue, owner->quota);
    if (queue->parked) unpark(queue, owner);
    queue->options.ready = owner->ready;
    queue->options.ctx = owner->ctx;
    queue->has_workers = false;
    set_limiter(queue, limiter);
    workqueue_wake_all(&queue->getters);
}

static void ready_for_nobody(void *ctx) {}

static void leave_owner(struct workqueue *queue)
{
    queue->own_quota = (struct workqueue_quota){.max = SIZE_MAX};
    count_at(queue, &queue->own_quota);
    queue->options.ready = ready_for_nobody;
    queue->options.ctx = NULL;
}

void workqueue_abandon(struct workqueue *queue)
{
    workqueue_shut_down(queue);
    leave_owner(queue);
}

void workqueue_park(struct workqueue *queue)
{
    leave_owner(queue);
    queue->parked = true;
    workqueue_metrics_clear(&queue->metrics); /* nobody has the queue that they would be of */
    queue->has_workers = false;
    workqueue_wake_all(&queue->getters);
}

size_t workqueue_parked_bytes(const struct workqueue *queue)
{
    return queue->parked ? queue->own_quota.bytes : 0;
}

void workqueue_end_waits(struct workqueue *queue)
{
    workqueue_wake_all(&queue->getters);
}

void workqueue_absorb(struct workqueue *queue, struct workqueue *from)
{
    struct workqueue_item *item, *next;
    struct err err;
    int64_t now_ms = clock_now_ms(from->options.clock);
    must(from->processing == 0);
    TAILQ_FOREACH (item, &from->order, link) workqueue_add(queue, workqueue_key(item), &err);
    HASH_ITER (hh, from->items, item, next)
        if (timer_running(&item->delay))
            workqueue_add_after(queue, workqueue_key(item), item->delay.due_ms - now_ms, &err);
}
