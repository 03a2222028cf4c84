/* core/informer/reflect/reflector_list.c: versions, pages, and what follows a list that fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/informer/support/objects.h"
#include "core/informer/support/reflector_fixture.h"

static void expired(void)
{
    source_fail_http(&source, 410, "Expired");
}

static void test_r8_r9_the_first_list_requests_any_version_in_pages_of_500(void **state)
{
    assert_asked("list limit=500 rv=0");
    assert_state(REFLECTOR_LISTING);
    assert_false(status_now().listed_once);
}

/* Decision table, "list/Replace ok" */
static void test_r13_a_list_is_one_replace_and_the_watch_starts_from_its_version(void **state)
{
    source_asked(&source);
    source_items(&source, "a@1 b@2");
    assert_queued("");
    source_list(&source, "c@3", "7");
    assert_queued("All(7: a@1 b@2 c@3)");
    assert_asked("watch bookmarks rv=7");
    assert_true(status_now().listed_once);
    assert_string_equal(status_now().resource_version, "7");
}

static void test_p4_empty_pages_without_an_end_are_a_failure(void **state)
{
    for (int i = 0; i < 1000; i++) source_page(&source, "", "10", "t");
    assert_state(REFLECTOR_LISTING);
    source_page(&source, "", "10", "t");
    assert_state(REFLECTOR_BACKING_OFF);
    assert_cause(ERR_LIMIT);
    source_asked(&source);
}

static void test_p2_p4_further_pages_carry_only_the_token_and_the_first_version_counts(void **state)
{
    assert_asked("list limit=500 rv=0");
    source_page(&source, "a@1", "10", "t1");
    assert_asked("list continue=t1 limit=500");
    source_page(&source, "b@2", "11", "t2");
    assert_asked("list continue=t2 limit=500");
    source_page(&source, "", "12", "t3"); /* an empty page is no end (P-4) */
    assert_asked("list continue=t3 limit=500");
    source_page(&source, "c@3", "13", "");
    assert_queued("All(10: a@1 b@2 c@3)");
    assert_asked("watch bookmarks rv=10");
}

static void test_p3_a_page_that_expired_is_followed_by_the_complete_list_as_first_requested(void **state)
{
    source_asked(&source);
    source_page(&source, "a@1 b@2", "10", "t1");
    source_asked(&source);
    source_items(&source, "c@3");
    expired();
    assert_asked("list rv=0");
    source_list(&source, "a@1 x@9", "20");
    assert_queued("All(20: a@1 x@9)");
    assert_asked("watch bookmarks rv=20");
    assert_cause(ERR_NONE);
}

static void test_r10_when_the_complete_list_expires_too_the_newest_is_requested(void **state)
{
    source_asked(&source);
    source_page(&source, "a@1", "10", "t1");
    source_asked(&source);
    expired();
    assert_asked("list rv=0");
    expired();
    assert_asked("list limit=500");
    source_page(&source, "b@2", "30", "t2");
    assert_asked("list continue=t2 limit=500");
    expired();
    assert_asked("list");
    source_list(&source, "b@2 c@3", "31");
    assert_queued("All(31: b@2 c@3)");
}

/* Decision table, "list | Expired/Gone, too large RV" */
static void test_r10_an_expired_list_is_repeated_at_once_with_the_page_size_it_had(void **state)
{
    source_asked(&source);
    expired();
    assert_asked("list limit=500");
    source_list(&source, "a@1", "9");
    assert_asked("watch bookmarks rv=9");
    source_fail(&source, ERR_PARSE);
    assert_asked_after(800, "list rv=9"); /* no limit at a real version; R-10: the flag is clear again */
    expired();
    assert_asked("list");
    source_list(&source, "a@1", "12");
    assert_asked("watch bookmarks rv=12");
}

static void test_r10_a_version_too_large_is_checked_before_retry_after(void **state)
{
    start_watching("a@1", "9");
    source_fail(&source, ERR_PARSE);
    assert_asked_after(800, "list rv=9");
    source_fail_too_large(&source);
    assert_asked("list"); /* at once */
    source_list(&source, "", "3");
    assert_queued("All(3:)");
    assert_asked("watch bookmarks rv=3");
}

