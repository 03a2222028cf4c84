/* core/informer/reflect/reflector_watch_list.c and watch_list_memory.c: servers that never say that the
 * initial events are whole, and what is remembered of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/informer/support/objects.h"
#include "core/informer/support/reflector_fixture.h"

static void test_r38_a_server_that_refuses_the_parameter_is_remembered(void **state)
{
    source_fail_http(&source, 422, "sendInitialEvents is forbidden");
    assert_asked("list limit=500 rv=0");
    assert_true(status_now().no_watch_list_until_us > 0);
}

/* --- B-1: no end mark */

static void expect_no_watch_list_for_an_hour(void)
{
    int64_t now_us = clock_wall_us(&vclock.clock);
    assert_int_equal(status_now().no_watch_list_until_us, now_us + INT64_C(3600000000));
}

/* Decision table, "watch-list stream | closed after >= 1 event or >= 1 s, or deadline passed, no end
 * bookmark" */
static void test_b1_a_stream_that_closes_before_the_end_mark_is_a_list_and_remembered(void **state)
{
    source_event(&source, LW_ADDED, "gone@1");
    source_end(&source);
    assert_asked("list limit=500 rv=0");
    expect_no_watch_list_for_an_hour();
    source_list(&source, "a@2", "5");
    assert_queued("All(5: a@2)");
    assert_string_equal(status_now().sync_text,
                        "list in 1 page; watch-list: the stream ended before the end of the initial events");
}

static void test_b1_so_is_one_that_breaks_after_a_second(void **state)
{
    source_open(&source);
    advance(1000);
    source_fail(&source, ERR_CLOSED);
    assert_asked("list limit=500 rv=0");
    expect_no_watch_list_for_an_hour();
}

static void test_b1_a_silent_connection_ends_at_the_deadline(void **state)
{
    advance(29999);
    assert_asked("");
    advance(1);
    assert_int_equal(source.cancelled, 1);
    assert_asked("list limit=500 rv=0 own"); /* its connection may be dead */
    assert_cause(ERR_TIMEOUT);
    expect_no_watch_list_for_an_hour();
    source_list(&source, "a@2", "5");
    assert_queued("All(5: a@2)");
    assert_string_equal(status_now().sync_text,
                        "list in 1 page; watch-list: initial events did not end within 30 s");
}

static void add_many(int count)
{
    char text[32];
    for (int i = 0; i < count; i++) {
        snprintf(text, sizeof text, "p%d@%d", i, i + 1);
        source_event(&source, LW_ADDED, text);
    }
}

static void test_r37_the_deadline_counts_from_the_last_initial_event(void **state)
{
    for (int i = 0; i < 10; i++) {
        advance(29000);
        add_many(100);
    }
    assert_asked("");
    advance(29999);
    assert_asked("");
    advance(1);
    assert_asked("list limit=500 rv=0 own");
}

/* A server that never heard of watch-lists sends what is there, and then what changes, for ever. */
static void test_r37_the_changes_of_a_busy_cluster_do_not_move_the_deadline(void **state)
{
    add_many(100);
    for (int i = 0; i < 29; i++) {
        advance(1000);
        source_event(&source, LW_MODIFIED, "a@5");
        source_event(&source, LW_DELETED, "a@6");
        source_event(&source, LW_ADDED, "a@7");
        source_bookmark(&source, "8");
    }
    assert_asked("");
    advance(1000);
    assert_asked("list limit=500 rv=0 own");
}

static void test_r37_objects_created_after_the_first_state_do_not_move_it_however_many(void **state)
{
    add_many(100);
    source_event(&source, LW_MODIFIED, "a@5");
    advance(15000);
    add_many(100);
    advance(14999);
    assert_asked("");
    advance(1);
    assert_asked("list limit=500 rv=0 own");
}

static void test_r37_nothing_moves_the_deadline_for_ever(void **state)
{
    for (int i = 0; i < 10; i++) {
        advance(29999);
        add_many(100);
    }
    assert_asked("");
    advance(15000); /* 315 s after the start: too late to move anything */
    add_many(100);
    advance(14999);
    assert_asked("");
    advance(1);
    assert_asked("list limit=500 rv=0 own");
}

static void test_r38_what_one_found_out_all_know_for_an_hour(void **state)
{
    source_event(&source, LW_ADDED, "a@1");
    source_end(&source);
    reflector_restart_watch_listing(WATCH_LIST_AUTO); /* another one of the same resource */
    assert_asked("list limit=500 rv=0");
    expect_no_watch_list_for_an_hour();
    source_list(&source, "a@2", "5");
    assert_int_equal(status_now().synced_by, REFLECTOR_SYNC_FALLBACK);
    assert_string_equal(status_now().sync_text, "list in 1 page; earlier watch-list: the stream ended before "
                                                "the end of the initial events");
    advance(3599000);
    source_fail(&source, ERR_PARSE);
    assert_asked("watch bookmarks rv=5");
    assert_asked_after(800, "watch bookmarks initial rv=5 match=NotOlderThan");
}

static void test_on_always_tries_and_never_remembers(void **state)
{
    source_event(&source, LW_ADDED, "a@1");
    source_end(&source); /* remembered */
    reflector_restart_watch_listing(WATCH_LIST_ON);
    assert_asked(reflector_watch_list_request);
    source_event(&source, LW_ADDED, "a@1");
    source_end(&source);
    assert_asked("list limit=500 rv=0");
    assert_int_equal(status_now().no_watch_list_until_us, 0);
    source_fail(&source, ERR_PARSE);
    assert_asked_after(800, reflector_watch_list_request);
    source_end_mark(&source, "9");
    assert_int_equal(status_now().synced_by, REFLECTOR_SYNC_WATCH_LIST);
}

/* */
static void test_off_never_tries(void **state)
{
    reflector_restart_watch_listing(WATCH_LIST_OFF);
    assert_asked("list limit=500 rv=0");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, reflector_open_watch_listing, reflector_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_r38_a_server_that_refuses_the_parameter_is_remembered),
        TEST(test_b1_a_stream_that_closes_before_the_end_mark_is_a_list_and_remembered),
        TEST(test_b1_so_is_one_that_breaks_after_a_second),
        TEST(test_b1_a_silent_connection_ends_at_the_deadline),
        TEST(test_r37_the_deadline_counts_from_the_last_initial_event),
        TEST(test_r37_the_changes_of_a_busy_cluster_do_not_move_the_deadline),
        TEST(test_r37_objects_created_after_the_first_state_do_not_move_it_however_many),
        TEST(test_r37_nothing_moves_the_deadline_for_ever),
        TEST(test_r38_what_one_found_out_all_know_for_an_hour),
        TEST(test_on_always_tries_and_never_remembers),
        TEST(test_off_never_tries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
