/* core/net/module_thread.c: a thread that a library holds is left, and touches nothing once it returns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>
#include <unistd.h>

#include "base/clock.h"
#include "net/module_thread.h"

/* A library that returns when it is told to. */
struct held {
    struct module_thread thread;
    atomic_int is_inside, returns, has_returned, is_outside, works, went_on;
};

static void call_library(struct held *held)
{
    atomic_store(&held->is_inside, 1);
    while (!atomic_load(&held->returns)) usleep(1000);
    atomic_store(&held->has_returned, 1);
}

static void run(void *ctx)
{
    struct held *held = ctx;
    module_thread_enter(&held->thread);
    call_library(held);
    module_thread_return(&held->thread);
    atomic_store(&held->is_outside, 1);
    while (atomic_load(&held->works)) usleep(1000);
    atomic_store(&held->went_on, 1);
}

static int64_t now_ms(void)
{
    return clock_now_ms(clock_real());
}

static void await(atomic_int *what)
{
    while (!atomic_load(what)) usleep(1000);
}

static void test_one_that_returns_is_joined(void **state)
{
    struct held held = {.returns = 1};
    module_thread_start(&held.thread, run, &held);
    assert_true(module_thread_join(&held.thread, now_ms() + 60000));
    assert_int_equal(atomic_load(&held.went_on), 1);
}

static void test_one_that_is_held_is_left_and_goes_no_further(void **state)
{
    static struct held held;
    module_thread_start(&held.thread, run, &held);
    await(&held.is_inside);
    assert_false(module_thread_has_ended(&held.thread));
    int64_t begin_ms = now_ms();
    assert_false(module_thread_join(&held.thread, begin_ms + 50));
    assert_true(now_ms() - begin_ms >= 50);
    atomic_store(&held.returns, 1);
    await(&held.has_returned);
    usleep(50000);
    assert_int_equal(atomic_load(&held.went_on), 0);
}

static void *end_work(void *ctx)
{
    struct held *held = ctx;
    usleep(100000);
    atomic_store(&held->works, 0);
    return NULL;
}

static void test_one_that_works_outside_of_the_library_is_waited_for(void **state)
{
    struct held held = {.returns = 1, .works = 1};
    pthread_t other;
    module_thread_start(&held.thread, run, &held);
    await(&held.is_outside);
    assert_int_equal(pthread_create(&other, NULL, end_work, &held), 0);
    assert_true(module_thread_join(&held.thread, now_ms()));
    assert_int_equal(atomic_load(&held.went_on), 1);
    pthread_join(other, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_that_returns_is_joined),
        cmocka_unit_test(test_one_that_is_held_is_left_and_goes_no_further),
        cmocka_unit_test(test_one_that_works_outside_of_the_library_is_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
