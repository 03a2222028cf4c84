/* core/informer/reflect/reflector.c: delays, causes, log lines and the status. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/informer/support/objects.h"
#include "core/informer/support/reflector_fixture.h"

/* --- delays */

static void fail_list_times(int times)
{
    for (int i = 0; i < times; i++) {
        source_fail(&source, ERR_CONNECT);
        pass_delay();
    }
    source_asked(&source);
}

static void test_r2_r4_delays_grow_over_lists_and_watches_together(void **state)
{
    source_asked(&source);
    source_fail(&source, ERR_CONNECT);
    assert_asked_after(800, "list limit=500 rv=0");
    source_list(&source, "", "7");
    source_asked(&source);
    source_fail_refused(&source);
    assert_asked_after(1600, "watch bookmarks rv=7");
    source_fail(&source, ERR_PARSE);
    assert_asked_after(3200, "list rv=7");
    for (int64_t d = 6400; d <= 25600; d *= 2) {
        source_fail(&source, ERR_CONNECT);
        assert_asked_after(d, "list rv=7");
    }
    for (int i = 0; i < 3; i++) {
        source_fail(&source, ERR_CONNECT);
        assert_asked_after(30000, "list rv=7");
    }
}

static void test_r3_time_alone_does_not_start_delays_over(void **state)
{
    fail_list_times(8); /* more than two minutes of failures */
    assert_true(clock_now_ms(&vclock.clock) > 120000);
    source_fail(&source, ERR_CONNECT);
    assert_asked_after(30000, "list limit=500 rv=0");
}

static void test_r3_a_healthy_watch_of_two_minutes_starts_delays_over(void **state)
{
    fail_list_times(5);
    source_list(&source, "", "7");
    source_asked(&source);
    advance(120000);
    source_bookmark(&source, "9");
    source_fail(&source, ERR_PARSE);
    assert_asked_after(800, "list rv=9");
}

static void test_r3_a_watch_of_less_than_two_minutes_does_not(void **state)
{
    fail_list_times(5);
    source_list(&source, "", "7");
    source_asked(&source);
    advance(119999);
    source_bookmark(&source, "9");
    source_fail(&source, ERR_PARSE);
    assert_asked_after(25600, "list rv=9");
}

static void test_r3_watches_in_a_row_are_healthy_together(void **state)
{
    fail_list_times(5);
    source_list(&source, "", "7");
    for (int i = 0; i < 3; i++) {
        advance(50000);
        source_end(&source);
    }
    source_asked(&source);
    source_fail(&source, ERR_PARSE);
    assert_asked_after(800, "list rv=7");
}

static void test_r3_a_server_that_only_hangs_is_not_healthy(void **state)
{
    fail_list_times(5);
    source_list(&source, "", "7");
    source_asked(&source);
    advance(300000);
    source_fail_http(&source, 500, "InternalError");
    assert_asked_after(25600, "list rv=7");
}

/* --- causes and lines */

static void test_r24_every_end_with_an_error_shows_its_cause_and_logs_one_line(void **state)
{
    static const enum err_code codes[] = {ERR_CONNECT, ERR_TLS,    ERR_PARSE,
                                          ERR_LIMIT,   ERR_CLOSED, ERR_TIMEOUT};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        source_list(&source, "", "7");
        advance(1000);
        log_take();
        source_fail(&source, codes[i]);
        assert_cause(codes[i]);
        assert_int_equal(log_lines(), 1);
        if (status_now().state == REFLECTOR_WATCHING) source_fail(&source, ERR_PARSE);
        pass_delay();
    }
}

/* by its name */
static void test_r25_a_failure_is_a_warning_with_name_and_cause_and_expiry_is_none(void **state)
{
    source_list(&source, "", "7");
    log_take();
    source_fail_refused(&source);
    const char *line = log_take();
    assert_int_equal(line[0], 'W');
    assert_non_null(strstr(line, "reflector=pods"));
    assert_non_null(strstr(line, "Connection refused"));
    assert_non_null(strstr(line, "retryInMs="));
    pass_delay();
    source_fail_http(&source, 410, "Expired");
    assert_int_equal(log_take()[0], 'I');
}

