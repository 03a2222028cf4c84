/* Names of measurements and figures; see bench_metric.h. */
#include "app/bench_metric.h"

const char *bench_measurement_name(enum bench_measurement measurement)
{
    static const char *const names[] = {
#define ONE(id, name) name,
        BENCH_MEASUREMENTS(ONE)
#undef ONE
    };
    return names[measurement];
}

unsigned bench_measurement_bit(struct str name)
{
    for (unsigned i = 0; i < BENCH_MEASUREMENT_COUNT; i++)
        if (str_is(name, bench_measurement_name(i))) return BENCH_BIT(i);
    return 0;
}

const char *bench_metric_name(enum bench_metric metric)
{
    static const char *const names[] = {
#define ONE(id, name) name,
        BENCH_FIGURES(ONE)
#undef ONE
    };
    return names[metric];
}
