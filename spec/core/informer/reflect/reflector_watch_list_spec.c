/* core/informer/reflect/reflector_watch_list.c and collection.c: the list that is a stream, and every other
 * end of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/informer/support/objects.h"
#include "core/informer/support/reflector_fixture.h"

/* --- the way it should be */

static void test_r30_r31_the_first_request_is_a_watch_list_of_the_newest(void **state)
{
    assert_in_range(source.timeout_seconds, 300, 599);
    assert_state(REFLECTOR_WATCH_LISTING);
    assert_string_equal(status_now().resource_version, "");
}

/* Decision table, "watch-list stream | end bookmark" */
static void test_r32_r33_the_end_mark_is_one_replace_and_the_same_stream_goes_on(void **state)
{
    source_open(&source);
    source_event(&source, LW_ADDED, "b@9");
    source_event(&source, LW_ADDED, "a@3");
    advance(250);
    assert_queued("");
    assert_string_equal(status_now().resource_version, "");
    source_end_mark(&source, "12");
    assert_queued("All(12: b@9 a@3)"); /* in the order of the stream */
    assert_state(REFLECTOR_WATCHING);
    assert_asked("");
    assert_string_equal(status_now().resource_version, "12");
    source_event(&source, LW_MODIFIED, "a@13");
    source_bookmark(&source, "20");
    assert_queued("~ a@13; = 20");
    assert_int_equal(status_now().synced_by, REFLECTOR_SYNC_WATCH_LIST);
    assert_string_equal(status_now().sync_text, "watch-list");
    assert_int_equal(status_now().pages, 0);
    struct reflector_counters c = status_now().counters;
    assert_int_equal(c.watch_lists, 1);
    assert_int_equal(c.watch_lists_done, 1);
    assert_int_equal(c.lists, 0);
    assert_int_equal(c.lists_done, 1);
    assert_int_equal(c.listed_items, 2);
    assert_int_equal(c.list_ms, 250);
    assert_int_equal(c.watched_objects, 1);
}

static void test_b7_the_status_reports_the_progress(void **state)
{
    for (int i = 0; i < 300; i++) {
        char object[32];
        snprintf(object, sizeof object, "x%d@1", i);
        source_event(&source, LW_ADDED, object);
    }
    assert_int_equal(status_now().received, 256);
    source_end_mark(&source, "12");
    assert_int_equal(status_now().received, 0);
}

static void test_r32_changes_inside_the_initial_events_are_applied(void **state)
{
    source_event(&source, LW_ADDED, "a@3");
    source_event(&source, LW_ADDED, "b@4");
    source_event(&source, LW_ADDED, "c@5");
    source_event(&source, LW_MODIFIED, "a@6");
    source_event(&source, LW_DELETED, "b@7");
    source_event(&source, LW_MODIFIED, "d@8");
    source_event(&source, LW_DELETED, "x@9");
    source_event(&source, LW_DELETED, "c@10");
    source_event(&source, LW_ADDED, "c@11#other");
    source_bookmark(&source, "11"); /* not the end */
    assert_queued("");
    source_end_mark(&source, "12");
    assert_queued("All(12: a@6 d@8 c@11)");
}

static void test_r34_many_objects_keep_the_order_of_the_stream(void **state)
{
    char text[32];
    struct delta *batch;
    for (int round = 0; round < 2; round++) /* each comes twice: the second state counts */
        for (int i = 0; i < 3000; i++) {
            snprintf(text, sizeof text, "k%d@%d", i * 7919 % 3000, round + 1);
            source_event(&source, LW_ADDED, text);
        }
    for (int i = 0; i < 3000; i += 2) {
        snprintf(text, sizeof text, "k%d@9", i * 7919 % 3000);
        source_event(&source, LW_DELETED, text);
    }
    source_end_mark(&source, "10");
    assert_int_equal(delta_fifo_take(fifo, 10, &batch), 1);
    assert_int_equal(batch[0].count, 1500);
    for (int i = 0; i < 1500; i++) {
        struct buf out = {0};
        object_describe(batch[0].objects[i], &out);
        snprintf(text, sizeof text, "k%d@2", (2 * i + 1) * 7919 % 3000);
        assert_string_equal(buf_text(&out), text);
        buf_clear(&out);
    }
    delta_fifo_release(fifo, batch, 1);
}

