/* core/base/fence.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>

#include "base/fence.h"

static void test_it_closes_by_itself_and_stays_closed(void **state)
{
    struct virtual_clock clock;
    virtual_clock_init(&clock);
    struct fence *fence = fence_new(&clock.clock, 10);
    virtual_clock_advance(&clock, 9);
    assert_true(fence_is_open(fence));
    assert_true(fence_extend(fence, 20));
    virtual_clock_advance(&clock, 10);
    assert_true(fence_is_open(fence));
    virtual_clock_advance(&clock, 1);
    assert_false(fence_is_open(fence));
    assert_false(fence_extend(fence, 100));
    assert_false(fence_is_open(fence));
    fence_unref(fence);
    virtual_clock_clear(&clock);
}

static void test_who_closes_it_is_heard_at_once(void **state)
{
    struct fence *fence = fence_new(NULL, INT64_MAX);
    struct fence *other = fence_ref(fence);
    fence_unref(fence);
    assert_true(fence_is_open(other));
    fence_close(other);
    assert_false(fence_is_open(other));
    assert_false(fence_extend(other, INT64_MAX));
    fence_unref(other);
    fence_unref(NULL);
}

static void test_one_within_two_others_is_open_while_both_are(void **state)
{
    struct fence *a = fence_new(NULL, INT64_MAX), *b = fence_new(NULL, INT64_MAX);
    struct fence *both = fence_new_both(a, b), *other = fence_new_both(b, a);
    assert_true(fence_is_open(both));
    fence_close(b);
    assert_false(fence_is_open(both));
    assert_false(fence_is_open(other));
    assert_true(fence_is_open(a));
    fence_unref(a);
    fence_unref(b);
    fence_unref(both);
    fence_unref(other);
}

static void *look(void *arg)
{
    struct fence *fence = arg;
    bool closed = false, opened_again = false;
    for (int i = 0; i < 2000000 && !closed; i++) closed = !fence_is_open(fence);
    for (int i = 0; i < 1000; i++) opened_again |= fence_is_open(fence);
    fence_unref(fence);
    return opened_again ? arg : NULL;
}

/* Its end comes while it is moved on, millisecond by millisecond. */
static void test_closed_is_closed_for_all_threads(void **state)
{
    for (int round = 0; round < 20; round++) {
        struct fence *fence = fence_new(NULL, clock_now_ms(clock_real()) + 2);
        pthread_t threads[2];
        void *result;
        for (int i = 0; i < 2; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, look, fence_ref(fence)), 0);
        for (int i = 0; i < 20000 && fence_extend(fence, clock_now_ms(clock_real()) + 1); i++) continue;
        fence_close(fence);
        for (int i = 0; i < 2; i++) {
            pthread_join(threads[i], &result);
            assert_null(result);
        }
        fence_unref(fence);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_closes_by_itself_and_stays_closed),
        cmocka_unit_test(test_who_closes_it_is_heard_at_once),
        cmocka_unit_test(test_one_within_two_others_is_open_while_both_are),
        cmocka_unit_test(test_closed_is_closed_for_all_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
