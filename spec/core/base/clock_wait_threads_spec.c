/* core/base/clock.c: a wait ends with its time, or when the condition is signalled. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool is_set;

static void test_a_wait_ends_with_its_time_and_not_before(void **state)
{
    enum { MS = 1010 }; /* over a second, as of both parts of a timespec */
    int64_t begin_ms = clock_now_ms(clock_real());
    const struct timespec end = clock_wait_end(MS);
    pthread_mutex_lock(&lock);
    while (clock_wait_until(&changed, &lock, &end))
        ;
    assert_false(clock_wait_until(&changed, &lock, &end));
    assert_false(clock_wait(&changed, &lock, 0));
    pthread_mutex_unlock(&lock);
    assert_true(clock_now_ms(clock_real()) - begin_ms >= MS - 1);
}

static void *set(void *ctx)
{
    pthread_mutex_lock(&lock);
    is_set = true;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void test_a_signal_ends_a_wait(void **state)
{
    enum { LONG_MS = 600000 };
    pthread_t thread;
    bool is_in_time = true;
    pthread_mutex_lock(&lock);
    assert_int_equal(pthread_create(&thread, NULL, set, NULL), 0);
    while (!is_set && is_in_time) is_in_time = clock_wait(&changed, &lock, LONG_MS);
    pthread_mutex_unlock(&lock);
    assert_true(is_set && is_in_time);
    pthread_join(thread, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_wait_ends_with_its_time_and_not_before),
        cmocka_unit_test(test_a_signal_ends_a_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
