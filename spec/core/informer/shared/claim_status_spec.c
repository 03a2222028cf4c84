/* core/informer/shared/claim_status.c: states with their cause and since when (B-7, I-20). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/informer/support/factory_fixture.h"

/* Until the delay of R-2 is over, in real time: the first is shorter than 1.6 s. */
static void await_request(const char *expected)
{
    for (int i = 0; i < 1000 && !strstr(source_asked(&sources[0]), expected); i++) loop_once(loop, true);
    assert_non_null(sources[0].call);
}

static void test_b7_a_claim_goes_from_pending_to_synced(void **state)
{
    struct informer_claim *pods = claim("pods");
    struct claim_status status = status_of(pods);
    assert_int_equal(status.state, CLAIM_PENDING);
    assert_true(status.since_us > 0);
    resolve(false);
    assert_string_equal(claim_state_name(status_of(pods).state), "listing");
    source_list(&sources[0], "a/x@1 a/y@2", "5");
    settle();
    status = status_of(pods);
    assert_string_equal(claim_state_name(status.state), "synced");
    assert_true(status.synced);
    assert_string_equal(status.resource_version, "5");
    assert_int_equal(status.objects, 2);
    assert_true(status.heard_us >= status.reflector.since_us - 1000000);
    assert_int_equal(status.last_error.code, ERR_NONE);
}

static void test_b7_a_list_in_pages_shows_how_far_it_is(void **state)
{
    struct informer_claim *pods = claim("pods");
    resolve(false);
    assert_string_equal(status_of(pods).text, "the initial list is in progress");
    sources[0].remaining = 500;
    source_page(&sources[0], "a/x@1 a/y@2", "5", "t1");
    assert_string_equal(status_of(pods).text,
                        "the initial list is in progress: 2 of about 502 objects received");
    sources[0].remaining = 0; /* with a selector the server does not count */
    source_page(&sources[0], "a/z@3", "5", "t2");
    assert_string_equal(status_of(pods).text, "the initial list is in progress: 3 objects received");
    for (int i = 0; i < 253; i++) source_items(&sources[0], "b/x@1");
    assert_int_equal(status_of(pods).reflector.received, 256); /* within a page */
    source_fail_http(&sources[0], 410, "Expired");
    assert_string_equal(status_of(pods).text, "the initial list is in progress");
    source_list(&sources[0], "a/x@1", "5");
    settle();
    assert_string_equal(status_of(pods).text, "");
    assert_int_equal(status_of(pods).reflector.received, 0);
}

static void test_b7_an_error_stays_with_its_time_until_a_list_ends_it(void **state)
{
    struct informer_claim *pods = claim("pods");
    resolve(false);
    source_asked(&sources[0]);
    source_fail_http(&sources[0], 403, "Forbidden");
    settle();
    struct claim_status first = status_of(pods);
    assert_int_equal(first.state, CLAIM_FORBIDDEN);
    await_request("list");
    assert_int_equal(status_of(pods).state, CLAIM_FORBIDDEN);
    assert_int_equal(status_of(pods).since_us, first.since_us);
    source_list(&sources[0], "a/x@1", "5"); /* rights came: nobody has to start anything again */
    settle();
    assert_int_equal(status_of(pods).state, CLAIM_SYNCED);
    assert_true(status_of(pods).since_us > first.since_us);
    assert_string_equal(status_of(pods).text, "");
}

static void test_b7_a_cache_that_loses_its_server_is_synced_and_in_error(void **state)
{
    struct informer_claim *pods = claim("pods");
    resolve(false);
    source_list(&sources[0], "a/x@1", "5");
    settle();
    source_fail_refused(&sources[0]);
    settle();
    struct claim_status status = status_of(pods);
    assert_int_equal(status.state, CLAIM_ERROR);
    assert_true(status.synced);
    assert_int_equal(status.objects, 1);
    assert_int_equal(status.last_error.code, ERR_CONNECT);
}

static void test_b7_a_watch_that_breaks_off_and_resumes_is_no_error(void **state)
{
    struct informer_claim *pods = claim("pods");
    resolve(false);
    source_list(&sources[0], "a/x@1", "5");
    settle();
    source_event(&sources[0], LW_ADDED, "a/y@6");
    source_fail(&sources[0], ERR_CLOSED);
    settle();
    assert_int_equal(status_of(pods).state, CLAIM_SYNCED);
    assert_int_equal(status_of(pods).last_error.code, ERR_CLOSED);
    source_bookmark(&sources[0], "7");
    settle();
    assert_int_equal(status_of(pods).last_error.code, ERR_NONE);
}

static void test_bytes_are_those_of_the_objects_with_what_they_share(void **state)
{
    struct informer_claim *pods = claim("pods"), *nodes = claim("nodes");
    resolve(false);
    source_list(&sources[0], "a/x@1 a/y@2 a/z@3", "5");
    source_list(&sources[1], "n@1", "5");
    settle();
    size_t of_pods = status_of(pods).bytes, of_nodes = status_of(nodes).bytes;
    assert_in_range(of_nodes, 64, 1024);
    assert_in_range(of_pods, 2 * of_nodes, 4 * of_nodes);
}

static void test_i20_a_laggard_has_its_state_its_cause_and_since_when(void **state)
{
    struct buf text = {0};
    struct informer_claim *pods = claim_scope("pods", "shop", "", "");
    assert_true(claim_describe_lag(pods, &text));
    assert_string_equal(buf_text(&text), "pods: pending for 0 s");
    resolve(false);
    source_fail_http(&sources[0], 403, "Forbidden");
    settle();
    text.len = 0;
    assert_true(claim_describe_lag(pods, &text));
    assert_string_equal(
        buf_text(&text),
        "pods in shop: forbidden for 0 s: failed to list pods in shop: scripted 403 Forbidden");
    buf_clear(&text);
}

static void test_i20_what_is_synced_lags_no_more(void **state)
{
    struct buf text = {0};
    struct informer_claim *pods = claim("pods");
    resolve(false);
    source_list(&sources[0], "", "5");
    settle();
    assert_false(claim_describe_lag(pods, &text));
    assert_int_equal(text.len, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, factory_open, factory_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_b7_a_claim_goes_from_pending_to_synced),
        TEST(test_b7_a_list_in_pages_shows_how_far_it_is),
        TEST(test_b7_an_error_stays_with_its_time_until_a_list_ends_it),
        TEST(test_b7_a_cache_that_loses_its_server_is_synced_and_in_error),
        TEST(test_b7_a_watch_that_breaks_off_and_resumes_is_no_error),
        TEST(test_bytes_are_those_of_the_objects_with_what_they_share),
        TEST(test_i20_a_laggard_has_its_state_its_cause_and_since_when),
        TEST(test_i20_what_is_synced_lags_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
