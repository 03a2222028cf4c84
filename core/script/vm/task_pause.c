/* Long calls in parts; see task_pause.h. LuaJIT can leave a coroutine from a hook, and resume it at the same
 * instruction. */
#include "script/vm/task_pause.h"

#include "script/vm/args.h"
#include "script/vm/state.h"
#include "script/vm/task.h"
#include "script/vm/turns.h"

/* As long as a slice of a turn, less the period of the CPU watch. */
enum { PAUSE_MS = 8, NS_PER_MS = 1000000 };

static void drop(struct task_wait *wait)
{
    wait->task->script->tasks.paused = NULL;
}

static const struct task_wait_ops ops = {.drop = drop};

bool task_pause_is_due(const struct script *script, int64_t ran_ns)
{
    const struct task *task = script->tasks.current;
    return task && task->pauses && script->host->turns && ran_ns >= PAUSE_MS * NS_PER_MS;
}

void task_pause(lua_State *L, int64_t spent_ns)
{
    struct script *script = script_of(L);
    struct task *task = script->tasks.current;
    /* A coroutine of the script's own would return to who resumed it. */
    if (!task || !task->pauses || task->wait || task->co != L || !lua_isyieldable(L)) return;
    task->spent_ns = spent_ns;
    task->pause = (struct task_wait){.ops = &ops, .task = task};
    task->wait = &task->pause;
    script->tasks.paused = task;
    turns_schedule(script);
    lua_yield(L, 0);
}

bool tasks_first(struct script *script)
{
    struct task *task = script->tasks.paused;
    if (!task) return true;
    task_continue(task);
    turns_expired(script);
    turns_schedule(script);
    return false;
}
