/* core/informer/reflect/reflector_watch.c and error_window.h: the internal-error window and resyncs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/informer/support/log_double.h"
#include "core/informer/support/objects.h"
#include "core/informer/support/reflector_fixture.h"

/* --- the internal-error window */

static void fail_inside(void)
{
    source_open(&source);
    source_fail_http(&source, 500, "InternalError");
}

/* Decision table, "watch stream | ERROR InternalError, window enabled and open" */
static void test_r27_inside_its_window_an_internal_error_is_tried_again_at_once(void **state)
{
    reflector_restart_with_window(10000);
    start_watching("", "7");
    fail_inside();
    assert_asked("watch bookmarks rv=7");
    assert_cause(ERR_HTTP); /* */
    advance(10000);
    fail_inside(); /* just at its end */
    assert_asked("watch bookmarks rv=7");
    advance(1);
    fail_inside();
    assert_asked_after(800, "list rv=7");
}

static void test_r27_after_a_minute_without_errors_the_window_is_a_new_one(void **state)
{
    reflector_restart_with_window(10000);
    start_watching("", "7");
    for (int i = 0; i < 3; i++) {
        fail_inside();
        assert_asked("watch bookmarks rv=7");
        advance(60000);
    }
}

static void test_r27_the_window_is_for_streams_not_for_opens(void **state)
{
    reflector_restart_with_window(10000);
    start_watching("", "7");
    source_fail_http(&source, 500, "InternalError");
    assert_asked_after(800, "list rv=7");
}

/* --- resyncs */

static void test_r26_resyncs_are_requested_only_while_a_watch_runs(void **state)
{
    delta_fifo_set_resync(fifo, 3000);
    advance(60000); /* the list is still under way */
    start_watching("", "7");
    advance(2999);
    assert_queued("");
    advance(1);
    assert_queued("Sync");
    source_end(&source); /* and begins again at once */
    advance(3000);
    assert_queued("Sync");
    source_fail(&source, ERR_PARSE);
    source_asked(&source);
    pass_delay();
    advance(60000);
    assert_queued("");
}

static void test_r26_a_period_that_comes_later_is_found(void **state)
{
    start_watching("", "7");
    advance(30000);
    assert_queued("");
    delta_fifo_set_resync(fifo, 60000);
    advance(10000);
    assert_queued("Sync");
    advance(60000);
    assert_queued("Sync");
    delta_fifo_set_resync(fifo, 0);
    advance(200000);
    assert_queued("");
}

static void test_i15_a_shorter_period_need_not_wait_for_the_end_of_a_longer_one(void **state)
{
    delta_fifo_set_resync(fifo, 600000);
    start_watching("", "7");
    advance(15000);
    assert_queued("");
    delta_fifo_set_resync(fifo, 2000);
    advance(5000);
    assert_queued("Sync");
    advance(2000);
    assert_queued("Sync");
    delta_fifo_set_resync(fifo, 30000);
    advance(29999);
    assert_queued("");
    advance(1);
    assert_queued("Sync");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, reflector_open, reflector_close)

/* --- the log of a request that was cut */

static void fail_unreachable(void)
{
    struct err err;
    err_set(&err, ERR_CONNECT, "connect to 127.0.0.1:1: Connection refused");
    err.unreachable = true;
    source_fail_with(&source, &err);
}

static void test_a_cut_that_begins_an_outage_is_not_logged_for_itself(void **state)
{
    start_watching("", "7");
    log_take();
    log_set_verbosity(0);
    source_fail(&source, ERR_CLOSED);
    assert_asked_after(800, "list rv=7");
    fail_unreachable();
    advance(2000);
    assert_int_equal(log_lines(), 0);
}

static void test_another_cut_is_logged_after_two_seconds_or_before_what_follows(void **state)
{
    start_watching("", "7");
    log_take();
    source_fail(&source, ERR_CLOSED);
    advance(1999);
    assert_int_equal(log_lines(), 0);
    advance(1);
    assert_int_equal(log_lines(), 1);
    assert_non_null(strstr(log_take(), "List or watch failed, retrying"));
    source_fail_http(&source, 500, "InternalError");
    assert_int_equal(log_lines(), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_i15_a_shorter_period_need_not_wait_for_the_end_of_a_longer_one),
        TEST(test_r27_inside_its_window_an_internal_error_is_tried_again_at_once),
        TEST(test_r27_after_a_minute_without_errors_the_window_is_a_new_one),
        TEST(test_r27_the_window_is_for_streams_not_for_opens),
        TEST(test_r26_resyncs_are_requested_only_while_a_watch_runs),
        TEST(test_r26_a_period_that_comes_later_is_found),
        TEST(test_a_cut_that_begins_an_outage_is_not_logged_for_itself),
        TEST(test_another_cut_is_logged_after_two_seconds_or_before_what_follows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
