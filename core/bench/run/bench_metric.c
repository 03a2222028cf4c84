/* Names of measurements and figures; see bench_metric.h. */
#include "bench/run/bench_metric.h"

#define TEXT(id, name) name,
static const char *const measurement_names[] = {BENCH_MEASUREMENTS(TEXT)};
#undef TEXT

static const struct {
    const char *name;
    enum bench_measurement measurement;
    enum bench_better better;
} metrics[] = {
#define ROW(id, name, measurement, better) {name, BENCH_##measurement, BENCH_##better},
    BENCH_FIGURES(ROW)
#undef ROW
};

const char *bench_measurement_name(enum bench_measurement measurement)
{
    return measurement_names[measurement];
}

unsigned bench_measurement_bit(struct str name)
{
    for (unsigned i = 0; i < BENCH_MEASUREMENT_COUNT; i++)
        if (str_is(name, measurement_names[i])) return BENCH_BIT(i);
    return 0;
}

const char *bench_metric_name(enum bench_metric metric)
{
    return metrics[metric].name;
}

enum bench_metric bench_metric_of(struct str name)
{
    enum bench_metric metric = 0;
    while (metric < BENCH_METRICS && !str_is(name, metrics[metric].name)) metric++;
    return metric;
}

enum bench_measurement bench_metric_measurement(enum bench_metric metric)
{
    return metrics[metric].measurement;
}

enum bench_better bench_metric_better(enum bench_metric metric)
{
    return metrics[metric].better;
}
