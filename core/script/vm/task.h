/* Calls into a script that may yield. A handler, a timer's function and main run as coroutines; each is a
 * task. One that never yields costs no more than a plain call: its coroutine is used again by the next one.
 * Owner: the script. Everything is on the engine thread.
 *
 * A verb that waits is a C function and a line of Lua. The C function checks its arguments, calls task_check,
 * which raises where nothing may wait, makes a struct that begins with a struct task_wait, starts whatever
 * will call task_wake, and returns task_yield(L, &wait, &ops) at once; between task_check and task_yield
 * nothing may raise. k8s.sleep in bind_time.c is the shortest one. In lua/k8s stands
 * `sleep = require("k8s.task").blocking(raw.sleep)`: without it the script would see how the coroutine is
 * woken. A verb that has its answer at once pushes it and returns, as any other. */
#pragma once
#include <lua.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "base/fence.h"
#include "script/vm/parts.h"

struct task;
struct task_wait;

extern struct metric metric_tasks_cancelled;

/* --- for verbs that wait */

struct task_wait_ops {
    /* Pushes the results and returns their number, as a C function does. Runs in the coroutine that waited,
     * after task_wake; may raise, which the script's pcall around the verb sees. */
    int (*push)(lua_State *L, struct task_wait *wait);
    /* The end of a wait, exactly once: after push, or instead of it when the task was cancelled. Ends what it
     * waited for, if that is still under way, and frees the wait. Calls neither Lua nor task_wake. */
    void (*drop)(struct task_wait *wait);
    /* A stop lets it come to its end, within --shutdown-timeout: a request that is under way. Others are
     * cancelled at once. */
    bool finishes;
};

struct task_wait {
    const struct task_wait_ops *ops;
    struct task *task; /* NULL before task_yield */
    bool woken;
    TAILQ_ENTRY(task_wait) link; /* among the woken */
};

/* Raises when the call in progress may not yield: "k8s.sleep may not be called in a filter". `verb` must
 * outlive the task: a literal. */
void task_check(lua_State *L, const char *verb);
/* Takes the wait; to be returned by the verb at once. */
int task_yield(lua_State *L, struct task_wait *wait, const struct task_wait_ops *ops);
/* The wait is over. From anywhere on the engine thread, inside calls into Lua and before task_yield too: the
 * coroutine goes on in a later turn of the loop. Once for each wait, and not after drop. */
void task_wake(struct task_wait *wait);

/* Resource of a task that must not end with it. */
struct task_cleanup {
    /* The task has ended: well, or it was cancelled or failed. The newest comes first. Calls no Lua. */
    void (*end)(struct task_cleanup *cleanup, bool well);
    LIST_ENTRY(task_cleanup) link;
};

/* By the task that runs; in place until `end` or task_remove_cleanup. */
void task_add_cleanup(struct script *script, struct task_cleanup *cleanup);
/* Removes the cleanup without running it. */
void task_remove_cleanup(struct task_cleanup *cleanup);

/* --- for those who call a script */

struct task_call {
    const char *what;     /* "a handler": a literal, for who watches over the engine */
    enum limit cpu;       /* between two yields; 0: LIMIT_HANDLER_CPU */
    int function;         /* in the registry */
    bool finishes;        /* a stop lets the call come to its end, whatever it waits for */
    struct fence *fence;  /* of a leader's work: closed, the task is cancelled at its next wait; NULL: none */
    script_body *prepare; /* pushes its arguments, above what is on the stack; may raise. NULL for none */
    void *prepare_ctx;
    /* A task that yielded has ended; script->failure tells why when it failed. May start and cancel others.
     */
    void (*done)(void *ctx, enum script_result result);
    /* For the write log: appends the caller, such as a handler's id, and the trigger: "OnAdd shop/web". Valid
     * as long as the task lives. NULL: unknown. */
    void (*describe)(void *ctx, struct buf *caller, struct buf *trigger);
    void *ctx;
};

/* A function that returns nil and an `err` has failed, as one that raises `err` has.
 * SCRIPT_YIELDED: `*task` goes on later, and `done` will be called; for any other result it was not and will
 * not be. Never from inside a call of the same script. */
enum script_result task_run(struct script *script, const struct task_call *call, struct task **task);
/* Returns the fence of the task in progress, for its writes; NULL: none. Borrowed. */
struct fence *task_fence(const struct script *script);
/* Ends a task that waits: `done` gets SCRIPT_CANCELLED at once. From anywhere on the engine thread. */
void task_cancel(struct task *task);

/* --- for script_open.c */

enum { TASKS_IDLE_MAX = 8 };

/* Under protection. */
void task_setup(lua_State *L);
/* No yield passes the C function on top of the stack: it calls back what messages call `what`. */
void task_no_yield_across(lua_State *L, const char *what);

/* Continues woken tasks. Called by turns.c. */
void tasks_turn(struct script *script);
/* Cancels those that are not to be finished, calls nor waits, now and as soon as they wait again. */
void tasks_stop(struct script *script);
/* Cancels all; the second for good, while the Lua state is still open. */
void tasks_cancel(struct script *script);
void tasks_clear(struct script *script);

/* --- for task.c and task_wait.c */

/* The wait that was woken is not to go on in the next turn. */
void task_dequeue(struct task_wait *wait);
/* The task waits no more, and will not ask for results. */
void task_drop_wait(struct task *task);
