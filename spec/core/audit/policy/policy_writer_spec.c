/* core/audit/policy/policy_writer.c: when reports are written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/audit/support/live/reports.h"

/* --- when */

static void test_a_namespace_is_written_when_it_has_been_quiet(void **state)
{
    struct world w;
    reports_begin(&w, *state, "shop/a bad=1;shop/b", 100);
    assert_int_equal(w.lists, 2);
    reports_advance(&w, 60000);
    assert_sent(&w, ""); /* not before the cluster was listed */
    reports_listed(&w, NULL);
    reports_advance(&w, 2000);
    assert_sent(&w, "apply shop/kubelua-audit\n");
    reports_assert_says(&w, "\"summary\":{\"pass\":1,\"skip\":0,\"warn\":0,\"fail\":1,\"error\":0}");
    reports_change(&w, LW_ADDED, "new/a bad=1");
    reports_advance(&w, POLICY_QUIET_MS - 1100);
    assert_sent(&w, "");
    reports_advance(&w, 2000);
    assert_sent(&w, "apply new/kubelua-audit\n");
    w.bodies.len = 0;
    reports_change(&w, LW_MODIFIED, "shop/a");
    reports_advance(&w, 15000);
    assert_sent(&w, "apply shop/kubelua-audit\n");
    reports_assert_says(
        &w, "\"summary\":{\"pass\":2,\"skip\":0,\"warn\":0,\"fail\":0,\"error\":0},\"results\":[]");
    reports_change(&w, LW_DELETED, "shop/a");
    reports_change(&w, LW_DELETED, "shop/b");
    reports_advance(&w, 15000);
    assert_sent(&w, "delete shop/kubelua-audit\n");
    assert_int_equal(policy_writer_status(w.writer).reports, 1);
    assert_int_equal(w.lists, 2);
    reports_end(&w);
}

static void test_what_flaps_is_written_now_and_then(void **state)
{
    struct world w;
    reports_begin(&w, *state, "shop/a bad=1", 100);
    reports_listed(&w, NULL);
    reports_advance(&w, 5000);
    w.applies = 0;
    for (int i = 0; i < 300; i++) {
        char pod[32];
        snprintf(pod, sizeof pod, "shop/a bad=%d", i);
        reports_change(&w, LW_MODIFIED, pod);
        reports_advance(&w, 900);
    }
    assert_in_range(w.applies, 8, 11); /* in five minutes */
    reports_end(&w);
}

static void test_what_is_as_before_is_not_written(void **state)
{
    struct world w;
    reports_begin(&w, *state, "shop/a bad=1", 100);
    reports_listed(&w, NULL);
    reports_advance(&w, 5000);
    assert_sent(&w, "apply shop/kubelua-audit\n");
    reports_change(&w, LW_MODIFIED, "shop/a");
    reports_change(&w, LW_MODIFIED, "shop/a bad=1");
    reports_advance(&w, 60000);
    assert_sent(&w, "");
    reports_advance(&w, POLICY_LIST_MS);
    assert_int_equal(w.lists, 4);
    assert_sent(&w, "");
    reports_end(&w);
}

/* --- what was there */

static char *content_of(struct world *w)
{
    static const char key[] = "\"kubelua/content\":\"";
    const char *at = strstr(buf_text(&w->bodies), key);
    assert_non_null(at);
    return xstrndup(at + sizeof key - 1, POLICY_CONTENT_SIZE - 1);
}