/* B-7 */
static void test_when_a_failure_is_over_one_line_reports_it(void **state)
{
    char line[64];
    source_fail_http(&source, 403, "Forbidden");
    snprintf(line, sizeof line, "I Recovered reflector=pods afterMs=%lld\n", (long long)pass_delay() + 1000);
    log_take();
    source_list(&source, "", "7");
    assert_string_equal(log_take(), ""); /* the watch may still fail */
    source_open(&source);
    advance(999);
    assert_string_equal(log_take(), "");
    advance(1);
    assert_string_equal(log_take(), line);
    advance(1000);
    source_end(&source);
    source_open(&source);
    assert_string_equal(log_take(), "");
}

/* A server answers a watch from a version that it does not have with 200, and an ERROR event in it. */
static void test_a_watch_that_opens_and_fails_is_no_recovery(void **state)
{
    source_fail_http(&source, 403, "Forbidden");
    pass_delay();
    source_list(&source, "", "7");
    log_take();
    source_open(&source);
    source_fail_http(&source, 410, "Expired");
    assert_null(strstr(log_take(), "Recovered"));
    pass_delay();
    source_list(&source, "", "9");
    log_take();
    source_open(&source);
    assert_string_equal(log_take(), "");
    source_event(&source, LW_ADDED, "a@10");
    assert_non_null(strstr(log_take(), "I Recovered reflector=pods"));
}

static void test_r25_a_clean_end_and_a_list_repeated_at_once_log_nothing(void **state)
{
    source_fail_http(&source, 410, "Expired");
    source_list(&source, "", "7");
    advance(2000);
    source_end(&source);
    assert_string_equal(log_take(), "");
}

static void test_an_hour_of_refusals_is_one_line_for_each_try(void **state)
{
    size_t tries = source.started;
    log_take();
    while (clock_now_ms(&vclock.clock) < 3600000) {
        source_fail_refused(&source);
        pass_delay();
    }
    tries = source.started - tries;
    assert_in_range(tries, 60, 140);
    assert_int_equal(log_lines(), tries);
}

static void test_r25_an_interruption_that_repeats_is_logged_now_and_then(void **state)
{
    source_list(&source, "", "7");
    log_take();
    for (int i = 0; i < 60; i++) {
        source_open(&source);
        advance(1000);
        source_fail(&source, ERR_CLOSED);
    }
    assert_in_range(log_lines(), 5, 7);
}

/* --- status */

static void test_r41_the_last_version_is_readable_and_empty_before_the_first_list(void **state)
{
    assert_string_equal(status_now().resource_version, "");
    source_list(&source, "", "7");
    assert_string_equal(status_now().resource_version, "7");
}

static void test_b7_the_status_has_state_since_and_counts(void **state)
{
    int64_t start_us = status_now().since_us;
    advance(500);
    int before = status_changes;
    source_list(&source, "", "7");
    assert_true(status_changes > before);
    assert_int_equal(status_now().since_us, start_us + 500000);
    advance(3000);
    source_end(&source);
    assert_int_equal(status_now().since_us, start_us + 500000); /* still watching */
    assert_int_equal(status_now().counters.lists, 1);
    assert_int_equal(status_now().counters.watches, 2);
    before = status_changes;
    source_event(&source, LW_ADDED, "a@8");
    assert_int_equal(status_changes, before); /* events alone change no status worth telling */
    source_fail(&source, ERR_PARSE);
    assert_true(status_changes > before);
    assert_state(REFLECTOR_BACKING_OFF);
}

static void test_r24_a_reopened_watch_clears_the_cause_before_its_first_event(void **state)
{
    source_list(&source, "", "7");
    source_open(&source);
    advance(2000);
    source_fail(&source, ERR_CLOSED);
    assert_cause(ERR_CLOSED);
    int before = status_changes;
    source_open(&source);
    assert_cause(ERR_NONE);
    assert_true(status_changes > before);
}

