/* core/informer/workqueue/rate_limiter.c: delays of work queues (W-8, W-9). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/time/duration.h"
#include "informer/workqueue/rate_limiter.h"

static struct rate_limiter exponential(int64_t base_ms, int64_t max_ms)
{
    return (struct rate_limiter){.exponential = {.on = true, .base_ms = base_ms, .max_ms = max_ms}};
}

static struct rate_limiter fast_slow(int64_t fast_ms, int64_t slow_ms, uint64_t tries)
{
    return (struct rate_limiter){
        .fast_slow = {.on = true, .fast_ms = fast_ms, .slow_ms = slow_ms, .tries = tries}};
}

static struct rate_limiter bucket(double per_second, double burst)
{
    struct rate_limiter limiter = {.bucket = {.on = true, .per_second = per_second, .burst = burst}};
    rate_limiter_start(&limiter, 0);
    return limiter;
}

static int64_t after(struct rate_limiter limiter, uint64_t failures)
{
    return rate_limiter_when_ms(&limiter, failures, 0);
}

static void assert_delays(struct rate_limiter limiter, const int64_t *expected, size_t count)
{
    for (size_t i = 0; i < count; i++) assert_int_equal(after(limiter, i), expected[i]);
}
#define DELAYS(limiter, ...)                               \
    assert_delays(limiter, (const int64_t[]){__VA_ARGS__}, \
                  sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static void test_w9_v26_each_failure_doubles_the_delay(void **state)
{
    DELAYS(exponential(1, 1000), 1, 2, 4, 8, 16);
    assert_true(rate_limiter_counts(&(struct rate_limiter){.exponential.on = true}));
}

static void test_w9_v26_what_overflows_is_the_cap(void **state)
{
    const int64_t minute = 60000, hours = 1000LL * 60 * minute;
    assert_int_equal(after(exponential(1, 1000000), 5), 32);
    assert_int_equal(after(exponential(1, 1000000), 1000), 1000000);
    assert_int_equal(after(exponential(1, 1000000), UINT64_MAX), 1000000);
    assert_int_equal(after(exponential(minute, hours), 2), 4 * minute);
    assert_int_equal(after(exponential(minute, hours), 1000), hours);
    assert_int_equal(after(exponential(0, 1000), 1000), 0);
}

static void test_w9_v26_fast_then_slow(void **state)
{
    DELAYS(fast_slow(5, 10000, 3), 5, 5, 5, 10000, 10000);
}

static void test_w9_v26_the_longest_of_several(void **state)
{
    struct rate_limiter limiter = fast_slow(5, 3000, 3);
    limiter.exponential = exponential(1, 1000).exponential;
    DELAYS(limiter, 5, 5, 5, 3000, 3000);
}

static void test_w9_v26_no_delay_is_longer_than_max_wait(void **state)
{
    struct rate_limiter limiter = fast_slow(5, 1000000, 100);
    limiter.max_wait_ms = 500000;
    for (uint64_t i = 0; i < 100; i++) assert_int_equal(after(limiter, i), 5);
    assert_int_equal(after(limiter, 100), 500000);
}

static void test_w8_a_bucket_gives_its_burst_at_once_then_so_many_a_second(void **state)
{
    struct rate_limiter limiter = bucket(10, 100);
    for (int i = 0; i < 100; i++) assert_int_equal(rate_limiter_when_ms(&limiter, 0, 0), 0);
    for (int i = 1; i <= 50; i++) assert_int_equal(rate_limiter_when_ms(&limiter, 0, 0), 100 * i);
    assert_int_equal(rate_limiter_when_ms(&limiter, 0, 5000), 100); /* those are promised */
    assert_int_equal(rate_limiter_when_ms(&limiter, 0, 5250), 0);
}

static void test_w9_a_bucket_is_never_fuller_than_its_burst_and_rounds_up(void **state)
{
    struct rate_limiter limiter = bucket(3, 2);
    assert_int_equal(rate_limiter_when_ms(&limiter, 0, 1000000), 0);
    assert_int_equal(rate_limiter_when_ms(&limiter, 0, 1000000), 0);
    assert_int_equal(rate_limiter_when_ms(&limiter, 0, 1000000), 334);
    assert_int_equal(rate_limiter_when_ms(&limiter, 0, 1000000), 667);
    assert_int_equal(rate_limiter_when_ms(&limiter, 0, 1000000), 1000);
    assert_false(rate_limiter_counts(&limiter));
}

static void test_w9_a_delay_too_large_for_a_number_is_the_longest_duration(void **state)
{
    const double slow[] = {5e-324, 1e-300, 1e-16, 1e-13};
    for (size_t i = 0; i < 4; i++) {
        struct rate_limiter limiter = bucket(slow[i], 1);
        assert_int_equal(rate_limiter_when_ms(&limiter, 0, 0), 0);
        assert_int_equal(rate_limiter_when_ms(&limiter, 0, 0), DURATION_MAX_MS);
        assert_int_equal(rate_limiter_when_ms(&limiter, 0, 1000), DURATION_MAX_MS);
        limiter.max_wait_ms = 5;
        assert_int_equal(rate_limiter_when_ms(&limiter, 0, 1000), 5);
    }
    struct rate_limiter limiter = bucket(1e-9, 1);
    rate_limiter_when_ms(&limiter, 0, 0);
    assert_int_equal(rate_limiter_when_ms(&limiter, 0, 0), 1000000000000);
}

static void test_w8_the_default_of_controllers(void **state)
{
    struct rate_limiter limiter = bucket(10, 100);
    limiter.exponential = exponential(5, 1000000).exponential;
    DELAYS(limiter, 5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10240, 20480, 40960, 81920, 163840,
           327680, 655360, 1000000, 1000000);
    for (int i = 0; i < 100; i++) assert_int_equal(rate_limiter_when_ms(&limiter, 0, 0), 5);
    assert_int_equal(rate_limiter_when_ms(&limiter, 0, 0), 100);  /* the bucket is empty */
    assert_int_equal(rate_limiter_when_ms(&limiter, 8, 0), 1280); /* it has a token in 200 ms */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_w9_v26_each_failure_doubles_the_delay),
        cmocka_unit_test(test_w9_v26_what_overflows_is_the_cap),
        cmocka_unit_test(test_w9_v26_fast_then_slow),
        cmocka_unit_test(test_w9_v26_the_longest_of_several),
        cmocka_unit_test(test_w9_v26_no_delay_is_longer_than_max_wait),
        cmocka_unit_test(test_w8_a_bucket_gives_its_burst_at_once_then_so_many_a_second),
        cmocka_unit_test(test_w9_a_bucket_is_never_fuller_than_its_burst_and_rounds_up),
        cmocka_unit_test(test_w9_a_delay_too_large_for_a_number_is_the_longest_duration),
        cmocka_unit_test(test_w8_the_default_of_controllers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
