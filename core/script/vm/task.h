/* Calls into a script that may yield. A handler, a timer's function and main run as coroutines; each is a
 * task. A task that never yields costs no more than a plain call: the next one reuses its coroutine. Owner:
 * the script. On the engine thread.
 *
 * A verb that waits is a C function and a line of Lua. The C function checks its arguments, calls task_check,
 * which raises where waiting is not allowed, creates a struct that begins with a struct task_wait, starts the
 * work that will call task_wake, and returns task_yield(L, &wait, &ops) at once; between task_check and
 * task_yield nothing may raise. The shortest one is k8s.sleep in bind_time.c. In lua/k8s stands `sleep =
 * require("k8s.task").blocking(raw.sleep)`: without it the script would see how the coroutine is woken. A
 * verb whose result is available at once pushes it and returns, as any other. */
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
     * after task_wake; may raise, which a pcall around the verb catches. */
    int (*push)(lua_State *L, struct task_wait *wait);
    /* Ends the wait, exactly once: after push, or instead of it when the task was cancelled. Cancels work
     * that is still in flight, and frees the wait. Calls neither Lua nor task_wake. */
    void (*drop)(struct task_wait *wait);
    /* A shutdown lets the wait end by itself, within --shutdown-timeout, as for a request in flight. Other
     * waits are cancelled at once. */
    bool finishes;
};

/* Raises if the running call may not yield: "k8s.sleep may not be called in a filter". `verb` must outlive
 * the task: a literal. */
void task_check(lua_State *L, const char *verb);
/* Takes the wait. The verb must return the result at once. */
int task_yield(lua_State *L, struct task_wait *wait, const struct task_wait_ops *ops);
/* Ends the wait: the coroutine continues in a later turn of the loop. Call from anywhere on the engine
 * thread, inside calls into Lua and before task_yield too; once for each wait, not after drop. */
void task_wake(struct task_wait *wait);

/* Resource that must be released when its task ends. */
struct task_cleanup {
    /* Called when the task has ended; `well` is false if it failed or was cancelled. The newest cleanup runs
     * first. Calls no Lua. */
    void (*end)(struct task_cleanup *cleanup, bool well);
    LIST_ENTRY(task_cleanup) link;
};

/* Adds a cleanup to the running task. `hold` stays in place until `end` or task_remove_cleanup. */
void task_add_cleanup(struct script *script, struct task_cleanup *cleanup);
/* Removes the cleanup without running it. */
void task_remove_cleanup(struct task_cleanup *cleanup);

/* --- for callers of a script */

struct task_call {
    const char *what;     /* "a handler": a literal, as the watchdog reads it from another thread */
    enum limit cpu;       /* limit between two yields; 0: LIMIT_HANDLER_CPU */
    int function;         /* in the registry */
    script_body *push;    /* pushes the function instead, with prepare_ctx; may raise; NULL: it is there */
    const char *no_yield; /* why it may not wait, as of call_enter; NULL: it may */
    bool pauses;          /* runs in parts when it takes long (task_pause.h) */
    bool finishes;        /* a shutdown lets the call end by itself, whatever it waits for */
    volatile uint64_t *account; /* ticks of the CPU watch in its stays are added here; NULL: none */
    struct fence *fence;        /* of leader work: once closed, the next wait cancels the task; NULL: none */
    unsigned slot;              /* of the object that it is about (shards), plus one; 0: none, or unknown */
    script_body *prepare;       /* pushes the arguments on top of the stack; may raise; NULL for none */
    void *prepare_ctx;
    /* Called when a task that yielded has ended; script->failure is the reason if it failed. May start and
     * cancel other tasks. */
    void (*done)(void *ctx, enum script_result result);
    /* For the write log: appends the caller, such as a handler's id, and the trigger: "OnAdd shop/web". Valid
     * as long as the task lives. NULL: unknown. */
    void (*describe)(void *ctx, struct buf *caller, struct buf *trigger);
    void *ctx;
};

/* Runs the call. A function that returns nil and an `err` has failed, like one that raises `err`.
 * SCRIPT_YIELDED: `*task` continues later and `done` will be called; with any other result it is never
 * called. Not from inside a call of the same script. */
enum script_result task_run(struct script *script, const struct task_call *call, struct task **task);
/* Returns the fence of the task in progress, for its writes; NULL: none. Borrowed. */
struct fence *task_fence(const struct script *script);
/* Returns the slot of the task in progress, as in task_call; 0 without one. */
unsigned task_slot(const struct script *script);
/* Cancels a waiting task: calls `done` with SCRIPT_CANCELLED at once. From anywhere on the engine thread. */
void task_cancel(struct task *task);

/* --- for script_open.c */

enum { TASKS_IDLE_MAX = 8 };

/* Sets up a new state. Call under protection. */
void task_setup(lua_State *L);
/* Marks the C function on top of the stack as one that no yield can cross; errors call its callback
 * `what`. */
void task_no_yield_across(lua_State *L, const char *what);

/* Continues a paused task. For task_pause.c. */
void task_continue(struct task *task);
/* Continues woken tasks. Called by turns.c. */
void tasks_turn(struct script *script);
/* Cancels tasks that need not finish, now or at their next wait. */
void tasks_stop(struct script *script);
/* Cancels all tasks. Call tasks_clear last, while the Lua state is open. */
void tasks_cancel(struct script *script);
void tasks_clear(struct script *script);

/* --- for task.c and task_wait.c */

/* Removes a woken wait from the next turn. */
void task_dequeue(struct task_wait *wait);
/* Drops the wait of a task that will not fetch its results. */
void task_drop_wait(struct task *task);
