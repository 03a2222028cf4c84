/* Figures for people; see bench_number.h. */
#include "bench/run/bench_number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* From here on there are commas: years and small counts look better without. */
enum { COMMAS_FROM = 10000, GROUP = 3 };

static void put_commas(struct buf *out, double value)
{
    char digits[64];
    snprintf(digits, sizeof digits, "%.0f", fabs(value));
    if (value < 0) buf_putc(out, '-');
    for (size_t i = 0, n = strlen(digits); i < n; i++) {
        if (i > 0 && (n - i) % GROUP == 0) buf_putc(out, ',');
        buf_putc(out, digits[i]);
    }
}

void bench_number_put(struct buf *out, double value)
{
    if (isnan(value))
        buf_putc(out, '-');
    else if (fabs(value) >= COMMAS_FROM)
        put_commas(out, value);
    else
        buf_printf(out, "%.*f", fabs(value) < 9.995 ? 2 : fabs(value) < 99.95 ? 1 : 0, value);
}

void bench_number_exact(struct buf *out, double value)
{
    if (isnan(value))
        buf_putc(out, '-');
    else if (fabs(value) >= COMMAS_FROM)
        put_commas(out, value);
    else
        buf_printf(out, "%g", value);
}

static const struct {
    const char *suffix, *name;
    double divisor;
} units[] = {
    [BENCH_TIMES] = {"x", "ratio", 1},
    [BENCH_PERCENT] = {" %", "percent", 1},
    [BENCH_BYTES] = {" B", "bytes", 1},
    [BENCH_KIBIBYTES] = {" KiB", "bytes", 1024},
    [BENCH_MEBIBYTES] = {" MiB", "bytes", 1048576},
    [BENCH_GIGABYTES] = {" GB", "bytes", 1e9},
    [BENCH_US] = {" us", "us", 1},
    [BENCH_NS] = {" ns", "ns", 1},
    [BENCH_MILLISECONDS] = {" ms", "ms", 1},
};

void bench_number_unit(struct buf *out, enum bench_unit unit, double value, bool exact)
{
    if (exact)
        bench_number_exact(out, value / units[unit].divisor);
    else
        bench_number_put(out, value / units[unit].divisor);
    if (!isnan(value)) buf_puts(out, units[unit].suffix);
}

const char *bench_unit_name(enum bench_unit unit)
{
    return units[unit].name;
}
