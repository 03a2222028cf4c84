/* `kubelua bench`, which is Lua (lua/tool/bench/): what it needs of the system, processes and clocks, is
 * here. Owner: the caller. The main thread; calls block. */
#pragma once
#include "base/cli/flags.h"

/* One audit of all that the engine at a socket has cached. */
struct bench_audit {
    size_t objects, children;
    int64_t pause_ns; /* of the engine, while it forked them */
};

/* Facts and functions of the program around the benchmark. */
struct bench_program {
    const char *commit; /* of its sources; empty when that is not known */
    /* Fails when the audit is not complete. */
    bool (*audit)(const char *socket, int64_t timeout_ms, struct bench_audit *audit, struct err *err);
};

/* Measures what the flags ask for and reports it; returns the exit code. Borrows. */
int bench_run(const struct flag *flags, const struct bench_program *program);
