/* core/audit/continuous*.c: rules that are asked again when what they looked at has changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "core/audit/support/live/live.h"

#define assert_knows(f, text)          \
    do {                               \
        char *is = live_known(f);      \
        assert_string_equal(is, text); \
        free(is);                      \
    } while (0)

/* --- one thing at a time */

#define OWN                                                                    \
    HEAD "asked = 0\n"                                                         \
         "k8s.rule { id = 'own', kinds = { 'pods' }, check = function(o, r)\n" \
         "  asked = asked + 1 if o:label 'bad' then r:fail 'bad' end end }\n"

static void test_an_object_that_changes_is_evaluated_again(void **state)
{
    struct cluster *c = *state;
    struct fixture f = live_begin(c, OWN);
    cluster_list(c, 0, "shop/a;shop/b bad=1");
    live_settle(&f);
    assert_knows(&f, " <- own shop/a pass\n; fail bad  <- own shop/b fail\n");
    cluster_event(c, 0, LW_MODIFIED, "shop/a bad=1");
    live_settle(&f);
    assert_knows(&f, "; fail bad  <- own shop/a fail\n; fail bad  <- own shop/b fail\n");
    assert_ask(c, f.script, "return asked", "3");
    cluster_event(c, 0, LW_DELETED, "shop/b");
    cluster_event(c, 0, LW_ADDED, "bar/c");
    live_settle(&f);
    assert_knows(&f, " <- own bar/c pass\n; fail bad  <- own shop/a fail\n");
    struct continuous_status status = continuous_status(f.audit);
    assert_int_equal(status.objects, 2);
    assert_int_equal(status.verdicts[VERDICT_PASS], 1);
    assert_int_equal(status.verdicts[VERDICT_FAIL], 1);
    live_end(&f);
}

/* However often it changed while it waited. */
static void test_changes_in_a_row_are_one_question(void **state)
{
    struct cluster *c = *state;
    struct fixture f = live_begin(c, OWN);
    cluster_list(c, 0, "shop/a");
    live_settle(&f);
    for (int i = 0; i < 50; i++) cluster_event(c, 0, LW_MODIFIED, "shop/a bad=1");
    live_settle(&f);
    assert_ask(c, f.script, "return asked", "2");
    cluster_event(c, 0, LW_DELETED, "shop/a");
    cluster_event(c, 0, LW_ADDED, "shop/a");
    live_settle(&f);
    assert_knows(&f, " <- own shop/a pass\n");
    assert_ask(c, f.script, "return asked", "3");
    live_end(&f);
}

#define USES                                                                         \
    HEAD "asked = {}\n"                                                              \
         "k8s.rule { id = 'u', kinds = { 'pods' },\n"                                \
         "  uses = { node = { kind = 'nodes', index = 'metadata.labels.zone' } },\n" \
         "  check = function(o, r, use) asked[#asked + 1] = o:name()\n"              \
         "  if #use.node(o:label 'zone') == 0 then r:fail 'no node' end end }\n"

static void test_only_dependents_of_a_change_are_evaluated_again(void **state)
{
    struct cluster *c = *state;
    struct fixture f = live_begin(c, USES);
    cluster_list(c, 0, "shop/a zone=x;shop/b zone=y;shop/c zone=x");
    cluster_list(c, 1, "n1 zone=y");
    live_settle(&f);
    assert_int_equal(continuous_status(f.audit).dependencies, 3);
    assert_ask(c, f.script, "local n = #asked asked = {} return n", "3");
    cluster_event(c, 1, LW_ADDED, "n2 zone=x"); /* appears where nothing was */
    live_settle(&f);
    assert_ask(c, f.script, "local t = table.concat(asked, ' ') asked = {} return t", "a c");
    cluster_event(c, 1, LW_MODIFIED, "n2 zone=z"); /* leaves */
    live_settle(&f);
    assert_ask(c, f.script, "local t = table.concat(asked, ' ') asked = {} return t", "a c");
    cluster_event(c, 1, LW_DELETED, "n1 zone=y");
    live_settle(&f);
    assert_ask(c, f.script, "local t = table.concat(asked, ' ') asked = {} return t", "b");
    cluster_event(c, 1, LW_ADDED, "n3 zone=w");
    live_settle(&f);
    assert_ask(c, f.script, "return #asked", "0");
    live_assert_true(&f);
    live_end(&f);
}