static void test_i24_the_status_counts_what_the_metrics_show(void **state)
{
    struct reflector_counters c;
    advance(40);
    source_page(&source, "a@1 b@2", "7", "t");
    advance(60);
    source_page(&source, "c@3", "7", "");
    assert_int_equal(status_now().synced_by, REFLECTOR_SYNC_LIST);
    assert_string_equal(status_now().sync_text, "list in 2 pages");
    assert_int_equal(status_now().pages, 2);
    assert_int_equal(status_now().synced_us, clock_wall_us(&vclock.clock));
    source_event(&source, LW_ADDED, "d@8");
    source_bookmark(&source, "9");
    advance(5000);
    source_end(&source);
    advance(500);
    source_end(&source); /* very short */
    c = status_now().counters;
    assert_int_equal(c.lists, 1);
    assert_int_equal(c.list_pages, 2);
    assert_int_equal(c.lists_done, 1);
    assert_int_equal(c.list_ms, 100);
    assert_int_equal(c.listed_items, 3);
    assert_int_equal(c.watches, 2);
    assert_int_equal(c.short_watches, 1);
    assert_int_equal(c.watches_done, 2);
    assert_int_equal(c.watch_ms, 5500);
    assert_int_equal(c.watched_objects, 1);
    assert_int_equal(c.bookmarks, 1);
    pass_delay();
    assert_int_equal(status_now().counters.relists, 1);
}

static void test_states_and_ways_of_syncing_have_names(void **state)
{
    assert_string_equal(reflector_state_name(REFLECTOR_WATCH_LISTING), "watch-listing");
    assert_string_equal(reflector_state_name(status_now().state), "listing");
    assert_string_equal(reflector_sync_name(status_now().synced_by), "none");
}

/* Decision table, "any | stop" */
static void test_stopping_cancels_the_watch(void **state)
{
    start_watching("a@1", "7");
    reflector_free(reflector);
    assert_int_equal(source.cancelled, 1);
    assert_true(source.freed);
    reflector = NULL;
}

static void test_stopping_ends_a_delay(void **state)
{
    source_fail(&source, ERR_CONNECT);
    reflector_free(reflector);
    size_t started = source.started;
    advance(100000);
    assert_int_equal(source.started, started);
    reflector = NULL;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, reflector_open, reflector_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_r2_r4_delays_grow_over_lists_and_watches_together),
        TEST(test_r3_time_alone_does_not_start_delays_over),
        TEST(test_r3_a_healthy_watch_of_two_minutes_starts_delays_over),
        TEST(test_r3_a_watch_of_less_than_two_minutes_does_not),
        TEST(test_r3_watches_in_a_row_are_healthy_together),
        TEST(test_r3_a_server_that_only_hangs_is_not_healthy),
        TEST(test_r24_every_end_with_an_error_shows_its_cause_and_logs_one_line),
        TEST(test_r25_a_failure_is_a_warning_with_name_and_cause_and_expiry_is_none),
        TEST(test_when_a_failure_is_over_one_line_reports_it),
        TEST(test_a_watch_that_opens_and_fails_is_no_recovery),
        TEST(test_r25_a_clean_end_and_a_list_repeated_at_once_log_nothing),
        TEST(test_an_hour_of_refusals_is_one_line_for_each_try),
        TEST(test_r41_the_last_version_is_readable_and_empty_before_the_first_list),
        TEST(test_b7_the_status_has_state_since_and_counts),
        TEST(test_r24_a_reopened_watch_clears_the_cause_before_its_first_event),
        TEST(test_i24_the_status_counts_what_the_metrics_show),
        TEST(test_states_and_ways_of_syncing_have_names),
        TEST(test_stopping_cancels_the_watch),
        TEST(test_stopping_ends_a_delay),
        TEST(test_r25_an_interruption_that_repeats_is_logged_now_and_then),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
