/* core/audit/policy/policy_parts.c and policy_gather.c: what stands in the documents of a report, and in
 * which steps it is gathered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/audit/support/live/reports.h"

/* --- documents */

/* Of each document that was sent. */
static char *all_contents(struct world *w)
{
    static const char key[] = "\"kubelua/content\":\"";
    struct buf all = {0};
    for (const char *at = buf_text(&w->bodies); (at = strstr(at, key)); at++)
        buf_printf(&all, "%.*s\n", POLICY_CONTENT_SIZE - 1, at + sizeof key - 1);
    return buf_take(&all);
}

static char *pods(int count, int bytes)
{
    struct buf text = {0};
    for (int i = 0; i < count; i++) buf_printf(&text, "%sshop/p%d bad=%0*d", i ? ";" : "", i, bytes, i);
    return buf_take(&text);
}

static void test_a_large_report_comes_in_parts_which_stay(void **state)
{
    struct world w;
    char *many = pods(2000, 1);
    reports_begin(&w, *state, many, 100);
    reports_listed(&w, NULL);
    reports_advance(&w, 5000);
    assert_int_equal(w.applies, 8);
    assert_int_equal(reports_count(&w, "\"rule\":\"own\""), 2000);
    assert_true(w.largest < POLICY_REPORT_BYTES);
    w.applies = w.bodies.len = 0;
    reports_change(&w, LW_MODIFIED, "shop/p77 bad=x");
    /* What took long rests long, and on a busy machine the first round did. */
    for (int i = 0; i < 100 && !w.applies; i++) reports_advance(&w, 15000);
    reports_advance(&w, 15000);
    assert_int_equal(w.applies, 1);
    reports_assert_says(&w, "bad x");
    free(many);
    reports_end(&w);
}

static void test_what_no_part_has_room_for_is_counted(void **state)
{
    struct world w;
    char *many = pods(10000, 1);
    const char *at;
    size_t left_out = 0;
    reports_begin(&w, *state, many, 100);
    reports_listed(&w, NULL);
    reports_advance(&w, 5000);
    assert_int_equal(w.applies, POLICY_PARTS_MAX);
    assert_true(w.largest < POLICY_REPORT_BYTES);
    assert_int_equal(reports_count(&w, "\"rule\":\"left-out\""), POLICY_PARTS_MAX);
    for (at = buf_text(&w.bodies); (at = strstr(at, " results omitted")); at++) {
        const char *number = at;
        while (number[-1] >= '0' && number[-1] <= '9') number--;
        left_out += strtoul(number, NULL, 10);
    }
    assert_int_equal(reports_count(&w, "\"rule\":\"own\"") + left_out, 10000);
    free(many);
    reports_end(&w);
}

/* The most severe are shown, and whatever came first, the same ones are. */
static void test_what_is_left_out_is_the_least_severe_in_any_order(void **state)
{
    enum { COUNT = 9000, GRAVE = 40, FIRST = 5000 };
    struct buf text[2] = {{0}, {0}};
    char *contents[2];
    for (int i = 0; i < COUNT; i++) {
        const char *grave = i >= FIRST && i < FIRST + GRAVE ? "grave=1" : "";
        buf_printf(&text[0], "%sshop/p%d bad=1 %s", i ? ";" : "", i, grave);
    }
    for (int i = COUNT - 1; i >= 0; i--) {
        const char *grave = i >= FIRST && i < FIRST + GRAVE ? "grave=1" : "";
        buf_printf(&text[1], "%sshop/p%d bad=1 %s", i < COUNT - 1 ? ";" : "", i, grave);
    }
    for (int run = 0; run < 2; run++) {
        struct world w;
        if (run) assert_int_equal(cluster_setup(state), 0);
        reports_begin(&w, *state, buf_text(&text[run]), 100);
        reports_listed(&w, NULL);
        reports_advance(&w, 5000);
        assert_int_equal(w.applies, POLICY_PARTS_MAX);
        assert_int_equal(reports_count(&w, "\"rule\":\"grave\""), GRAVE);
        assert_int_equal(reports_count(&w, "\"rule\":\"left-out\""), POLICY_PARTS_MAX);
        contents[run] = all_contents(&w);
        reports_end(&w);
        if (!run) cluster_teardown(state);
        buf_clear(&text[run]);
    }
    assert_string_equal(contents[0], contents[1]);
    free(contents[0]);
    free(contents[1]);
}

