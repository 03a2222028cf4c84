/* core/informer/workqueue/workqueue.c: the order, who waits, the end (W-1..W-6, V25). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/informer/support/queue_fixture.h"

/* --- the three structures */

static void test_w1_v25_keys_come_once_and_in_order(void **state)
{
    queue_add("foo");
    queue_add("bar");
    queue_add("foo");
    assert_int_equal(workqueue_len(queue), 2);
    assert_string_equal(queue_get(), "foo");
    assert_string_equal(queue_get(), "bar");
    assert_string_equal(queue_get(), "-");
}

static void test_w1_v25_what_is_added_while_it_is_worked_on_comes_when_that_is_done(void **state)
{
    queue_add("foo");
    assert_string_equal(queue_get(), "foo");
    queue_add("foo");
    queue_add("foo");
    assert_string_equal(queue_get(), "-");
    assert_int_equal(workqueue_len(queue), 0); /* W-4: it is not in the order */
    assert_int_equal(status_of_queue().depth, 1);
    queue_done("foo");
    assert_string_equal(queue_get(), "foo");
    queue_done("foo");
    assert_string_equal(queue_get(), "-");
}

static void test_w3_done_of_a_key_that_nobody_works_on_is_harmless(void **state)
{
    queue_done("foo");
    queue_add("foo");
    queue_done("foo");
    assert_string_equal(queue_get(), "foo");
    queue_done("foo");
    queue_done("foo");
    assert_int_equal(quota.keys, 0);
}

static void test_w2_a_waiter_gets_the_key_itself(void **state)
{
    struct workqueue_waiter first = WAITER, second = WAITER;
    workqueue_wait(queue, &first);
    workqueue_wait(queue, &second);
    queue_add("foo");
    assert_false(first.waiting);
    assert_true(str_is(first.key, "foo"));
    assert_string_equal(queue_get(), "-");
    assert_int_equal(told, 0);
    queue_add("foo");
    assert_true(second.waiting); /* V25: the second worker waits until the first is done */
    queue_done("foo");
    assert_true(str_is(second.key, "foo"));
    queue_done("foo");
    queue_add("bar");
    assert_int_equal(told, 1);
}

static void test_a_key_that_no_worker_got_comes_first_again(void **state)
{
    struct workqueue_waiter waiter = WAITER;
    workqueue_wait(queue, &waiter);
    queue_add("foo");
    queue_add("bar");
    workqueue_put_back(queue, waiter.key);
    assert_string_equal(queue_get(), "foo");
    queue_add("foo");
    workqueue_put_back(queue, STR("foo"));
    assert_int_equal(status_of_queue().depth, 2);
    assert_string_equal(queue_get(), "foo");
    queue_done("foo");
    assert_string_equal(queue_get(), "bar");
    assert_string_equal(queue_get(), "-");
}

/* --- the end */

static void test_w5_a_shutdown_takes_nothing_in_and_returns_the_rest(void **state)
{
    queue_add("foo");
    queue_add("bar");
    assert_string_equal(queue_get(), "foo");
    queue_add("foo");
    workqueue_shut_down(queue);
    queue_add("baz");
    queue_add_after("baz", 5);
    queue_add_rate_limited("baz");
    assert_false(workqueue_is_closed(queue));
    assert_string_equal(queue_get(), "bar");
    assert_true(workqueue_is_closed(queue)); /* W-2: empty; who works on foo gets it again */
    queue_done("foo");                       /* W-3: also during the shutdown */
    assert_string_equal(queue_get(), "foo");
    queue_done("foo");
    queue_done("bar");
    virtual_clock_advance(&queue_clock, 1000);
    assert_true(workqueue_is_closed(queue));
    assert_true(status_of_queue().shut_down);
}

static void test_w2_a_shutdown_wakes_who_waits(void **state)
{
    struct workqueue_waiter waiter = WAITER;
    workqueue_wait(queue, &waiter);
    workqueue_shut_down(queue);
    assert_false(waiter.waiting);
    assert_null(waiter.key.p);
}

static void test_w5_v25_a_drain_waits_for_the_work_under_way(void **state)
{
    struct workqueue_waiter waiter = WAITER;
    queue_add("foo");
    queue_add("bar");
    queue_get();
    queue_get();
    assert_true(workqueue_drain(queue, &waiter));
    queue_done("foo");
    assert_true(waiter.waiting);
    queue_done("bar");
    assert_false(waiter.waiting);
    assert_false(workqueue_drain(queue, &waiter));
}

