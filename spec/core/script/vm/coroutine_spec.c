/* lua/k8s/coroutine.lua, core/script/vm/task_wait.c: a script's own coroutines, and where nothing may yield.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/script/support/run.h"
#include "script/vm/call.h"

static void test_the_frames_of_the_scripts_own_coroutines_are_reported(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(run_whole(f, "local function deep()\n  error('x')\nend\n"
                                  "local gen = coroutine.wrap(function() deep() end)\n"
                                  "local around = coroutine.wrap(function() gen() end)\n"
                                  "around()"),
                     SCRIPT_ERROR);
    assert_failure(f, "task.lua:2: x");
    assert_int_equal(f->script->failure.line, 2);
    const char *traceback = buf_text(&f->script->failure.traceback);
    assert_non_null(strstr(traceback, "task.lua:2: in function 'deep'"));
    assert_non_null(strstr(traceback, "task.lua:5:"));
    assert_non_null(strstr(traceback, "task.lua:6:"));
    /* one that was caught belongs to no later error */
    assert_int_equal(run_whole(f, "pcall(coroutine.wrap(function() error('old') end))\nerror('new')"),
                     SCRIPT_ERROR);
    assert_null(strstr(buf_text(&f->script->failure.traceback), "task.lua:1: in function"));
    assert_int_equal(f->script->failure.line, 2);
}

/* --- the script's own coroutines */

static void test_a_wait_in_a_coroutine_of_the_script_is_the_tasks(void **state)
{
    struct fixture *f = *state;
    struct run run;
    run_start(f, &run,
              "local gen = coroutine.wrap(function(a)\n"
              "  k8s.sleep(1)\n"
              "  local b = coroutine.yield(a + 1)\n"
              "  local inner = coroutine.create(function(x) k8s.sleep(1) local y = coroutine.yield(x) "
              "k8s.sleep(1) return y end)\n"
              "  local ok, x = coroutine.resume(inner, b)\n"
              "  coroutine.yield(x, select('#', coroutine.yield()))\n"
              "  return select(2, coroutine.resume(inner, 'end'))\n"
              "end)\n"
              "say(gen(1)) say(select('#', gen(5))) say(gen()) say(gen())");
    assert_lua(f, "return take()", "");
    virtual_clock_advance(&run_clock, 1000);
    assert_lua(f, "return take()", "2;");
    virtual_clock_advance(&run_clock, 2000);
    assert_lua(f, "return take()", "0;5 0;end;");
    assert_int_equal(run.result, SCRIPT_OK);
}

static void test_coroutines_behave_as_in_lua(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(
        run_whole(
            f,
            "local co = coroutine.create(function(...) say(...) say(coroutine.yield(1, nil)) error({}) end)\n"
            "say(coroutine.status(co)) say(select('#', coroutine.resume(co, 'a', 'b')))\n"
            "say(coroutine.status(co)) say(tostring(coroutine.resume(co, 'c'))) say(coroutine.status(co))\n"
            "say(select(2, coroutine.resume(co)))\n"
            "say(tostring(coroutine.running()), tostring(coroutine.isyieldable()))\n"
            "say(coroutine.wrap(function() return type(coroutine.running()) end)())\n"
            "say(tostring(coroutine.wrap(function() return coroutine.isyieldable() end)()))\n"
            "for v in coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end) do say(v) end\n"
            "say(tostring(pcall(coroutine.wrap(function() error({}, 0) end))))\n"),
        SCRIPT_OK);
    assert_lua(f, "return take()",
               "suspended;a b;3;suspended;c;false;dead;cannot resume dead coroutine;nil "
               "false;thread;true;1;2;3;false;");
    assert_int_equal(run_whole(f, "coroutine.yield()"), SCRIPT_ERROR);
    assert_failure(f, "task.lua:1: attempt to yield from outside a coroutine");
    assert_int_equal(run_whole(f, "coroutine.resume(1)"), SCRIPT_ERROR);
    assert_failure(f, "task.lua:1: coroutine.resume: expected a thread, not number");
    assert_int_equal(run_whole(f, "coroutine.wrap()"), SCRIPT_ERROR);
    assert_failure(f, "task.lua:1: coroutine.wrap: expected a function, not nil");
}

