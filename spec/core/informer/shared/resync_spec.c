/* Resync periods of handlers (Q-10, I-15..I-17): core/informer/shared/registration.c, handler_list.c,
 * shared_informer.c. The spec is the clock of the producer and gives the ticks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/informer/support/informer_fixture.h"
#include "core/informer/support/objects.h"

static struct virtual_clock now;
static struct history told[2];

static int open(void **state)
{
    informer_open(state);
    virtual_clock_init(&now);
    shared_informer_set_clock(informer, &now.clock);
    return 0;
}

static int close(void **state)
{
    virtual_clock_clear(&now);
    for (int i = 0; i < 2; i++) history_clear(&told[i]);
    memset(told, 0, sizeof told);
    return informer_close(state);
}

static struct registration *every(int64_t period_ms, struct history *h)
{
    struct handler_options *options = handler_options_new();
    handler_options_set_resync(options, period_ms);
    return add_history_with(h, options);
}

static int64_t check_ms(void)
{
    return delta_fifo_resync_ms(shared_informer_fifo(informer));
}

/* Time goes on by `ms`; then the resync that the producer has for this instant is processed. */
static void tick(int64_t ms)
{
    virtual_clock_advance(&now, ms);
    delta_fifo_resync(shared_informer_fifo(informer), clock_now_ms(&now.clock));
    process();
}

static void assert_told(int i, const char *expected)
{
    process();
    assert_string_equal(history_take(&told[i]), expected);
}

static void test_i17_a_resync_updates_every_object_with_itself(void **state)
{
    start_with("a@1 b@2", "2");
    every(1000, &told[0]);
    assert_told(0, "add+ a@1; add+ b@2");
    tick(1000);
    assert_told(0, "update~ a@1 a@1; update~ b@2 b@2");
    assert_history("");
}

static void test_q10_v2_a_resync_comes_behind_what_was_queued(void **state)
{
    start_with("foo@5 a@1", "5");
    every(1000, &told[0]);
    assert_told(0, "add+ foo@5; add+ a@1");
    delta(DELTA_UPDATED, "foo@6");
    tick(1000);
    assert_told(0, "update foo@5 foo@6; update~ foo@6 foo@6; update~ a@1 a@1");
    delta(DELTA_DELETED, "foo@10");
    tick(1000);
    assert_told(0, "delete foo@10; update~ a@1 a@1");
}

static void test_i15_without_a_period_there_is_none(void **state)
{
    start_with("a@1", "1");
    assert_int_equal(check_ms(), 0);
    every(0, &told[0]);
    assert_int_equal(check_ms(), 0);
    tick(100000);
    assert_told(0, "add+ a@1");
    assert_history("");
}

static void test_i15_less_than_a_second_is_a_second(void **state)
{
    every(10, &told[0]);
    assert_int_equal(check_ms(), 1000);
}

static void test_i15_the_shortest_period_is_the_one_to_check_at(void **state)
{
    struct registration *a = every(30000, &told[0]);
    assert_int_equal(check_ms(), 30000);
    struct registration *b = every(10000, &told[1]);
    assert_int_equal(check_ms(), 10000);
    every(20000, &told[1]);
    assert_int_equal(check_ms(), 10000);
    shared_informer_remove_handler(informer, b);
    assert_int_equal(check_ms(), 20000);
    shared_informer_remove_handler(informer, a);
    assert_int_equal(check_ms(), 20000);
}

static void test_i16_a_handler_is_due_at_the_first_tick_after_its_period(void **state)
{
    replace("a@1", "1");
    process();
    every(2000, &told[0]);
    every(3000, &told[1]);
    assert_told(0, "add+ a@1");
    assert_told(1, "add+ a@1");
    tick(2000); /* 2 s */
    assert_told(0, "update~ a@1 a@1");
    assert_told(1, "");
    tick(2000); /* 4 s: the other is late by one, and counts from here */
    assert_told(0, "update~ a@1 a@1");
    assert_told(1, "update~ a@1 a@1");
    tick(2000); /* 6 s */
    assert_told(0, "update~ a@1 a@1");
    assert_told(1, "");
    tick(2000); /* 8 s */
    assert_told(0, "update~ a@1 a@1");
    assert_told(1, "update~ a@1 a@1");
}

static void test_a_resync_that_is_processed_late_does_not_move_the_next_one(void **state)
{
    replace("a@1", "1");
    every(2000, &told[0]);
    process();
    history_take(&told[0]);
    virtual_clock_advance(&now, 2000);
    delta_fifo_resync(shared_informer_fifo(informer), 2000);
    virtual_clock_advance(&now, 1500); /* the engine was busy */
    assert_told(0, "update~ a@1 a@1");
    tick(500);
    assert_told(0, "update~ a@1 a@1");
}

static void test_a_resync_is_filtered_and_delivered_whatever_paths_a_handler_cares_for(void **state)
{
    struct handler_options *options = handler_options_new();
    struct err err;
    assert_true(filter_add_namespace(handler_options_filter(options), STR("shop"), &err));
    assert_true(handler_options_add_changed(options, STR("spec"), &err));
    handler_options_set_resync(options, 5000);
    start_with("shop/a@1 other/b@2", "2");
    add_history_with(&told[0], options);
    tick(5000);
    assert_told(0, "add+ shop/a@1; update~ shop/a@1 shop/a@1");
}

static void test_a_resync_is_delivered_in_slices(void **state)
{
    start_with("a@1 b@2 c@3", "3");
    every(1000, &told[0]);
    assert_told(0, "add+ a@1; add+ b@2; add+ c@3");
    virtual_clock_advance(&now, 1000);
    delta_fifo_resync(shared_informer_fifo(informer), 1000);
    delta(DELTA_DELETED, "b@4");
    assert_int_equal(shared_informer_process(informer, 2), 2);
    assert_string_equal(history_take(&told[0]), "update~ a@1 a@1; update~ b@2 b@2");
    assert_told(0, "update~ c@3 c@3; delete b@4");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open, close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_i17_a_resync_updates_every_object_with_itself),
        TEST(test_a_resync_is_delivered_in_slices),
        TEST(test_q10_v2_a_resync_comes_behind_what_was_queued),
        TEST(test_i15_without_a_period_there_is_none),
        TEST(test_i15_less_than_a_second_is_a_second),
        TEST(test_i15_the_shortest_period_is_the_one_to_check_at),
        TEST(test_i16_a_handler_is_due_at_the_first_tick_after_its_period),
        TEST(test_a_resync_that_is_processed_late_does_not_move_the_next_one),
        TEST(test_a_resync_is_filtered_and_delivered_whatever_paths_a_handler_cares_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
