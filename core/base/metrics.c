/* The list of counters; see metrics.h. */
#include "base/metrics.h"

/* Defined here so that all programs show it, even if no file of them uses expect(). */
METRIC(metric_expectations_failed, 1, "kubelua_expectations_failed_total",
       "Number of failed internal assertions.");

static struct metric *first;

void metric_register(struct metric *metric)
{
    struct metric **at = &first;
    while (*at && (*at)->place < metric->place) at = &(*at)->next;
    metric->next = *at;
    *at = metric;
}

const struct metric *metric_first(void)
{
    return first;
}
