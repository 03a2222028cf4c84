/* core/base/time/backoff.c: delays between tries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/time/backoff.h"

static void test_r2_each_delay_lies_between_d_and_2d_and_d_doubles_up_to_30_s(void **state)
{
    static const int64_t d[] = {800, 1600, 3200, 6400, 12800, 25600, 30000, 30000, 30000};
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct jitter jitter = {seed};
        struct backoff backoff;
        backoff_reset(&backoff);
        for (size_t i = 0; i < sizeof d / sizeof *d; i++)
            assert_in_range(backoff_next_ms(&backoff, &jitter), d[i], 2 * d[i] - 1);
    }
}

static void test_r2_delays_are_spread_over_the_complete_range(void **state)
{
    int buckets[8] = {0};
    struct jitter jitter = {42};
    for (int i = 0; i < 8000; i++) {
        struct backoff backoff;
        backoff_reset(&backoff);
        buckets[(backoff_next_ms(&backoff, &jitter) - 800) / 100]++;
    }
    for (int i = 0; i < 8; i++) assert_in_range(buckets[i], 850, 1150);
}

static void test_a_reset_starts_over(void **state)
{
    struct jitter jitter = {1};
    struct backoff backoff;
    backoff_reset(&backoff);
    for (int i = 0; i < 5; i++) backoff_next_ms(&backoff, &jitter);
    backoff_reset(&backoff);
    assert_in_range(backoff_next_ms(&backoff, &jitter), 800, 1599);
}

static void test_the_same_seed_gives_the_same_delays(void **state)
{
    struct jitter a = {7}, b = {7};
    struct backoff x, y;
    backoff_reset(&x);
    backoff_reset(&y);
    for (int i = 0; i < 20; i++) assert_int_equal(backoff_next_ms(&x, &a), backoff_next_ms(&y, &b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_r2_each_delay_lies_between_d_and_2d_and_d_doubles_up_to_30_s),
        cmocka_unit_test(test_r2_delays_are_spread_over_the_complete_range),
        cmocka_unit_test(test_a_reset_starts_over),
        cmocka_unit_test(test_the_same_seed_gives_the_same_delays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
