/* What was measured: for each subject and set of data the figures of every run; and what was not, and why.
 * Owner: whoever holds the struct; bench_results_clear frees all. Zero-initialised is empty. The main thread
 * of `kubelua bench`. */
#pragma once
#include <stddef.h>

#include "bench/run/bench_metric.h"

struct bench_series {
    double *values; /* one for each run */
    size_t count;
};

struct bench_result {
    char *subject;
    char *version; /* as the subject tells it; NULL: it does not */
    size_t pods, replicas;
    size_t runs, wanted; /* runs that were done to the end, of so many */
    struct bench_series series[BENCH_METRICS];
};

struct bench_gap {
    char *what, *why;
    bool failed; /* it was tried */
};

struct bench_results {
    struct bench_result **items; /* in the order in which they came */
    size_t count;
    struct bench_gap *gaps;
    size_t gap_count;
    char *stopped; /* why not everything was tried that was planned; NULL: it was */
};

/* The lowest and the highest run, and the median of all; NAN without a figure. */
struct bench_span {
    double lowest, median, highest;
    size_t count;
};

/* Made when there is none yet. */
struct bench_result *bench_results_of(struct bench_results *results, const char *subject, size_t pods,
                                      size_t replicas);
/* NULL when there is none. */
const struct bench_result *bench_results_find(const struct bench_results *results, const char *subject,
                                              size_t pods, size_t replicas);
/* NAN is no figure. */
void bench_result_add(struct bench_result *result, enum bench_metric metric, double value);
/* Without `result` there is no figure. */
struct bench_span bench_result_span(const struct bench_result *result, enum bench_metric metric);
double bench_result_median(const struct bench_result *result, enum bench_metric metric);
/* The first time counts; an empty one is none. */
void bench_result_set_version(struct bench_result *result, const char *version);

/* `what` is not there, or has failed; the same words are kept once. */
void bench_results_lack(struct bench_results *results, const char *what, bool failed, const char *why);
/* The first of this name; NULL when there is none. */
const struct bench_gap *bench_results_gap(const struct bench_results *results, const char *what);
/* Whether there is a figure of one of these measurements. */
bool bench_results_any(const struct bench_results *results, unsigned measurements);
void bench_results_clear(struct bench_results *results);
