/* core/kube/api/reachability.c: an outage begins with a failed connection and ends with a response. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/log.h"
#include "kube/api/reachability.h"
#include "kube/api/throttled.h"

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

/* Keeps the cluster that a line names. */
static void take_cluster(void *ctx, enum log_level level, const char *file, int line, const char *msg,
                         const struct log_field *fields)
{
    struct buf *told = ctx;
    (void)level, (void)file, (void)line;
    buf_printf(told, "%s", msg);
    for (; fields->key; fields++)
        if (strcmp(fields->key, "cluster") == 0) buf_printf(told, " of %.*s", STR_ARG(fields->s));
    buf_putc(told, '\n');
}

static void test_lines_name_a_cluster_other_than_home(void **state)
{
    static const char *const names[] = {NULL, "west"};
    struct buf told = {0};
    (void)state;
    log_capture(take_cluster, &told);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct reachability *r = reachability_new("http://example.com", names[i], clock_real());
        struct throttled *t = throttled_new("http://example.com", names[i], clock_real());
        struct reach_waiter waiter = {.fn = count, .ctx = &(int){0}};
        struct err err;
        reachability_add(r, &waiter);
        break_off(r, ERR_CONNECT, &err);
        reachability_ok(r);
        reachability_remove(r, &waiter);
        reachability_free(r);
        throttled_begin(t, "GET", "/api", 1000);
        throttled_end(t);
        throttled_free(t);
    }
    log_capture(NULL, NULL);
    assert_string_equal(buf_text(&told), "Server unreachable, retrying\nServer reachable again\n"
                                         "Server throttles requests, retrying\n"
                                         "Server unreachable, retrying of west\n"
                                         "Server reachable again of west\n"
                                         "Server throttles requests, retrying of west\n");
    buf_clear(&told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_outage_lasts_from_a_failed_connection_to_a_response),
        cmocka_unit_test(test_lines_name_a_cluster_other_than_home),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
