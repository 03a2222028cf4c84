/* core/audit/policy_writer.c and policy_parts.c: when reports are written, and what stands in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/policy_writer.h"
#include "base/mem.h"
#include "core/audit/support/live/live.h"

#define RULE                                                                   \
    HEAD "k8s.rule { id = 'own', kinds = { 'pods' }, check = function(o, r)\n" \
         "  if o:label 'bad' then r:fail('bad ' .. o:label 'bad') end end }\n"

enum { SENT_MAX = 64 };

/* A cluster whose reports are what the writer sends. */
struct world {
    struct fixture f;
    struct policy_writer *writer;
    struct buf log;    /* "apply shop/kubelua-audit\n" */
    struct buf bodies; /* of all applies */
    struct policy_flight *flights[SENT_MAX];
    size_t flight_count, applies, lists, largest;
    const char *waiting, *refused;
    bool cancelled;
};

static void on_changed(void *ctx, struct str ns)
{
    struct world *w = ctx;
    if (w->writer) policy_writer_changed(w->writer, ns);
}

static void each(void *ctx, struct str ns, void (*fn)(void *ctx, const struct continuous_result *result),
                 void *fn_ctx)
{
    struct world *w = ctx;
    continuous_each_in(w->f.audit, ns, fn, fn_ctx);
}

static void look(void *ctx, struct policy_outlook *out)
{
    struct world *w = ctx;
    out->pending = continuous_status(w->f.audit).pending;
    out->waiting = w->waiting;
    out->refused = w->refused;
}

static void on_list(void *ctx, bool of_cluster)
{
    struct world *w = ctx;
    (void)of_cluster;
    w->lists++;
}

static void on_write(void *ctx, const struct policy_write *write, struct policy_flight *flight)
{
    struct world *w = ctx;
    assert_true(w->flight_count < SENT_MAX);
    w->flights[w->flight_count++] = flight;
    buf_printf(&w->log, "%s %.*s/%s\n", write->body.p ? "apply" : "delete", STR_ARG(write->ns), write->name);
    if (!write->body.p) return;
    w->applies++;
    if (write->body.n > w->largest) w->largest = write->body.n;
    buf_str(&w->bodies, write->body);
    buf_putc(&w->bodies, '\n');
}

static void on_cancel(void *ctx)
{
    struct world *w = ctx;
    w->flight_count = 0;
    w->cancelled = true;
}

static void begin(struct world *w, struct cluster *c, const char *pods, size_t max_reports)
{
    *w = (struct world){.waiting = "", .refused = ""};
    live_changed = on_changed;
    live_changed_ctx = w;
    w->f = live_begin(c, RULE);
    w->writer = policy_writer_new(&(const struct policy_writer_options){.clock = &c->clock.clock,
                                                                        .api = &policy_api_wgpolicy,
                                                                        .name = "kubelua-audit",
                                                                        .instance = "kubelua",
                                                                        .max_reports = max_reports,
                                                                        .each = each,
                                                                        .look = look,
                                                                        .list = on_list,
                                                                        .write = on_write,
                                                                        .cancel = on_cancel,
                                                                        .ctx = w});
    policy_writer_set_active(w->writer, true);
    cluster_list(c, 0, pods);
    live_settle(&w->f);
}

static void end(struct world *w)
{
    policy_writer_free(w->writer);
    w->writer = NULL;
    live_changed = NULL;
    live_end(&w->f);
    buf_clear(&w->log);
    buf_clear(&w->bodies);
}

static void listed(struct world *w, const struct err *err)
{
    policy_writer_listed(w->writer, false, err);
    policy_writer_listed(w->writer, true, err);
}

static void answer(struct world *w, const struct err *err)
{
    while (w->flight_count) policy_writer_wrote(w->writer, w->flights[--w->flight_count], err);
}

/* Each write is answered at once. */
static void advance(struct world *w, int64_t ms)
{
    for (int64_t i = 0; i < ms; i += 100) {
        virtual_clock_advance(&w->f.c->clock, 100);
        answer(w, NULL);
    }
}

static void change(struct world *w, enum lw_event_type type, const char *pod)
{
    cluster_event(w->f.c, 0, type, pod);
    cluster_settle(w->f.c);
    advance(w, 100);
}

#define assert_sent(w, text)                            \
    do {                                                \
        assert_string_equal(buf_text(&(w)->log), text); \
        (w)->log.len = 0;                               \
    } while (0)

static void assert_says(struct world *w, const char *part)
{
    if (!strstr(buf_text(&w->bodies), part)) fail_msg("\"%s\" is missing in: %s", part, buf_text(&w->bodies));
    w->bodies.len = 0;
}

/* --- when */

