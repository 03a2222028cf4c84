/* Coroutines that the engine runs; see task.h. */
#include "script/vm/task.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/metrics.h"
#include "base/must.h"
#include "script/vm/args.h"
#include "script/vm/budget.h"
#include "script/vm/call.h"
#include "script/vm/memory.h"
#include "script/vm/task_pause.h"
#include "script/vm/turns.h"

METRIC(metric_tasks_cancelled, 3, "kubelua_tasks_cancelled_total",
       "Number of in-flight script calls that were cancelled.");

/* --- coroutines */

/* Pushes what the coroutine is resumed with: xpcall, as only its handler sees the frames of an error while
 * they are there. */
static inline void push_call(lua_State *L, struct script *script, const struct task_call *call)
{
    push_ref(L, script, REF_XPCALL);
    if (call->push)
        call->push(L, call->prepare_ctx);
    else
        script_push_function(L, call->function);
    push_ref(L, script, REF_TRACEBACK);
    if (call->prepare) call->prepare(L, call->prepare_ctx);
}

static int l_prepare(lua_State *L)
{
    struct script *script = script_of(L);
    push_call(L, script, script->call.entry.ctx);
    return lua_gettop(L);
}

static void make_coroutine(lua_State *L, void *ctx)
{
    struct task *task = ctx;
    push_ref(L, task->script, REF_BUSY);
    task->co = lua_newthread(L);
    lua_pushvalue(L, -1);
    lua_pushboolean(L, 1);
    lua_rawset(L, 1);
    task->ref = luaL_ref(L, LUA_REGISTRYINDEX);
}

/* Returns an idle task or a new one; NULL if there is no memory for another coroutine. */
static struct task *acquire(struct script *script)
{
    struct tasks *tasks = &script->tasks;
    struct task *task = TAILQ_FIRST(&tasks->idle);
    if (task) {
        TAILQ_REMOVE(&tasks->idle, task, link);
        tasks->idle_count--;
        return task;
    }
    task = NEW(struct task);
    task->script = script;
    if (script_call(script, "a new task", make_coroutine, task) == SCRIPT_OK) return task;
    free(task);
    return NULL;
}

static void drop_fence(struct task *task)
{
    fence_unref(task->fence);
    task->fence = NULL;
}

struct fence *task_fence(const struct script *script)
{
    return script->tasks.current ? script->tasks.current->fence : NULL;
}

unsigned task_slot(const struct script *script)
{
    return script->tasks.current ? script->tasks.current->slot : 0;
}

/* --- cleanups */

static void end_cleanups(struct task *task, bool well)
{
    struct task_cleanup *cleanup;
    while ((cleanup = LIST_FIRST(&task->cleanups))) {
        LIST_REMOVE(cleanup, link);
        cleanup->end(cleanup, well);
    }
}

/* --- its end */

static void discard(struct task *task)
{
    drop_fence(task);
    luaL_unref(task->script->L, LUA_REGISTRYINDEX, task->ref);
    free(task);
}

/* Keeps the coroutine for the next call, unless an error has left it dead. */
static void release(struct task *task, enum script_result result)
{
    struct tasks *tasks = &task->script->tasks;
    task->script->report.counters.failed_writes += task->write_refused && result != SCRIPT_OK;
    task->write_refused = false;
    end_cleanups(task, result == SCRIPT_OK);
    if (lua_status(task->co) != 0 || tasks->idle_count == TASKS_IDLE_MAX) {
        discard(task);
        return;
    }
    drop_fence(task);
    lua_settop(task->co, 0);
    TAILQ_INSERT_HEAD(&tasks->idle, task, link);
    tasks->idle_count++;
}

/* --- stays in Lua */

/* The xpcall in the coroutine catches a memory error like any other: only its message, and a message handler
 * that Lua did not run, identify it. */
static bool out_of_memory(lua_State *co, int status, const struct script_failure *failure)
{
    return status == LUA_ERRMEM || (!failure->traced && lua_type(co, -1) == LUA_TSTRING &&
                                    strcmp(own_text(co, -1), "not enough memory") == 0);
}

/* Describes the error value on top of the coroutine's stack. */
static enum script_result fail(struct task *task, int status)
{
    struct script *script = task->script;
    enum script_result result =
        out_of_memory(task->co, status, &script->failure) ? SCRIPT_MEMORY_LIMIT : SCRIPT_ERROR;
    lua_xmove(task->co, script->L, 1);
    call_fail(script->L);
    return result;
}