static void test_r31_a_later_cycle_begins_at_the_last_version(void **state)
{
    source_event(&source, LW_ADDED, "a@3");
    source_end_mark(&source, "12");
    source_event(&source, LW_ADDED, "b@13");
    source_fail_http(&source, 410, "Expired");
    assert_asked_after(800, "watch bookmarks initial rv=13 match=NotOlderThan");
    source_event(&source, LW_ADDED, "b@13");
    source_end_mark(&source, "14");
    assert_queued("All(12: a@3); + b@13; All(14: b@13)");
    assert_int_equal(status_now().counters.relists, 1);
}

static void test_r6_the_stream_that_began_as_a_watch_list_is_resumed_as_a_watch(void **state)
{
    source_end_mark(&source, "12");
    assert_queued("All(12:)");
    source_end(&source);
    assert_asked("watch bookmarks rv=12");
    assert_cause(ERR_NONE);
}

static void test_r3_health_counts_from_the_end_mark(void **state)
{
    source_fail_http(&source, 429, "TooManyRequests");
    assert_asked_after(800, reflector_watch_list_request);
    source_end_mark(&source, "12");
    advance(120000);
    source_bookmark(&source, "13");
    source_fail(&source, ERR_PARSE);
    assert_asked_after(800, "watch bookmarks initial rv=13 match=NotOlderThan");
}

/* --- decision table: watch-list open and stream */

/* Decision table, "watch-list open | 429, connection refused" */
static void test_r36_429_and_a_refused_connection_wait_and_try_it_again(void **state)
{
    source_fail_http(&source, 429, "TooManyRequests");
    assert_cause(ERR_HTTP);
    assert_asked_after(800, reflector_watch_list_request);
    source_fail_refused(&source);
    assert_cause(ERR_CONNECT);
    assert_asked_after(1600, reflector_watch_list_request);
    source_event(&source, LW_ADDED, "a@3");
    source_fail_http(&source, 429, ""); /* on the stream */
    assert_asked_after(3200, reflector_watch_list_request);
    source_end_mark(&source, "4");
    assert_queued("All(4:)");
    assert_int_equal(status_now().no_watch_list_until_us, 0);
}

/* Decision table, "watch-list open or stream | Expired, too large RV" */
static void test_r36_expired_and_too_large_are_tried_again_at_once_with_the_newest(void **state)
{
    source_end_mark(&source, "12");
    source_fail(&source, ERR_PARSE);
    assert_asked_after(800, "watch bookmarks initial rv=12 match=NotOlderThan");
    source_event(&source, LW_ADDED, "old@1");
    source_fail_http(&source, 410, "Expired");
    assert_asked(reflector_watch_list_request);
    source_event(&source, LW_ADDED, "a@30");
    source_end_mark(&source, "31");
    assert_queued("All(12:); All(31: a@30)");
    source_fail(&source, ERR_PARSE);
    assert_asked_after(1600, "watch bookmarks initial rv=31 match=NotOlderThan");
    source_fail_too_large(&source);
    assert_asked(reflector_watch_list_request); /* at once, whatever Retry-After says */
}

static void test_b1_expired_without_a_version_is_not_tried_for_ever(void **state)
{
    source_fail_http(&source, 410, "Expired");
    assert_asked(reflector_watch_list_request);
    source_fail_http(&source, 410, "Expired");
    assert_asked("list limit=500");
}

/* Decision table, "watch-list open or stream | any other error, very short stream" */
static void test_r36_any_other_error_is_a_plain_list_in_this_cycle_and_is_not_remembered(void **state)
{
    source_event(&source, LW_ADDED, "old@1");
    source_fail_http(&source, 403, "Forbidden");
    assert_asked("list limit=500 rv=0");
    assert_cause(ERR_HTTP);
    assert_string_equal(status_now().last_error.text, "failed to watch-list pods: scripted 403 Forbidden");
    assert_state(REFLECTOR_LISTING);
    source_list(&source, "a@2", "5");
    assert_queued("All(5: a@2)");
    assert_asked("watch bookmarks rv=5");
    assert_cause(ERR_NONE);
    assert_int_equal(status_now().synced_by, REFLECTOR_SYNC_FALLBACK);
    assert_string_equal(status_now().sync_text, "list in 1 page; watch-list: scripted 403 Forbidden");
    assert_int_equal(status_now().no_watch_list_until_us, 0);
    source_fail(&source, ERR_PARSE);
    assert_asked_after(800, "watch bookmarks initial rv=5 match=NotOlderThan");
}