static void test_r10_a_second_failure_waits_and_the_flag_stays(void **state)
{
    start_watching("a@1", "9");
    source_fail(&source, ERR_PARSE);
    assert_asked_after(800, "list rv=9");
    expired();
    assert_asked("list");
    expired();
    assert_cause(ERR_HTTP);
    assert_asked_after(1600, "list limit=500");
    source_list(&source, "a@1", "40");
    assert_queued("All(40: a@1)");
    assert_cause(ERR_NONE);
}

static void test_r11_gone_and_bare_410_are_expired(void **state)
{
    source_asked(&source);
    source_fail_http(&source, 410, "Gone");
    assert_asked("list limit=500");
    source_fail_http(&source, 410, "");
    assert_asked_after(800, "list limit=500");
    source_fail_http(&source, 410, "");
    assert_asked("list limit=500");
}

static void test_r12_a_paged_first_list_makes_all_lists_paged(void **state)
{
    source_asked(&source);
    source_page(&source, "a@1", "10", "t1");
    source_page(&source, "b@1", "10", "");
    source_fail(&source, ERR_PARSE);
    source_asked(&source);
    pass_delay();
    assert_asked("list limit=500 rv=10");
}

static void test_r12_a_paged_list_of_the_newest_teaches_nothing(void **state)
{
    source_asked(&source);
    expired();
    assert_asked("list limit=500");
    source_page(&source, "a@1", "10", "t1");
    source_page(&source, "b@1", "10", "");
    source_fail(&source, ERR_PARSE);
    source_asked(&source);
    pass_delay();
    assert_asked("list rv=10");
}

static void test_p3_a_complete_list_after_a_broken_page_counts_as_paged(void **state)
{
    source_asked(&source);
    source_page(&source, "a@1", "10", "t1");
    expired();
    source_list(&source, "a@1", "11");
    source_fail(&source, ERR_PARSE);
    source_asked(&source);
    pass_delay();
    assert_asked("list limit=500 rv=11");
}

static void test_p5_a_list_in_one_page_counts_as_not_paged(void **state)
{
    start_watching("a@1", "10");
    source_fail(&source, ERR_PARSE);
    assert_asked_after(800, "list rv=10");
}

static void test_r9_an_explicit_page_size_always_wins(void **state)
{
    reflector_restart(50, 1);
    assert_asked("list limit=50 rv=0");
    source_list(&source, "a@1", "10");
    source_asked(&source);
    source_fail(&source, ERR_PARSE);
    assert_asked_after(800, "list limit=50 rv=10");
}

/* Decision table, "list | other error (or 2nd failure)" */
static void test_r16_another_list_error_waits_and_shows_its_cause(void **state)
{
    source_asked(&source);
    source_items(&source, "a@1 b@2");
    source_fail_http(&source, 403, "Forbidden");
    assert_cause(ERR_HTTP);
    assert_string_equal(status_now().last_error.text, "failed to list pods: scripted 403 Forbidden");
    assert_int_equal(status_now().last_error.http_status, 403);
    assert_queued("");
    assert_asked_after(800, "list limit=500 rv=0");
    source_fail(&source, ERR_CONNECT);
    assert_asked_after(1600, "list limit=500 rv=0");
    source_list(&source, "a@1", "5");
    assert_cause(ERR_NONE);
    assert_queued("All(5: a@1)");
}

static void test_a_list_that_breaks_off_leaves_nothing_behind(void **state)
{
    source_asked(&source);
    source_page(&source, "a@1", "5", "t");
    source_asked(&source);
    source_items(&source, "b@2 c@3");
    source_fail(&source, ERR_CLOSED);
    assert_asked_after(800, "list limit=500 rv=0");
    source_list(&source, "z@9", "9");
    assert_queued("All(9: z@9)");
}

static void test_a_page_without_its_end_is_an_error(void **state)
{
    source_asked(&source);
    source_items(&source, "a@1");
    source_end(&source);
    assert_cause(ERR_CLOSED);
    assert_asked_after(800, "list limit=500 rv=0");
}

static void test_r19_a_refused_item_is_named_and_the_others_are_listed(void **state)
{
    source_asked(&source);
    log_take();
    source_items(&source, "a@1");
    source_refuse(&source, "b: 9000000 bytes are too many");
    source_list(&source, "c@3", "5");
    assert_queued("All(5: a@1 c@3)");
    assert_int_equal(status_now().counters.refused, 1);
    assert_string_equal(log_take(), "W Object refused reflector=pods err=b: 9000000 bytes are too many\n");
}

