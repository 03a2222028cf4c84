/* core/informer/leader/leader.c and lease.c: the rules of an election, on the virtual clock (L-1..L-7, L-9,
 * L-13).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/err.h"
#include "core/informer/support/candidate.h"
#include "core/informer/support/log_double.h"

static void test_l1_times_that_do_not_fit_are_refused(void **state)
{
    const struct leader_names names = {"length", NULL, "pause"};
    struct err err;
    assert_true(leader_times_check(&candidate_times, &names, &err));
    assert_true(leader_times_check(&(struct leader_times){1000, 999, 1}, &names, &err));
    assert_false(leader_times_check(&(struct leader_times){10000, 10000, 2000}, &names, &err));
    assert_string_equal(
        err.text, "the lease duration must be longer than the renew deadline: length is 10s, renew 10s");
    assert_false(leader_times_check(&(struct leader_times){15000, 2400, 2000}, &names, &err));
    assert_string_equal(err.text,
                        "the renew deadline must be longer than 1.2 retry periods: renew is 2.4s, pause 2s");
    assert_true(leader_times_check(&(struct leader_times){15000, 2401, 2000}, &names, &err));
    assert_false(leader_times_check(&(struct leader_times){15000, 10000, 0}, &names, &err));
    assert_false(leader_times_check(&(struct leader_times){1500, 1000, 100}, &names, &err));
    assert_string_equal(err.text,
                        "lease duration must be a whole number of seconds, at least 1: length is 1.5s");
}

static void test_l2_tries_are_one_to_2_2_retry_periods_apart(void **state)
{
    int64_t least = INT64_MAX, most = 0;
    lease_server_put(&candidate_server, "{\"holderIdentity\":\"other\",\"leaseDurationSeconds\":1000000}");
    for (int i = 0; i < 500; i++) {
        candidate_answer("get");
        int64_t ms = candidate_pass(10000);
        if (ms < least) least = ms;
        if (ms > most) most = ms;
    }
    assert_in_range(least, 2000, 2020);
    assert_in_range(most, 4380, 4400);
    assert_false(candidate_leads());
}

static void test_l5_what_is_not_there_is_created(void **state)
{
    candidate_answer("get");
    assert_false(candidate_leads());
    candidate_answer("create");
    assert_true(candidate_leads());
    assert_lease_has(&candidate_server,
                     "\"holderIdentity\":\"me\",\"leaseDurationSeconds\":15,\"leaseTransitions\":0,"
                     "\"acquireTime\":\"2026-01-01T00:00:00.000000Z\","
                     "\"renewTime\":\"2026-01-01T00:00:00.000000Z\"");
    assert_string_equal(candidate_status().holder, "me");
}

static void test_l3_the_first_renewal_is_at_once_the_others_every_retry_period(void **state)
{
    candidate_win();
    for (int i = 0; i < 10; i++) {
        assert_int_equal(candidate_pass(5000), 2000);
        candidate_answer("update"); /* L-5: without a look */
    }
    assert_true(candidate_leads());
    assert_int_equal(candidate_renewals, 12);
    assert_int_equal(candidate_way.asked, 13);
}

/* L-3: a round has the renew deadline, and tries every retry period. */
static void test_l3_what_cannot_be_renewed_is_lost_at_the_renew_deadline(void **state)
{
    candidate_win();
    assert_int_equal(candidate_pass(5000), 2000);
    for (int i = 0; i < 5; i++) {
        candidate_refuse("update", 0);
        candidate_refuse("get", 0);
        assert_true(candidate_leads());
        if (i < 4) assert_int_equal(candidate_pass(5000), 2000);
    }
    struct fence *fence = fence_ref(candidate_status().fence);
    virtual_clock_advance(&candidate_clock, 1999);
    assert_true(candidate_leads());
    virtual_clock_advance(&candidate_clock, 1);
    assert_false(candidate_leads());
    assert_false(fence_is_open(fence));
    fence_unref(fence);
    assert_string_equal(candidate_status().err->text, "no connection");
    /* It is a candidate again. */
    assert_in_range(candidate_pass(5000), 2000, 4400);
    candidate_answer("get");
    candidate_answer("update");
    assert_true(candidate_leads());
    assert_lease_has(&candidate_server, "\"leaseTransitions\":0"); /* L-7: nobody else had it */
}