static void test_a_namespace_is_written_when_it_has_been_quiet(void **state)
{
    struct world w;
    begin(&w, *state, "shop/a bad=1;shop/b", 100);
    assert_int_equal(w.lists, 2);
    advance(&w, 60000);
    assert_sent(&w, ""); /* not before the cluster was listed */
    listed(&w, NULL);
    advance(&w, 2000);
    assert_sent(&w, "apply shop/kubelua-audit\n");
    assert_says(&w, "\"summary\":{\"pass\":1,\"skip\":0,\"warn\":0,\"fail\":1,\"error\":0}");
    change(&w, LW_ADDED, "new/a bad=1");
    advance(&w, POLICY_QUIET_MS - 1100);
    assert_sent(&w, "");
    advance(&w, 2000);
    assert_sent(&w, "apply new/kubelua-audit\n");
    w.bodies.len = 0;
    change(&w, LW_MODIFIED, "shop/a");
    advance(&w, 15000);
    assert_sent(&w, "apply shop/kubelua-audit\n");
    assert_says(&w, "\"summary\":{\"pass\":2,\"skip\":0,\"warn\":0,\"fail\":0,\"error\":0},\"results\":[]");
    change(&w, LW_DELETED, "shop/a");
    change(&w, LW_DELETED, "shop/b");
    advance(&w, 15000);
    assert_sent(&w, "delete shop/kubelua-audit\n");
    assert_int_equal(policy_writer_status(w.writer).reports, 1);
    assert_int_equal(w.lists, 2);
    end(&w);
}

static void test_what_flaps_is_written_now_and_then(void **state)
{
    struct world w;
    begin(&w, *state, "shop/a bad=1", 100);
    listed(&w, NULL);
    advance(&w, 5000);
    w.applies = 0;
    for (int i = 0; i < 300; i++) {
        char pod[32];
        snprintf(pod, sizeof pod, "shop/a bad=%d", i);
        change(&w, LW_MODIFIED, pod);
        advance(&w, 900);
    }
    assert_in_range(w.applies, 8, 11); /* in five minutes */
    end(&w);
}

static void test_what_is_as_before_is_not_written(void **state)
{
    struct world w;
    begin(&w, *state, "shop/a bad=1", 100);
    listed(&w, NULL);
    advance(&w, 5000);
    assert_sent(&w, "apply shop/kubelua-audit\n");
    change(&w, LW_MODIFIED, "shop/a");
    change(&w, LW_MODIFIED, "shop/a bad=1");
    advance(&w, 60000);
    assert_sent(&w, "");
    advance(&w, POLICY_LIST_MS);
    assert_int_equal(w.lists, 4);
    assert_sent(&w, "");
    end(&w);
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
    begin(&w, *state, "same/a bad=1;other/a bad=1", 100);
    listed(&w, NULL);
    advance(&w, 5000);
    assert_sent(&w, "apply same/kubelua-audit\napply other/kubelua-audit\n");
    char *content = content_of(&w);
    policy_writer_set_active(w.writer, false);
    assert_true(w.cancelled);
    policy_writer_set_active(w.writer, true);
    advance(&w, 1000);
    policy_writer_found(w.writer, STR("same"), STR("kubelua-audit"), str_of(content));
    policy_writer_found(w.writer, STR("other"), STR("kubelua-audit"), STR(""));
    policy_writer_found(w.writer, STR("gone"), STR("kubelua-audit"), str_of(content));
    policy_writer_found(w.writer, STR("gone"), STR("kubelua-audit-3"), STR(""));
    policy_writer_found(w.writer, STR("gone"), STR("kubelua-audit-x"), STR(""));
    policy_writer_found(w.writer, STR("gone"), STR("kubelua-audit-17"), STR(""));
    listed(&w, NULL);
    advance(&w, 5000);
    assert_sent(&w, "apply other/kubelua-audit\ndelete gone/kubelua-audit\ndelete gone/kubelua-audit-3\n");
    assert_int_equal(policy_writer_status(w.writer).reports, 2);
    /* Somebody deleted one. */
    advance(&w, POLICY_LIST_MS);
    policy_writer_found(w.writer, STR("same"), STR("kubelua-audit"), str_of(content));
    listed(&w, NULL);
    advance(&w, 5000);
    assert_sent(&w, "apply other/kubelua-audit\n");
    free(content);
    end(&w);
}

/* --- what goes wrong */

static void test_what_fails_is_tried_again_ever_more_seldom(void **state)
{
    struct world w;
    struct err err;
    err_set(&err, ERR_HTTP, "no");
    err.http_status = 500;
    begin(&w, *state, "shop/a bad=1", 100);
    for (int i = 0; i < 3; i++) {
        listed(&w, &err);
        virtual_clock_advance(&w.f.c->clock, (POLICY_LIST_RETRY_MS << i) - 1000);
        assert_int_equal(w.lists, 2 + 2 * i);
        virtual_clock_advance(&w.f.c->clock, 2000);
        assert_int_equal(w.lists, 4 + 2 * i);
    }
    assert_string_equal(policy_writer_status(w.writer).error, "no");
    listed(&w, NULL);
    virtual_clock_advance(&w.f.c->clock, 5000);
    for (int i = 0; i < 3; i++) {
        assert_sent(&w, "apply shop/kubelua-audit\n");
        answer(&w, &err);
        virtual_clock_advance(&w.f.c->clock, (POLICY_RETRY_MS << i) - 1500);
        assert_sent(&w, "");
        virtual_clock_advance(&w.f.c->clock, 4000);
    }
    answer(&w, NULL);
    assert_int_equal(policy_writer_status(w.writer).failed, 3);
    assert_string_equal(policy_writer_status(w.writer).error, "");
    end(&w);
}

