/* Tasks of a spec: chunks named task.lua, run as the engine runs handlers, on a clock that the spec moves.
 * Owner: the spec; run_setup and run_teardown make and free the fixture that is its state. In Lua, say(...)
 * writes down and take() gives what was said. */
#pragma once
#include "core/script/support/fixture.h"
#include "script/vm/task.h"

struct run {
    const char *lua;
    struct task *task;
    int ends;
    enum script_result result; /* of the start, then of the end */
};

extern struct virtual_clock run_clock;

int run_setup(void **state);
/* With a script whose heap is packed, as that of a prompt. */
int run_setup_packed(void **state);
int run_teardown(void **state);
void run_start(struct fixture *f, struct run *run, const char *lua);
/* A task that must not wait. */
enum script_result run_whole(struct fixture *f, const char *lua);
/* As the script's file: what may be called while it loads only. */
void run_load(struct fixture *f, const char *lua);
void run_advance(int64_t ms);
/* The text of the last failure must contain `part`. */
void assert_failure(struct fixture *f, const char *part);
