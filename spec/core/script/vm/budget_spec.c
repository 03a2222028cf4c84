/* core/script/vm/budget.c, core/script/vm/cpu_watch.c: a call that takes too much CPU ends, whatever it does
 * about that (E-3). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/script/support/run.h"
#include "script/vm/budget.h"
#include "script/vm/call.h"
#include "script/vm/cpu_watch.h"
#include "script/vm/memory.h"

/* Longest that a call of 20 ms with deep stacks may take. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { DEEP_MS = 2000 };
#else
enum { DEEP_MS = 100 };
#endif

static int setup(void **state)
{
    run_setup(state);
    struct fixture *f = *state;
    f->script->limits = limits_default;
    f->script->limits.values[LIMIT_HANDLER_CPU] = 20;
    return 0;
}

static int setup_watched(void **state)
{
    struct err err;
    setup(state);
    struct fixture *f = *state;
    f->host.watch = cpu_watch_new(&err);
    assert_non_null(f->host.watch);
    budget_open(f->script);
    return 0;
}

static int teardown_watched(void **state)
{
    struct fixture *f = *state;
    struct cpu_watch *watch = f->host.watch;
    f->host.watch = NULL;
    cpu_watch_free(watch);
    return run_teardown(state);
}

static void assert_over(struct fixture *f, const char *lua)
{
    enum script_result result = run_whole(f, lua);
    const char *text = buf_text(&f->script->failure.text);
    if (result != SCRIPT_CPU_LIMIT || !strstr(text, "over the limit handler-cpu (20ms) in "))
        fail_msg("%s\n  gave %s: %s", lua, script_result_name(result), text);
    assert_int_equal(f->script->budget.every, f->host.watch ? 0 : BUDGET_INSTRUCTIONS);
    assert_null(f->script->budget.call);
}

/* Each as the function of a handler would have it. */
static const char *const endless[] = {
    "while true do end",
    "repeat until false",
    "for i = 1, math.huge do end",
    "while true do pcall(function() while true do end end) end",
    "while true do pcall(error) end",
    "return pcall(function() while true do end end)",
    "xpcall(function() error('x') end, function() while true do end end)",
    "xpcall(function() while true do end end, function() while true do end end)",
    "while true do xpcall(function() while true do end end, function() while true do end end) end",
    "local co = coroutine.create(function() while true do end end) while true do coroutine.resume(co) end",
    "coroutine.wrap(function() while true do pcall(function() while true do end end) end end)()",
    "while true do coroutine.wrap(function() coroutine.yield(pcall(function() while true do end end)) end)() "
    "end",
    "local t = setmetatable({}, {__index = function() while true do end end}) return t.x",
    "local t = setmetatable({}, {__newindex = function() while true do end end}) t.x = 1",
    "local t = setmetatable({}, {__call = function() while true do end end}) t()",
    "local t = setmetatable({}, {__lt = function() while true do end end}) return t < t",
    "local t = setmetatable({}, {__concat = function() while true do end end}) return t .. 'x'",
    "error(setmetatable({}, {__tostring = function() while true do end end}))",
    "error(setmetatable({}, {__tostring = function() while true do pcall(error) end end}))",
    "return nil, setmetatable({}, {__tostring = function() while true do end end})",
    "print(setmetatable({}, {__tostring = function() while true do end end}))",
    "k8s.log.info('x', { y = setmetatable({}, {__tostring = function() while true do end end}) })",
    "return ('%s'):format(setmetatable({}, {__tostring = function() while true do end end}))",
    "table.sort({1, 2, 3}, function() while true do end end)",
    "while true do pcall(table.sort, {1, 2, 3}, function() while true do end end) end",
    "return (('x'):gsub('x', function() while true do end end))",
    "for _ in function() while true do end end do end",
    "load(function() while true do end end)",
    "assert(load('while true do end'))()",
    "while true do load('return 1') end",
    "local function f() return f() end f()",
    "setfenv = nil setmetatable(_G, {__index = function() while true do end end}) return nothing",
    "k8s.json.encode(setmetatable({}, {__tostring = function() while true do end end})) while true do end",
    "k8s.retry_on_conflict(function() while true do end end)",
};

