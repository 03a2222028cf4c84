/* core/base/series.c: series come, count and go on several threads while another one reads them all. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/series.h"

enum { THREADS = 4, ROUNDS = 2000 };

static _Atomic int running = THREADS;

static void *work(void *arg)
{
    const char *own = arg;
    for (int i = 0; i < ROUNDS; i++) {
        struct series *shared = SERIES(FAMILY_HANDLER_DURATION, "all", "h", "OnAdd");
        struct series *alone = SERIES(FAMILY_HANDLER_ERRORS, own, "h");
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
    struct series *kept = SERIES(FAMILY_HANDLER_DURATION, "all", "h", "OnAdd");
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_series_may_be_used_from_every_thread)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