/* Whoever might have found it is told that he may not find all. */
static void test_an_index_function_that_fails_makes_its_results_stale(void **state)
{
    struct cluster *c = *state;
    struct fixture f = live_begin(
        c, HEAD
        "k8s.rule { id = 'u', kinds = { 'pods' }, uses = { n = { kind = 'nodes',\n"
        "  index = function(o, emit) emit(o:label 'zone') if o:label 'bad' then error 'no' end end } },\n"
        "  check = function(o, r, use) use.n 'x' end }");
    cluster_list(c, 0, "shop/a;shop/b");
    cluster_list(c, 1, "n1 zone=x");
    live_settle(&f);
    assert_int_equal(continuous_status(f.audit).verdicts[VERDICT_PASS], 2);
    cluster_event(c, 1, LW_ADDED, "n2 zone=y bad=1");
    live_settle(&f);
    assert_int_equal(continuous_status(f.audit).verdicts[VERDICT_ERROR], 2);
    live_assert_true(&f);
    live_end(&f);
}

/* The index tells which values came and went, even if late. */
static void test_a_change_calls_an_index_function_once(void **state)
{
    struct cluster *c = *state;
    struct fixture f = live_begin(
        c, HEAD
        "calls, asked = 0, {}\n"
        "k8s.rule { id = 'u', kinds = { 'pods' }, uses = { n = { kind = 'nodes',\n"
        "  index = function(o, emit) calls = calls + 1 emit(o:label 'zone') end } },\n"
        "  check = function(o, r, use) asked[#asked + 1] = o:name()\n"
        "  if #use.n(o:label 'zone') == 0 then r:fail 'no node' end end }\n"
        "function take() local text = calls .. ' ' .. table.concat(asked, ' ') calls, asked = 0, {} return "
        "text end");
    cluster_list(c, 0, "shop/a zone=x;shop/b zone=y;shop/c zone=z");
    cluster_list(c, 1, "n1 zone=x");
    live_settle(&f);
    assert_ask(c, f.script, "return take()", "1 a b c");
    cluster_event(c, 1, LW_MODIFIED, "n1 zone=y");
    live_settle(&f);
    assert_ask(c, f.script, "return take()", "1 a b");
    cluster_event(c, 1, LW_DELETED, "n1 zone=y");
    live_settle(&f);
    assert_ask(c, f.script, "return take()", "0 b");
    live_assert_true(&f);
    live_end(&f);
}

#define TROUBLED                                                                                           \
    HEAD "broken = true\n"                                                                                 \
         "k8s.rule { id = 'u', kinds = { 'pods' }, uses = { n = { kind = 'nodes',\n"                       \
         "  index = function(o, emit) while broken and o:label 'bad' do end emit(o:label 'zone') end } }," \
         "\n  check = function(o, r, use) if #use.n 'x' ~= 1 then r:fail(#use.n 'x' .. ' nodes') end end }"

/* Quarantined, lifted, built anew: what was said meanwhile is said again. */
static void test_a_rebuilt_index_counts_as_a_change(void **state)
{
    struct cluster *c = *state;
    struct fixture f = live_begin_hurried(c, TROUBLED);
    cluster_list(c, 0, "shop/a;shop/b");
    cluster_list(c, 1, "n1 zone=x bad=1;n2 zone=y bad=1;n3 zone=z bad=1");
    live_settle(&f);
    assert_int_equal(continuous_status(f.audit).verdicts[VERDICT_ERROR], 2);
    assert_ask(c, f.script, "broken = false return 1", "1");
    assert_int_equal(script_lift(f.script, "index/function u/n"), 1);
    live_settle(&f);
    assert_int_equal(continuous_status(f.audit).verdicts[VERDICT_PASS], 2);
    live_assert_true(&f);
    assert_ask(c, f.script, "broken = true return 1", "1"); /* and once more */
    cluster_event(c, 1, LW_ADDED, "n4 zone=y bad=1");
    live_settle(&f);
    assert_int_equal(continuous_status(f.audit).verdicts[VERDICT_ERROR], 2);
    live_assert_true(&f);
    live_end(&f);
}

static void say_nothing(void *ctx, const struct rule_finding *finding)
{
    (void)ctx;
    (void)finding;
}

static bool is_an_error(void *ctx, struct root *object)
{
    const struct rule_sink sink = {.found = say_nothing};
    assert_int_equal(script_evaluate_rule(ctx, 0, object, &sink), VERDICT_ERROR);
    return true;
}

/* Looks at what the index does not have yet are no results. */
static void test_while_an_index_is_rebuilt_nothing_passes(void **state)
{
    struct cluster *c = *state;
    struct fixture f = live_begin_hurried(c, TROUBLED);
    cluster_list(c, 0, "shop/a;shop/b");
    cluster_list(c, 1, "n1 zone=x bad=1;n2 zone=y bad=1;n3 zone=x bad=1");
    live_settle(&f);
    assert_ask(c, f.script, "broken = false return 1", "1");
    assert_int_equal(script_lift(f.script, "index/function u/n"), 1); /* its turn has not come */
    indexer_each(claim_indexer(script_rule(f.script, 0)->kinds[0]), is_an_error, f.script);
    live_settle(&f);
    assert_int_equal(continuous_status(f.audit).verdicts[VERDICT_FAIL], 2);
    live_end(&f);
}

