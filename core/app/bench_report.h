/* The results for people, and for programs.
 * Owner: nothing is kept. The main thread of `kubelua bench`. */
#pragma once
#include <stdio.h>

#include "app/bench_run.h"

/* Tables of medians, the targets, and what was not measured. */
void bench_report_table(const struct bench_plan *plan, const struct bench_results *results, FILE *out,
                        bool colours);
/* One JSON object with every run's figures. */
void bench_report_json(const struct bench_plan *plan, const struct bench_results *results, FILE *out);

/* The machine: "Intel(R) Xeon(R), 2 CPUs, Linux 6.1.0"; the caller frees it. */
char *bench_machine(void);
