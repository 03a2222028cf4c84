/* core/informer/workqueue/workqueue_delay.c, workqueue_metrics.c: what comes later, limits, series (W-7,
 * W-9..W-11, V25). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/series/series.h"
#include "core/informer/support/queue_fixture.h"

/* --- later */

static void test_w7_v25_the_earlier_time_counts(void **state)
{
    queue_add_after("foo", 50);
    queue_add_after("foo", 70);
    virtual_clock_advance(&queue_clock, 60);
    assert_string_equal(queue_get(), "foo");
    queue_done("foo");
    virtual_clock_advance(&queue_clock, 20);
    assert_int_equal(workqueue_len(queue), 0);
    queue_add_after("foo", 50);
    queue_add_after("foo", 30);
    virtual_clock_advance(&queue_clock, 40);
    assert_string_equal(queue_get(), "foo");
    queue_done("foo");
    virtual_clock_advance(&queue_clock, 100);
    assert_int_equal(workqueue_len(queue), 0);
    assert_int_equal(status_of_queue().delayed, 0);
}

/* Unlike an add after a delay it is no retry. */
static void test_a_key_that_is_postponed_comes_later(void **state)
{
    queue_add("foo");
    assert_string_equal(queue_get(), "foo");
    workqueue_postpone(queue, STR("foo"), 50);
    assert_int_equal(status_of_queue().processing, 0);
    assert_int_equal(status_of_queue().delayed, 1);
    assert_string_equal(queue_get(), "-");
    virtual_clock_advance(&queue_clock, 50);
    assert_string_equal(queue_get(), "foo");
    assert_int_equal(status_of_queue().retries, 0);
    assert_int_equal(workqueue_num_requeues(queue, STR("foo")), 0);
    queue_done("foo");
}

static void test_w7_v25_each_at_its_time(void **state)
{
    queue_add_after("foo", 1000);
    queue_add_after("bar", 50);
    virtual_clock_advance(&queue_clock, 60);
    assert_string_equal(queue_get(), "bar");
    queue_add_after("baz", 2000);
    virtual_clock_advance(&queue_clock, 1000);
    assert_string_equal(queue_get(), "foo");
    virtual_clock_advance(&queue_clock, 2000);
    assert_string_equal(queue_get(), "baz");
    assert_string_equal(queue_get(), "-");
}

static void test_w7_v25_a_jump_keeps_the_order(void **state)
{
    queue_add_after("foo", 1000);
    queue_add_after("bar", 500);
    queue_add_after("baz", 250);
    queue_clock.now = 2000;
    clock_fire(&queue_clock.clock);
    assert_string_equal(queue_get(), "baz");
    assert_string_equal(queue_get(), "bar");
    assert_string_equal(queue_get(), "foo");
}

static void test_w7_no_delay_is_now(void **state)
{
    queue_add_after("foo", 0);
    queue_add_after("bar", -5);
    assert_int_equal(workqueue_len(queue), 2);
    assert_int_equal(status_of_queue().retries, 2);
}

static void test_w7_a_key_may_be_queued_and_delayed(void **state)
{
    queue_add_after("foo", 50);
    queue_add("foo");
    assert_string_equal(queue_get(), "foo");
    queue_done("foo");
    virtual_clock_advance(&queue_clock, 50);
    assert_string_equal(queue_get(), "foo");
}

static void test_w10_rate_limited_keys_wait_longer_each_time_until_they_are_forgotten(void **state)
{
    static const int64_t delays[] = {5, 10, 20, 40};
    for (size_t i = 0; i < ARRAY_LEN(delays); i++) {
        assert_int_equal(workqueue_num_requeues(queue, STR("foo")), i);
        queue_add_rate_limited("foo");
        virtual_clock_advance(&queue_clock, delays[i] - 1);
        assert_string_equal(queue_get(), "-");
        virtual_clock_advance(&queue_clock, 1);
        assert_string_equal(queue_get(), "foo");
        queue_done("foo");
    }
    queue_add("foo"); /* does not forget */
    assert_int_equal(workqueue_num_requeues(queue, STR("foo")), 4);
    queue_get();
    assert_int_equal(status_of_queue().failing, 1);
    workqueue_forget(queue, STR("foo"));
    workqueue_forget(queue, STR("bar"));
    assert_int_equal(workqueue_num_requeues(queue, STR("foo")), 0);
    assert_int_equal(status_of_queue().failing, 0);
    queue_add_rate_limited("foo");
    queue_done("foo");
    virtual_clock_advance(&queue_clock, 5);
    assert_string_equal(queue_get(), "foo");
}