static void test_nothing_is_evaluated_before_all_caches_are_there(void **state)
{
    struct cluster *c = *state;
    struct fixture f = live_begin(c, USES);
    cluster_list(c, 0, "shop/a zone=x");
    live_settle(&f);
    assert_int_equal(continuous_status(f.audit).waiting_rules, 1);
    assert_knows(&f, "");
    cluster_list(c, 1, "n1 zone=x");
    live_settle(&f);
    assert_int_equal(continuous_status(f.audit).waiting_rules, 0);
    assert_knows(&f, " <- u shop/a pass\n");
    live_end(&f);
}

static void test_a_slice_is_short_and_the_rest_comes_later(void **state)
{
    struct cluster *c = *state;
    struct buf list = {0};
    struct fixture f = live_begin(c, OWN);
    for (int i = 0; i < 100; i++) buf_printf(&list, "%sshop/p%d", i ? ";" : "", i);
    cluster_list(c, 0, buf_text(&list));
    virtual_clock_advance(&c->clock, 100); /* the caches are found to be there, and a slice */
    size_t pending = continuous_status(f.audit).pending;
    assert_in_range(pending, 85, 99);
    virtual_clock_advance(&c->clock, 1);
    assert_in_range(continuous_status(f.audit).pending, pending - 15, pending - 1);
    live_settle(&f);
    assert_int_equal(continuous_status(f.audit).verdicts[VERDICT_PASS], 100);
    buf_clear(&list);
    live_end(&f);
}

/* --- limits */

static void test_a_rule_with_too_many_dependencies_is_evaluated_for_everything(void **state)
{
    struct cluster *c = *state;
    struct fixture f = live_begin_with(c, USES, 2, CONTINUOUS_FINDING_BYTES_MAX);
    cluster_list(c, 0, "shop/a zone=x;shop/b zone=y;shop/c zone=z");
    cluster_list(c, 1, "n1 zone=y");
    live_settle(&f);
    assert_int_equal(continuous_status(f.audit).untracked_rules, 1);
    assert_int_equal(continuous_status(f.audit).dependencies, 0);
    live_assert_true(&f);
    cluster_event(c, 1, LW_ADDED, "n2 zone=x");
    cluster_event(c, 1, LW_MODIFIED, "n1 zone=z");
    live_settle(&f);
    virtual_clock_advance(&c->clock, CONTINUOUS_UNTRACKED_MS);
    live_settle(&f);
    live_assert_true(&f);
    live_end(&f);
}

static void test_findings_without_room_are_verdicts_alone(void **state)
{
    struct cluster *c = *state;
    struct fixture f = live_begin_with(c, OWN, CONTINUOUS_DEPENDENCIES_MAX, 40);
    cluster_list(c, 0, "shop/a bad=1;shop/b bad=1");
    live_settle(&f);
    assert_knows(&f, " <- own shop/b fail\n; fail bad  <- own shop/a fail\n");
    assert_int_equal(continuous_status(f.audit).left_out, 1);
    cluster_event(c, 0, LW_DELETED, "shop/a");
    cluster_event(c, 0, LW_MODIFIED, "shop/b bad=2");
    live_settle(&f);
    assert_knows(&f, "; fail bad  <- own shop/b fail\n");
    assert_int_equal(continuous_status(f.audit).left_out, 0);
    live_end(&f);
}

/* --- generations */

static void test_a_reload_evaluates_the_rules_that_have_changed(void **state)
{
    struct cluster *c = *state;
    static const char
        one[] =
            HEAD "local max = 1\nlocal function over(o) asked = (asked or '') .. o:name() return max end\n"
                 "k8s.rule { id = 'a', kinds = { 'pods' }, check = function(o, r) over(o) end }\n"
                 "k8s.rule { id = 'b', kinds = { 'pods' }, check = function(o, r) r:warn 'b' end }\n",
        two[] =
            HEAD "local max = 2\nlocal function over(o) asked = (asked or '') .. o:name() return max end\n"
                 "k8s.rule { id = 'a', kinds = { 'pods' }, check = function(o, r) over(o) end }\n"
                 "k8s.rule { id = 'b', kinds = { 'pods' }, check = function(o, r) r:warn 'b' end }\n"
                 "k8s.rule { id = 'c', kinds = { 'pods' }, check = function(o, r) r:fail 'c' end }\n";
    struct fixture f = live_begin(c, one);
    cluster_list(c, 0, "shop/p;shop/q");
    live_settle(&f);
    size_t sources = c->source_count;
    live_reload(&f, one); /* the same again */
    live_settle(&f);
    assert_ask(c, f.script, "return asked", "nil");
    live_reload(&f, two); /* what `over` reaches is another */
    struct continuous_status status = continuous_status(f.audit);
    assert_int_equal(status.verdicts[VERDICT_WARN], 2); /* b goes on */
    assert_int_equal(status.verdicts[VERDICT_PASS], 0);
    live_settle(&f);
    assert_ask(c, f.script, "return asked", "pq");
    live_assert_true(&f);
    live_reload(&f, HEAD "k8s.rule { id = 'b', kinds = { 'pods' }, check = function(o, r) r:warn 'b' end }");
    status = continuous_status(f.audit);
    assert_int_equal(status.rules, 1);
    assert_int_equal(status.verdicts[VERDICT_WARN], 2);
    assert_int_equal(c->source_count, sources); /* nothing was listed again */
    cluster_event(c, 0, LW_ADDED, "shop/r");
    live_settle(&f);
    live_assert_true(&f);
    live_end(&f);
}

