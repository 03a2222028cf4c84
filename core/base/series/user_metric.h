/* Metrics created by scripts: families that are not known before, each of one script (E-2). Two scripts with
 * a metric of the same name, type, help, labels and buckets share one family on the page; the label `script`,
 * which each series has, distinguishes them. Owner: counted references, released on the engine thread. Series
 * are created and removed there; values are atomics, and the page is rendered from any thread, under a mutex
 * that no script runs under. */
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
    USER_METRICS_PAGE_MAX = 16 << 20, /* bytes of all scripts on the page of the process */
};

/* Identity of a metric: equal options are the same metric. Strings are borrowed. */
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
/* Creates a metric, not on the page yet. A counter or histogram without labels has its one series from the
 * start. */
struct user_metric *user_metric_new(const struct user_metric_options *options);
struct user_metric *user_metric_ref(struct user_metric *metric);
/* Releases a reference; with the last one it leaves the page. NULL is allowed. */
void user_metric_unref(struct user_metric *metric);

/* Shows it on the page; others are checked against it from now on. Ignored if it is shown already; so is the
 * next. */
void user_metric_publish(struct user_metric *metric);
void user_metric_unpublish(struct user_metric *metric);
/* Returns whether all options are equal. */
bool user_metric_equal(const struct user_metric *a, const struct user_metric *b);
/* Adds the counts of `from` to `into`, whose gauges become those of `from`. They are equal. */
void user_metric_merge(struct user_metric *into, const struct user_metric *from);
/* Returns whether no metric of another script on its page has the same name and another definition, or
 * samples of the same names; the error names it. Check again before it is shown. */
bool user_metric_check_published(const struct user_metric *metric, struct err *err);
/* Returns whether the two would have samples of the same name. */
bool user_metric_clashes(const struct user_metric *a, const struct user_metric *b);
bool user_metric_names_clash(const char *a, enum family_kind kind_a, const char *b, enum family_kind kind_b);
/* Sets the error of a conflict with another script. Returns false. */
bool user_metric_refuse(const char *wanted, const char *shown, const char *script, struct err *err);

const char *user_metric_name(const struct user_metric *metric);
size_t user_metric_label_count(const struct user_metric *metric);
const char *user_metric_label(const struct user_metric *metric, size_t i);
size_t user_metric_series_count(const struct user_metric *metric);
/* Returns the bytes that the metric takes on the page, at most. */
size_t user_metric_bytes(const struct user_metric *metric);
/* Returns the bytes of all metrics on the page of the process, shown or not yet. */
size_t user_metrics_page_bytes(void);
/* Returns the bytes that one more series with these values adds to both. */
size_t user_metric_series_bytes(const struct user_metric *metric, const struct str *values);
/* Returns the memory of the metric and its series. */
size_t user_metric_memory(const struct user_metric *metric);
/* Returns the series of the values, one for each label in order; NULL if there is none; `make` creates it.
 * Borrowed, until it is removed. */
struct series *user_metric_series(struct user_metric *metric, const struct str *values, bool make);
/* Removes a series; returns false if there was none. */
bool user_metric_remove(struct user_metric *metric, const struct str *values);

/* Position on the page, where metrics are in the order of their names; see struct series_cursor. */
struct user_metrics_cursor {
    char name[USER_METRIC_NAME_MAX + 1]; /* of the next metrics */
    uint64_t metric, series;             /* last rendered ones of that name; 0: none */
};
/* Likewise for all shown metrics of a page: see series_render_some. */
bool user_metrics_render_some(const void *page, struct user_metrics_cursor *cursor, size_t most,
                              struct buf *out);
/* Appends all shown metrics of a page. */
void user_metrics_render(const void *page, struct buf *out);
