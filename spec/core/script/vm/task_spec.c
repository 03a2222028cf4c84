/* core/script/vm/task.c, task_wait.c, bind_task.c, bind_time.c: coroutines that the engine runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/mem.h"
#include "base/metrics.h"
#include "core/script/support/patient.h"
#include "core/script/support/run.h"
#include "script/vm/args.h"
#include "script/vm/budget.h"
#include "script/vm/call.h"
#include "script/vm/modules.h"

/* --- a verb of the spec: waits until it is woken by hand */

struct parcel {
    struct task_wait wait;
    bool raises;
    int *drops;
};

static struct parcel *parcel;

static int push_parcel(lua_State *L, struct task_wait *wait)
{
    const struct parcel *p = container_of(wait, struct parcel, wait);
    if (p->raises) script_raise(L, "the parcel is broken");
    lua_pushinteger(L, 7);
    lua_pushnil(L);
    lua_pushliteral(L, "x");
    return 3;
}

static void drop_parcel(struct task_wait *wait)
{
    struct parcel *p = container_of(wait, struct parcel, wait);
    if (p->drops) (*p->drops)++;
    if (parcel == p) parcel = NULL;
    free(p);
}

static int drops;
static bool exceeds; /* a limit is exceeded as the wait begins */

/* await(at_once): takes a parcel; `parcel` is the one to be woken. */
static int l_await(lua_State *L)
{
    static const struct task_wait_ops ops = {push_parcel, drop_parcel, .finishes = false};
    bool at_once = lua_toboolean(L, 1);
    task_check(L, "await");
    parcel = calloc(1, sizeof *parcel);
    parcel->drops = &drops;
    if (at_once) task_wake(&parcel->wait);
    if (exceeds) budget_exceed(script_of(L), LIMIT_HANDLER_CPU);
    return task_yield(L, &parcel->wait, &ops);
}

static void define_await(lua_State *L, void *ctx)
{
    lua_getglobal(L, "blocking");
    lua_pushcfunction(L, l_await);
    lua_call(L, 1, 1);
    lua_setglobal(L, "await");
}

static void push_blocking(lua_State *L, void *ctx)
{
    modules_internal(L, "k8s.task");
    lua_getfield(L, -1, "blocking");
    lua_setglobal(L, "blocking");
}

static void define_verbs(struct fixture *f)
{
    drops = 0;
    exceeds = false;
    assert_int_equal(script_call(f->script, "setup", push_blocking, NULL), SCRIPT_OK);
    assert_int_equal(script_call(f->script, "setup", define_await, NULL), SCRIPT_OK);
}

/* --- running and waiting */

static void test_a_task_that_does_not_wait_is_a_plain_call(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 100; i++) assert_int_equal(run_whole(f, "say(1)"), SCRIPT_OK);
    assert_int_equal(f->script->tasks.idle_count, 1); /* one coroutine served all */
    assert_int_equal(run_whole(f, "error('broken')"), SCRIPT_ERROR);
    assert_failure(f, "task.lua:1: broken");
    assert_int_equal(f->script->tasks.idle_count, 1);
}

static void test_sleep_goes_on_when_its_time_is_over(void **state)
{
    struct fixture *f = *state;
    struct run a, b;
    run_start(f, &a, "say('a1') k8s.sleep(1) say('a2') k8s.sleep '500ms' say('a3')");
    run_start(f, &b, "say('b1') k8s.sleep(0.2) say('b2')");
    assert_int_equal(a.result, SCRIPT_YIELDED);
    assert_lua(f, "return take()", "a1;b1;");
    virtual_clock_advance(&run_clock, 199);
    assert_lua(f, "return take()", "");
    virtual_clock_advance(&run_clock, 1);
    assert_lua(f, "return take()", "b2;");
    assert_int_equal(b.ends, 1);
    assert_int_equal(b.result, SCRIPT_OK);
    virtual_clock_advance(&run_clock, 1299);
    assert_lua(f, "return take()", "a2;");
    assert_int_equal(a.ends, 0);
    virtual_clock_advance(&run_clock, 1);
    assert_lua(f, "return take()", "a3;");
    assert_int_equal(a.ends, 1);
}

