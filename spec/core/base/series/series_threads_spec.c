/* core/base/series/series.c: series come, count and go on several threads while another one reads them all.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/series/series.h"
#include "base/series/user_metric.h"

enum { THREADS = 4, ROUNDS = 2000 };

FAMILY(handler_duration, 1, HISTOGRAM, "kubelua_handler_duration_seconds", "script,handler,event",
       &buckets_of_calls, "Calls.");
FAMILY(handler_errors, 2, COUNTER, "kubelua_handler_errors_total", "script,handler", NULL, "Errors.");

static _Atomic int running = THREADS;

static void *work(void *arg)
{
    const char *own = arg;
    for (int i = 0; i < ROUNDS; i++) {
        struct series *shared = SERIES(&handler_duration, "all", "h", "OnAdd");
        struct series *alone = SERIES(&handler_errors, own, "h");
        series_observe(shared, 0.001 * i);
        series_inc(alone);
        series_free(alone);
        series_free(shared);
    }
    atomic_fetch_sub(&running, 1);
    return NULL;
}

static void test_series_may_be_used_from_every_thread(void **state)
{
    static char names[THREADS][2] = {"a", "b", "c", "d"};
    struct series *kept = SERIES(&handler_duration, "all", "h", "OnAdd");
    pthread_t threads[THREADS];
    struct buf page = {0};
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, work, names[i]), 0);
    while (atomic_load(&running)) {
        page.len = 0;
        series_render(&page);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    page.len = 0;
    series_render(&page);
    assert_non_null(strstr(buf_text(&page), "_count{script=\"all\",handler=\"h\",event=\"OnAdd\"} 8000\n"));
    assert_null(strstr(buf_text(&page), "kubelua_handler_errors_total"));
    buf_clear(&page);
    series_free(kept);
}

static _Atomic bool over;

/* Holds each of the two locks nearly all the time. */
static void *render(void *arg)
{
    struct buf page = {0};
    while (!atomic_load(&over)) {
        page.len = 0;
        series_render(&page);
        user_metrics_render(NULL, &page);
    }
    buf_clear(&page);
    return NULL;
}

/* A lock that stayed with the other thread would hold it up for good. */
static int use_both(void)
{
    struct buf page = {0};
    alarm(20);
    struct series *series = SERIES(&handler_errors, "child", "h");
    series_render(&page);
    user_metrics_render(NULL, &page);
    series_free(series);
    return strstr(buf_text(&page), "script=\"child\"") ? 0 : 1;
}

static void test_a_forked_child_does_not_inherit_a_locked_mutex_of_another_thread(void **state)
{
#ifdef __SANITIZE_THREAD__
    skip(); /* it has locks of its own, which children inherit */
#endif
    pthread_t thread;
    struct series *kept = SERIES(&handler_duration, "all", "h", "OnAdd");
    assert_int_equal(pthread_create(&thread, NULL, render, NULL), 0);
    for (int i = 0; i < 50; i++) {
        int status = -1;
        pid_t pid = fork();
        if (pid == 0) _exit(use_both());
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
    }
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    series_free(kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_series_may_be_used_from_every_thread),
        cmocka_unit_test(test_a_forked_child_does_not_inherit_a_locked_mutex_of_another_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