/* L-3: a round that would end after the lease has run out ends with it. */
static void test_l3_a_round_lasts_no_longer_than_the_lease(void **state)
{
    candidate_restart(&(struct leader_times){15000, 14000, 2000}, (struct lease_labels){0}, 1);
    candidate_win();
    assert_int_equal(candidate_pass(5000), 2000);
    virtual_clock_advance(&candidate_clock, 12999);
    assert_non_null(candidate_status().fence);
    assert_int_equal(candidate_way.cancelled, 0);
    virtual_clock_advance(&candidate_clock, 1);
    assert_null(candidate_status().fence); /* it knows of it, and says so */
    assert_int_equal(candidate_way.cancelled, 1);
}

static void test_a_request_without_a_response_ends_with_the_round(void **state)
{
    candidate_win();
    candidate_pass(5000);
    virtual_clock_advance(&candidate_clock, 9999);
    assert_true(candidate_leads());
    virtual_clock_advance(&candidate_clock, 1);
    assert_false(candidate_leads());
    assert_int_equal(candidate_way.cancelled, 1);
}

static void test_l9_a_request_has_half_the_renew_deadline_at_least_a_second(void **state)
{
    assert_int_equal(candidate_way.timeout_ms, 5000);
    candidate_restart(&(struct leader_times){3000, 1500, 500}, (struct lease_labels){0}, 1);
    assert_int_equal(candidate_way.timeout_ms, 1000);
}

static void test_l5_a_renewal_that_fails_is_followed_by_a_read(void **state)
{
    candidate_win();
    candidate_pass(5000);
    lease_server_put(&candidate_server,
                     "{\"holderIdentity\":\"me\",\"leaseDurationSeconds\":15,\"leaseTransitions\":3,"
                     "\"acquireTime\":\"2025-05-05T05:05:05.000005Z\",\"strategy\":\"x\"}");
    candidate_answer("update"); /* 409: somebody labelled it */
    candidate_answer("get");
    candidate_answer("update");
    assert_true(candidate_leads());
    /* L-7: the holder is the same; L-13: labels stay; and so does what nobody here knows. */
    assert_lease_has(&candidate_server,
                     "\"leaseTransitions\":3,\"acquireTime\":\"2025-05-05T05:05:05.000005Z\","
                     "\"renewTime\":\"2026-01-01T00:00:02.000000Z\",\"strategy\":\"x\"");
    assert_lease_has(&candidate_server, "\"labels\":{\"a\":\"1\",\"b\":\"2\"}");
}

/* Looks until the lease is taken; gives how long that took. */
static int64_t wait_for_a_write(void)
{
    int64_t ms = 0;
    do {
        ms += candidate_pass(5000);
        candidate_answer("get");
    } while (!*lease_way_open(&candidate_way));
    return ms;
}

static void test_l6_only_what_is_seen_here_counts(void **state)
{
    lease_server_put(&candidate_server, "{\"holderIdentity\":\"other\",\"leaseDurationSeconds\":15,"
                                        "\"renewTime\":\"2020-01-01T00:00:00.000000Z\"}");
    candidate_answer("get");                     /* seen for the first time, days after it was written */
    assert_int_equal(wait_for_a_write(), 15000); /* L-2: not a moment later */
    lease_way_refuse(&candidate_way, 0);
}

static void test_l6_a_change_restarts_the_clock(void **state)
{
    lease_server_put(&candidate_server, "{\"holderIdentity\":\"other\",\"leaseDurationSeconds\":15,"
                                        "\"renewTime\":\"2020-01-01T00:00:00.000000Z\"}");
    candidate_answer("get");
    for (int64_t ms = 0; ms < 8000; candidate_answer("get")) ms += candidate_pass(5000);
    lease_server_put(&candidate_server, "{\"holderIdentity\":\"other\",\"leaseDurationSeconds\":16,"
                                        "\"renewTime\":\"2020-01-01T00:00:00.000001Z\"}");
    candidate_pass(5000);
    candidate_answer("get");
    assert_int_equal(wait_for_a_write(), 16000); /* the record's lease, not ours */
    candidate_answer("update");
    assert_true(candidate_leads());
    assert_lease_has(&candidate_server, "\"leaseTransitions\":1"); /* L-7 */
}

