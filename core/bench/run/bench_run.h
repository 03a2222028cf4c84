/* A run: one subject after the other is started on the source and measured.
 * Owner: the plan and the results are the caller's. The main thread of `kubelua bench`; calls block. */
#pragma once
#include <time.h>

#include "bench/run/bench_result.h"
#include "bench/run/bench_session.h"

struct bench_plan {
    struct bench_data data;
    size_t runs, updates;  /* `updates` of a storm */
    unsigned measurements; /* bits */
    int64_t silence_ms;    /* the most that a subject may be silent, beyond the time for its work */
    int64_t settle_ms;     /* that a process is left alone before its memory is read */
    const char *scripts;   /* the folder of ours */
    bool full;             /* kubelua is measured with larger data too */
    time_t begun;
    const char *flags; /* that hold, for the report */
};

/* One subject measured once. False when it failed: what was measured before stays. */
bool bench_run_subject(const struct bench_plan *plan, const struct bench_subject *subject,
                       struct bench_source *source, struct bench_result *result, struct err *err);

/* --- bench_idle.c: what a subject costs with nothing to do, on a server of its own */

/* Its memory, and that of one informer more. */
bool bench_run_idle(const struct bench_plan *plan, const struct bench_subject *subject,
                    struct bench_result *result, struct err *err);
/* From its start to its first request. */
bool bench_run_start(const struct bench_plan *plan, const struct bench_subject *subject,
                     struct bench_result *result, struct err *err);
/* --- bench_audit_engine.c: ten rules, asked about the caches of an engine of its own */

bool bench_run_audit_engine(const struct bench_plan *plan, const struct bench_source *source,
                            struct bench_result *result, struct err *err);

/* For what a process does behind an event: collecting, giving back memory. */
void bench_settle(const struct bench_plan *plan);
