/* What was measured: for each subject and set of data the figures of every run; and what was not, and why.
 * Owner: whoever holds the struct; bench_results_clear frees all. Zero-initialised is empty. */
#pragma once
#include <stddef.h>

#include "app/bench_metric.h"

struct bench_series {
    double *values; /* one for each run */
    size_t count;
};

struct bench_result {
    char *subject;
    size_t pods, replicas;
    struct bench_series series[BENCH_METRICS];
};

struct bench_gap {
    char *what, *why;
};

struct bench_results {
    struct bench_result **items; /* in the order in which they came */
    size_t count;
    struct bench_gap *gaps;
    size_t gap_count;
};

/* Made when there is none yet. */
struct bench_result *bench_results_of(struct bench_results *results, const char *subject, size_t pods,
                                      size_t replicas);
/* NULL when there is none. */
const struct bench_result *bench_results_find(const struct bench_results *results, const char *subject,
                                              size_t pods, size_t replicas);
/* NAN is no figure. */
void bench_result_add(struct bench_result *result, enum bench_metric metric, double value);
/* NAN without a figure, or without `result`. */
double bench_result_median(const struct bench_result *result, enum bench_metric metric);
/* `what` is not there; the same words are kept once. */
void bench_results_lack(struct bench_results *results, const char *what, const char *why);
void bench_results_clear(struct bench_results *results);