/* An annotation that accepts no more says so beside the finding. */
static void test_the_reason_of_a_finding_that_is_not_accepted_is_reported(void **state)
{
    struct world w;
    reports_begin(&w, *state, "", 100);
    live_put_pod(w.f.c, "until=2020-01-01 the vendor is told");
    live_settle(&w.f);
    reports_listed(&w, NULL);
    reports_advance(&w, 15000);
    reports_assert_says(
        &w, "\"message\":\"bad 1 (accepted until 2020-01-01, which has passed: the vendor is told)");
    reports_end(&w);
}

/* --- slices */

static void await_gathering(struct world *w)
{
    for (int i = 0; i < 10000 && policy_writer_status(w->writer).waiting; i++)
        virtual_clock_advance(&w->f.c->clock, 1);
    assert_int_equal(policy_writer_status(w->writer).waiting, 0);
    assert_int_equal(w->applies, 0);
}

static void test_results_are_gathered_a_few_at_a_time(void **state)
{
    enum { COUNT = 4000, SLICE = 4 * 64, SLICE_MS = 5, RULES = 2 };
    struct world w;
    char *many = pods(COUNT, 1);
    reports_begin(&w, *state, many, 100);
    reports_listed(&w, NULL);
    await_gathering(&w);
    int64_t begun_ms = clock_now_ms(&w.f.c->clock.clock);
    for (int i = 0; i < 10000 && !w.applies; i++) virtual_clock_advance(&w.f.c->clock, 1);
    assert_in_range(clock_now_ms(&w.f.c->clock.clock) - begun_ms, COUNT * RULES / SLICE * SLICE_MS,
                    2 * COUNT * RULES / SLICE * SLICE_MS);
    free(many);
    reports_end(&w);
}

static void test_what_changes_while_it_is_gathered_is_written_afterwards(void **state)
{
    struct world w;
    char *many = pods(2000, 1);
    reports_begin(&w, *state, many, 100);
    reports_listed(&w, NULL);
    await_gathering(&w);
    virtual_clock_advance(&w.f.c->clock, 10);
    reports_change(&w, LW_MODIFIED, "shop/p0 bad=changed");
    reports_change(&w, LW_DELETED, "shop/p1");
    reports_change(&w, LW_DELETED, "shop/p1999");
    reports_change(&w, LW_ADDED, "shop/late bad=late");
    for (int i = 0; i < 100 && policy_writer_status(w.writer).waiting; i++) reports_advance(&w, 15000);
    reports_advance(&w, 15000);
    /* Somebody deletes them all: they are written as they are now. */
    reports_advance(&w, POLICY_LIST_MS);
    w.bodies.len = 0;
    reports_listed(&w, NULL);
    reports_advance(&w, 15000);
    assert_int_equal(reports_count(&w, "\"rule\":\"own\""), 1999);
    assert_int_equal(reports_count(&w, "\"message\":\"bad changed\""), 1);
    assert_int_equal(reports_count(&w, "\"message\":\"bad late\""), 1);
    assert_int_equal(reports_count(&w, "\"name\":\"p1\","), 0);
    free(many);
    reports_end(&w);
}

static void test_a_writer_that_stops_while_it_gathers_lets_go(void **state)
{
    struct world w;
    char *many = pods(2000, 1);
    reports_begin(&w, *state, many, 100);
    reports_listed(&w, NULL);
    await_gathering(&w);
    policy_writer_set_active(w.writer, false);
    live_reload(&w.f, HEAD "k8s.rule { id = 'own', kinds = { 'nodes' }, check = function() end }");
    reports_advance(&w, 60000);
    assert_int_equal(w.applies, 0);
    free(many);
    reports_end(&w);
}

#define unit(test) cmocka_unit_test_setup_teardown(test, cluster_setup, cluster_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit(test_a_large_report_comes_in_parts_which_stay),
        unit(test_what_no_part_has_room_for_is_counted),
        unit(test_what_is_left_out_is_the_least_severe_in_any_order),
        unit(test_the_reason_of_a_finding_that_is_not_accepted_is_reported),
        unit(test_results_are_gathered_a_few_at_a_time),
        unit(test_what_changes_while_it_is_gathered_is_written_afterwards),
        unit(test_a_writer_that_stops_while_it_gathers_lets_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
