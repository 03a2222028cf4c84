/* Metrics that scripts make: families that are not known before, each of one script. Two scripts with a
 * metric of the same name, type, help, labels and buckets are one family on the page; the label `script`,
 * which each series has, tells them apart. Owner: counted references, given back on the engine thread. Series
 * are made and removed there; values are atomics, and the page is rendered from any thread, under a mutex
 * that no script runs under.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/series/series.h"

struct user_metric;

enum {
    USER_METRIC_LABELS_MAX = 16,
    USER_METRIC_NAME_MAX = 200,
    USER_METRIC_BUCKETS_MAX = 50,
    USER_METRIC_VALUE_MAX = 1024, /* bytes of a label's value */
    USER_METRIC_HELP_MAX = 1000,
};

/* Identity of a metric: equal options make the same one. Strings are borrowed. */
struct user_metric_options {
    /* Page on which the metric is shown; only compared. Metrics of one page are checked against each other
     * and rendered together. NULL: the page of the process. */
    const void *page;
    const char *script, *name, *help;
    enum family_kind kind; /* no summary */
    const char *const *labels;
    size_t label_count;
    const double *bounds; /* of a histogram, growing, without +Inf; NULL: Prometheus's own */
    size_t bound_count;
};

/* Names as Prometheus has them, none that is the engine's own, and buckets that grow. */
bool user_metric_check(const struct user_metric_options *options, struct err *err);
/* Not on the page yet. A counter or histogram without labels has its one series from the start. */
struct user_metric *user_metric_new(const struct user_metric_options *options);
struct user_metric *user_metric_ref(struct user_metric *metric);
/* With the last reference it leaves the page. NULL does nothing. */
void user_metric_unref(struct user_metric *metric);

/* Once it is shown others are checked against it. Nothing, when it is already; so with the next. */
void user_metric_publish(struct user_metric *metric);
void user_metric_unpublish(struct user_metric *metric);
/* Returns whether all options are equal. */
bool user_metric_equal(const struct user_metric *a, const struct user_metric *b);
/* Adds the counts of `from` to `into`, whose gauges become those of `from`. They are equal. */
void user_metric_merge(struct user_metric *into, const struct user_metric *from);
/* No metric of another script on its page has the same name and is made differently, or has samples of the
 * same names: the error tells which. To be asked again before it is shown. */
bool user_metric_check_published(const struct user_metric *metric, struct err *err);
/* Returns whether the two would have samples of the same name. */
bool user_metric_clashes(const struct user_metric *a, const struct user_metric *b);
bool user_metric_names_clash(const char *a, enum family_kind kind_a, const char *b, enum family_kind kind_b);
/* The error of one that clashes with that of another script. Returns false. */
bool user_metric_refuse(const char *wanted, const char *shown, const char *script, struct err *err);

const char *user_metric_name(const struct user_metric *metric);
size_t user_metric_label_count(const struct user_metric *metric);
const char *user_metric_label(const struct user_metric *metric, size_t i);
size_t user_metric_series_count(const struct user_metric *metric);
/* `values` has one for each label, in order. NULL when there is none; `make` makes it. Borrowed, until it is
 * removed. */
struct series *user_metric_series(struct user_metric *metric, const struct str *values, bool make);
/* False when there was none. */
bool user_metric_remove(struct user_metric *metric, const struct str *values);

/* Appends all of a page that are shown, in Prometheus's text form 0.0.4. */
void user_metrics_render(const void *page, struct buf *out);