static void test_sleep_takes_durations_only(void **state)
{
    struct fixture *f = *state;
    static const char *const bad[] = {"-1", "'x'", "{}", "0/0", "'1e3'", ""};
    char lua[64];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        snprintf(lua, sizeof lua, "k8s.sleep(%s)", bad[i]);
        assert_int_equal(run_whole(f, lua), SCRIPT_ERROR);
        assert_failure(
            f, "task.lua:1: k8s.sleep: the duration must be a number of seconds, or a string such as");
    }
    assert_lua(f, "return k8s.now() - k8s.ago '90s'", "90");
    assert_raises(f, "k8s.ago {}", "snippet.lua:1: k8s.ago: the duration must be a number of seconds");
}

static void test_results_are_what_the_verb_pushes(void **state)
{
    struct fixture *f = *state;
    struct run run;
    define_verbs(f);
    run_start(f, &run, "local a, b, c = await() say(a, tostring(b), c, select('#', await(true)))");
    assert_int_equal(run.result, SCRIPT_YIELDED);
    task_wake(&parcel->wait);
    assert_int_equal(drops, 0); /* nothing runs inside task_wake */
    virtual_clock_advance(&run_clock, 0);
    virtual_clock_advance(&run_clock, 0);
    assert_lua(f, "return take()", "7 nil x 3;");
    assert_int_equal(drops, 2);
    assert_int_equal(run.ends, 1);
}

static void test_a_push_that_raises_is_an_error_of_the_verb(void **state)
{
    struct fixture *f = *state;
    struct run run;
    define_verbs(f);
    run_start(f, &run, "local ok, err = pcall(await) say(err)\nawait()");
    parcel->raises = true;
    task_wake(&parcel->wait);
    virtual_clock_advance(&run_clock, 0);
    assert_lua(f, "return take()", "task.lua:1: the parcel is broken;");
    assert_int_equal(drops, 1);
    parcel->raises = true;
    task_wake(&parcel->wait);
    virtual_clock_advance(&run_clock, 0);
    assert_int_equal(run.result, SCRIPT_ERROR);
    assert_failure(f, "task.lua:2: the parcel is broken");
    assert_int_equal(drops, 2);
}

static void test_waiting_passes_pcall_metamethods_and_iterators(void **state)
{
    struct fixture *f = *state;
    struct run run;
    run_start(
        f, &run,
        "say(pcall(function() k8s.sleep(1) error('late', 0) end) and 'ok' or 'failed')\n"
        "local t = setmetatable({}, { __index = function(_, k) k8s.sleep(1) return k .. '!' end })\n"
        "say(t.x)\n"
        "for i in function(_, i) k8s.sleep(1) i = (i or 0) + 1 if i < 3 then return i end end do say(i) end\n"
        "say(select(2, xpcall(function() k8s.sleep(1) error('x', 0) end, function(e) return e .. 'h' end)))");
    virtual_clock_advance(&run_clock, 10000);
    assert_int_equal(run.ends, 1);
    assert_lua(f, "return take()", "failed;x!;1;2;xh;");
}

/* --- ends */

static void test_a_cancelled_task_ends_what_it_waits_for(void **state)
{
    struct fixture *f = *state;
    struct run run, woken;
    uint64_t cancelled = metric_get(&metric_tasks_cancelled);
    define_verbs(f);
    run_start(f, &run, "await() say('never')");
    task_cancel(run.task);
    assert_int_equal(drops, 1);
    run_start(f, &woken, "await() say('never')");
    task_wake(&parcel->wait);
    task_cancel(woken.task);
    assert_int_equal(drops, 2);
    virtual_clock_advance(&run_clock, 1000);
    assert_lua(f, "return take()", "");
    assert_int_equal(run.ends, 1); /* told at once */
    assert_int_equal(run.result, SCRIPT_CANCELLED);
    assert_int_equal(woken.ends, 1);
    assert_int_equal(metric_get(&metric_tasks_cancelled) - cancelled, 2);
}

static void test_freeing_a_script_cancels_its_tasks(void **state)
{
    struct fixture *f = *state;
    static struct run runs[3]; /* told when the fixture frees the script */
    define_verbs(f);
    run_start(f, &runs[0], "k8s.sleep(10)");
    run_start(f, &runs[1], "coroutine.wrap(function() await() end)()");
    run_start(f, &runs[2], "await(true)"); /* is woken, and its turn has not come */
}

