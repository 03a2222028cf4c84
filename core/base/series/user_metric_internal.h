/* Internals of the files of user metrics; see user_metric.h. Owner: as said there. For these files only. */
#pragma once
#include <sys/queue.h>
#include <uthash.h>

#include "base/series/series_internal.h"
#include "base/series/user_metric.h"

struct user_series {
    struct series *series; /* its `labels` are the key */
    UT_hash_handle hh;
};

struct user_metric {
    TAILQ_ENTRY(user_metric) link; /* while it is shown */
    bool shown;
    uint64_t id;              /* of the last time it was shown */
    size_t lines, line_bytes; /* of a series on the page; of these without labels */
    size_t bytes, memory;     /* of all on the page, at most; of it and its series */
    const void *page;
    unsigned refs;
    char *script, *name, *help; /* `help` as it stands on the page */
    char *label_names[USER_METRIC_LABELS_MAX];
    size_t label_count;
    struct family family;
    struct buckets buckets;
    double *bounds;
    struct user_series *series; /* changed under the lock */
};

/* Calls `fn` for the metrics shown on the page, in the order of their creation, under the lock. */
void user_metrics_each(const void *page, void (*fn)(void *ctx, const struct user_metric *metric), void *ctx);
