/* The head of a report: of what, when, where and with which flags.
 * Owner: nothing is kept. The main thread of `kubelua bench`. */
#pragma once
#include <stdio.h>

#include "bench/run/bench_run.h"

void bench_head_print(const struct bench_plan *plan, const struct bench_results *results, FILE *out);
/* The first fields of the object that is under way. */
void bench_head_json(const struct bench_plan *plan, const struct bench_results *results, struct buf *out);
/* The name of the first CPU. */
void bench_head_cpu(struct buf *out);
