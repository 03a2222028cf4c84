/* What kubelua is to reach: rows of a figure, or of a ratio of two, and a bound.
 * Owner: constants, and the caller's results. Anywhere. */
#pragma once
#include "base/buf.h"
#include "bench/run/bench_result.h"

enum bench_unit {
    BENCH_TIMES,
    BENCH_PERCENT,
    BENCH_BYTES,
    BENCH_KIBIBYTES,
    BENCH_MEBIBYTES,
    BENCH_GIGABYTES,
    BENCH_US,
    BENCH_NS,
    BENCH_MILLISECONDS
};

/* One figure of a subject. Several subjects, parted by '|': the best one counts. */
struct bench_figure {
    const char *subjects;
    enum bench_metric metric;
};

struct bench_target {
    const char *what;
    struct bench_figure figure;
    struct bench_figure by; /* the figure is divided by it; without subjects it is not */
    enum bench_unit unit;
    bool at_least; /* else at most */
    double bound;
    size_t pods, replicas; /* of which data; 0: those of the run */
};

/* What is needed to tell why a figure is missing. */
struct bench_scope {
    size_t pods, replicas; /* of the run */
    unsigned measurements; /* bits */
    bool full;
};

/* Ends with one without `what`. */
extern const struct bench_target bench_targets[];

/* NAN when a figure is missing. `pods` and `replicas` are those of the run. */
double bench_target_value(const struct bench_target *target, const struct bench_results *results,
                          const struct bench_scope *scope);
bool bench_target_met(const struct bench_target *target, double value);
/* Why there is no value, in a few words: "needs --full", "--only leaves out storm", "needs client-go json".
 */
void bench_target_why_not(const struct bench_target *target, const struct bench_results *results,
                          const struct bench_scope *scope, struct buf *why);
