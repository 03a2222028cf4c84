/* The results for people, and for programs.
 * Owner: nothing is kept. The main thread of `kubelua bench`. */
#pragma once
#include <stdio.h>

#include "bench/run/bench_compare.h"
#include "bench/run/bench_target.h"

/* The head, tables of medians, the targets, what was not measured, and how it compares; `earlier` may be
 * NULL. */
void bench_report_table(const struct bench_plan *plan, const struct bench_results *results,
                        const struct bench_earlier *earlier, FILE *out, bool colours);
/* One JSON object with every run's figures; docs/bench.md names its keys. */
void bench_report_json(const struct bench_plan *plan, const struct bench_results *results,
                       const struct bench_earlier *earlier, FILE *out);

/* What the targets need to know of a plan. */
struct bench_scope bench_plan_scope(const struct bench_plan *plan);
