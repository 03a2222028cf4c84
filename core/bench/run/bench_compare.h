/* The report of an earlier run, read from the JSON that `kubelua bench -o json` wrote, and set beside the
 * results of this one. Owner: whoever holds the struct; bench_earlier_clear frees all. The main thread of
 * `kubelua bench`. */
#pragma once
#include <stdio.h>

#include "bench/run/bench_config.h"

struct bench_earlier {
    char *path, *version, *commit, *date, *cpu;
    size_t updates;
    struct bench_results results;
};

/* ERR_INVALID says what is wrong with the file. */
bool bench_earlier_read(const char *path, struct bench_earlier *earlier, struct err *err);
/* Whether it has a subject and data of the plan; ERR_INVALID says what it has instead. */
bool bench_earlier_fits(const struct bench_earlier *earlier, const struct bench_setup *setup,
                        struct err *err);
void bench_earlier_clear(struct bench_earlier *earlier);

/* --- bench_compare.c */

/* Before, now, and the change of each figure that both have. */
void bench_compare_print(const struct bench_earlier *earlier, const struct bench_config *plan,
                         const struct bench_results *results, FILE *out, bool colours);
/* The same as the field "compared" of the object that is under way. */
void bench_compare_json(const struct bench_earlier *earlier, const struct bench_results *results,
                        struct buf *out);
/* "better", "worse", "within the spread" of the runs, "within 1 %", or "" where single runs tell nothing. */
const char *bench_compare_verdict(enum bench_metric metric, const struct bench_span *before,
                                  const struct bench_span *now);
