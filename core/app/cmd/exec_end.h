/* End of `exec`: its script's main returns, with a result that may be incomplete, or --sync-timeout passes
 * first. Owner: driver.c; on the engine thread. */
#pragma once
#include "base/clock.h"
#include "script/generation/script.h"

struct engine;

struct exec_end {
    struct engine *engine;
    struct timer deadline;
    int exit_code; /* once it has stopped the engine */
};

/* The engine has loaded its one script and is about to run. */
void exec_end_begin(struct exec_end *end, struct engine *engine, int64_t sync_timeout_ms);
/* Main has returned. */
void exec_end_main_done(struct exec_end *end, enum script_result result, int code);
/* Clears it, even if it never began. Call before the engine is freed. */
void exec_end_clear(struct exec_end *end);