static void test_a_key_that_fails_too_often_is_given_up(void **state)
{
    queue_add("foo");
    for (int i = 0; i < 3; i++) {
        assert_string_equal(queue_get(), "foo");
        assert_true(workqueue_retry(queue, STR("foo"), 3, 0));
        queue_done("foo");
        virtual_clock_advance(&queue_clock, 1000);
    }
    assert_string_equal(queue_get(), "foo");
    assert_false(workqueue_retry(queue, STR("foo"), 3, 0));
    queue_done("foo");
    virtual_clock_advance(&queue_clock, 1000000);
    assert_string_equal(queue_get(), "-");
    assert_int_equal(status_of_queue().dropped, 1);
    assert_int_equal(status_of_queue().failing, 0);
    assert_int_equal(quota.keys, 0);
}

static void test_w10_a_key_that_failed_comes_not_before_its_delay(void **state)
{
    queue_add("foo");
    assert_string_equal(queue_get(), "foo");
    assert_true(workqueue_retry(queue, STR("foo"), 3, 30000));
    queue_done("foo");
    virtual_clock_advance(&queue_clock, 29999);
    assert_string_equal(queue_get(), "-");
    virtual_clock_advance(&queue_clock, 1);
    assert_string_equal(queue_get(), "foo");
}

static void test_keys_are_bounded_in_number_and_length(void **state)
{
    struct err err;
    char longest[WORKQUEUE_KEY_MAX + 1] = {0};
    quota.max = 2;
    queue_add("foo");
    queue_add_after("bar", 5);
    assert_false(workqueue_add(queue, STR("baz"), &err));
    assert_string_equal(err.text, "over the limit queue-keys (2)");
    assert_false(workqueue_add_after(queue, STR("baz"), 5, &err));
    assert_false(workqueue_add_rate_limited(queue, STR("baz"), &err));
    queue_add("foo"); /* those it knows may come again */
    queue_get();
    queue_done("foo");
    assert_false(workqueue_add(queue, (struct str){longest, sizeof longest}, &err));
    assert_string_equal(err.text, "the key has 4097 bytes, the maximum is 4096");
    assert_true(workqueue_add(queue, (struct str){longest, WORKQUEUE_KEY_MAX}, &err));
}

/* --- series */

static void assert_shown(const char *line)
{
    struct buf page = {0};
    series_render(&page);
    if (!strstr(buf_text(&page), line)) fail_msg("\"%s\" is not in:\n%s", line, buf_text(&page));
    buf_clear(&page);
}

static void test_w11_the_series_of_a_queue(void **state)
{
    queue_add("foo");
    measured_ns = 2000000;
    queue_add("foo");
    assert_shown("workqueue_depth{name=\"unit\",script=\"spec\"} 1\n");
    measured_ns = 5000000;
    queue_get();
    queue_add("foo");
    queue_add_after("bar", 1000);
    assert_shown("workqueue_adds_total{name=\"unit\",script=\"spec\"} 2\n");
    assert_shown("workqueue_retries_total{name=\"unit\",script=\"spec\"} 1\n");
    assert_shown(
        "workqueue_queue_duration_seconds_sum{name=\"unit\",script=\"spec\"} 0.005\n"); /* the first */
    assert_shown("workqueue_queue_duration_seconds_bucket{name=\"unit\",script=\"spec\",le=\"1e-06\"} 0\n");
    assert_shown("workqueue_queue_duration_seconds_bucket{name=\"unit\",script=\"spec\",le=\"1000\"} 1\n");
    measured_ns = 3005000000;
    virtual_clock_advance(&queue_clock, 499);
    assert_shown("workqueue_longest_running_processor_seconds{name=\"unit\",script=\"spec\"} 0\n");
    virtual_clock_advance(&queue_clock, 1);
    assert_shown("workqueue_longest_running_processor_seconds{name=\"unit\",script=\"spec\"} 3\n");
    assert_shown("workqueue_unfinished_work_seconds{name=\"unit\",script=\"spec\"} 3\n");
    queue_done("foo");
    assert_shown("workqueue_work_duration_seconds_sum{name=\"unit\",script=\"spec\"} 3\n");
    virtual_clock_advance(&queue_clock, 500);
    assert_shown("workqueue_unfinished_work_seconds{name=\"unit\",script=\"spec\"} 0\n");
    assert_shown("workqueue_depth{name=\"unit\",script=\"spec\"} 2\n");
    queue_get();
    workqueue_retry(queue, STR("foo"), 0, 0);
    assert_shown("kubelua_queue_dropped_total{name=\"unit\",script=\"spec\"} 1\n");
}