/* Checks the results, which follow xpcall's `true`: nil, err is a failure that raised nothing. */
static enum script_result take_results(struct task *task)
{
    struct script *script = task->script;
    if (!lua_isnil(task->co, 2) || lua_isnoneornil(task->co, 3)) return SCRIPT_OK;
    lua_settop(task->co, 3);
    lua_xmove(task->co, script->L, 1);
    call_fail(script->L);
    call_note_definition(script->L, &script->failure);
    return SCRIPT_ERROR;
}

static enum script_result resume(struct task *task, int arguments)
{
    struct tasks *tasks = &task->script->tasks;
    tasks->current = task;
    bool guarded = memory_guard(task->script);
    int status = lua_resume(task->co, arguments);
    memory_unguard(task->script, guarded);
    /* Before `current` is reset: the report of an exceeded limit names the task. */
    budget_note(task->script);
    tasks->current = NULL;
    /* An error in push, or a limit, left waits behind that the coroutine has not fetched. */
    if (tasks->delivering) tasks->delivering->ops->drop(tasks->delivering);
    if (tasks->pushing) tasks->pushing->ops->drop(tasks->pushing);
    tasks->delivering = tasks->pushing = NULL;
    if (status == LUA_YIELD) {
        must(task->wait);
        task->called = task->script->call.called;
        TAILQ_INSERT_TAIL(&tasks->waiting, task, link);
        tasks->waiting_count++;
        return SCRIPT_YIELDED;
    }
    /* A limit, or a full stack, may strike before the script's own coroutines have passed a wait on. */
    if (task->wait) task_drop_wait(task);
    if (status == 0 && lua_toboolean(task->co, 1)) return take_results(task);
    return fail(task, status);
}

static void enter(struct task *task)
{
    call_enter(task->script, task->no_yield, task->what, task->cpu, __builtin_frame_address(0));
    task->script->turn.account = task->account;
    task_pause_allow(task);
}

/* Returns a status of Lua. Only what is made for the call may raise: references take no memory. */
static inline int prepare(struct task *task, const struct task_call *call)
{
    struct script *script = task->script;
    if (!call->push && !call->prepare) {
        push_call(task->co, script, call);
        return 0;
    }
    script->call.entry.ctx = (void *)call;
    push_ref(task->co, script, REF_PREPARE);
    bool guarded = memory_guard(script);
    int status = lua_pcall(task->co, 0, LUA_MULTRET, 0);
    memory_unguard(script, guarded);
    return status;
}

enum script_result task_run(struct script *script, const struct task_call *call, struct task **out)
{
    struct task *task = acquire(script);
    if (!task) return SCRIPT_MEMORY_LIMIT;
    task->what = call->what;
    task->cpu = call->cpu;
    task->no_yield = call->no_yield;
    task->finishes = call->finishes;
    task->pauses = call->pauses;
    task->spent_ns = 0;
    task->done = call->done;
    task->describe = call->describe;
    task->account = call->account;
    task->ctx = call->ctx;
    task->fence = call->fence ? fence_ref(call->fence) : NULL;
    task->slot = call->slot;
    enter(task);
    int status = prepare(task, call);
    enum script_result result = status == 0 ? resume(task, lua_gettop(task->co) - 1) : fail(task, status);
    result = call_leave(script, result);
    /* Released only now: leaving the call may have turned its result into that of a limit. */
    *out = result == SCRIPT_YIELDED ? task : NULL;
    if (result != SCRIPT_YIELDED) release(task, result);
    return result;
}

/* --- waiting tasks */

static void leave_waiting(struct task *task)
{
    TAILQ_REMOVE(&task->script->tasks.waiting, task, link);
    task->script->tasks.waiting_count--;
}

void task_cancel(struct task *task)
{
    leave_waiting(task);
    task_drop_wait(task);
    end_cleanups(task, false);
    /* `done` before discard: it may look at the task, and it may start or cancel others. */
    metric_inc(&metric_tasks_cancelled);
    task->done(task->ctx, SCRIPT_CANCELLED);
    discard(task);
}