static void test_l7_a_lease_of_nobody_is_taken_at_once(void **state)
{
    lease_server_put(&candidate_server,
                     "{\"holderIdentity\":\"\",\"leaseDurationSeconds\":1,\"leaseTransitions\":7}");
    candidate_answer("get");
    candidate_answer("update");
    assert_true(candidate_leads());
    assert_lease_has(&candidate_server,
                     "\"holderIdentity\":\"me\",\"leaseDurationSeconds\":15,\"leaseTransitions\":8");
}

static void test_l13_labels_are_put_on_it(void **state)
{
    static const char *const labels[] = {"b", "mine", "c", "3"};
    lease_server_put(&candidate_server, "{}");
    candidate_restart(&candidate_times, (struct lease_labels){labels, 2}, 1);
    candidate_answer("get");
    candidate_answer("update");
    assert_lease_has(&candidate_server, "\"labels\":{\"a\":\"1\",\"b\":\"mine\",\"c\":\"3\"}");
}

static void test_another_holder_ends_leadership_at_once(void **state)
{
    candidate_win();
    candidate_pass(5000);
    lease_server_put(&candidate_server, "{\"holderIdentity\":\"other\",\"leaseDurationSeconds\":15}");
    candidate_answer("update");
    assert_true(candidate_leads());
    candidate_answer("get");
    assert_false(candidate_leads());
    assert_string_equal(candidate_status().holder, "other");
}

/* Who may look at a lease that nobody holds may take it at once. */
static void test_l5_a_lease_that_was_cleared_ends_leadership_at_once(void **state)
{
    candidate_win();
    candidate_pass(5000);
    lease_server_put(&candidate_server, "{\"holderIdentity\":\"\",\"leaseDurationSeconds\":1}");
    candidate_answer("update");
    struct fence *fence = fence_ref(candidate_status().fence);
    candidate_answer("get");
    assert_false(candidate_leads());
    assert_false(fence_is_open(fence));
    fence_unref(fence);
    candidate_answer("update"); /* it is a candidate as any other */
    assert_true(candidate_leads());
    assert_lease_has(&candidate_server, "\"leaseTransitions\":1"); /* L-7 */
}

static void test_l5_a_lease_that_was_deleted_ends_leadership_at_once(void **state)
{
    candidate_win();
    candidate_pass(5000);
    lease_server_clear(&candidate_server);
    candidate_answer("update");
    assert_true(candidate_leads());
    candidate_answer("get");
    assert_false(candidate_leads());
    assert_string_equal(candidate_status().holder, "");
    lease_server_put(&candidate_server, "{\"holderIdentity\":\"other\",\"leaseDurationSeconds\":15}");
    candidate_answer("create"); /* 409: another was faster */
    assert_false(candidate_leads());
    leader_release(candidate); /* L-8: it looks before it gives anything back */
    candidate_answer("get");
    assert_lease_has(&candidate_server, "\"holderIdentity\":\"other\"");
}

static void test_l5_a_conflict_after_a_read_ends_leadership_at_once(void **state)
{
    candidate_win();
    candidate_pass(5000);
    candidate_refuse("update", 0);
    candidate_answer("get");
    assert_true(candidate_leads());
    lease_server_put(&candidate_server, "{\"holderIdentity\":\"other\",\"leaseDurationSeconds\":15}");
    candidate_answer("update"); /* 409 */
    assert_false(candidate_leads());
    assert_int_equal(candidate_status().err->code, ERR_NONE);
    assert_in_range(candidate_pass(5000), 2000, 4400);
    candidate_answer("get");
    assert_string_equal(candidate_status().holder, "other");
}

