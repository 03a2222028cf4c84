/* The metrics of a script: k8s.metric.counter, gauge and histogram. They are on the page of /metrics from the
 * moment the script takes over, and leave it with the script; what its last generation counted stays where
 * the metric is the same. Owner: the script. On the engine thread. */
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
    struct script_metric **items; /* each in place until metrics_clear */
    size_t count;
    size_t noted; /* bytes of the script's memory */
};

/* Takes a reference's place in the list. */
struct script_metric *metrics_add(struct script *script, struct user_metric *metric);
/* Of all metrics together. */
size_t metrics_series_count(const struct script *script);
/* ERR_LIMIT, with the metric and the limit, when so many more bytes of it on the page are too many of the
 * script, or of all scripts. */
bool metrics_have_room(const struct script *script, const struct user_metric *metric, size_t more,
                       struct err *err);
/* Counts what its metrics take as memory of the script. */
void metrics_note_memory(struct script *script);
/* False when another script on the page has made one of them differently. */
bool metrics_fit(const struct script *script, struct err *err);
/* Puts the place of the metric of that name before the error. Returns false. Anywhere. */
bool metrics_refuse(const struct inventory *plan, const char *name, struct err *err);
/* The script begins, or takes the place of `old`, whose metrics that are the same go on counting. They fit.
 */
void metrics_handover(struct script *old, struct script *new_);
void metrics_clear(struct script *script);
