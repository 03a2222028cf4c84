/* The results for people, and for programs.
 * Owner: nothing is kept. The main thread of `kubelua bench`. */
#pragma once
#include <stdio.h>

#include "bench/run/bench_compare.h"
#include "bench/run/bench_result.h"
#include "bench/run/bench_run.h"
#include "bench/run/bench_target.h"

/* The head, tables of medians, the targets, what was not measured, and how it compares; `earlier` may be
 * NULL. */
void bench_report_table(const struct bench_config *plan, const struct bench_results *results,
                        const struct bench_earlier *earlier, FILE *out, bool colours);
/* One JSON object with every run's figures; docs/dev/bench.md names its keys. */
void bench_report_json(const struct bench_config *plan, const struct bench_results *results,
                       const struct bench_earlier *earlier, FILE *out);

/* What the targets need to know of a plan. */
struct bench_scope bench_config_scope(const struct bench_config *plan);

/* --- The head of a report: of what, when, where and with which flags.
 * Owner: nothing is kept. The main thread of `kubelua bench`. */

void bench_head_print(const struct bench_config *plan, const struct bench_results *results, FILE *out);
/* The first fields of the object that is under way. */
void bench_head_json(const struct bench_config *plan, const struct bench_results *results, struct buf *out);
/* The name of the first CPU. */
void bench_head_cpu(struct buf *out);

/* --- The tables of figures: one for each theme, a row for each subject.
 * Owner: nothing is kept. The main thread of `kubelua bench`. */

/* Those of subjects that were measured with the same data as `data`. */
void bench_sections_print(const struct bench_results *results, const struct bench_result *data, FILE *out,
                          bool colours);
bool bench_same_data(const struct bench_result *a, const struct bench_result *b);
