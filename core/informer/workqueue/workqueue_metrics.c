/* Series of work queues; see workqueue_metrics.h. */
#include "informer/workqueue/workqueue_metrics.h"

void workqueue_metrics_init(struct workqueue_metrics *m, const char *name, const char *script,
                            int64_t (*measure_ns)(void))
{
    static const enum family families[WORKQUEUE_SERIES] = {
        FAMILY_QUEUE_DEPTH,      FAMILY_QUEUE_ADDS,    FAMILY_QUEUE_LATENCY, FAMILY_QUEUE_WORK,
        FAMILY_QUEUE_UNFINISHED, FAMILY_QUEUE_LONGEST, FAMILY_QUEUE_RETRIES, FAMILY_QUEUE_DROPPED,
    };
    *m = (struct workqueue_metrics){.measure_ns = measure_ns ? measure_ns : clock_measure_ns};
    for (int i = 0; name && i < WORKQUEUE_SERIES; i++) m->series[i] = SERIES(families[i], name, script);
}

void workqueue_metrics_clear(struct workqueue_metrics *m)
{
    for (int i = 0; i < WORKQUEUE_SERIES; i++) series_free(m->series[i]);
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
