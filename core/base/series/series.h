/* Metrics with labels, beside the process-wide counters of metrics.h: families of series, each a counter, a
 * gauge or a histogram with fixed buckets. Owner: the creator of a series frees it, so that ended things are
 * no longer shown. Creating and freeing take a mutex under which no script runs; the values are atomics. May
 * be used from any thread, any callback. A NULL series accepts everything and shows nothing. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/buf.h"

enum family_kind { FAMILY_COUNTER, FAMILY_GAUGE, FAMILY_HISTOGRAM, FAMILY_SUMMARY };

/* Upper bounds, without +Inf, which is implied. */
struct buckets {
    size_t count;
    const double *bounds;
};

#define BUCKETS(...)                                                             \
    {                                                                            \
        sizeof((const double[]){__VA_ARGS__}) / sizeof(double), (const double[]) \
        {                                                                        \
            __VA_ARGS__                                                          \
        }                                                                        \
    }
extern const struct buckets buckets_of_calls, buckets_of_processing;

struct series;

/* A family of series: a static of the file that owns it. It is on the page while it has series,
 * in the order of `place`, of which each area has a hundred. `labels` are the names, joined by commas;
 * docs/metrics.md has the same list, and a check compares the two. */
struct family {
    const char *name, *labels, *help;
    const struct buckets *buckets; /* of a histogram */
    unsigned place;
    enum family_kind kind;
    struct family *next;                 /* under the lock, as what follows: those that had series */
    TAILQ_HEAD(series_list, series) all; /* in the order of their creation */
};

#define FAMILY_OF(its_place, its_kind, its_name, its_labels, its_buckets, its_help)                  \
    {                                                                                                \
        .place = (its_place), .kind = FAMILY_##its_kind, .name = (its_name), .labels = (its_labels), \
        .buckets = (its_buckets), .help = (its_help),                                                \
    }
#define FAMILY(symbol, ...) static struct family symbol = FAMILY_OF(__VA_ARGS__)

/* Creates a series. `values` has one string for each label of the family, in its order; NULL stands for "".
 * Two owners of the same values share one series, which is shown until the last of them has freed it. */
struct series *series_new(struct family *family, const char *const *values);
#define SERIES(family, ...) series_new(family, (const char *const[]){__VA_ARGS__})
void series_free(struct series *series);
/* Returns the series for another owner, who frees it, too. NULL: none. */
struct series *series_share(struct series *series);

/* Add to a counter or a gauge; or set either, if the caller counts. */
void series_add(struct series *series, double amount);
static inline void series_inc(struct series *series)
{
    series_add(series, 1);
}
void series_set(struct series *series, double value);
/* Sets what was observed so far, for owners that keep sum and count themselves. */
void series_set_summary(struct series *summary, double sum, uint64_t count);
void series_observe(struct series *histogram, double value);
/* Adds the sum and the count of a histogram to those of the caller. NULL is allowed. */
void series_add_to(const struct series *histogram, double *sum, uint64_t *count);

/* Position on the page; zero-initialised is its beginning. */
struct series_cursor {
    unsigned place; /* of the next family */
    uint64_t id;    /* of its last rendered series; 0: none */
};
/* Appends the next series, in Prometheus's text format 0.0.4, until the piece has `most` bytes; no series is
 * cut. Returns false at the end. Series that are created or freed between two pieces may be missing; nothing
 * is rendered twice. */
bool series_render_some(struct series_cursor *cursor, size_t most, struct buf *out);
/* Appends all families that have series. */
void series_render(struct buf *out);
/* Parts of that format, for values that are not series. */
void exposition_head(struct buf *out, const char *name, const char *type, const char *help);
void exposition_number(struct buf *out, double value);
