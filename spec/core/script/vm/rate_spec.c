/* core/script/vm/throttle.c: a count that slides over a period. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "script/vm/throttle.h"

enum { MINUTE = 60000, START = 1000000 };

static void test_there_are_no_more_than_that_within_any_period(void **state)
{
    struct rate rate = {0};
    int64_t taken[4000], wait_ms;
    int count = 0;
    for (int64_t now = START; now < START + 5 * MINUTE; now += 130) {
        if (!rate_take(&rate, now, MINUTE, 60, &wait_ms)) continue;
        taken[count++] = now;
        if (count > 60) assert_true(now - taken[count - 61] > MINUTE - MINUTE / RATE_SLOTS);
    }
    assert_true(count >= 4 * 60 && count <= 6 * 60);
}

static void test_a_refused_caller_is_notified_when_there_is_room(void **state)
{
    struct rate rate = {0};
    int64_t wait_ms;
    for (int i = 0; i < 10; i++) assert_true(rate_take(&rate, START + i * 1000, MINUTE, 10, &wait_ms));
    assert_false(rate_take(&rate, START + 20000, MINUTE, 10, &wait_ms));
    assert_in_range(wait_ms, 38000, 40000);
    assert_false(rate_take(&rate, START + 20000 + wait_ms - 1, MINUTE, 10, &wait_ms));
    assert_true(rate_take(&rate, START + 60000, MINUTE, 10, &wait_ms));
}

static void test_a_long_pause_forgets_all(void **state)
{
    struct rate rate = {0};
    int64_t wait_ms;
    for (int i = 0; i < 10; i++) assert_true(rate_take(&rate, START, 1000, 10, &wait_ms));
    assert_false(rate_take(&rate, START + 500, 1000, 10, &wait_ms));
    for (int i = 0; i < 10; i++) assert_true(rate_take(&rate, START + 3600000, 1000, 10, &wait_ms));
    assert_int_equal(rate.total, 10);
}

static void test_none_are_none(void **state)
{
    struct rate rate = {0};
    int64_t wait_ms = 0;
    assert_false(rate_take(&rate, START, MINUTE, 0, &wait_ms));
    assert_true(wait_ms > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_are_no_more_than_that_within_any_period),
        cmocka_unit_test(test_a_refused_caller_is_notified_when_there_is_room),
        cmocka_unit_test(test_a_long_pause_forgets_all),
        cmocka_unit_test(test_none_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
