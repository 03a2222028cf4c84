/* Functions that wait: the coroutine yields, and continues after task_wake; see task.h. */

#include "base/must.h"
#include "script/vm/args.h"
#include "script/vm/call.h"
#include "script/vm/feature.h"
#include "script/vm/task.h"
#include "script/vm/task_pause.h"
#include "script/vm/turns.h"

static void enqueue(struct task_wait *wait)
{
    struct tasks *tasks = &wait->task->script->tasks;
    TAILQ_INSERT_TAIL(&tasks->woken, wait, link);
    tasks->woken_count++;
    turns_schedule(wait->task->script);
}

void task_dequeue(struct task_wait *wait)
{
    struct tasks *tasks = &wait->task->script->tasks;
    TAILQ_REMOVE(&tasks->woken, wait, link);
    tasks->woken_count--;
}

void task_drop_wait(struct task *task)
{
    struct task_wait *wait = task->wait;
    if (wait->woken) task_dequeue(wait);
    task->wait = NULL;
    wait->ops->drop(wait);
}

void task_no_yield_across(lua_State *L, const char *what)
{
    push_ref(L, script_of(L), REF_CALLBACKS);
    lua_pushvalue(L, -2);
    lua_pushstring(L, what);
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

/* The function of C that no yield passes, as messages name it. */
static const char *callback_name(lua_State *L)
{
    lua_Debug ar;
    const char *name = NULL;
    push_ref(L, script_of(L), REF_CALLBACKS);
    for (int level = 0; !name && lua_getstack(L, level, &ar); level++) {
        lua_getinfo(L, "f", &ar);
        lua_rawget(L, -2);
        name = own_text(L, -1); /* kept by the table */
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return name ? name : "a function that C calls back";
}

/* A rule cannot wait for objects, but may have them in a cache. */
static const char *advice_of(const char *verb, const char *place)
{
    static const char *const reads[] = {"k8s.get", "k8s.list", "k8s.pages", "k8s.watch"};
    for (size_t i = 0; strcmp(place, "a rule") == 0 && i < sizeof reads / sizeof *reads; i++)
        if (strcmp(verb, reads[i]) == 0) return "; rules get other objects by `uses`";
    return "";
}

void task_check(lua_State *L, const char *verb)
{
    struct script *script = script_of(L);
    const char *why = script->call.no_yield;
    if (!why && !script->tasks.current) why = "a plain call";
    if (!why && !lua_isyieldable(L)) why = callback_name(L);
    if (why) script_raise(L, "%s may not be called in %s%s", verb, why, advice_of(verb, why));
    arg_room(L, verb, LIMIT_TASKS, script->tasks.waiting_count);
    script->tasks.verb = verb;
}

int task_yield(lua_State *L, struct task_wait *wait, const struct task_wait_ops *ops)
{
    struct script *script = script_of(L);
    struct task *task = script->tasks.current;
    must(task);
    /* One that an own coroutine began, and those around it could not pass on: their stack was full. */
    if (task->wait) task_drop_wait(task);
    wait->ops = ops;
    wait->task = task;
    task->wait = wait;
    if (wait->woken) enqueue(wait);
    push_ref(L, script, REF_YIELDED);
    return lua_yield(L, 1);
}

void task_wake(struct task_wait *wait)
{
    must(!wait->woken);
    wait->woken = true;
    if (wait->task) enqueue(wait);
}

/* Pushes the results of the wait that has ended. */
static int task_results(lua_State *L)
{
    struct tasks *tasks = &script_of(L)->tasks;
    struct task_wait *wait = tasks->delivering;
    if (!wait)
        script_raise(L, "%s may not be called in %s", tasks->verb,
                     tasks->refused ? tasks->refused : "a coroutine whose wait was given up");
    tasks->delivering = NULL;
    tasks->pushing = wait;
    int count = wait->ops->push(L, wait);
    tasks->pushing = NULL;
    wait->ops->drop(wait);
    return count;
}

/* Drops the wait of a script's own coroutine, because a C function lies between it and the task on the stack.
 * task_results will raise. */
static void task_refuse(lua_State *L)
{
    struct tasks *tasks = &script_of(L)->tasks;
    tasks->refused = callback_name(L);
    task_drop_wait(tasks->current);
}

/* --- cleanups */

void task_add_cleanup(struct script *script, struct task_cleanup *cleanup)
{
    struct task *task = script->tasks.current;
    must(task);
    LIST_INSERT_HEAD(&task->cleanups, cleanup, link);
}

void task_remove_cleanup(struct task_cleanup *cleanup)
{
    LIST_REMOVE(cleanup, link);
}

/* --- raw.task: what lua/k8s needs to wrap verbs that wait and the script's own coroutines */

static int l_refuse(lua_State *L)
{
    task_refuse(L);
    return 0;
}

/* paused(coroutine): whether it returned nothing as it pauses. */
static int l_paused(lua_State *L)
{
    lua_pushboolean(L, task_left_for_pause(script_of(L), lua_tothread(L, 1)));
    return 1;
}

/* may_pause(): whether the call in flight pauses when it takes long. */
static int l_may_pause(lua_State *L)
{
    const struct budget *b = &script_of(L)->budget;
    lua_pushboolean(L, b->pauses && !b->call->outer);
    return 1;
}

/* unpause(): it goes on at once. */
static int l_unpause(lua_State *L)
{
    task_give_up_pause(script_of(L));
    return 0;
}

/* raise(coroutine, error): raises the error that ended the coroutine. */
static int l_raise_from(lua_State *L)
{
    lua_State *dead = lua_tothread(L, 1);
    if (!dead) script_raise(L, "raise_from: expected a coroutine");
    lua_settop(L, 2);
    call_keep_frames(L, dead);
    return lua_error(L);
}

static void bind_task(lua_State *L)
{
    static const luaL_Reg verbs[] = {{"results", task_results},
                                     {"refuse", l_refuse},
                                     {"paused", l_paused},
                                     {"may_pause", l_may_pause},
                                     {"unpause", l_unpause},
                                     {"raise_from", l_raise_from},
                                     {NULL, NULL}};
    const struct script *script = script_of(L);
    lua_newtable(L);
    luaL_register(L, NULL, verbs);
    push_ref(L, script, REF_YIELDED);
    lua_setfield(L, -2, "yielded");
    push_ref(L, script, REF_BUSY);
    lua_setfield(L, -2, "busy");
    push_ref(L, script, REF_CALLBACKS);
    lua_setfield(L, -2, "callbacks");
    lua_setfield(L, -2, "task");
}

const struct feature feature_task = {
    .parts = {"task"}, .bind = bind_task, .first = tasks_first, .turn = tasks_turn};