/* The lease lasts from when the renewal was sent: who saw it saw it later. */
static void test_the_fence_closes_a_lease_after_the_renewal_was_sent(void **state)
{
    candidate_restart(&(struct leader_times){3000, 2900, 1000}, (struct lease_labels){0}, 1);
    candidate_answer("get");
    virtual_clock_advance(&candidate_clock, 700);
    candidate_answer("create"); /* sent 700 ms ago */
    assert_true(candidate_leads());
    struct fence *fence = fence_ref(candidate_status().fence);
    virtual_clock_advance(&candidate_clock, 2299);
    assert_true(fence_is_open(fence));
    candidate_clock.now++; /* nobody wakes the timers: this thread is late */
    assert_false(fence_is_open(fence));
    candidate_answer("update"); /* what comes now begins another term */
    assert_false(fence_is_open(fence));
    assert_true(candidate_leads());
    assert_ptr_not_equal(fence, candidate_status().fence);
    fence_unref(fence);
}

static void test_a_response_that_took_longer_than_the_lease_is_none(void **state)
{
    candidate_answer("get");
    virtual_clock_advance(&candidate_clock, 15000);
    candidate_answer("create");
    assert_false(candidate_leads());
    assert_string_equal(candidate_status().err->text, "the response took longer than the lease lasts");
    candidate_pass(5000);
    candidate_answer("get"); /* it shows that the lease is ours */
    candidate_answer("update");
    assert_true(candidate_leads());
}

static void test_a_response_that_was_lost_is_found_by_a_read(void **state)
{
    candidate_answer("get");
    lease_way_lose_answer(&candidate_way);
    assert_false(candidate_leads());
    assert_in_range(candidate_pass(5000), 2000, 4400);
    candidate_answer("get");
    candidate_answer("update");
    assert_true(candidate_leads());
}

static void test_who_is_beaten_to_it_has_no_error(void **state)
{
    candidate_answer("get");
    lease_server_put(&candidate_server, "{\"holderIdentity\":\"other\",\"leaseDurationSeconds\":15}");
    candidate_answer("create"); /* 409 */
    assert_false(candidate_leads());
    assert_int_equal(candidate_status().err->code, ERR_NONE);
    assert_in_range(candidate_pass(5000), 2000, 4400);
    candidate_answer("get");
    assert_string_equal(candidate_status().holder, "other");
}

static void test_errors_are_reported_once(void **state)
{
    candidate_refuse("get", 403);
    assert_string_equal(candidate_status().err->text, "status 403");
    int told = candidate_changes;
    for (int i = 0; i < 5; i++) {
        candidate_pass(5000);
        candidate_refuse("get", 403);
    }
    assert_int_equal(candidate_changes, told);
    assert_int_equal(log_lines(), 1);
    candidate_pass(5000);
    candidate_win();
    assert_int_equal(candidate_status().err->code, ERR_NONE);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, candidate_open, candidate_close)
    const struct CMUnitTest tests[] = {
        TEST(test_l1_times_that_do_not_fit_are_refused),
        TEST(test_l2_tries_are_one_to_2_2_retry_periods_apart),
        TEST(test_l5_what_is_not_there_is_created),
        TEST(test_l3_the_first_renewal_is_at_once_the_others_every_retry_period),
        TEST(test_l3_what_cannot_be_renewed_is_lost_at_the_renew_deadline),
        TEST(test_l3_a_round_lasts_no_longer_than_the_lease),
        TEST(test_a_request_without_a_response_ends_with_the_round),
        TEST(test_l9_a_request_has_half_the_renew_deadline_at_least_a_second),
        TEST(test_l5_a_renewal_that_fails_is_followed_by_a_read),
        TEST(test_l6_only_what_is_seen_here_counts),
        TEST(test_l6_a_change_restarts_the_clock),
        TEST(test_l7_a_lease_of_nobody_is_taken_at_once),
        TEST(test_l13_labels_are_put_on_it),
        TEST(test_another_holder_ends_leadership_at_once),
        TEST(test_l5_a_lease_that_was_cleared_ends_leadership_at_once),
        TEST(test_l5_a_lease_that_was_deleted_ends_leadership_at_once),
        TEST(test_l5_a_conflict_after_a_read_ends_leadership_at_once),
        TEST(test_the_fence_closes_a_lease_after_the_renewal_was_sent),
        TEST(test_a_response_that_took_longer_than_the_lease_is_none),
        TEST(test_a_response_that_was_lost_is_found_by_a_read),
        TEST(test_who_is_beaten_to_it_has_no_error),
        TEST(test_errors_are_reported_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