static void test_nobody_resumes_what_waits_for_the_engine(void **state)
{
    struct fixture *f = *state;
    struct run run;
    run_start(f, &run,
              "co = coroutine.create(function() me = coroutine.running() k8s.sleep(1) return 'slept' end)\n"
              "say(select(2, coroutine.resume(co)))");
    assert_lua(f, "return tostring(me == co) .. coroutine.status(co)", "truenormal");
    assert_lua(f, "local ok, err = coroutine.resume(co) return tostring(ok) .. ' ' .. err",
               "false cannot resume a coroutine that is waiting for the engine");
    virtual_clock_advance(&run_clock, 1000);
    assert_lua(f, "return take()", "slept;");
}

/* --- where nothing may yield */

static void test_the_error_names_where_nothing_may_yield(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *lua, *text;
    } cases[] = {
        {"local _ = (('x'):gsub('.', setmetatable({}, {__index = function() k8s.sleep(1) end})))",
         "task.lua:1: k8s.sleep may not be called in a function that gsub calls"},
        {"print(setmetatable({}, { __tostring = function() k8s.sleep(1) end }))",
         "task.lua:1: k8s.sleep may not be called in a __tostring that print calls"},
        {"k8s.log.info('x', { a = setmetatable({}, { __tostring = function() k8s.sleep(1) end }) })",
         "task.lua:1: k8s.sleep may not be called in a __tostring that k8s.log calls"},
        {"load(function() k8s.sleep(1) end)",
         "task.lua:1: k8s.sleep may not be called in a reader function of load"},
        {"local _ = (('x'):gsub('.', setmetatable({}, {__index = function()\ncoroutine.wrap(function()\n"
         "k8s.sleep(1) end)() end})))",
         "task.lua:3: k8s.sleep may not be called in a function that gsub calls"},
        {"error(setmetatable({}, { __tostring = function() k8s.sleep(1) end }))",
         "(error object cannot be converted to a string)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(run_whole(f, cases[i].lua), SCRIPT_ERROR);
        assert_failure(f, cases[i].text);
    }
    assert_raises(f, "k8s.sleep(1)", "snippet.lua:1: k8s.sleep may not be called in a snippet");
    assert_raises(f, "coroutine.wrap(function() k8s.sleep(1) end)()",
                  "snippet.lua:1: k8s.sleep may not be called in a snippet");
    assert_int_equal(run_clock.clock.count, 0); /* no timer was left */
}

/* Lua calls them, not C. */
static void test_functions_that_libraries_call_may_wait(void **state)
{
    struct fixture *f = *state;
    struct run run;
    fixture_write(f, "sleepy.lua", "require('k8s').sleep(1) return 'woke'");
    run_start(f, &run,
              "local list = {3, 1, 2} table.sort(list, function(a, b) k8s.sleep(1) return a < b end)\n"
              "say(table.concat(list))\n"
              "local own = setmetatable({2, 1}, {__index = error, __newindex = error})\n"
              "table.sort(own, function(a, b) k8s.sleep(1) return a < b end) say(own[1] .. own[2])\n"
              "local meta = {__lt = function(a, b) k8s.sleep(1) return a[1] < b[1] end}\n"
              "local items = {setmetatable({2}, meta), setmetatable({1}, meta)} table.sort(items)\n"
              "say(items[1][1] .. items[2][1]) say(require 'sleepy', require 'sleepy')\n"
              "say((('ab'):gsub('(.)', function(c) k8s.sleep(1) return c .. c end)))\n"
              "table.foreachi({5}, function(_, v) k8s.sleep(1) say(tostring(v)) end)\n"
              "say(tostring(table.foreach({x = 6}, function(_, v) k8s.sleep(1) return v end)))");
    for (int i = 0; i < 20; i++) virtual_clock_advance(&run_clock, 1000);
    assert_int_equal(run.result, SCRIPT_OK);
    assert_lua(f, "return take()", "123;12;12;woke woke;aabb;5;6;");
}

static void test_a_refused_wait_can_be_caught_and_the_coroutine_goes_on(void **state)
{
    struct fixture *f = *state;
    struct run run;
    run_start(f, &run,
              "local gen = coroutine.wrap(function()\n"
              "  say(tostring(pcall(k8s.sleep, 1))) coroutine.yield('x') k8s.sleep(1) return 'y' end)\n"
              "say((('a'):gsub('.', setmetatable({}, {__index = function() return gen() end})))) say(gen())");
    virtual_clock_advance(&run_clock, 1000);
    assert_int_equal(run.result, SCRIPT_OK);
    assert_lua(f, "return take()", "false;x;y;");
}