static void test_endless_calls_end_and_name_the_limit(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < ARRAY_LEN(endless); i++) {
        assert_over(f, endless[i]);
        assert_int_equal(run_whole(f, "say('fine')"), SCRIPT_OK);
    }
}

/* Where Lua's stack has come to its end no hook is called any more: there is no room for it. */
static void test_who_fills_the_stack_is_found_from_outside(void **state)
{
    struct fixture *f = *state;
    assert_over(f, "local function f() while true do pcall(f) end end f()");
    assert_over(f, "local function f() while true do pcall(pcall, pcall, f) end end f()");
    assert_over(f, "local function f() while true do coroutine.wrap(f)() end end while true do pcall(f) end");
    assert_int_equal(run_whole(f, "say('fine')"), SCRIPT_OK);
}

static void test_the_error_names_script_line_and_who_was_called(void **state)
{
    struct fixture *f = *state;
    assert_over(f, "local function spin()\n  while true do end\nend\npcall(spin)\nreturn 1");
    assert_string_equal(buf_text(&f->script->failure.text),
                        "task.lua:2: over the limit handler-cpu (20ms) in the task");
    assert_string_equal(f->script->failure.source, "task.lua");
    assert_int_equal(f->script->failure.line, 2);
    assert_non_null(strstr(buf_text(&f->script->failure.traceback), "task.lua:2: in function"));
    assert_non_null(strstr(buf_text(&f->script->failure.traceback), "task.lua:4: "));
}

static void test_time_between_two_waits_is_what_counts(void **state)
{
    struct fixture *f = *state;
    struct run run;
    f->script->limits.values[LIMIT_HANDLER_CPU] = 200;
    run_start(f, &run,
              "for i = 1, 5 do local e = os.clock() + 0.06 while os.clock() < e do end k8s.sleep(1) end");
    for (int i = 0; i < 5; i++) run_advance(1000);
    assert_int_equal(run.ends, 1);
    assert_int_equal(run.result, SCRIPT_OK);
}

static void test_what_ends_after_a_wait_is_over_its_limit_too(void **state)
{
    struct fixture *f = *state;
    struct run run;
    run_start(f, &run, "k8s.sleep(1) while true do end");
    run_advance(1000);
    assert_int_equal(run.ends, 1);
    assert_int_equal(run.result, SCRIPT_CPU_LIMIT);
}

static enum script_result nested_result;

static void call_global(lua_State *L, void *ctx)
{
    lua_getglobal(L, "inner");
    lua_call(L, 0, 0);
}

static int l_nested(lua_State *L)
{
    call_check_nested(L);
    nested_result = script_call_nested(L, "an index function", "node", call_global, NULL);
    return 0;
}

static void define_nested(lua_State *L, void *ctx)
{
    lua_pushcfunction(L, l_nested);
    lua_setglobal(L, "nested");
}

static void test_a_nested_call_has_a_budget_of_its_own_and_the_outer_one_goes_on(void **state)
{
    struct fixture *f = *state;
    f->script->limits.values[LIMIT_HANDLER_CPU] = 60000;
    assert_int_equal(script_call(f->script, "setup", define_nested, NULL), SCRIPT_OK);
    assert_int_equal(run_whole(f, "function inner() while true do end end nested() say('on')"), SCRIPT_OK);
    assert_int_equal(nested_result, SCRIPT_CPU_LIMIT);
    assert_string_equal(buf_text(&f->script->failure.text),
                        "task.lua:1: over the limit filter-cpu (5ms) in the index function of node");
    assert_lua(f, "return take()", "on;");
}

static void test_what_the_outer_call_has_left_bounds_the_nested_ones(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(script_call(f->script, "setup", define_nested, NULL), SCRIPT_OK);
    assert_over(f, "function inner() while true do end end while true do nested() end");
}

static void test_a_call_that_is_within_its_limit_leaves_no_trace(void **state)
{
    struct fixture *f = *state;
    f->script->limits.values[LIMIT_HANDLER_CPU] = 60000;
    for (int i = 0; i < 3; i++)
        assert_int_equal(run_whole(f, "local n = 0 for i = 1, 1e6 do n = n + i end say(n)"), SCRIPT_OK);
    assert_null(f->script->budget.over);
    assert_int_equal(f->script->budget.every, BUDGET_INSTRUCTIONS);
}

/* --- functions of C */