static void test_an_earlier_process_is_gone_on_with(void **state)
{
    struct world w;
    reports_begin(&w, *state, "same/a bad=1;other/a bad=1", 100);
    reports_listed(&w, NULL);
    reports_advance(&w, 5000);
    assert_sent(&w, "apply same/kubelua-audit\napply other/kubelua-audit\n");
    char *content = content_of(&w);
    policy_writer_set_active(w.writer, false);
    assert_true(w.cancelled);
    policy_writer_set_active(w.writer, true);
    reports_advance(&w, 1000);
    policy_writer_found(w.writer, STR("same"), STR("kubelua-audit"), str_of(content));
    policy_writer_found(w.writer, STR("other"), STR("kubelua-audit"), STR(""));
    policy_writer_found(w.writer, STR("gone"), STR("kubelua-audit"), str_of(content));
    policy_writer_found(w.writer, STR("gone"), STR("kubelua-audit-3"), STR(""));
    policy_writer_found(w.writer, STR("gone"), STR("kubelua-audit-x"), STR(""));
    policy_writer_found(w.writer, STR("gone"), STR("kubelua-audit-17"), STR(""));
    reports_listed(&w, NULL);
    reports_advance(&w, 5000);
    assert_sent(&w, "apply other/kubelua-audit\ndelete gone/kubelua-audit\ndelete gone/kubelua-audit-3\n");
    assert_int_equal(policy_writer_status(w.writer).reports, 2);
    /* Somebody deleted one. */
    reports_advance(&w, POLICY_LIST_MS);
    policy_writer_found(w.writer, STR("same"), STR("kubelua-audit"), str_of(content));
    reports_listed(&w, NULL);
    reports_advance(&w, 5000);
    assert_sent(&w, "apply other/kubelua-audit\n");
    free(content);
    reports_end(&w);
}

/* --- what goes wrong */

static void test_what_fails_is_tried_again_ever_more_seldom(void **state)
{
    struct world w;
    struct err err;
    err_set(&err, ERR_HTTP, "no");
    err.http_status = 500;
    reports_begin(&w, *state, "shop/a bad=1", 100);
    for (int i = 0; i < 3; i++) {
        reports_listed(&w, &err);
        virtual_clock_advance(&w.f.c->clock, (POLICY_LIST_RETRY_MS << i) - 1000);
        assert_int_equal(w.lists, 2 + 2 * i);
        virtual_clock_advance(&w.f.c->clock, 2000);
        assert_int_equal(w.lists, 4 + 2 * i);
    }
    assert_string_equal(policy_writer_status(w.writer).error, "no");
    reports_listed(&w, NULL);
    virtual_clock_advance(&w.f.c->clock, 5000);
    for (int i = 0; i < 3; i++) {
        assert_sent(&w, "apply shop/kubelua-audit\n");
        reports_answer(&w, &err);
        virtual_clock_advance(&w.f.c->clock, (POLICY_RETRY_MS << i) - 1500);
        assert_sent(&w, "");
        virtual_clock_advance(&w.f.c->clock, 4000);
    }
    reports_answer(&w, NULL);
    assert_int_equal(policy_writer_status(w.writer).failed, 3);
    assert_string_equal(policy_writer_status(w.writer).error, "");
    reports_end(&w);
}

/* Such a namespace takes nothing new, however often it is asked; of one that is made again all objects are
 * new. */
static void assert_not_asked_again(struct cluster *state, int http_status, const char *text)
{
    struct world w;
    struct err err;
    err_set(&err, ERR_HTTP, "%s", text);
    err.http_status = http_status;
    reports_begin(&w, state, "shop/a bad=1", 100);
    reports_listed(&w, NULL);
    virtual_clock_advance(&w.f.c->clock, 5000);
    assert_sent(&w, "apply shop/kubelua-audit\n");
    reports_answer(&w, &err);
    virtual_clock_advance(&w.f.c->clock, 4 * POLICY_RETRY_MS);
    assert_sent(&w, "");
    assert_int_equal(policy_writer_status(w.writer).waiting, 0);
    assert_string_equal(policy_writer_status(w.writer).error, "");
    reports_change(&w, LW_ADDED, "shop/b bad=1");
    virtual_clock_advance(&w.f.c->clock, 15000);
    assert_sent(&w, "apply shop/kubelua-audit\n");
    reports_answer(&w, NULL);
    assert_int_equal(policy_writer_status(w.writer).reports, 1);
    reports_end(&w);
}

static void test_a_namespace_that_is_terminating_is_not_tried_again(void **state)
{
    assert_not_asked_again(
        *state, 403,
        "policyreports.wgpolicyk8s.io \"kubelua-audit\" is forbidden: unable to create new "
        "content in namespace shop because it is being terminated");
}

static void test_a_namespace_that_is_gone_is_not_tried_again(void **state)
{
    assert_not_asked_again(*state, 404, "namespaces \"shop\" not found");
}

