/* Metrics of a script: k8s.metric.counter, gauge and histogram (E-2). They are on the page of /metrics from
 * the activation of the script until its end; counts of the previous generation continue if the metric is
 * unchanged. Owner: the script. On the engine thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/series/user_metric.h"

struct inventory;
struct script;

enum { SCRIPT_METRICS_MAX = 200 };

struct script_metric {
    struct user_metric *metric;
};

struct script_metrics {
    struct script_metric **items; /* pointers valid until metrics_clear */
    size_t count;
    size_t noted; /* bytes counted as memory of the script */
};

/* Adds a metric to the list; takes the reference. */
struct script_metric *metrics_add(struct script *script, struct user_metric *metric);
/* Returns the number of series of all metrics. */
size_t metrics_series_count(const struct script *script);
/* Sets ERR_LIMIT, with the metric and the limit, if that many more bytes of the metric on the page exceed the
 * limit of the script, or of all scripts. */
bool metrics_have_room(const struct script *script, const struct user_metric *metric, size_t more,
                       struct err *err);
/* Counts its metrics as memory of the script. */
void metrics_note_memory(struct script *script);
/* Returns false if another script on the page has a different metric with the name of one of them. */
bool metrics_fit(const struct script *script, struct err *err);
/* Prefixes the error with the place of the metric of that name. Returns false. Anywhere. */
bool metrics_refuse(const struct inventory *plan, const char *name, struct err *err);
/* Puts the metrics on the page as the script is activated, perhaps in the place of `old`, whose equal metrics
 * continue. They must fit. */
void metrics_handover(struct script *old, struct script *new_);
void metrics_clear(struct script *script);
