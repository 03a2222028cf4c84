/* core/kube/rate_limiter.c on a virtual clock (H-1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kube/rate_limiter.h"

static struct virtual_clock v;

static int setup(void **state)
{
    virtual_clock_init(&v);
    return 0;
}

static int teardown(void **state)
{
    virtual_clock_clear(&v);
    return 0;
}

static void test_h1_a_burst_then_one_after_the_other(void **state)
{
    struct rate_limiter *limiter = rate_limiter_new(&v.clock, 5, 10);
    for (int i = 0; i < 10; i++) assert_int_equal(rate_limiter_take(limiter), 0);
    assert_int_equal(rate_limiter_take(limiter), 200);
    assert_int_equal(rate_limiter_take(limiter), 400);
    virtual_clock_advance(&v, 400);
    assert_int_equal(rate_limiter_take(limiter), 200);
    virtual_clock_advance(&v, 199);
    assert_int_equal(rate_limiter_take(limiter), 201);
    rate_limiter_free(limiter);
}

static void test_h1_a_rest_fills_it_up_to_the_burst_and_not_beyond(void **state)
{
    struct rate_limiter *limiter = rate_limiter_new(&v.clock, 0.5, 2);
    for (int round = 0; round < 3; round++) {
        assert_int_equal(rate_limiter_take(limiter), 0);
        assert_int_equal(rate_limiter_take(limiter), 0);
        assert_int_equal(rate_limiter_take(limiter), 2000);
        virtual_clock_advance(&v, 60000);
    }
    rate_limiter_free(limiter);
}

/* Over a long time it is the rate, whatever the rounding of single waits. */
static void test_h1_fractions_add_up(void **state)
{
    struct rate_limiter *limiter = rate_limiter_new(&v.clock, 7, 1);
    int64_t begin = v.now;
    for (int i = 0; i <= 7000; i++) virtual_clock_advance(&v, rate_limiter_take(limiter));
    assert_in_range(v.now - begin, 1000000, 1001000);
    rate_limiter_free(limiter);
}

static void test_h1_a_token_that_nobody_waits_for_is_the_next_ones(void **state)
{
    struct rate_limiter *limiter = rate_limiter_new(&v.clock, 1, 1);
    rate_limiter_take(limiter);
    assert_int_equal(rate_limiter_take(limiter), 1000);
    rate_limiter_give_back(limiter, 1000);
    assert_int_equal(rate_limiter_take(limiter), 1000);
    assert_int_equal(rate_limiter_take(limiter), 2000);
    rate_limiter_give_back(limiter, 1000); /* not the last: those behind it keep their time */
    assert_int_equal(rate_limiter_take(limiter), 3000);
    virtual_clock_advance(&v, 3000);
    rate_limiter_give_back(limiter, 0);
    assert_int_equal(rate_limiter_take(limiter), 0);
    assert_int_equal(rate_limiter_take(limiter), 1000);
    rate_limiter_free(limiter);
}

static void test_h1_off_unless_asked_for(void **state)
{
    assert_int_equal(rate_limiter_take(NULL), 0);
    rate_limiter_give_back(NULL, 0);
    rate_limiter_free(NULL);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_h1_a_burst_then_one_after_the_other),
        T(test_h1_a_rest_fills_it_up_to_the_burst_and_not_beyond),
        T(test_h1_fractions_add_up),
        T(test_h1_a_token_that_nobody_waits_for_is_the_next_ones),
        T(test_h1_off_unless_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
