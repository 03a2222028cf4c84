/* core/informer/reflect/reflector_watch.c: events, versions, and what follows each end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/informer/support/objects.h"
#include "core/informer/support/reflector_fixture.h"

/* --- requests and versions */

static void test_r17_a_plain_watch_requests_bookmarks_and_a_timeout(void **state)
{
    source_list(&source, "a@1", "7");
    assert_asked("watch bookmarks rv=7");
    assert_in_range(source.timeout_seconds, 300, 599);
    assert_state(REFLECTOR_WATCHING);
}

static void test_r1_timeouts_are_uniform_in_300_to_599(void **state)
{
    int low = 599, high = 300, buckets[3] = {0};
    start_watching("", "7");
    for (int i = 0; i < 3000; i++) {
        advance(1000);
        source_end(&source);
        if (source.timeout_seconds < low) low = source.timeout_seconds;
        if (source.timeout_seconds > high) high = source.timeout_seconds;
        buckets[(source.timeout_seconds - 300) / 100]++;
    }
    assert_int_equal(low, 300);
    assert_int_equal(high, 599);
    for (int i = 0; i < 3; i++) assert_in_range(buckets[i], 850, 1150);
}

static void test_the_same_seed_gives_the_same_timeouts_and_another_others(void **state)
{
    int timeouts[3];
    for (int i = 0; i < 3; i++) {
        reflector_restart(0, i == 2 ? 99 : 5);
        source_list(&source, "", "7");
        timeouts[i] = source.timeout_seconds;
    }
    assert_int_equal(timeouts[0], timeouts[1]);
    assert_int_not_equal(timeouts[0], timeouts[2]);
}

static void test_r20_events_become_deltas_in_order(void **state)
{
    start_watching("", "7");
    source_event(&source, LW_ADDED, "a@8");
    source_event(&source, LW_MODIFIED, "a@9");
    source_bookmark(&source, "15");
    source_event(&source, LW_DELETED, "a@16");
    assert_queued("+ a@8; ~ a@9; = 15; - a@16");
    assert_int_equal(status_now().counters.watched_objects, 3);
}

static void test_r19_every_accepted_event_moves_the_version(void **state)
{
    start_watching("", "7");
    source_event(&source, LW_ADDED, "a@8");
    assert_string_equal(status_now().resource_version, "8");
    source_event(&source, LW_MODIFIED, "a@9");
    assert_string_equal(status_now().resource_version, "9");
    source_event(&source, LW_DELETED, "a@12");
    assert_string_equal(status_now().resource_version, "12");
    source_bookmark(&source, "20");
    assert_string_equal(status_now().resource_version, "20");
    source_end(&source);
    assert_asked("watch bookmarks rv=20");
}

static void test_r19_a_refused_object_does_not_move_the_version_and_the_watch_goes_on(void **state)
{
    start_watching("", "7");
    source_event(&source, LW_ADDED, "a@8");
    log_take();
    source_refuse(&source, "pod shop/big: too large");
    assert_string_equal(status_now().resource_version, "8");
    assert_int_equal(status_now().counters.refused, 1);
    assert_int_equal(log_lines(), 1);
    source_event(&source, LW_ADDED, "b@10");
    assert_queued("+ a@8; + b@10");
}

static void test_a_refused_delete_is_found_by_a_list(void **state)
{
    start_watching("big@1", "7");
    source_refuse_key(&source, "big", true);
    assert_cause(ERR_LIMIT);
    assert_asked_after(800, "list rv=7");
}

static void test_r19_an_object_without_a_version_leaves_the_version_as_it_is(void **state)
{
    start_watching("", "7");
    source_event(&source, LW_ADDED, "a@8");
    source_event(&source, LW_MODIFIED, "a");
    assert_string_equal(status_now().resource_version, "8");
    assert_queued("+ a@8; ~ a@");
    source_end(&source);
    assert_asked("watch bookmarks rv=8");
}

static void test_versions_are_never_compared(void **state)
{
    start_watching("", "900");
    source_event(&source, LW_MODIFIED, "a@8");
    assert_string_equal(status_now().resource_version, "8");
    source_end(&source);
    assert_asked("watch bookmarks rv=8");
}

static void test_r18_from_version_0_added_events_do_not_move_the_version(void **state)
{
    start_watching("", "0");
    source_event(&source, LW_ADDED, "a@30");
    source_event(&source, LW_ADDED, "b@20");
    assert_string_equal(status_now().resource_version, "0");
    source_end(&source);
    assert_asked("watch bookmarks rv=0");
    source_event(&source, LW_ADDED, "a@30");
    source_event(&source, LW_MODIFIED, "b@40");
    assert_string_equal(status_now().resource_version, "40");
    source_event(&source, LW_ADDED, "c@41");
    assert_string_equal(status_now().resource_version, "41");
    source_end(&source);
    assert_asked("watch bookmarks rv=41");
}

