/* core/world/world_clock.c: the time of a world, which stands, runs at any speed, and is moved. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "world/world_clock.h"

enum { SECOND_US = 1000000, MINUTE_MS = 60000, PASSING_NS = 2000000 };

static const int64_t begin_us = (int64_t)1767225600 * SECOND_US; /* 2026-01-01T00:00:00Z */

/* Waits until the real clock has moved on, so that a time that does not is one that stands. */
static void let_time_pass(void)
{
    int64_t from = clock_measure_ns();
    while (clock_measure_ns() - from < PASSING_NS) continue;
}

static void test_a_stopped_clock_stands_until_it_is_moved(void **state)
{
    struct world_clock clock;
    world_clock_init(&clock, begin_us, true);
    let_time_pass();
    assert_int_equal(clock_wall_us(&clock.clock), begin_us);
    world_clock_move(&clock, begin_us + SECOND_US);
    let_time_pass();
    assert_int_equal(clock_wall_us(&clock.clock), begin_us + SECOND_US);
    world_clock_clear(&clock);
}

static void test_a_running_clock_goes_on_from_where_it_is_moved_to(void **state)
{
    struct world_clock clock;
    world_clock_init(&clock, begin_us, false);
    let_time_pass();
    assert_true(clock_wall_us(&clock.clock) > begin_us);
    world_clock_move(&clock, begin_us - 3600 * (int64_t)SECOND_US);
    let_time_pass();
    int64_t now = clock_wall_us(&clock.clock);
    assert_true(now > begin_us - 3600 * (int64_t)SECOND_US);
    assert_true(now < begin_us);
    world_clock_clear(&clock);
}

/* A second of the world is a microsecond then; the time while it was stopped does not count. */
static void test_a_clock_that_is_stopped_keeps_its_time_and_goes_on_faster(void **state)
{
    struct world_clock clock;
    world_clock_init(&clock, begin_us, false);
    world_clock_run(&clock, true, 1);
    int64_t stopped = clock_wall_us(&clock.clock);
    let_time_pass();
    assert_int_equal(clock_wall_us(&clock.clock), stopped);
    world_clock_run(&clock, false, 1e6);
    let_time_pass();
    assert_true(clock_wall_us(&clock.clock) - stopped > 1000 * (int64_t)SECOND_US);
    world_clock_run(&clock, true, 1);
    assert_true(clock_wall_us(&clock.clock) - stopped > 1000 * (int64_t)SECOND_US);
    world_clock_clear(&clock);
}

static void test_a_delay_is_real_time_rounded_up_and_never_below_zero(void **state)
{
    struct world_clock clock;
    world_clock_init(&clock, begin_us, true);
    assert_int_equal(world_clock_delay_ms(&clock, begin_us + MINUTE_MS * (int64_t)1000), MINUTE_MS);
    assert_int_equal(world_clock_delay_ms(&clock, begin_us + 1), 1);
    assert_int_equal(world_clock_delay_ms(&clock, begin_us + 1001), 2);
    assert_int_equal(world_clock_delay_ms(&clock, begin_us), 0);
    assert_int_equal(world_clock_delay_ms(&clock, begin_us - SECOND_US), 0);
    world_clock_run(&clock, true, 60);
    assert_int_equal(world_clock_delay_ms(&clock, begin_us + MINUTE_MS * (int64_t)1000), 1000);
    world_clock_run(&clock, true, 0.5);
    assert_int_equal(world_clock_delay_ms(&clock, begin_us + SECOND_US), 2000);
    world_clock_clear(&clock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stopped_clock_stands_until_it_is_moved),
        cmocka_unit_test(test_a_running_clock_goes_on_from_where_it_is_moved_to),
        cmocka_unit_test(test_a_clock_that_is_stopped_keeps_its_time_and_goes_on_faster),
        cmocka_unit_test(test_a_delay_is_real_time_rounded_up_and_never_below_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
