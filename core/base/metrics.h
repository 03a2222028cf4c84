/* Process-wide counters: one atomic word each, named as Prometheus will show them.
 * Owner: the file that counts, which defines its own with METRIC. May be used from any thread, any callback.
 */
#pragma once
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct metric {
    unsigned place; /* on the page, on which all are from the start */
    const char *name, *help;
    _Atomic uint64_t count;
    struct metric *next;
};

/* docs/metrics.md has the same list; a check compares the two. */
#define METRIC(symbol, place, name, help)                            \
    __attribute__((constructor)) static void register_##symbol(void) \
    {                                                                \
        extern struct metric symbol;                                 \
        metric_register(&(symbol));                                  \
    }                                                                \
    struct metric symbol = {(place), (name), (help), 0, NULL}

extern struct metric metric_expectations_failed;

/* Before main. */
void metric_register(struct metric *metric);
/* Returns the first metric of the page; `next` has the others. */
const struct metric *metric_first(void);

static inline void metric_add(struct metric *metric, uint64_t n)
{
    atomic_fetch_add_explicit(&metric->count, n, memory_order_relaxed);
}

static inline void metric_inc(struct metric *metric)
{
    metric_add(metric, 1);
}

static inline uint64_t metric_get(const struct metric *metric)
{
    return atomic_load_explicit(&metric->count, memory_order_relaxed);
}
