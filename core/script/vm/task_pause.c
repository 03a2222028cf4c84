/* Long calls in parts; see task_pause.h. LuaJIT can leave a coroutine from a hook, and resume it at the same
 * instruction. */
#include "script/vm/task_pause.h"

#include "script/vm/args.h"
#include "script/vm/state.h"
#include "script/vm/task.h"
#include "script/vm/turns.h"

static void drop(struct task_wait *wait)
{
    struct tasks *tasks = &wait->task->script->tasks;
    tasks->paused = NULL;
    tasks->left = NULL;
    wait->task->spent_ns = 0;
}

static const struct task_wait_ops ops = {.drop = drop};

/* Does not return if it pauses. Where a function of C is on the stack, it cannot. Coroutines of the script's
 * own pass the pause on (lua/k8s/coroutine.lua), or give it up. */
static void pause_task(lua_State *L, int64_t spent_ns)
{
    struct script *script = script_of(L);
    struct task *task = script->tasks.current;
    if (!task || task->wait || !lua_isyieldable(L)) return;
    task->spent_ns = script->brief ? task->spent_ns + spent_ns : spent_ns;
    task->pause = (struct task_wait){.ops = &ops, .task = task};
    task->wait = &task->pause;
    script->tasks.paused = task;
    script->tasks.left = L == task->co ? NULL : L;
    turns_schedule(script);
    lua_yield(L, 0);
}

void task_pause_allow(struct task *task)
{
    struct script *script = task->script;
    if (task->pauses && script->host->turns) script->budget.pauses = pause_task;
}

bool task_left_for_pause(struct script *script, const lua_State *co)
{
    struct tasks *tasks = &script->tasks;
    if (!co || tasks->left != co) return false;
    tasks->left = NULL;
    return true;
}

void task_give_up_pause(struct script *script)
{
    struct task *task = script->tasks.current;
    if (task && task->wait == &task->pause) task_drop_wait(task);
}

bool tasks_first(struct script *script)
{
    struct task *task = script->tasks.paused;
    if (!task) return !script->load.in_parts;
    task_continue(task);
    turns_expired(script);
    /* Who has just been loaded has no other work yet. */
    if (script->tasks.paused || !script->load.in_parts) turns_schedule(script);
    return false;
}
