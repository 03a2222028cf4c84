/* Names of measurements and figures; see bench_metric.h. */
#include "app/bench_metric.h"

#define TEXT(id, name) name,
static const char *const measurement_names[] = {BENCH_MEASUREMENTS(TEXT)};
static const char *const metric_names[] = {BENCH_FIGURES(TEXT)};
#undef TEXT

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
    return metric_names[metric];
}