static void test_there_is_room_for_so_many_reports(void **state)
{
    struct world w;
    reports_begin(&w, *state, "one/a bad=1;two/a bad=1", 1);
    reports_listed(&w, NULL);
    reports_advance(&w, 5000);
    assert_sent(&w, "apply one/kubelua-audit\n");
    assert_int_equal(policy_writer_status(w.writer).left_out, 1);
    reports_change(&w, LW_DELETED, "one/a");
    reports_advance(&w, 30000);
    assert_sent(&w, "delete one/kubelua-audit\napply two/kubelua-audit\n");
    assert_int_equal(policy_writer_status(w.writer).left_out, 0);
    reports_end(&w);
}

static void test_a_waiting_rule_is_waited_for_and_then_reported(void **state)
{
    struct world w;
    reports_begin(&w, *state, "shop/a bad=1", 100);
    w.waiting = "later";
    reports_advance(&w, 1000);
    policy_writer_found(w.writer, STR("maybe"), STR("kubelua-audit"), STR(""));
    reports_listed(&w, NULL);
    reports_advance(&w, POLICY_WAIT_MS - 5000);
    assert_sent(&w, "");
    reports_advance(&w, 15000);
    assert_sent(&w, "apply shop/kubelua-audit\n"); /* `maybe` may be of that rule */
    reports_assert_says(
        &w, "\"kubelua/incomplete\":\"Rules are not evaluated because their caches have not synced: later\"");
    w.waiting = "";
    reports_advance(&w, 30000);
    assert_sent(&w, "apply shop/kubelua-audit\ndelete maybe/kubelua-audit\n");
    assert_null(strstr(buf_text(&w.bodies), "incomplete"));
    reports_end(&w);
}

static void test_refused_objects_of_the_engine_are_reported(void **state)
{
    struct world w;
    reports_begin(&w, *state, "shop/a bad=1", 100);
    w.refused = "pods, secrets";
    reports_advance(&w, 1000);
    reports_listed(&w, NULL);
    reports_advance(&w, 15000);
    assert_sent(&w, "apply shop/kubelua-audit\n");
    reports_assert_says(&w, "\"kubelua/incomplete\":\"Objects are missing because the engine refused them "
                            "(see kubelua status): pods, secrets\"");
    w.refused = "";
    w.bodies.len = 0;
    reports_advance(&w, 30000);
    assert_sent(&w, "apply shop/kubelua-audit\n");
    assert_null(strstr(buf_text(&w.bodies), "incomplete"));
    reports_end(&w);
}

/* --- after the first round */

static void test_a_result_that_is_not_evaluated_again_yet_is_not_taken_for_gone(void **state)
{
    struct world w;
    reports_begin(&w, *state, "shop/a bad=1 grave=1;tail/a bad=1", 100);
    reports_listed(&w, NULL);
    reports_advance(&w, 15000);
    assert_sent(&w, "apply shop/kubelua-audit\napply tail/kubelua-audit\n");
    live_hold(true);
    w.bodies.len = 0;
    live_reload(&w.f, REPORTS_RULES("now"));
    reports_advance(&w, POLICY_LATEST_MS - 1000);
    assert_sent(&w, "");
    reports_advance(&w, 15000);
    assert_sent(&w, "apply shop/kubelua-audit\n"); /* of `tail` nothing is known */
    assert_int_equal(reports_count(&w, "\"kubelua/incomplete\":\"Not all objects have been evaluated yet\""),
                     1);
    reports_assert_says(&w, "\"message\":\"grave\"");
    live_hold(false);
    reports_advance(&w, 30000);
    assert_sent(&w, "apply shop/kubelua-audit\napply tail/kubelua-audit\n");
    assert_int_equal(reports_count(&w, "\"message\":\"now 1\""), 2);
    assert_int_equal(reports_count(&w, "incomplete"), 0);
    reports_end(&w);
}

