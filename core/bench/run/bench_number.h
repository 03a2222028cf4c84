/* Figures as people read them: three digits that count, commas in long ones.
 * Owner: the buffer is the caller's. Anywhere. */
#pragma once
#include "bench/run/bench_target.h"

/* "1.23", "12.3", "123", "12,345"; "-" for NAN. */
void bench_number_put(struct buf *out, double value);
/* Without zeros behind the point: "3.2", "18", "-" for NAN. */
void bench_number_exact(struct buf *out, double value);
/* In the unit of a target, which is named. */
void bench_number_unit(struct buf *out, enum bench_unit unit, double value, bool exact);
/* The word for it in JSON; figures are not divided there: "ratio", "percent", "bytes", "us", "ns", "ms". */
const char *bench_unit_name(enum bench_unit unit);
