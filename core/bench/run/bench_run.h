/* A run: one subject after the other is started on the source and measured.
 * Owner: the plan and the results are the caller's. The main thread of `kubelua bench`; calls block. */
#pragma once
#include <time.h>

#include "bench/run/bench_result.h"
#include "bench/run/bench_session.h"

/* One audit of all that the engine at `socket` has cached. */
struct bench_audit {
    size_t objects, children;
    int64_t pause_ns; /* of the engine, while it forked them */
};

/* What the program around the benchmark knows. */
struct bench_program {
    const char *commit; /* of its sources; empty when that is not known */
    /* Fails when the audit is not complete. */
    bool (*audit)(const char *socket, int64_t timeout_ms, struct bench_audit *audit, struct err *err);
};

struct bench_config {
    const struct bench_program *program; /* borrowed */
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
bool bench_run_subject(const struct bench_config *plan, const struct bench_subject *subject,
                       struct bench_source *source, struct bench_result *result, struct err *err);

/* --- bench_idle.c: what a subject costs with nothing to do, on a server of its own */

/* Its memory, and that of one informer more. */
bool bench_run_idle(const struct bench_config *plan, const struct bench_subject *subject,
                    struct bench_result *result, struct err *err);
/* From its start to its first request. */
bool bench_run_start(const struct bench_config *plan, const struct bench_subject *subject,
                     struct bench_result *result, struct err *err);
/* --- bench_audit_engine.c: ten rules, asked about the caches of an engine of its own */

bool bench_run_audit_engine(const struct bench_config *plan, const struct bench_source *source,
                            struct bench_result *result, struct err *err);

/* For what a process does behind an event: collecting, giving back memory. */
void bench_settle(const struct bench_config *plan);