static int l_nested(lua_State *L);

static void call_argument(lua_State *L, void *ctx)
{
    lua_getglobal(L, "nested_function");
    lua_call(L, 0, 0);
}

/* Calls the global nested_function back as a verb does; gives the result and the error. */
static int l_nested(lua_State *L)
{
    enum script_result result = script_call_nested(L, "a filter", NULL, call_argument, NULL);
    lua_pushstring(L, script_result_name(result));
    lua_pushstring(L, result == SCRIPT_OK ? "" : buf_text(&script_of(L)->failure.text));
    return 2;
}

static void define_nested(lua_State *L, void *ctx)
{
    lua_pushcfunction(L, l_nested);
    lua_setglobal(L, "nested");
}

static void test_a_verb_may_call_back_under_protection(void **state)
{
    struct fixture *f = *state;
    struct run run;
    assert_int_equal(script_call(f->script, "setup", define_nested, NULL), SCRIPT_OK);
    run_start(f, &run,
              "nested_function = function() say('called') end say(nested())\n"
              "nested_function = function() error('inside') end say(nested())\n"
              "nested_function = function() coroutine.wrap(function() k8s.sleep(1) end)() end say(nested())\n"
              "k8s.sleep(1) coroutine.wrap(function() say(nested()) end)()\n"
              "error('outside')");
    virtual_clock_advance(&run_clock, 1000);
    assert_lua(
        f, "return take()",
        "called;ok ;error task.lua:2: inside;error task.lua:3: k8s.sleep may not be called in a filter;"
        "error task.lua:3: k8s.sleep may not be called in a filter;");
    assert_int_equal(run.result, SCRIPT_ERROR);
}

/* At some depths there is room for the coroutine, and none to pass its wait on. */
static void test_a_wait_that_the_stack_is_too_full_for_is_over(void **state)
{
    struct fixture *f = *state;
    struct run run;
    f->script->limits.values[LIMIT_HANDLER_CPU] = 3600000;
    run_start(f, &run,
              "local function with(...) return pcall(coroutine.wrap(function() k8s.sleep(1) end)) end\n"
              "local function deep(n, k)\n"
              "  if n > 0 then local ok, err = deep(n - 1, k) return ok, err end\n"
              "  local ok, err = with(unpack(k))\n"
              "  return ok, err\n"
              "end\n"
              "local few, many, ends = 1000, 40000, {}\n"
              "while many - few > 1 do\n"
              "  local n = math.floor((few + many) / 2)\n"
              "  local ok, good = pcall(deep, n, {})\n"
              "  if ok and good then few = n else many = n end\n"
              "end\n"
              "for n = few + 2, few - 4, -1 do\n"
              "  local k = {}\n"
              "  for i = 1, 20 do\n"
              "    k[i] = 0\n"
              "    local ok, good = pcall(deep, n, k)\n"
              "    ends[tostring(ok and good)] = true\n"
              "  end\n"
              "end\n"
              "k8s.sleep(1) say(tostring(ends['true']), tostring(ends['false']))");
    for (int i = 0; i < 1000 && run.ends == 0; i++) run_advance(1000);
    assert_int_equal(run.result, SCRIPT_OK);
    assert_lua(f, "return take()", "true true;");
}

static void test_a_traceback_may_be_requested(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(run_whole(f, "local function inner()\n  say(k8s.traceback())\nend\ninner()"), SCRIPT_OK);
    assert_lua(f, "return take()", "task.lua:2: in function 'inner'\ntask.lua:4: in main chunk;");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, run_setup, run_teardown)
        T(test_the_frames_of_the_scripts_own_coroutines_are_reported),
        T(test_a_wait_in_a_coroutine_of_the_script_is_the_tasks),
        T(test_coroutines_behave_as_in_lua),
        T(test_nobody_resumes_what_waits_for_the_engine),
        T(test_the_error_names_where_nothing_may_yield),
        T(test_functions_that_libraries_call_may_wait),
        T(test_a_refused_wait_can_be_caught_and_the_coroutine_goes_on),
        T(test_a_verb_may_call_back_under_protection),
        T(test_a_wait_that_the_stack_is_too_full_for_is_over),
        T(test_a_traceback_may_be_requested),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