static void test_r18_from_no_version_a_bookmark_moves_it(void **state)
{
    source_asked(&source);
    source_list(&source, "", "");
    assert_asked("watch bookmarks");
    source_event(&source, LW_ADDED, "a@30");
    assert_string_equal(status_now().resource_version, "");
    source_bookmark(&source, "50");
    assert_string_equal(status_now().resource_version, "50");
}

static void test_long_versions_are_kept_complete(void **state)
{
    static const char version[] =
        "7777777777777777777777777777777777777777777777777777777777777777777777777777";
    source_asked(&source);
    source_list(&source, "", version);
    assert_string_equal(source_asked(&source) + strlen("watch bookmarks rv="), version);
    assert_int_equal(strlen(status_now().resource_version), sizeof status_now().resource_version - 1);
}

/* --- decision table: watch stream, clean end */

/* Decision table, "watch stream | clean end, >= 1 event or >= 1 s" */
static void test_r6_a_watch_with_an_event_is_resumed_at_once(void **state)
{
    start_watching("", "7");
    source_event(&source, LW_ADDED, "a@8");
    source_end(&source);
    assert_asked("watch bookmarks rv=8");
    assert_state(REFLECTOR_WATCHING);
    assert_cause(ERR_NONE);
}

static void test_r6_a_bookmark_is_an_event_too(void **state)
{
    start_watching("", "7");
    source_bookmark(&source, "8");
    source_end(&source);
    assert_asked("watch bookmarks rv=8");
}

static void test_r6_a_watch_of_a_second_is_resumed_at_once(void **state)
{
    start_watching("", "7");
    advance(1000);
    source_end(&source);
    assert_asked("watch bookmarks rv=7");
    assert_cause(ERR_NONE);
}

/* Decision table, "watch stream | very short" */
static void test_r7_a_very_short_watch_is_an_error_and_the_next_is_a_list(void **state)
{
    start_watching("", "7");
    advance(999);
    source_end(&source);
    assert_cause(ERR_CLOSED);
    assert_non_null(strstr(status_now().last_error.text, "very short watch"));
    assert_asked_after(800, "list rv=7");
}

static void test_r7_a_refused_object_is_no_event(void **state)
{
    start_watching("", "7");
    source_refuse(&source, "pod a: too large");
    source_end(&source);
    assert_asked_after(800, "list rv=7");
}

static void test_h10_a_stream_that_breaks_off_is_resumed_at_once_and_shows_why(void **state)
{
    start_watching("", "7");
    source_event(&source, LW_ADDED, "a@8");
    log_take();
    source_fail(&source, ERR_CLOSED);
    assert_asked("watch bookmarks rv=8");
    assert_cause(ERR_CLOSED);
    assert_int_equal(log_lines(), 1);
    source_event(&source, LW_ADDED, "b@9");
    assert_cause(ERR_NONE);
    assert_queued("+ a@8; + b@9");
}

static void test_f14_a_watch_that_outlived_its_timeout_is_resumed_at_once(void **state)
{
    start_watching("", "7");
    source_open(&source);
    advance(600000);
    source_fail(&source, ERR_TIMEOUT);
    assert_asked("watch bookmarks rv=7");
    assert_cause(ERR_TIMEOUT);
}

static void test_r22_an_open_that_times_out_is_a_new_cycle(void **state)
{
    start_watching("", "7");
    advance(60000);
    source_fail(&source, ERR_TIMEOUT);
    assert_cause(ERR_TIMEOUT);
    assert_asked_after(800, "list rv=7");
}

static void test_h6_a_connection_that_breaks_before_anything_came_is_a_very_short_watch(void **state)
{
    start_watching("", "7");
    source_fail(&source, ERR_CLOSED);
    assert_asked_after(800, "list rv=7");
}

/* --- decision table: watch open and stream, errors */

/* Decision table, "watch open | 429, connection refused" */
static void test_r22_a_refused_connection_waits_and_watches_again_without_a_list(void **state)
{
    start_watching("a@1", "7");
    source_fail_refused(&source);
    assert_cause(ERR_CONNECT);
    assert_asked_after(800, "watch bookmarks rv=7");
    source_fail_refused(&source);
    assert_asked_after(1600, "watch bookmarks rv=7");
    source_event(&source, LW_ADDED, "b@8");
    assert_cause(ERR_NONE);
    assert_queued("+ b@8");
}

static void test_r22_too_many_requests_at_open_waits_and_watches_again(void **state)
{
    start_watching("a@1", "7");
    source_fail_http(&source, 429, "TooManyRequests");
    assert_asked_after(800, "watch bookmarks rv=7");
}

/* Decision table, "watch stream | ERROR 429" */
static void test_r23_error_429_on_the_stream_waits_and_watches_again(void **state)
{
    start_watching("a@1", "7");
    source_event(&source, LW_ADDED, "b@8");
    source_fail_http(&source, 429, "");
    assert_asked_after(800, "watch bookmarks rv=8");
}

