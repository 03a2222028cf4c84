/* Long calls in parts: a task with `pauses` that has run for BUDGET_PAUSE_MS gives its time to other scripts,
 * and goes on in the script's next turn as if nothing had been between. Meanwhile nothing else of the script
 * runs but commands and functions of leaders. Owner: the script. On the engine thread. */
#pragma once
#include <lua.h>
#include <stdbool.h>

struct script;
struct task;

/* Lets the call in flight pause, if its task does. After call_enter. */
void task_pause_allow(struct task *task);
/* Returns, once for each pause, whether it left this coroutine: that did not yield. */
bool task_left_for_pause(struct script *script, const lua_State *co);
/* The running task does not pause: a C function lies between it and that coroutine. */
void task_give_up_pause(struct script *script);
/* Continues the paused task, as the first of the script's turn. Returns false if there was one, or the script
 * is still being loaded: then nothing else of it runs. */
bool tasks_first(struct script *script);
