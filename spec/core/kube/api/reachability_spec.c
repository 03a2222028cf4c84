/* core/kube/api/reachability.c: an outage begins with a failed connection and ends with a response. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kube/api/reachability.h"

static void count(void *ctx)
{
    ++*(int *)ctx;
}

static void break_off(struct reachability *reachability, enum err_code code, struct err *err)
{
    err_set(err, code, "why");
    reachability_failed(reachability, err);
}

/* */
static void test_an_outage_lasts_from_a_failed_connection_to_a_response(void **state)
{
    struct reachability *r = reachability_new("http://example.com", NULL, clock_real());
    int woken = 0;
    struct reach_waiter waiter = {.fn = count, .ctx = &woken};
    struct err err, shown;
    (void)state;
    reachability_add(r, &waiter);
    reachability_ok(r);
    assert_int_equal(woken, 0); /* there was no outage */
    break_off(r, ERR_CLOSED, &err);
    assert_false(err.unreachable);
    assert_int_equal(reachability_lost_us(r, &shown), 0);
    break_off(r, ERR_CONNECT, &err);
    assert_true(err.unreachable);
    int64_t since_us = reachability_lost_us(r, &shown);
    assert_true(since_us > 0);
    assert_string_equal(shown.text, "why");
    break_off(r, ERR_CONNECT, &err);
    assert_int_equal(reachability_lost_us(r, &shown), since_us);
    reachability_ok(r);
    assert_int_equal(woken, 1);
    assert_int_equal(reachability_lost_us(r, &shown), 0);
    reachability_remove(r, &waiter);
    break_off(r, ERR_CONNECT, &err);
    reachability_ok(r);
    assert_int_equal(woken, 1);
    reachability_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_outage_lasts_from_a_failed_connection_to_a_response)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