static void test_w5_v25_a_drain_waits_for_what_came_again_too(void **state)
{
    struct workqueue_waiter waiter = WAITER;
    queue_add("foo");
    queue_get();
    queue_add("foo");
    assert_true(workqueue_drain(queue, &waiter));
    queue_done("foo");
    assert_true(waiter.waiting);
    assert_string_equal(queue_get(), "foo");
    queue_done("foo");
    assert_false(waiter.waiting);
}

static void test_w5_v25_a_shutdown_releases_a_drain(void **state)
{
    struct workqueue_waiter waiter = WAITER, gone = WAITER;
    queue_add("foo");
    queue_get();
    assert_true(workqueue_drain(queue, &waiter));
    assert_true(workqueue_drain(queue, &gone));
    workqueue_stop_waiting(queue, &gone);
    workqueue_stop_waiting(queue, &gone);
    workqueue_shut_down(queue);
    assert_false(waiter.waiting);
    assert_false(gone.waiting);
}

static void test_w5_with_workers_a_drain_waits_for_all_that_is_queued(void **state)
{
    struct workqueue_waiter waiter = WAITER;
    workqueue_has_workers(queue);
    queue_add("foo");
    queue_add("bar");
    assert_true(workqueue_drain(queue, &waiter));
    queue_get();
    queue_done("foo");
    assert_true(waiter.waiting);
    queue_get();
    queue_done("bar");
    assert_false(waiter.waiting);
}

static void test_w5_what_is_put_back_ends_a_drain_as_done_does(void **state)
{
    struct workqueue_waiter waiter = WAITER;
    queue_add("foo");
    queue_add("bar");
    queue_get();
    queue_get();
    queue_add("bar"); /* while it is worked on */
    assert_true(workqueue_drain(queue, &waiter));
    workqueue_put_back(queue, STR("foo"));
    assert_true(waiter.waiting);
    workqueue_put_back(queue, STR("bar"));
    assert_false(waiter.waiting); /* nobody works on anything, as if nobody had begun */
    assert_int_equal(workqueue_len(queue), 2);
}

static void test_w5_with_workers_a_drain_waits_for_what_was_put_back(void **state)
{
    struct workqueue_waiter waiter = WAITER;
    workqueue_has_workers(queue);
    queue_add("foo");
    queue_get();
    assert_true(workqueue_drain(queue, &waiter));
    workqueue_put_back(queue, STR("foo"));
    assert_true(waiter.waiting);
    assert_string_equal(queue_get(), "foo");
    queue_done("foo");
    assert_false(waiter.waiting);
}

static void test_w6_what_waits_for_its_time_is_lost_at_once(void **state)
{
    queue_add_after("foo", 50);
    queue_add("bar");
    queue_add_after("bar", 60);
    workqueue_shut_down(queue);
    assert_int_equal(status_of_queue().delayed, 0);
    assert_int_equal(quota.keys, 1);
    virtual_clock_advance(&queue_clock, 100);
    assert_string_equal(queue_get(), "bar");
    queue_done("bar");
    assert_string_equal(queue_get(), "-");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, queue_setup, queue_teardown)
        T(test_w1_v25_keys_come_once_and_in_order),
        T(test_w1_v25_what_is_added_while_it_is_worked_on_comes_when_that_is_done),
        T(test_w3_done_of_a_key_that_nobody_works_on_is_harmless),
        T(test_w2_a_waiter_gets_the_key_itself),
        T(test_a_key_that_no_worker_got_comes_first_again),
        T(test_w5_a_shutdown_takes_nothing_in_and_returns_the_rest),
        T(test_w2_a_shutdown_wakes_who_waits),
        T(test_w5_v25_a_drain_waits_for_the_work_under_way),
        T(test_w5_v25_a_drain_waits_for_what_came_again_too),
        T(test_w5_v25_a_shutdown_releases_a_drain),
        T(test_w5_with_workers_a_drain_waits_for_all_that_is_queued),
        T(test_w5_what_is_put_back_ends_a_drain_as_done_does),
        T(test_w5_with_workers_a_drain_waits_for_what_was_put_back),
        T(test_w6_what_waits_for_its_time_is_lost_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