static void test_r22_no_route_to_the_server_is_a_new_cycle(void **state)
{
    start_watching("a@1", "7");
    source_fail(&source, ERR_CONNECT);
    assert_asked_after(800, "list rv=7");
}

/* Decision table, "watch open | other error" */
static void test_r22_410_at_open_is_a_new_cycle_with_the_last_version(void **state)
{
    start_watching("a@1", "7");
    source_fail_http(&source, 410, "Expired");
    assert_cause(ERR_HTTP);
    assert_asked_after(800, "list rv=7");
    source_fail_http(&source, 410, "Expired");
    assert_asked("list");
    source_list(&source, "b@9", "9");
    assert_queued("All(9: b@9)");
    assert_asked("watch bookmarks rv=9");
}

/* Decision table, "watch stream | ERROR Expired, decode error, other error" */
static void test_r5_r23_an_error_event_410_waits_and_lists_with_the_last_version(void **state)
{
    start_watching("a@1", "7");
    source_event(&source, LW_ADDED, "b@8");
    log_take();
    source_fail_http(&source, 410, "Gone");
    assert_int_equal(log_lines(), 1);
    assert_asked_after(800, "list rv=8");
}

static void test_r23_r27_an_internal_error_is_a_new_cycle_as_its_window_is_off(void **state)
{
    start_watching("a@1", "7");
    source_event(&source, LW_ADDED, "b@8");
    source_fail_http(&source, 500, "InternalError");
    assert_asked_after(800, "list rv=8");
}

static void test_r23_a_decode_error_is_a_new_cycle_with_the_last_version(void **state)
{
    start_watching("a@1", "7");
    source_event(&source, LW_MODIFIED, "a@8");
    source_fail(&source, ERR_PARSE);
    assert_cause(ERR_PARSE);
    assert_string_equal(status_now().last_error.text, "failed to watch pods: scripted parse");
    assert_asked_after(800, "list rv=8");
    source_list(&source, "a@8", "8");
    assert_queued("~ a@8; All(8: a@8)");
    assert_cause(ERR_NONE);
}

static void test_forbidden_at_open_is_a_new_cycle(void **state)
{
    start_watching("a@1", "7");
    source_fail_http(&source, 403, "Forbidden");
    assert_asked_after(800, "list rv=7");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, reflector_open, reflector_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_r17_a_plain_watch_requests_bookmarks_and_a_timeout),
        TEST(test_r1_timeouts_are_uniform_in_300_to_599),
        TEST(test_the_same_seed_gives_the_same_timeouts_and_another_others),
        TEST(test_r20_events_become_deltas_in_order),
        TEST(test_r19_every_accepted_event_moves_the_version),
        TEST(test_r19_a_refused_object_does_not_move_the_version_and_the_watch_goes_on),
        TEST(test_a_refused_delete_is_found_by_a_list),
        TEST(test_r19_an_object_without_a_version_leaves_the_version_as_it_is),
        TEST(test_versions_are_never_compared),
        TEST(test_r18_from_version_0_added_events_do_not_move_the_version),
        TEST(test_r18_from_no_version_a_bookmark_moves_it),
        TEST(test_long_versions_are_kept_complete),
        TEST(test_r6_a_watch_with_an_event_is_resumed_at_once),
        TEST(test_r6_a_bookmark_is_an_event_too),
        TEST(test_r6_a_watch_of_a_second_is_resumed_at_once),
        TEST(test_r7_a_very_short_watch_is_an_error_and_the_next_is_a_list),
        TEST(test_r7_a_refused_object_is_no_event),
        TEST(test_h10_a_stream_that_breaks_off_is_resumed_at_once_and_shows_why),
        TEST(test_f14_a_watch_that_outlived_its_timeout_is_resumed_at_once),
        TEST(test_r22_an_open_that_times_out_is_a_new_cycle),
        TEST(test_h6_a_connection_that_breaks_before_anything_came_is_a_very_short_watch),
        TEST(test_r22_a_refused_connection_waits_and_watches_again_without_a_list),
        TEST(test_r22_too_many_requests_at_open_waits_and_watches_again),
        TEST(test_r23_error_429_on_the_stream_waits_and_watches_again),
        TEST(test_r22_no_route_to_the_server_is_a_new_cycle),
        TEST(test_r22_410_at_open_is_a_new_cycle_with_the_last_version),
        TEST(test_r5_r23_an_error_event_410_waits_and_lists_with_the_last_version),
        TEST(test_r23_r27_an_internal_error_is_a_new_cycle_as_its_window_is_off),
        TEST(test_r23_a_decode_error_is_a_new_cycle_with_the_last_version),
        TEST(test_forbidden_at_open_is_a_new_cycle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
