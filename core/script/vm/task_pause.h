/* Long calls in parts: a task with `pauses` that has run for PAUSE_MS gives its time to other scripts and
 * goes on in the script's next turn, as if nothing had been between. Meanwhile nothing else of the script
 * runs. Owner: the script. On the engine thread. */
#pragma once
#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

struct script;

/* Whether the call in flight has run for long enough. Async-signal-safe. `ran_ns`: since it was entered. */
bool task_pause_is_due(const struct script *script, int64_t ran_ns);
/* Pauses the task, if `L` is its coroutine and no function of C is on the stack: then it does not return.
 * From a hook. `spent_ns`: what the call has used of its limit. */
void task_pause(lua_State *L, int64_t spent_ns);
/* Continues the paused task, as the first of the script's turn. Returns false if there was one. */
bool tasks_first(struct script *script);
