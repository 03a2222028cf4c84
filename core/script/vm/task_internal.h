/* What the files of tasks share: task.c has the calls and their coroutines, task_wait.c the verbs that wait.
 * Owner: the script; the engine thread. */
#pragma once
#include "script/vm/task.h"

struct task {
    TAILQ_ENTRY(task) link; /* among the waiting or the idle */
    struct script *script;
    lua_State *co;
    int ref; /* keeps the coroutine */
    struct task_wait *wait;
    LIST_HEAD(, task_cleanup) holds;
    const char *what;
    enum limit cpu;
    bool finishes;
    struct fence *fence; /* a reference; NULL: none */
    void (*done)(void *ctx, enum script_result result);
    void (*describe)(void *ctx, struct buf *caller, struct buf *trigger);
    void *ctx;
};

/* The wait that was woken is not to go on in the next turn. */
void task_dequeue(struct task_wait *wait);
/* The task waits no more, and will not ask for results. */
void task_drop_wait(struct task *task);
