/* core/base/time/token_bucket.c (H-1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/time/duration.h"
#include "base/time/token_bucket.h"

static void test_h1_a_burst_then_one_after_the_other(void **state)
{
    struct token_bucket bucket;
    int64_t now = 0;
    token_bucket_start(&bucket, 5, 10, now);
    for (int i = 0; i < 10; i++) assert_int_equal(token_bucket_take(&bucket, now), 0);
    assert_int_equal(token_bucket_take(&bucket, now), 200);
    assert_int_equal(token_bucket_take(&bucket, now), 400);
    now += 400;
    assert_int_equal(token_bucket_take(&bucket, now), 200);
    now += 199;
    assert_int_equal(token_bucket_take(&bucket, now), 201);
}

static void test_h1_a_rest_fills_it_up_to_the_burst_and_not_beyond(void **state)
{
    struct token_bucket bucket;
    int64_t now = 0;
    token_bucket_start(&bucket, 0.5, 2, now);
    for (int round = 0; round < 3; round++) {
        assert_int_equal(token_bucket_take(&bucket, now), 0);
        assert_int_equal(token_bucket_take(&bucket, now), 0);
        assert_int_equal(token_bucket_take(&bucket, now), 2000);
        now += 60000;
    }
}

/* Over a long time it is the rate, whatever the rounding of single waits. */
static void test_h1_fractions_add_up(void **state)
{
    struct token_bucket bucket;
    int64_t now = 0;
    token_bucket_start(&bucket, 7, 1, now);
    for (int i = 0; i <= 7000; i++) now += token_bucket_take(&bucket, now);
    assert_in_range(now, 1000000, 1001000);
}

static void test_h1_a_token_that_nobody_waits_for_is_the_next_ones(void **state)
{
    struct token_bucket bucket;
    int64_t now = 0;
    token_bucket_start(&bucket, 1, 1, now);
    token_bucket_take(&bucket, now);
    assert_int_equal(token_bucket_take(&bucket, now), 1000);
    token_bucket_give_back(&bucket, 1000, now);
    assert_int_equal(token_bucket_take(&bucket, now), 1000);
    assert_int_equal(token_bucket_take(&bucket, now), 2000);
    token_bucket_give_back(&bucket, 1000, now); /* not the last: those behind it keep their time */
    assert_int_equal(token_bucket_take(&bucket, now), 3000);
    now += 3000;
    token_bucket_give_back(&bucket, 0, now);
    assert_int_equal(token_bucket_take(&bucket, now), 0);
    assert_int_equal(token_bucket_take(&bucket, now), 1000);
}

static void test_who_does_not_wait_takes_nothing(void **state)
{
    struct token_bucket bucket;
    token_bucket_start(&bucket, 1.0 / 300, 2, 0);
    assert_true(token_bucket_try(&bucket, 0));
    assert_true(token_bucket_try(&bucket, 0));
    for (int i = 0; i < 5; i++) assert_false(token_bucket_try(&bucket, 299999));
    assert_true(token_bucket_try(&bucket, 300000));
    assert_false(token_bucket_try(&bucket, 300000));
}

static void test_a_clock_that_goes_back_takes_nothing_away(void **state)
{
    struct token_bucket bucket;
    token_bucket_start(&bucket, 1, 2, 10000);
    assert_true(token_bucket_try(&bucket, 0));
    assert_true(token_bucket_try(&bucket, 0));
    assert_false(token_bucket_try(&bucket, 500));
    assert_true(token_bucket_try(&bucket, 1000));
}

static void test_a_wait_has_a_bound(void **state)
{
    struct token_bucket bucket;
    token_bucket_start(&bucket, 1e-300, 1, 0);
    assert_int_equal(token_bucket_take(&bucket, 0), 0);
    assert_int_equal(token_bucket_take(&bucket, 0), DURATION_MAX_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_h1_a_burst_then_one_after_the_other),
        cmocka_unit_test(test_h1_a_rest_fills_it_up_to_the_burst_and_not_beyond),
        cmocka_unit_test(test_h1_fractions_add_up),
        cmocka_unit_test(test_h1_a_token_that_nobody_waits_for_is_the_next_ones),
        cmocka_unit_test(test_who_does_not_wait_takes_nothing),
        cmocka_unit_test(test_a_clock_that_goes_back_takes_nothing_away),
        cmocka_unit_test(test_a_wait_has_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
