/* All runs of a benchmark, subject by subject.
 * Owner: setup and results are the caller's. The main thread of `kubelua bench`; calls block. */
#pragma once
#include "base/embedded_file.h"
#include "base/err.h"
#include "bench/run/bench_config.h"

/* Whether any subject is able to do what is asked for, and whether the memory suffices: ERR_INVALID. With
 * large data the need is told on stderr. */
bool bench_all_check(const struct bench_setup *setup, struct err *err);
/* False when it ended early: `results` has what was measured until then. A subject that fails is put down
 * as that, the others go on. */
bool bench_all_measure(struct bench_setup *setup, struct bench_results *results, bool *any_failed,
                       struct err *err);

/* --- The scripts of kubelua's own subjects: bench/scripts/, compiled into the binary, written to a folder so
 * that `kubelua run` can read them.
 * Owner: whoever made the folder. The main thread of `kubelua bench`. */

extern const struct embedded_module bench_scripts[];

/* A new temporary folder with all of them; NULL with an error. */
char *bench_scripts_write(struct err *err);
/* Takes the path; NULL is fine. */
void bench_scripts_remove(char *folder);
