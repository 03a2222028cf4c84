/* core/script/work/queue_work.c, bind_queue.c: the keys that calls have got by queue:get, and whose work may
 * be ended by whom. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/script/support/run.h"
#include "script/work/script_queue.h"

static void test_a_key_that_a_cancelled_call_was_given_is_not_lost(void **state)
{
    struct fixture *f = *state;
    struct run run;
    run_load(f, "q = k8s.queue { name = 'x' }");
    run_start(f, &run, "q:get()");
    assert_lua(f, "q:add 'a' return q:len()", "0");
    task_cancel(run.task);
    assert_lua(f, "return q:len()", "1");
    run_start(f, &run, "q:get() q:get()");
    assert_lua(f, "q:add 'b' q:done 'b' return q:len()", "0"); /* of a key that the task was handed */
    run_advance(0);
    assert_int_equal(run.ends, 1);
    assert_int_equal(run.result, SCRIPT_OK);
}

static void test_w3_the_keys_of_a_cancelled_call_come_again_in_their_order(void **state)
{
    struct fixture *f = *state;
    struct run run;
    run_load(f, "q = k8s.queue { name = 'x' } q:add 'a' q:add 'b' q:add 'c' q:add 'd'");
    run_start(f, &run, "for i = 1, 3 do say((q:get())) end q:done 'b' k8s.sleep '1h'");
    assert_lua(f, "q:add 'c' return take() .. q:len()", "a;b;c;1");
    task_cancel(run.task);
    assert_lua(f, "return q:len()", "3");
    assert_int_equal(
        run_whole(f, "for i = 1, 3 do local key = q:get() say(key, q:num_requeues(key)) q:done(key) end"),
        SCRIPT_OK);
    assert_lua(f, "return take()", "a 0;c 0;d 0;");
    assert_int_equal(f->script->own.queues->keys.keys, 0);
}

static void test_w3_the_keys_of_a_call_that_failed_come_again(void **state)
{
    struct fixture *f = *state;
    struct run waits, fails;
    run_load(f, "q = k8s.queue { name = 'x' }");
    run_start(f, &waits, "k8s.sleep(1) say((q:get()))");
    run_start(f, &fails, "say((q:get())) pcall(error, 'x') k8s.sleep(2) error 'broken'");
    assert_lua(f, "q:add 'a'", "nil");
    run_advance(1500);
    assert_lua(f, "return take() .. q:len()", "a;0"); /* what it caught is no end */
    run_advance(500);
    assert_int_equal(fails.result, SCRIPT_ERROR);
    assert_lua(f, "return take() .. q:len()", "a;0"); /* by who waited for it */
    assert_int_equal(run_whole(f, "q:add 'b' q:get() error 'at once'"), SCRIPT_ERROR);
    assert_lua(f, "return q:len()", "1");
}

static void test_w3_any_call_may_end_the_work_on_what_another_got(void **state)
{
    struct fixture *f = *state;
    struct run run;
    run_load(f, "q = k8s.queue { name = 'x' } q:add 'a' q:add 'b'");
    assert_int_equal(run_whole(f, "q:get()"), SCRIPT_OK); /* a good end keeps it */
    run_start(f, &run, "q:get() k8s.sleep '1h'");
    assert_lua(f, "q:done 'a' q:done 'b' return q:len()", "0");
    assert_int_equal(f->script->own.queues->keys.keys, 0);
    assert_lua(f, "q:add 'b' return q:len()", "1");
    task_cancel(run.task);
    assert_lua(f, "return q:len()", "1");
}

static void test_w1_nobody_may_end_the_work_of_a_worker(void **state)
{
    struct fixture *f = *state;
    run_load(f,
             "q = k8s.queue { name = 'x', workers = 2 } n = 0\n"
             "q:run(function(key) n = n + 1 say(n) k8s.sleep(1) say(tostring((pcall(q.done, q, key)))) end) "
             "q:add 'a'");
    run_advance(0);
    assert_raises(f, "q:done 'a'",
                  "snippet.lua:1: queue:done: key \"a\" is being processed by a worker of queue:run, which "
                  "is done when its function returns");
    assert_lua(f, "q:add 'a' q:done 'b' return take() .. q:len()", "1;0");
    run_advance(0);
    assert_lua(f, "return take()", ""); /* no second worker */
    run_advance(1000);
    assert_lua(f, "return take()", "false;2;"); /* not by the worker itself; then what was added meanwhile */
    run_advance(1000);
    assert_lua(f, "return take() .. q:len()", "false;0");
    assert_int_equal(f->script->own.queues->keys.keys, 0);
}

static void test_w5_a_cancelled_call_delays_no_drain(void **state)
{
    struct fixture *f = *state;
    struct run works, drains;
    run_load(f, "q = k8s.queue { name = 'x' } q:add 'a'");
    run_start(f, &works, "q:get() k8s.sleep '1h' q:done 'a'");
    run_start(f, &drains, "q:shut_down { drain = true } say 'drained'");
    run_advance(1000);
    assert_lua(f, "return take()", "");
    task_cancel(works.task);
    run_advance(0);
    assert_lua(f, "return take() .. q:len()", "drained;1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, run_setup, run_teardown)
        T(test_a_key_that_a_cancelled_call_was_given_is_not_lost),
        T(test_w3_the_keys_of_a_cancelled_call_come_again_in_their_order),
        T(test_w3_the_keys_of_a_call_that_failed_come_again),
        T(test_w3_any_call_may_end_the_work_on_what_another_got),
        T(test_w1_nobody_may_end_the_work_of_a_worker),
        T(test_w5_a_cancelled_call_delays_no_drain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