/* Cancels a waiting task at the end of the engine or of leadership, unless it is to finish. */
static void stop(struct task *task)
{
    if (!task->finishes && !task->wait->ops->finishes) task_cancel(task);
}

/* --- turns of the loop */

/* The term ended while the task waited: its next write would be refused anyway. */
static bool is_fenced_off(struct task *task)
{
    if (!task->fence || fence_is_open(task->fence)) return false;
    task_cancel(task);
    return true;
}

/* A brief piece holds nobody up: each has the limit of the call, and all of them that of main. */
static void enter_piece(struct task *task)
{
    struct script *script = task->script;
    if (task->spent_ns > script->limits.values[LIMIT_MAIN_CPU] * INT64_C(1000000))
        budget_exceed(script, LIMIT_MAIN_CPU);
}

/* Enters a call that has used some of its limit before. */
static void enter_again(struct task *task)
{
    struct script *script = task->script;
    leave_waiting(task);
    task->wait = NULL;
    enter(task);
    script->call.called = task->called;
    if (script->brief) {
        enter_piece(task);
        return;
    }
    script->call.stay.earlier_ns = task->spent_ns;
    task->spent_ns = 0;
}

static void end_stay(struct task *task, enum script_result result)
{
    struct script *script = task->script;
    if (result == SCRIPT_YIELDED) {
        if (script->phase == SCRIPT_STOPPING) stop(task);
        return;
    }
    /* Copied, as release may free the task or reuse it for a call that `done` makes. */
    void (*done)(void *ctx, enum script_result result) = task->done;
    void *ctx = task->ctx;
    release(task, result);
    done(ctx, result);
}

static void go_on(struct task_wait *wait)
{
    struct task *task = wait->task;
    struct script *script = task->script;
    if (is_fenced_off(task)) return;
    task_dequeue(wait);
    script->tasks.delivering = wait;
    task->spent_ns = 0;
    enter_again(task);
    push_ref(task->co, script, REF_YIELDED);
    end_stay(task, call_leave(script, resume(task, 1)));
}

void task_continue(struct task *task)
{
    if (is_fenced_off(task)) return;
    task->script->tasks.paused = NULL;
    enter_again(task);
    end_stay(task, call_leave(task->script, resume(task, 0)));
}

/* Continues waits that were woken before the turn began, in order: a task that wakes itself again waits for
 * the next turn. */
void tasks_turn(struct script *script)
{
    struct tasks *tasks = &script->tasks;
    struct task_wait *wait;
    for (size_t left = tasks->woken_count; left > 0 && (wait = TAILQ_FIRST(&tasks->woken)); left--) {
        go_on(wait);
        if (turns_expired(script)) break;
    }
    if (tasks->woken_count > 0) turns_schedule(script);
}

/* --- the script's life */

static void set_new_table(lua_State *L, enum script_ref ref, const char *mode)
{
    lua_newtable(L);
    if (mode) {
        lua_newtable(L);
        lua_pushstring(L, mode);
        lua_setfield(L, -2, "__mode");
        lua_setmetatable(L, -2);
    }
    set_ref(L, ref);
}

void task_setup(lua_State *L)
{
    struct tasks *tasks = &script_of(L)->tasks;
    TAILQ_INIT(&tasks->waiting);
    TAILQ_INIT(&tasks->idle);
    TAILQ_INIT(&tasks->woken);
    lua_pushcfunction(L, l_prepare);
    set_ref(L, REF_PREPARE);
    set_new_table(L, REF_YIELDED, NULL);
    set_new_table(L, REF_BUSY, "k");
    set_new_table(L, REF_CALLBACKS, NULL);
}

void tasks_stop(struct script *script)
{
    struct task *task, *next;
    for (task = TAILQ_FIRST(&script->tasks.waiting); task; task = next) {
        next = TAILQ_NEXT(task, link);
        stop(task);
    }
}

void tasks_cancel(struct script *script)
{
    struct task *task;
    while ((task = TAILQ_FIRST(&script->tasks.waiting))) task_cancel(task);
}

void tasks_clear(struct script *script)
{
    struct task *task;
    tasks_cancel(script);
    turns_unschedule(script); /* cleanups may have scheduled a turn */
    while ((task = TAILQ_FIRST(&script->tasks.idle))) {
        TAILQ_REMOVE(&script->tasks.idle, task, link);
        discard(task);
    }
}