static void test_who_does_not_lead_knows_nothing(void **state)
{
    struct cluster *c = *state;
    struct fixture f = live_begin(c, USES);
    continuous_set_active(f.audit, false);
    cluster_list(c, 0, "shop/a zone=x");
    cluster_list(c, 1, "n1 zone=x");
    live_settle(&f);
    assert_knows(&f, "");
    continuous_set_active(f.audit, true);
    live_settle(&f);
    assert_knows(&f, " <- u shop/a pass\n");
    continuous_set_active(f.audit, false);
    assert_knows(&f, "");
    cluster_event(c, 1, LW_DELETED, "n1 zone=x");
    continuous_set_active(f.audit, true);
    live_settle(&f);
    assert_knows(&f, "; fail no node  <- u shop/a fail\n");
    live_end(&f);
}

/* --- days */

/* The virtual clock begins on 2026-01-01. */
static void test_what_was_accepted_until_today_counts_after_midnight(void **state)
{
    struct cluster *c = *state;
    struct fixture f = live_begin(c, OWN);
    cluster_list(c, 0, "");
    live_put_pod(c, "until=2026-01-01 soon");
    live_settle(&f);
    assert_knows(&f, "; skip bad (accepted until 2026-01-01: soon) <- own shop/a skip\n");
    virtual_clock_advance(&c->clock, 23LL * 3600 * 1000 + 59 * 60 * 1000);
    live_settle(&f);
    assert_int_equal(continuous_status(f.audit).verdicts[VERDICT_SKIP], 1);
    virtual_clock_advance(&c->clock, 120 * 1000);
    live_settle(&f);
    assert_knows(&f, "; fail bad (accepted until 2026-01-01, which has passed: soon) <- own shop/a fail\n");
    assert_ask(c, f.script, "return asked", "2");
    live_end(&f);
}

#define ACCEPTED_FOR_A_DAY                                                                               \
    HEAD "k8s.rule { id = 'own', kinds = { 'pods' }, ignore = { max_days = 1 }, check = function(o, r) " \
         "r:fail 'bad' end }\n"

static void test_what_was_accepted_too_far_ahead_is_accepted_when_the_day_is_near(void **state)
{
    struct cluster *c = *state;
    struct fixture f = live_begin(c, ACCEPTED_FOR_A_DAY);
    cluster_list(c, 0, "");
    live_put_pod(c, "until=2026-01-03 soon");
    live_settle(&f);
    assert_knows(&f,
                 "; fail bad (not accepted until 2026-01-03, as the rule has ignore.max_days = 1: soon) <- "
                 "own shop/a fail\n");
    virtual_clock_advance(&c->clock, 24LL * 3600 * 1000 + 60 * 1000);
    live_settle(&f);
    assert_knows(&f, "; skip bad (accepted until 2026-01-03: soon) <- own shop/a skip\n");
    live_end(&f);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, cluster_setup, cluster_teardown)
    const struct CMUnitTest tests[] = {
        T(test_an_object_that_changes_is_evaluated_again),
        T(test_changes_in_a_row_are_one_question),
        T(test_only_dependents_of_a_change_are_evaluated_again),
        T(test_an_index_function_that_fails_makes_its_results_stale),
        T(test_a_change_calls_an_index_function_once),
        T(test_a_rebuilt_index_counts_as_a_change),
        T(test_while_an_index_is_rebuilt_nothing_passes),
        T(test_nothing_is_evaluated_before_all_caches_are_there),
        T(test_a_slice_is_short_and_the_rest_comes_later),
        T(test_a_rule_with_too_many_dependencies_is_evaluated_for_everything),
        T(test_findings_without_room_are_verdicts_alone),
        T(test_a_reload_evaluates_the_rules_that_have_changed),
        T(test_who_does_not_lead_knows_nothing),
        T(test_what_was_accepted_until_today_counts_after_midnight),
        T(test_what_was_accepted_too_far_ahead_is_accepted_when_the_day_is_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