static void test_r36_when_the_list_fails_too_the_next_cycle_begins_with_a_watch_list(void **state)
{
    source_fail_http(&source, 400, "field label unknown"); /* the selector's fault, not the server's */
    assert_asked("list limit=500 rv=0");
    source_fail(&source, ERR_TLS);
    assert_asked_after(800, reflector_watch_list_request);
}

static void test_r36_a_very_short_stream_is_a_plain_list_and_is_not_remembered(void **state)
{
    source_open(&source);
    advance(999);
    source_end(&source);
    assert_asked("list limit=500 rv=0");
    assert_int_equal(status_now().no_watch_list_until_us, 0);
}

/* --- refused objects */

static void take_replace(struct delta **batch)
{
    assert_int_equal(delta_fifo_take(fifo, 10, batch), 1);
    assert_int_equal((*batch)->type, DELTA_REPLACED_ALL);
}

static void test_a_refused_initial_object_keeps_its_cached_state(void **state)
{
    struct delta *batch;
    source_event(&source, LW_ADDED, "a@3");
    source_refuse_key(&source, "big", false);
    source_refuse_key(&source, "gone", false);
    source_refuse_key(&source, "gone", true);
    source_refuse_key(&source, "a", true);
    source_end_mark(&source, "12");
    take_replace(&batch);
    assert_int_equal(batch[0].count, 0);
    assert_int_equal(batch[0].refused->keys.len, sizeof "\0big");
    assert_memory_equal(batch[0].refused->keys.data, "\0big", sizeof "\0big");
    delta_fifo_release(fifo, batch, 1);
    assert_int_equal(status_now().counters.refused, 4);
}

/* It may be older than what the cache has. */
static void test_a_refused_change_takes_back_what_the_stream_brought_before(void **state)
{
    struct delta *batch;
    source_event(&source, LW_ADDED, "a@3");
    source_refuse_key(&source, "a", false);
    source_refuse(&source, "an object without a name");
    source_end_mark(&source, "12");
    take_replace(&batch);
    assert_int_equal(batch[0].count, 0);
    assert_int_equal(batch[0].refused->keys.len, sizeof "\0a");
    delta_fifo_release(fifo, batch, 1);
}

static void test_a_refused_event_of_who_knows_what_is_found_by_a_list(void **state)
{
    source_event(&source, LW_ADDED, "a@3");
    source_refuse_key(&source, NULL, true);
    assert_asked("list limit=500 rv=0");
    assert_cause(ERR_LIMIT);
    assert_int_equal(status_now().no_watch_list_until_us, 0);
}

/* --- stopping */

static void test_stopping_in_the_middle_releases_everything(void **state)
{
    source_event(&source, LW_ADDED, "a@3");
    source_refuse_key(&source, "big", false);
    reflector_free(reflector);
    reflector = NULL;
    assert_queued("");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, reflector_open_watch_listing, reflector_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_r30_r31_the_first_request_is_a_watch_list_of_the_newest),
        TEST(test_r32_r33_the_end_mark_is_one_replace_and_the_same_stream_goes_on),
        TEST(test_b7_the_status_reports_the_progress),
        TEST(test_r32_changes_inside_the_initial_events_are_applied),
        TEST(test_r34_many_objects_keep_the_order_of_the_stream),
        TEST(test_r31_a_later_cycle_begins_at_the_last_version),
        TEST(test_r6_the_stream_that_began_as_a_watch_list_is_resumed_as_a_watch),
        TEST(test_r3_health_counts_from_the_end_mark),
        TEST(test_r36_429_and_a_refused_connection_wait_and_try_it_again),
        TEST(test_r36_expired_and_too_large_are_tried_again_at_once_with_the_newest),
        TEST(test_b1_expired_without_a_version_is_not_tried_for_ever),
        TEST(test_r36_any_other_error_is_a_plain_list_in_this_cycle_and_is_not_remembered),
        TEST(test_r36_when_the_list_fails_too_the_next_cycle_begins_with_a_watch_list),
        TEST(test_r36_a_very_short_stream_is_a_plain_list_and_is_not_remembered),
        TEST(test_a_refused_initial_object_keeps_its_cached_state),
        TEST(test_a_refused_change_takes_back_what_the_stream_brought_before),
        TEST(test_a_refused_event_of_who_knows_what_is_found_by_a_list),
        TEST(test_stopping_in_the_middle_releases_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
