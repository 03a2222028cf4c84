/* core/base/time/cron.c: schedules against a clock on the wall that is set, and that sleeps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/time/cron.h"

enum { HOUR_MS = 3600 * 1000, DAY_MS = 24 * HOUR_MS };
static const int64_t start_us = INT64_C(1767225600) * 1000000; /* 2026-01-01T00:00:00Z, a Thursday */

static int64_t now_ms, set_ms;
static struct cron_schedule plan;

static int64_t wall_us(void)
{
    return start_us + (now_ms + set_ms) * 1000;
}

static void begin(const char *schedule, int64_t late_s)
{
    struct err err;
    now_ms = set_ms = 0;
    zone_unref(plan.zone);
    plan = (struct cron_schedule){.late_s = late_s, .zone = zone_named(STR("UTC"), &err)};
    assert_true(cron_parse(str_of(schedule), &plan.cron, &err));
    cron_schedule_init(&plan, wall_us(), now_ms);
}

static int teardown(void **state)
{
    zone_unref(plan.zone);
    plan.zone = NULL;
    return 0;
}

/* Asks as often as it wants to be asked; gives the number of runs. */
static int run_for(int64_t ms)
{
    int runs = 0;
    for (int64_t end = now_ms + ms; now_ms < end;) {
        int64_t delay = cron_schedule_delay_ms(&plan);
        assert_in_range(delay, 0, CRON_CHECK_MS);
        now_ms = now_ms + delay < end ? now_ms + delay : end;
        runs += cron_schedule_due(&plan, wall_us(), now_ms);
    }
    return runs;
}

/* The machine sleeps: nobody asks. */
static bool sleep_for(int64_t ms)
{
    now_ms += ms;
    return cron_schedule_due(&plan, wall_us(), now_ms);
}

static void test_a_run_is_due_at_its_minute_and_once(void **state)
{
    begin("0 3 * * *", INT64_MAX);
    assert_int_equal(run_for(3 * HOUR_MS - 1), 0);
    assert_int_equal(run_for(1), 1);
    assert_int_equal(now_ms, 3 * HOUR_MS);
    assert_int_equal(run_for(10 * DAY_MS), 10);
}

static void test_what_was_slept_through_comes_once(void **state)
{
    begin("*/5 * * * *", INT64_MAX);
    assert_int_equal(run_for(HOUR_MS), 12);
    assert_true(sleep_for(3 * DAY_MS + 120000));
    assert_false(sleep_for(0));
    assert_int_equal(run_for(180000), 1); /* the next one at its own time */
}

static void test_what_is_too_late_does_not_come(void **state)
{
    begin("0 3 * * *", 3600);
    assert_false(sleep_for(4 * HOUR_MS + 1000));
    assert_true(sleep_for(DAY_MS - 1000)); /* just in time on the second day */
    assert_false(sleep_for(DAY_MS + 2000));
    assert_int_equal(run_for(23 * HOUR_MS), 1);
    begin("* * * * *", 60);
    assert_true(sleep_for(5 * HOUR_MS)); /* one of the missed is of this minute */
    begin("0 * * * *", 60);
    assert_false(sleep_for(5 * HOUR_MS + 61000));
}

static void test_a_clock_put_forward_is_seen(void **state)
{
    begin("0 3 * * *", INT64_MAX);
    run_for(60000);
    set_ms += 3 * HOUR_MS;
    assert_int_equal(run_for(CRON_CHECK_MS), 1);
    assert_int_equal(run_for(20 * HOUR_MS), 0);
    assert_int_equal(run_for(4 * HOUR_MS), 1);
}

static void test_a_clock_put_back_a_little_runs_nothing_twice(void **state)
{
    begin("0 * * * *", INT64_MAX);
    assert_int_equal(run_for(2 * HOUR_MS + 600000), 2);
    set_ms -= HOUR_MS;
    assert_int_equal(run_for(HOUR_MS + 2999999), 0);
    assert_int_equal(run_for(2), 1);
}

static void test_a_clock_put_back_a_lot_was_wrong_before(void **state)
{
    begin("0 * * * *", INT64_MAX);
    set_ms += 400 * (int64_t)DAY_MS;
    assert_int_equal(run_for(HOUR_MS + 1), 2); /* what it passed over, and the next */
    set_ms -= 400 * (int64_t)DAY_MS;
    assert_int_equal(run_for(5 * HOUR_MS), 5);
}

/* Time asleep is on both clocks. */
static void test_sleep_is_not_taken_for_a_clock_that_was_set(void **state)
{
    begin("0 3 * * *", INT64_MAX);
    assert_false(sleep_for(2 * HOUR_MS));
    set_ms -= 2 * HOUR_MS; /* and put back while it slept: 3:00 is 2 hours later */
    assert_false(sleep_for(2 * HOUR_MS));
    assert_int_equal(run_for(HOUR_MS - 1), 0);
    assert_int_equal(run_for(1), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_teardown(name, teardown)
        T(test_a_run_is_due_at_its_minute_and_once),
        T(test_what_was_slept_through_comes_once),
        T(test_what_is_too_late_does_not_come),
        T(test_a_clock_put_forward_is_seen),
        T(test_a_clock_put_back_a_little_runs_nothing_twice),
        T(test_a_clock_put_back_a_lot_was_wrong_before),
        T(test_sleep_is_not_taken_for_a_clock_that_was_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