static void test_slow_functions_of_c_are_timed_from_outside(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(run_whole(f, "big = {} for i = 1, 20000 do big[i] = i end"), SCRIPT_OK);
    f->script->limits.values[LIMIT_HANDLER_CPU] = 60000;
    assert_int_equal(run_whole(f, "for i = 1, 1e6 do big[i] = i end"), SCRIPT_OK);
    f->script->limits.values[LIMIT_HANDLER_CPU] = 20;
    int64_t begun_ns = clock_thread_ns();
    assert_over(f, "for i = 1, 2400 do table.insert(big, 1, i) end"); /* less than 10,000 instructions */
    assert_in_range((clock_thread_ns() - begun_ns) / 1000000, 20, 1000);
}

static void test_a_loop_in_c_is_left(void **state)
{
    struct fixture *f = *state;
    f->script->limits.values[LIMIT_HANDLER_CPU] = 60000;
    assert_int_equal(run_whole(f, "wide = {} for i = 1, 3e5 do wide[i] = { i } end"), SCRIPT_OK);
    f->script->limits.values[LIMIT_HANDLER_CPU] = 5;
    assert_int_equal(run_whole(f, "return k8s.json.encode(wide)"), SCRIPT_CPU_LIMIT);
}

/* LuaJIT unwinds each frame of C by a walk over all that is above it: thousands of them took 200 ms. */
static void test_what_is_nested_through_c_is_unwound_soon(void **state)
{
    static const char *const deep[] = {
        "local function g() table.sort({ 3, 2, 1 }, g) end g()",
        "local function g() return coroutine.wrap(g)() end g()",
        "local n = 0 local function g() n = n + 1 if n % 30 == 0 then table.sort({ 3, 2, 1 }, g) else g() "
        "end "
        "return 1 end g()",
        "while true do pcall(function() local function g() table.sort({ 3, 2, 1 }, g) end g() end) end",
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof deep / sizeof *deep; i++) {
        int64_t begun_ns = clock_thread_ns();
        assert_int_not_equal(run_whole(f, deep[i]), SCRIPT_OK);
        int64_t took_ms = (clock_thread_ns() - begun_ns) / 1000000;
        if (took_ms > DEEP_MS) fail_msg("%s\n took %lld ms", deep[i], (long long)took_ms);
    }
}

/* --- the hook, which makes every instruction dearer */

static int l_hook_count(lua_State *L)
{
    lua_pushinteger(L, lua_gethook(L) ? lua_gethookcount(L) : 0);
    return 1;
}

static void define_hook_count(lua_State *L, void *ctx)
{
    lua_pushcfunction(L, l_hook_count);
    lua_setglobal(L, "hook_count");
}

static void test_no_hook_is_set_while_the_limit_is_far(void **state)
{
    struct fixture *f = *state;
    f->script->limits.values[LIMIT_HANDLER_CPU] = 60000;
    assert_int_equal(script_call(f->script, "setup", define_hook_count, NULL), SCRIPT_OK);
    assert_int_equal(run_whole(f,
                               "local most, e = hook_count(), os.clock() + 0.03 "
                               "while os.clock() < e do most = math.max(most, hook_count()) end say(most)"),
                     SCRIPT_OK);
    assert_lua(f, "return take()", "0;");
    assert_null(lua_gethook(f->script->L));
}

/* So that a call ends at its limit, and not when it is next looked at. */
static void test_a_hook_counts_where_the_limit_is_near(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(script_call(f->script, "setup", define_hook_count, NULL), SCRIPT_OK);
    assert_over(f, "seen = {} while true do seen[hook_count()] = true end");
    assert_lua(f, "return tostring(seen[0]) .. tostring(seen[10000]) .. tostring(seen[1])", "truetruenil");
    assert_null(lua_gethook(f->script->L));
}

static void test_the_hook_goes_with_the_call_that_came_near_its_limit(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(script_call(f->script, "setup", define_hook_count, NULL), SCRIPT_OK);
    enum script_result result = SCRIPT_CPU_LIMIT;
    for (int i = 0; i < 20 && result == SCRIPT_CPU_LIMIT; i++) /* near the limit there may be no time left */
        result =
            run_whole(f, "local till = os.clock() + 1 repeat until hook_count() > 0 or os.clock() > till "
                         "say(hook_count())");
    assert_int_equal(result, SCRIPT_OK);
    assert_lua(f, "return take()", "10000;");
    assert_null(lua_gethook(f->script->L));
}