static void test_tasks_that_wait_are_limited(void **state)
{
    struct fixture *f = *state;
    struct run *runs = calloc((int)patient_limits.values[LIMIT_TASKS], sizeof *runs);
    for (int i = 0; i < (int)patient_limits.values[LIMIT_TASKS]; i++) run_start(f, &runs[i], "k8s.sleep(1)");
    assert_int_equal(run_whole(f, "k8s.sleep(1)"), SCRIPT_ERROR);
    assert_failure(f, "task.lua:1: k8s.sleep: over the limit tasks (10000)");
    virtual_clock_advance(&run_clock, 1000);
    for (int i = 0; i < (int)patient_limits.values[LIMIT_TASKS]; i++) assert_int_equal(runs[i].ends, 1);
    assert_int_equal(f->script->tasks.idle_count, TASKS_IDLE_MAX);
    free(runs);
}

/* --- errors */

static void test_an_error_after_a_wait_has_place_and_traceback(void **state)
{
    struct fixture *f = *state;
    struct run run;
    run_start(f, &run,
              "local function inner()\n  k8s.sleep(1)\n  error('late')\nend\nlocal function outer() inner() "
              "end\nouter()");
    virtual_clock_advance(&run_clock, 1000);
    assert_int_equal(run.result, SCRIPT_ERROR);
    assert_failure(f, "task.lua:3: late");
    assert_string_equal(f->script->failure.source, "task.lua");
    assert_int_equal(f->script->failure.line, 3);
    const char *traceback = buf_text(&f->script->failure.traceback);
    assert_non_null(strstr(traceback, "task.lua:3: in function 'inner'"));
    assert_non_null(strstr(traceback, "task.lua:5: in function 'outer'"));
}

static void test_endless_recursion_in_a_task_is_an_error(void **state)
{
    struct fixture *f = *state;
    struct run run;
    assert_int_equal(run_whole(f, "local function f() return 1 + f() end f()"), SCRIPT_ERROR);
    assert_failure(f, "stack overflow");
    run_start(f, &run, "k8s.sleep(1) local function f() coroutine.wrap(f)() end f()");
    virtual_clock_advance(&run_clock, 1000);
    assert_int_equal(run.result, SCRIPT_ERROR);
    assert_failure(f, "stack overflow");
    run_start(f, &run, "k8s.sleep(1) local function f() return (('x'):gsub('.', f)) end f()");
    virtual_clock_advance(&run_clock, 1000);
    assert_int_equal(run.result, SCRIPT_ERROR);
    assert_failure(f, "stack overflow");
    assert_int_equal(run_whole(f, "say('fine')"), SCRIPT_OK);
}

/* The wait began in a coroutine of the script's own; those around it do not come to pass it on. */
static void test_a_wait_ends_with_a_task_that_a_limit_ends_before_it_is_passed_on(void **state)
{
    struct fixture *f = *state;
    struct run run;
    define_verbs(f);
    for (int woken = 0; woken < 2; woken++) {
        exceeds = true;
        run_start(f, &run,
                  woken ? "coroutine.wrap(function() await(true) end)()"
                        : "coroutine.wrap(function() await() end)()");
        assert_int_equal(run.result, SCRIPT_CPU_LIMIT);
        assert_int_equal(drops, 2 * woken + 1);
        assert_null(parcel);
        exceeds = false;
        run_advance(1);
        run_start(f, &run, "say((await()))");
        task_wake(&parcel->wait);
        run_advance(1);
        assert_int_equal(run.result, SCRIPT_OK);
        assert_int_equal(drops, 2 * woken + 2);
        assert_lua(f, "return take()", "7;");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, run_setup, run_teardown)
        T(test_a_task_that_does_not_wait_is_a_plain_call),
        T(test_sleep_goes_on_when_its_time_is_over),
        T(test_sleep_takes_durations_only),
        T(test_results_are_what_the_verb_pushes),
        T(test_a_push_that_raises_is_an_error_of_the_verb),
        T(test_waiting_passes_pcall_metamethods_and_iterators),
        T(test_a_cancelled_task_ends_what_it_waits_for),
        T(test_freeing_a_script_cancels_its_tasks),
        T(test_tasks_that_wait_are_limited),
        T(test_an_error_after_a_wait_has_place_and_traceback),
        T(test_endless_recursion_in_a_task_is_an_error),
        T(test_a_wait_ends_with_a_task_that_a_limit_ends_before_it_is_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