static void test_there_is_room_for_so_many_reports(void **state)
{
    struct world w;
    begin(&w, *state, "one/a bad=1;two/a bad=1", 1);
    listed(&w, NULL);
    advance(&w, 5000);
    assert_sent(&w, "apply one/kubelua-audit\n");
    assert_int_equal(policy_writer_status(w.writer).left_out, 1);
    change(&w, LW_DELETED, "one/a");
    advance(&w, 30000);
    assert_sent(&w, "delete one/kubelua-audit\napply two/kubelua-audit\n");
    assert_int_equal(policy_writer_status(w.writer).left_out, 0);
    end(&w);
}

static void test_a_rule_that_waits_is_waited_for_and_then_told_of(void **state)
{
    struct world w;
    begin(&w, *state, "shop/a bad=1", 100);
    w.waiting = "later";
    advance(&w, 1000);
    policy_writer_found(w.writer, STR("maybe"), STR("kubelua-audit"), STR(""));
    listed(&w, NULL);
    advance(&w, POLICY_WAIT_MS - 5000);
    assert_sent(&w, "");
    advance(&w, 15000);
    assert_sent(&w, "apply shop/kubelua-audit\n"); /* `maybe` may be of that rule */
    assert_says(&w, "\"kubelua/incomplete\":\"Rules are not asked, as their caches are not there: later\"");
    w.waiting = "";
    advance(&w, 30000);
    assert_sent(&w, "apply shop/kubelua-audit\ndelete maybe/kubelua-audit\n");
    assert_null(strstr(buf_text(&w.bodies), "incomplete"));
    end(&w);
}

static void test_what_the_engine_refuses_is_told_of(void **state)
{
    struct world w;
    begin(&w, *state, "shop/a bad=1", 100);
    w.refused = "pods, secrets";
    advance(&w, 1000);
    listed(&w, NULL);
    advance(&w, 15000);
    assert_sent(&w, "apply shop/kubelua-audit\n");
    assert_says(
        &w, "\"kubelua/incomplete\":\"Objects are missing, as the engine refuses them (kubelua status says "
            "why): pods, secrets\"");
    w.refused = "";
    w.bodies.len = 0;
    advance(&w, 30000);
    assert_sent(&w, "apply shop/kubelua-audit\n");
    assert_null(strstr(buf_text(&w.bodies), "incomplete"));
    end(&w);
}

/* --- parts */

static size_t count_of(struct world *w, const char *part)
{
    size_t count = 0;
    for (const char *p = buf_text(&w->bodies); (p = strstr(p, part)); p += strlen(part)) count++;
    return count;
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
    begin(&w, *state, many, 100);
    listed(&w, NULL);
    advance(&w, 5000);
    assert_int_equal(w.applies, 8);
    assert_int_equal(count_of(&w, "\"rule\":\"own\""), 2000);
    assert_true(w.largest < POLICY_REPORT_BYTES);
    w.applies = w.bodies.len = 0;
    change(&w, LW_MODIFIED, "shop/p77 bad=x");
    /* What took long rests long, and on a busy machine the first round did. */
    for (int i = 0; i < 100 && !w.applies; i++) advance(&w, 15000);
    advance(&w, 15000);
    assert_int_equal(w.applies, 1);
    assert_says(&w, "bad x");
    free(many);
    end(&w);
}

static void test_what_no_part_has_room_for_is_counted(void **state)
{
    struct world w;
    char *many = pods(10000, 1);
    const char *at;
    size_t left_out = 0;
    begin(&w, *state, many, 100);
    listed(&w, NULL);
    advance(&w, 5000);
    assert_int_equal(w.applies, POLICY_PARTS_MAX);
    assert_true(w.largest < POLICY_REPORT_BYTES);
    assert_int_equal(count_of(&w, "\"rule\":\"left-out\""), POLICY_PARTS_MAX);
    for (at = buf_text(&w.bodies); (at = strstr(at, " more results")); at++) {
        const char *number = at;
        while (number[-1] >= '0' && number[-1] <= '9') number--;
        left_out += strtoul(number, NULL, 10);
    }
    assert_int_equal(count_of(&w, "\"rule\":\"own\"") + left_out, 10000);
    free(many);
    end(&w);
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
        unit(test_there_is_room_for_so_many_reports),
        unit(test_what_the_engine_refuses_is_told_of),
        unit(test_a_rule_that_waits_is_waited_for_and_then_told_of),
        unit(test_a_large_report_comes_in_parts_which_stay),
        unit(test_what_no_part_has_room_for_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