static void test_a_collection_leaves_no_hook(void **state)
{
    struct fixture *f = *state;
    f->script->limits.values[LIMIT_HANDLER_CPU] = 60000;
    f->script->limits.values[LIMIT_SCRIPT_MEMORY] = 4 << 20;
    memory_set_limit(f->script);
    assert_int_equal(script_call(f->script, "setup", define_hook_count, NULL), SCRIPT_OK);
    assert_int_equal(
        run_whole(f, "local keep = {} for i = 1, 20 do keep[i] = ('x'):rep(1e5) .. i end "
                     "local before = hook_count() for i = 1, 50 do local s = ('y'):rep(1e5) .. i end "
                     "say(before, hook_count())"),
        SCRIPT_OK);
    assert_lua(f, "return take()", "0 0;");
    assert_null(lua_gethook(f->script->L));
}

/* The clock of a call starts when it is first looked at, which may be after a collection or in one. */
static void test_a_collection_before_the_first_check_ends_no_call(void **state)
{
    struct fixture *f = *state;
    struct budget_call call;
    f->script->limits.values[LIMIT_MAIN_CPU] = INT64_MAX;
    budget_enter(f->script, &call, LIMIT_MAIN_CPU, "main", NULL);
    budget_resume(f->script, budget_rest(f->script));
    assert_int_equal(call.excused_ns, 0);
    budget_tick(f->script);
    assert_null(f->script->budget.over);
    budget_resume(f->script, budget_rest(f->script) - INT64_C(1000000000000)); /* more than has gone by */
    budget_tick(f->script);
    assert_null(f->script->budget.over);
    budget_leave(f->script, &call, SCRIPT_OK);
}

/* The signal of the watch comes every 4 ms, also in a collection of 100 ms. */
static void test_a_check_in_a_collection_ends_no_call(void **state)
{
    struct fixture *f = *state;
    struct budget_call call;
    f->script->limits.values[LIMIT_MAIN_CPU] = 50;
    budget_enter(f->script, &call, LIMIT_MAIN_CPU, "main", NULL);
    budget_tick(f->script);
    int64_t since_ns = budget_rest(f->script), until_ns = since_ns + 80 * INT64_C(1000000);
    while (clock_thread_ns() < until_ns) budget_tick(f->script);
    budget_resume(f->script, since_ns);
    budget_tick(f->script);
    assert_null(f->script->budget.over);
    budget_leave(f->script, &call, SCRIPT_OK);
}

static void test_a_call_without_an_owner_is_not_checked(void **state)
{
    struct fixture *f = *state;
    int64_t until = clock_thread_ns() + 50 * INT64_C(1000000);
    while (clock_thread_ns() < until) continue;
    assert_int_equal(run_whole(f, "say('fine')"), SCRIPT_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, run_teardown)
#define W(name) cmocka_unit_test_setup_teardown(name, setup_watched, teardown_watched)
        T(test_endless_calls_end_and_name_the_limit),
        T(test_the_error_names_script_line_and_who_was_called),
        T(test_time_between_two_waits_is_what_counts),
        T(test_what_ends_after_a_wait_is_over_its_limit_too),
        T(test_a_nested_call_has_a_budget_of_its_own_and_the_outer_one_goes_on),
        T(test_what_the_outer_call_has_left_bounds_the_nested_ones),
        T(test_a_call_that_is_within_its_limit_leaves_no_trace),
        W(test_endless_calls_end_and_name_the_limit),
        W(test_who_fills_the_stack_is_found_from_outside),
        W(test_slow_functions_of_c_are_timed_from_outside),
        W(test_a_loop_in_c_is_left),
        W(test_what_is_nested_through_c_is_unwound_soon),
        W(test_no_hook_is_set_while_the_limit_is_far),
        W(test_a_hook_counts_where_the_limit_is_near),
        W(test_the_hook_goes_with_the_call_that_came_near_its_limit),
        W(test_a_collection_leaves_no_hook),
        T(test_a_collection_before_the_first_check_ends_no_call),
        T(test_a_check_in_a_collection_ends_no_call),
        W(test_a_call_without_an_owner_is_not_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