/* Nothing at all is known of the namespace, and nothing of it is gone. */
static void test_a_report_without_new_results_yet_stays(void **state)
{
    struct world w;
    reports_begin(&w, *state, "tail/a bad=1", 100);
    reports_listed(&w, NULL);
    reports_advance(&w, 15000);
    assert_sent(&w, "apply tail/kubelua-audit\n");
    live_hold(true);
    live_reload(&w.f, HEAD "k8s.rule { id = 'own', kinds = { 'pods' }, check = function() end }\n");
    reports_advance(&w, 4 * POLICY_LATEST_MS);
    assert_sent(&w, "");
    live_hold(false);
    w.bodies.len = 0;
    reports_advance(&w, 30000);
    assert_sent(&w, "apply tail/kubelua-audit\n");
    reports_assert_says(&w, "\"summary\":{\"pass\":1,\"skip\":0,\"warn\":0,\"fail\":0,\"error\":0}");
    reports_end(&w);
}

/* An object that no rule takes was not asked about either, until its turn has come. */
static void test_writes_that_rules_do_not_need_delay_nothing(void **state)
{
    struct world w;
    reports_begin(&w, *state, "shop/a bad=1;tail/a bad=1", 100);
    reports_listed(&w, NULL);
    reports_advance(&w, 15000);
    assert_sent(&w, "apply shop/kubelua-audit\napply tail/kubelua-audit\n");
    live_reload(&w.f, HEAD "k8s.rule { id = 'own', kinds = { 'pods' }, namespaces = { 'shop' },"
                           " check = function() end }\n");
    reports_advance(&w, 5000);
    assert_sent(&w, "apply shop/kubelua-audit\ndelete tail/kubelua-audit\n");
    reports_end(&w);
}

static void test_a_rule_that_begins_to_wait_is_waited_for_as_well(void **state)
{
    struct world w;
    reports_begin(&w, *state, "shop/a bad=1", 100);
    reports_listed(&w, NULL);
    reports_advance(&w, 5000);
    assert_sent(&w, "apply shop/kubelua-audit\n");
    w.waiting = "later";
    reports_change(&w, LW_MODIFIED, "shop/a bad=2");
    reports_advance(&w, POLICY_WAIT_MS - 5000);
    assert_sent(&w, "");
    w.bodies.len = 0;
    reports_advance(&w, 15000);
    assert_sent(&w, "apply shop/kubelua-audit\n");
    reports_assert_says(&w, "their caches have not synced: later\"");
    reports_end(&w);
}

/* Texts of all lengths end where they end: they are kept in a buffer that has no room to spare for some. */
static void test_the_status_reports_why_reports_are_not_complete(void **state)
{
    const char before[] = "Objects are missing because the engine refused them (see kubelua status): ";
    char kinds[300] = "";
    struct world w;
    reports_begin(&w, *state, "shop/a bad=1", 100);
    for (size_t i = 0; i + 1 < sizeof kinds; i++) {
        kinds[i] = 'k';
        w.refused = kinds;
        reports_advance(&w, 1000);
        const char *told = policy_writer_status(w.writer).incomplete;
        assert_int_equal(strlen(told), strlen(before) + i + 1);
        assert_string_equal(told + strlen(before), kinds);
    }
    reports_end(&w);
}

#define unit(test) cmocka_unit_test_setup_teardown(test, cluster_setup, cluster_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit(test_a_namespace_is_written_when_it_has_been_quiet),
        unit(test_what_flaps_is_written_now_and_then),
        unit(test_what_is_as_before_is_not_written),
        unit(test_an_earlier_process_is_gone_on_with),
        unit(test_what_fails_is_tried_again_ever_more_seldom),
        unit(test_a_namespace_that_is_terminating_is_not_tried_again),
        unit(test_a_namespace_that_is_gone_is_not_tried_again),
        unit(test_there_is_room_for_so_many_reports),
        unit(test_refused_objects_of_the_engine_are_reported),
        unit(test_the_status_reports_why_reports_are_not_complete),
        unit(test_a_waiting_rule_is_waited_for_and_then_reported),
        unit(test_a_result_that_is_not_evaluated_again_yet_is_not_taken_for_gone),
        unit(test_a_report_without_new_results_yet_stays),
        unit(test_writes_that_rules_do_not_need_delay_nothing),
        unit(test_a_rule_that_begins_to_wait_is_waited_for_as_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