static void test_w11_unfinished_work_is_the_sum_of_all_and_the_longest_one_is_one(void **state)
{
    queue_add("foo");
    queue_add("bar");
    queue_add("baz");
    queue_get();
    measured_ns = 1000000000;
    queue_get();
    measured_ns = 3000000000;
    queue_get();
    measured_ns = 4000000000;
    virtual_clock_advance(&queue_clock, 500);
    assert_shown("workqueue_unfinished_work_seconds{name=\"unit\",script=\"spec\"} 8\n");
    assert_shown("workqueue_longest_running_processor_seconds{name=\"unit\",script=\"spec\"} 4\n");
    queue_done("foo");
    virtual_clock_advance(&queue_clock, 500);
    assert_shown("workqueue_unfinished_work_seconds{name=\"unit\",script=\"spec\"} 4\n");
    assert_shown("workqueue_longest_running_processor_seconds{name=\"unit\",script=\"spec\"} 3\n");
}

static void test_w11_they_go_with_their_queue_and_one_without_a_name_has_none(void **state)
{
    struct buf page = {0};
    workqueue_free(queue);
    queue = workqueue_new(
        &(struct workqueue_options){.clock = &queue_clock.clock, .quota = &quota, .ready = queue_on_ready});
    queue_add("foo");
    queue_get();
    series_render(&page);
    assert_null(strstr(buf_text(&page), "workqueue_"));
    buf_clear(&page);
}

static void test_w9_a_bucket_alone_counts_no_failures(void **state)
{
    workqueue_free(queue);
    queue = workqueue_new(
        &(struct workqueue_options){.clock = &queue_clock.clock,
                                    .quota = &quota,
                                    .ready = queue_on_ready,
                                    .limiter.bucket = {.on = true, .per_second = 10, .burst = 1}});
    queue_add_rate_limited("foo");
    queue_add_rate_limited("bar");
    assert_int_equal(workqueue_num_requeues(queue, STR("foo")), 0);
    assert_int_equal(workqueue_len(queue), 1);
    virtual_clock_advance(&queue_clock, 100);
    assert_int_equal(workqueue_len(queue), 2);
}

static void test_an_observer_sees_failing_keys(void **state)
{
    struct workqueue_failing failing[2];
    char why[400];
    memset(why, 'x', sizeof why);
    memcpy(why + 255, "\xc3\xa9", 2); /* is not cut in two */
    queue_add("a");
    queue_add_rate_limited("b");
    queue_add_rate_limited("c");
    queue_add_rate_limited("d");
    workqueue_set_why(queue, STR("a"), STR("has no failure"));
    workqueue_set_why(queue, STR("b"), STR("first"));
    workqueue_set_why(queue, STR("b"), (struct str){why, sizeof why});
    assert_int_equal(workqueue_get_failing(queue, failing, 2), 2);
    assert_true(str_is(failing[0].key, "b") && failing[0].delayed && !failing[0].processing);
    assert_int_equal(failing[0].failures, 1);
    assert_int_equal(failing[0].next_ms, 5);
    assert_int_equal(strlen(failing[0].why), 255);
    assert_string_equal(failing[1].why, "");
    virtual_clock_advance(&queue_clock, 5);
    assert_string_equal(queue_get(), "a");
    assert_string_equal(queue_get(), "b");
    assert_true(str_is(status_of_queue().longest_key, "a"));
    assert_int_equal(workqueue_get_failing(queue, failing, 1), 1);
    assert_true(failing[0].processing && !failing[0].delayed);
    workqueue_forget(queue, STR("b"));
    assert_int_equal(workqueue_get_failing(queue, failing, 2), 2);
    assert_true(str_is(failing[1].key, "d"));
    workqueue_set_why(queue, STR("d"), STR("is freed with the queue"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, queue_setup, queue_teardown)
        T(test_w7_v25_the_earlier_time_counts),
        T(test_a_key_that_is_postponed_comes_later),
        T(test_w7_v25_each_at_its_time),
        T(test_w7_v25_a_jump_keeps_the_order),
        T(test_w7_no_delay_is_now),
        T(test_w7_a_key_may_be_queued_and_delayed),
        T(test_w10_rate_limited_keys_wait_longer_each_time_until_they_are_forgotten),
        T(test_a_key_that_fails_too_often_is_given_up),
        T(test_w10_a_key_that_failed_comes_not_before_its_delay),
        T(test_keys_are_bounded_in_number_and_length),
        T(test_an_observer_sees_failing_keys),
        T(test_w11_the_series_of_a_queue),
        T(test_w11_unfinished_work_is_the_sum_of_all_and_the_longest_one_is_one),
        T(test_w11_they_go_with_their_queue_and_one_without_a_name_has_none),
        T(test_w9_a_bucket_alone_counts_no_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
