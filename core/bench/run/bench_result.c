/* Figures of runs and their medians; see bench_result.h. */
#include "bench/run/bench_result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

const struct bench_result *bench_results_find(const struct bench_results *results, const char *subject,
                                              size_t pods, size_t replicas)
{
    for (size_t i = 0; i < results->count; i++) {
        const struct bench_result *r = results->items[i];
        if (strcmp(r->subject, subject) == 0 && r->pods == pods && r->replicas == replicas) return r;
    }
    return NULL;
}

struct bench_result *bench_results_of(struct bench_results *results, const char *subject, size_t pods,
                                      size_t replicas)
{
    const struct bench_result *found = bench_results_find(results, subject, pods, replicas);
    if (found) return (struct bench_result *)found;
    struct bench_result *result = NEW(struct bench_result);
    result->subject = xstrdup(subject);
    result->pods = pods;
    result->replicas = replicas;
    results->items = xrealloc(results->items, (results->count + 1) * sizeof(struct bench_result *));
    results->items[results->count++] = result;
    return result;
}

void bench_result_add(struct bench_result *result, enum bench_metric metric, double value)
{
    struct bench_series *series = &result->series[metric];
    if (isnan(value)) return;
    series->values = xrealloc(series->values, (series->count + 1) * sizeof *series->values);
    series->values[series->count++] = value;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct bench_span bench_result_span(const struct bench_result *result, enum bench_metric metric)
{
    const struct bench_series *series = result ? &result->series[metric] : NULL;
    if (!series || series->count == 0) return (struct bench_span){NAN, NAN, NAN, 0};
    double *sorted = xmalloc(series->count * sizeof *sorted);
    memcpy(sorted, series->values, series->count * sizeof *sorted);
    qsort(sorted, series->count, sizeof *sorted, by_size);
    size_t middle = series->count / 2;
    double median = series->count % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    struct bench_span span = {sorted[0], median, sorted[series->count - 1], series->count};
    free(sorted);
    return span;
}

double bench_result_median(const struct bench_result *result, enum bench_metric metric)
{
    return bench_result_span(result, metric).median;
}

void bench_result_set_version(struct bench_result *result, const char *version)
{
    if (!result->version && *version) result->version = xstrdup(version);
}

void bench_results_lack(struct bench_results *results, const char *what, bool failed, const char *why)
{
    for (size_t i = 0; i < results->gap_count; i++)
        if (strcmp(results->gaps[i].what, what) == 0 && strcmp(results->gaps[i].why, why) == 0) return;
    results->gaps = xrealloc(results->gaps, (results->gap_count + 1) * sizeof *results->gaps);
    results->gaps[results->gap_count++] = (struct bench_gap){xstrdup(what), xstrdup(why), failed};
}

const struct bench_gap *bench_results_gap(const struct bench_results *results, const char *what)
{
    for (size_t i = 0; i < results->gap_count; i++)
        if (strcmp(results->gaps[i].what, what) == 0) return &results->gaps[i];
    return NULL;
}

/* An idle process is measured on the way to others: by itself it is no answer to who asked for those. */
bool bench_results_any(const struct bench_results *results, unsigned measurements)
{
    for (size_t i = 0; i < results->count; i++)
        for (size_t m = 0; m < BENCH_METRICS; m++)
            if (results->items[i]->series[m].count && measurements & BENCH_BIT(bench_metric_measurement(m)))
                return true;
    return false;
}

void bench_results_clear(struct bench_results *results)
{
    for (size_t i = 0; i < results->count; i++) {
        for (size_t m = 0; m < BENCH_METRICS; m++) free(results->items[i]->series[m].values);
        free(results->items[i]->subject);
        free(results->items[i]->version);
        free(results->items[i]);
    }
    for (size_t i = 0; i < results->gap_count; i++) {
        free(results->gaps[i].what);
        free(results->gaps[i].why);
    }
    free(results->stopped);
    free(results->items);
    free(results->gaps);
    *results = (struct bench_results){0};
}
