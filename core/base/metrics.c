/* Counters; see metrics.h. */
#include "base/metrics.h"

#include <stdatomic.h>

static _Atomic uint64_t values[METRIC_COUNT];

static const struct {
    const char *name, *help;
} table[] = {
#define X(symbol, name, help) {name, help},
    METRICS(X)
#undef X
};

void metric_add(enum metric metric, uint64_t n)
{
    atomic_fetch_add_explicit(&values[metric], n, memory_order_relaxed);
}

uint64_t metric_get(enum metric metric)
{
    return atomic_load_explicit(&values[metric], memory_order_relaxed);
}

const char *metric_name(enum metric metric)
{
    return table[metric].name;
}

const char *metric_help(enum metric metric)
{
    return table[metric].help;
}
