/* core/informer/leader/leader_end.c: a lease is given back (L-8), on the virtual clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/informer/support/candidate.h"

static void test_l8_a_lease_is_given_back(void **state)
{
    candidate_win();
    struct fence *fence = fence_ref(candidate_status().fence);
    leader_release(candidate);
    assert_false(fence_is_open(fence)); /* before the server hears of it */
    fence_unref(fence);
    virtual_clock_advance(&candidate_clock, 500);
    candidate_answer("get");
    assert_false(candidate_status().released);
    candidate_answer("update");
    assert_true(candidate_status().released);
    assert_lease_has(&candidate_server,
                     "\"holderIdentity\":\"\",\"leaseDurationSeconds\":1,\"leaseTransitions\":0,"
                     "\"acquireTime\":\"2026-01-01T00:00:00.500000Z\","
                     "\"renewTime\":\"2026-01-01T00:00:00.500000Z\"");
    virtual_clock_advance(&candidate_clock, 60000);
    assert_string_equal(lease_way_open(&candidate_way), "");
}

static void test_l8_a_conflict_is_followed_by_another_read(void **state)
{
    candidate_win();
    leader_release(candidate);
    candidate_answer("get");
    lease_server_put(&candidate_server, "{\"holderIdentity\":\"me\",\"leaseDurationSeconds\":15}");
    candidate_answer("update");
    candidate_answer("get");
    candidate_answer("update");
    assert_lease_has(&candidate_server, "\"holderIdentity\":\"\"");
    assert_true(candidate_status().released);
}

static void test_l8_the_end_has_the_renew_deadline(void **state)
{
    candidate_win();
    leader_release(candidate);
    candidate_refuse("get", 0);
    assert_int_equal(candidate_pass(5000), 2000);
    virtual_clock_advance(&candidate_clock, 7999);
    assert_false(candidate_status().released);
    virtual_clock_advance(&candidate_clock, 1);
    assert_true(candidate_status().released);
    assert_string_equal(lease_way_open(&candidate_way), "");
}

static void test_l8_only_what_is_ours_is_given_back(void **state)
{
    lease_server_put(&candidate_server, "{\"holderIdentity\":\"other\",\"leaseDurationSeconds\":15}");
    candidate_answer("get");
    leader_release(candidate);
    assert_true(candidate_status().released);
    assert_int_equal(candidate_way.asked, 1);
}

/* A write whose answer nobody waits for any more may have been done. */
static void test_l8_a_write_under_way_may_have_made_it_ours(void **state)
{
    candidate_answer("get");
    assert_string_equal(lease_way_open(&candidate_way), "create");
    lease_server_put(&candidate_server, "{\"holderIdentity\":\"me\",\"leaseDurationSeconds\":15}");
    leader_release(candidate);
    candidate_answer("get");
    candidate_answer("update");
    assert_lease_has(&candidate_server, "\"holderIdentity\":\"\"");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, candidate_open, candidate_close)
    const struct CMUnitTest tests[] = {
        TEST(test_l8_a_lease_is_given_back),
        TEST(test_l8_a_conflict_is_followed_by_another_read),
        TEST(test_l8_the_end_has_the_renew_deadline),
        TEST(test_l8_only_what_is_ours_is_given_back),
        TEST(test_l8_a_write_under_way_may_have_made_it_ours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
