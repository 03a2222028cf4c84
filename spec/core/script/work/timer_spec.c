/* core/script/work/script_timer.c, bind_time.c: k8s.every and k8s.after. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/script/support/run.h"
#include "script/work/script_timer.h"

static void test_every_ticks_at_a_steady_rate(void **state)
{
    struct fixture *f = *state;
    assert_lua(f,
               "t = k8s.every('100ms', function() say 'x' end) return tostring(t):match '%w+ snippet.lua:1'",
               "timer snippet.lua:1");
    virtual_clock_advance(&run_clock, 99);
    assert_lua(f, "return take()", "");
    virtual_clock_advance(&run_clock, 1);
    assert_lua(f, "return take()", "x;");
    virtual_clock_advance(&run_clock, 350);
    assert_lua(f, "return take()", "x;x;x;");
    assert_lua(f, "return tostring(t:cancel()) .. tostring(t:cancel()) .. tostring(t:stop())",
               "truefalsefalse");
    virtual_clock_advance(&run_clock, 1000);
    assert_lua(f, "return take()", "");
}

static void test_a_tick_waits_for_the_one_before(void **state)
{
    struct fixture *f = *state;
    assert_lua(f,
               "n = 0 k8s.every(1, function() n = n + 1 say('b' .. n) if n == 1 then k8s.sleep(3.5) end "
               "say('e' .. n) end)",
               "nil");
    virtual_clock_advance(&run_clock, 4400);
    assert_lua(f, "return take()", "b1;");
    virtual_clock_advance(&run_clock, 200); /* at 4.5 s the first ends; what fell due meanwhile comes once */
    assert_lua(f, "return take()", "e1;b2;e2;");
    virtual_clock_advance(&run_clock, 800);
    assert_lua(f, "return take()", "");
    virtual_clock_advance(&run_clock, 100);
    assert_lua(f, "return take()", "b3;e3;");
}

static void test_after_ticks_once(void **state)
{
    struct fixture *f = *state;
    assert_lua(f,
               "t = k8s.after(1, function() say 'once' k8s.sleep(1) say 'end' end) k8s.after(0, function() "
               "say 'now' end)",
               "nil");
    virtual_clock_advance(&run_clock, 0);
    assert_lua(f, "return take()", "now;");
    virtual_clock_advance(&run_clock, 1500);
    assert_lua(f, "return take() .. tostring(t:cancel())",
               "once;false"); /* nothing to come, and it goes on */
    virtual_clock_advance(&run_clock, 5000);
    assert_lua(f, "return take() .. tostring(t:cancel())", "end;false");
    assert_int_equal(f->script->own.timers->count, 0);
    assert_lua(f, "local t = k8s.after(1, say) return tostring(t:cancel())", "true");
    virtual_clock_advance(&run_clock, 5000);
    assert_lua(f, "return take()", "");
}

static void test_retained_timers_count_as_memory(void **state)
{
    struct fixture *f = *state;
    enum { COUNT = 1000, OF_LUA = 300 }; /* a box and a slot of the list */
    size_t before = f->script->memory;
    assert_lua(f, "list = {} for i = 1, 1000 do list[i] = k8s.after(1, say) list[i]:cancel() end", "nil");
    assert_true(f->script->memory - before > COUNT * sizeof(struct script_timer));
    assert_lua(f, "list = nil", "nil");
    lua_gc(f->script->L, LUA_GCCOLLECT, 0);
    lua_gc(f->script->L, LUA_GCCOLLECT, 0);
    if (f->script->memory > before + COUNT * OF_LUA)
        fail_msg("%zu bytes are left", f->script->memory - before);
}

static void test_a_timer_may_stop_itself(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "t = k8s.every(1, function() t:stop() say 'a' k8s.sleep(1) say 'b' end)", "nil");
    virtual_clock_advance(&run_clock, 10000);
    assert_lua(f, "return take()", "a;b;");
}

static void test_a_tick_that_fails_ends_that_tick_only(void **state)
{
    struct fixture *f = *state;
    assert_lua(f,
               "k8s.every(1, function() say 'x' error 'broken' end) k8s.every(1, function() k8s.sleep(0.1) "
               "error 'late' end)",
               "nil");
    virtual_clock_advance(&run_clock, 3500);
    assert_lua(f, "return take()", "x;x;x;");
    assert_int_equal(script_counters(f->script).errors, 6);
}

static void test_misuse_raises(void **state)
{
    struct fixture *f = *state;
    assert_raises(f, "k8s.every('9ms', print)",
                  "snippet.lua:1: k8s.every: the duration must be at least 10 ms");
    assert_raises(f, "k8s.every('x', print)",
                  "snippet.lua:1: k8s.every: the duration must be a number of seconds");
    assert_raises(f, "k8s.after(1)",
                  "snippet.lua:1: k8s.after: the second argument must be a function, not nil");
    assert_raises(f, "k8s.after(1, print).cancel()", "timer:cancel: called on nil, not on a timer");
    assert_lua(f, "t = nil collectgarbage 'count' return 'lives'", "lives");
}

static void test_timers_are_limited(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "for i = 1, 10000 do k8s.after('1h', say) end", "nil");
    assert_raises(f, "k8s.after(1, say)", "snippet.lua:1: k8s.after: over the limit timers (10000)");
    virtual_clock_advance(&run_clock, 3600 * 1000);
    assert_int_equal(f->script->own.timers->count, 0);
}

static void test_freeing_a_script_stops_its_timers(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "k8s.every(1, function() k8s.sleep(10) end) t = k8s.every(5, say) k8s.after(7, say)",
               "nil");
    virtual_clock_advance(&run_clock, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, run_setup, run_teardown)
        T(test_every_ticks_at_a_steady_rate),
        T(test_a_tick_waits_for_the_one_before),
        T(test_after_ticks_once),
        T(test_retained_timers_count_as_memory),
        T(test_a_timer_may_stop_itself),
        T(test_a_tick_that_fails_ends_that_tick_only),
        T(test_misuse_raises),
        T(test_timers_are_limited),
        T(test_freeing_a_script_stops_its_timers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
