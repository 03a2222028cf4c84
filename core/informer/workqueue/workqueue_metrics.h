/* Series of a work queue, under client-go's names (W-11). Owner: the queue that embeds it; on its thread. */
#pragma once
#include "base/clock.h"
#include "base/series/series.h"

enum workqueue_series {
    WORKQUEUE_DEPTH,
    WORKQUEUE_ADDS,
    WORKQUEUE_LATENCY,
    WORKQUEUE_WORK,
    WORKQUEUE_UNFINISHED,
    WORKQUEUE_LONGEST,
    WORKQUEUE_RETRIES,
    WORKQUEUE_DROPPED,
    WORKQUEUE_SERIES,
};

struct workqueue_metrics {
    struct series *series[WORKQUEUE_SERIES]; /* NULL without a name */
    int64_t (*measure_ns)(void);
};

void workqueue_metrics_init(struct workqueue_metrics *metrics, const char *name, const char *script,
                            int64_t (*measure_ns)(void));
void workqueue_metrics_clear(struct workqueue_metrics *metrics);

/* Returns the time for the functions below. */
int64_t workqueue_metrics_now(const struct workqueue_metrics *metrics);
void workqueue_metrics_got(struct workqueue_metrics *metrics, int64_t added_ns, int64_t now_ns);
void workqueue_metrics_done(struct workqueue_metrics *metrics, int64_t begun_ns);
/* Interval at which workqueue_metrics_busy is called while keys are being processed, in milliseconds. */
enum { WORKQUEUE_REFRESH_MS = 500 };
void workqueue_metrics_busy(struct workqueue_metrics *metrics, int64_t sum_ns, int64_t longest_ns);