static void test_refused_items_are_named_at_most_once_a_second(void **state)
{
    source_asked(&source);
    log_take();
    for (int i = 0; i < 5; i++) source_refuse(&source, "b: too large");
    assert_int_equal(log_lines(), 1);
    log_take();
    advance(999);
    source_refuse(&source, "c: too large");
    assert_int_equal(log_lines(), 0);
    advance(1);
    source_refuse(&source, "d: too large");
    assert_string_equal(log_take(), "W Object refused reflector=pods err=d: too large unreported=5\n");
    assert_int_equal(status_now().counters.refused, 7);
}

static void test_a_refused_item_counts_as_existing(void **state)
{
    source_asked(&source);
    source_refuse_key(&source, "big", false);
    source_list(&source, "c@3", "5");
    struct delta *batch;
    assert_int_equal(delta_fifo_take(fifo, 10, &batch), 1);
    assert_non_null(batch[0].refused);
    assert_int_equal(batch[0].refused->keys.len, sizeof "\0big");
    assert_memory_equal(batch[0].refused->keys.data, "\0big", sizeof "\0big");
    assert_false(batch[0].refused->unknown);
    delta_fifo_release(fifo, batch, 1);
}

static void test_a_refused_item_without_a_known_key_counts_as_existing(void **state)
{
    source_asked(&source);
    source_refuse_key(&source, NULL, false);
    source_list(&source, "c@3", "5");
    struct delta *batch;
    assert_int_equal(delta_fifo_take(fifo, 10, &batch), 1);
    assert_non_null(batch[0].refused);
    assert_true(batch[0].refused->unknown);
    delta_fifo_release(fifo, batch, 1);
}

/* H-3 */
static void test_a_server_that_requests_more_time_gets_it(void **state)
{
    source_asked(&source);
    source_fail_busy(&source, 429, 7000);
    assert_int_equal(pass_delay(), 7000);
    assert_asked("list limit=500 rv=0");
    source_fail_busy(&source, 429, 86400000);
    assert_int_equal(pass_delay(), 300000);
}

static void test_stopping_in_the_middle_of_a_list_releases_everything(void **state)
{
    source_page(&source, "a@1", "5", "t");
    source_items(&source, "b@2 c@3"); /* teardown counts the references */
}

static void test_r15_stopping_cancels_the_list(void **state)
{
    reflector_restart(0, 1);
    source_items(&source, "a@1");
    reflector_free(reflector);
    assert_int_equal(source.cancelled, 1);
    assert_null(source.call);
    assert_queued("");
    reflector = NULL;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, reflector_open, reflector_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_r8_r9_the_first_list_requests_any_version_in_pages_of_500),
        TEST(test_r13_a_list_is_one_replace_and_the_watch_starts_from_its_version),
        TEST(test_p4_empty_pages_without_an_end_are_a_failure),
        TEST(test_p2_p4_further_pages_carry_only_the_token_and_the_first_version_counts),
        TEST(test_p3_a_page_that_expired_is_followed_by_the_complete_list_as_first_requested),
        TEST(test_r10_when_the_complete_list_expires_too_the_newest_is_requested),
        TEST(test_r10_an_expired_list_is_repeated_at_once_with_the_page_size_it_had),
        TEST(test_r10_a_version_too_large_is_checked_before_retry_after),
        TEST(test_r10_a_second_failure_waits_and_the_flag_stays),
        TEST(test_r11_gone_and_bare_410_are_expired),
        TEST(test_r12_a_paged_first_list_makes_all_lists_paged),
        TEST(test_r12_a_paged_list_of_the_newest_teaches_nothing),
        TEST(test_p3_a_complete_list_after_a_broken_page_counts_as_paged),
        TEST(test_p5_a_list_in_one_page_counts_as_not_paged),
        TEST(test_r9_an_explicit_page_size_always_wins),
        TEST(test_r16_another_list_error_waits_and_shows_its_cause),
        TEST(test_a_list_that_breaks_off_leaves_nothing_behind),
        TEST(test_a_page_without_its_end_is_an_error),
        TEST(test_r19_a_refused_item_is_named_and_the_others_are_listed),
        TEST(test_refused_items_are_named_at_most_once_a_second),
        TEST(test_a_refused_item_counts_as_existing),
        TEST(test_a_refused_item_without_a_known_key_counts_as_existing),
        TEST(test_a_server_that_requests_more_time_gets_it),
        TEST(test_stopping_in_the_middle_of_a_list_releases_everything),
        TEST(test_r15_stopping_cancels_the_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
