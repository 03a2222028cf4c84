/* The tables of figures: one for each theme, a row for each subject.
 * Owner: nothing is kept. The main thread of `kubelua bench`. */
#pragma once
#include <stdio.h>

#include "bench/run/bench_result.h"

/* Those of subjects that were measured with the same data as `data`. */
void bench_sections_print(const struct bench_results *results, const struct bench_result *data, FILE *out,
                          bool colours);
bool bench_same_data(const struct bench_result *a, const struct bench_result *b);
