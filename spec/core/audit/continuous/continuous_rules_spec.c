/* core/audit/continuous*.c: rules that fail, and what is told of each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "audit/continuous/continuous_internal.h"
#include "core/audit/support/live/live.h"

/* --- what is told of one */

struct search {
    const char *id;
    struct continuous_rule_status found;
    size_t count;
};

static void find(void *ctx, const struct continuous_rule_status *status)
{
    struct search *search = ctx;
    if (strcmp(status->ref->rule->id, search->id) != 0) return;
    search->found = *status;
    search->count++;
}

static struct continuous_rule_status rule_status(struct fixture *f, const char *id)
{
    struct search search = {.id = id};
    continuous_each_rule(f->audit, find, &search);
    assert_int_equal(search.count, 1);
    return search.found;
}

/* --- errors */

static void test_the_last_error_of_a_rule_is_known(void **state)
{
    struct cluster *c = *state;
    struct fixture f =
        live_begin(c, HEAD "k8s.rule { id = 'fine', kinds = { 'pods' }, check = function() end }\n"
                           "k8s.rule { id = 'bad', kinds = { 'pods' }, check = function(o)\n"
                           "  if o:label 'bad' then error('no ' .. o:label 'bad') end end }\n");
    cluster_list(c, 0, "shop/a bad=1;shop/b");
    live_settle(&f);
    cluster_event(c, 0, LW_MODIFIED, "shop/b bad=2");
    live_settle(&f);
    struct continuous_rule_status bad = rule_status(&f, "bad");
    assert_int_equal(bad.errors, 2);
    assert_int_equal(bad.verdicts[VERDICT_ERROR], 2);
    assert_string_equal(bad.error_object, "shop/b");
    assert_non_null(strstr(bad.error, ":4: no 2"));
    assert_false(bad.quarantined);
    assert_int_equal(rule_status(&f, "fine").errors, 0);
    assert_string_equal(rule_status(&f, "fine").error, "");
    live_end(&f);
}

/* --- quarantine */

#define LOOP                                                                    \
    HEAD "asked, broken = 0, true\n"                                            \
         "k8s.rule { id = 'loop', kinds = { 'pods' }, check = function(o, r)\n" \
         "  asked = asked + 1 while broken and o:label 'bad' do end end }\n"    \
         "k8s.rule { id = 'fine', kinds = { 'pods' }, check = function() end }\n"

static void test_a_rule_over_its_limit_three_times_is_not_evaluated_any_more(void **state)
{
    struct cluster *c = *state;
    struct fixture f = live_begin_hurried(c, LOOP);
    cluster_list(c, 0, "shop/a;shop/b;shop/c");
    live_settle(&f);
    assert_int_equal(rule_status(&f, "loop").verdicts[VERDICT_PASS], 3);
    cluster_event(c, 0, LW_MODIFIED, "shop/a bad=1");
    cluster_event(c, 0, LW_MODIFIED, "shop/b bad=1");
    live_settle(&f);
    assert_false(rule_status(&f, "loop").quarantined);
    cluster_event(c, 0, LW_ADDED, "shop/d bad=1");
    live_settle(&f);
    struct continuous_rule_status loop = rule_status(&f, "loop");
    assert_true(loop.quarantined);
    assert_int_equal(loop.verdicts[VERDICT_ERROR], 4); /* c too, which it would say is good */
    assert_int_equal(loop.verdicts[VERDICT_PASS], 0);
    assert_int_equal(loop.errors, 3);
    assert_non_null(strstr(loop.error, "over the limit"));
    assert_int_equal(continuous_status(f.audit).quarantined_rules, 1);
    assert_int_equal(rule_status(&f, "fine").verdicts[VERDICT_PASS], 4);
    assert_ask(c, f.script, "return asked", "6");
    char *known = live_known(&f);
    assert_non_null(
        strstr(known, "error the rule is in quarantine after consecutive calls exceeded a limit ("));
    assert_non_null(strstr(known, "quarantine --lift rules/rule/loop"));
    free(known);
    live_end(&f);
}

static void test_it_is_evaluated_again_when_it_is_lifted(void **state)
{
    struct cluster *c = *state;
    struct fixture f = live_begin_hurried(c, LOOP);
    cluster_list(c, 0, "shop/a bad=1;shop/b bad=1;shop/c bad=1");
    live_settle(&f);
    assert_true(rule_status(&f, "loop").quarantined);
    assert_ask(c, f.script, "broken = false return 1", "1");
    assert_int_equal(script_lift(f.script, "rule/loop"), 1);
    live_settle(&f);
    assert_false(rule_status(&f, "loop").quarantined);
    assert_int_equal(rule_status(&f, "loop").verdicts[VERDICT_PASS], 3);
    live_end(&f);
}

static void test_a_new_generation_begins_again(void **state)
{
    struct cluster *c = *state;
    struct fixture f = live_begin_hurried(c, LOOP);
    cluster_list(c, 0, "shop/a bad=1;shop/b bad=1;shop/c bad=1");
    live_settle(&f);
    live_reload(&f, LOOP);
    assert_false(rule_status(&f, "loop").quarantined);
    live_settle(&f);
    assert_true(rule_status(&f, "loop").quarantined); /* it is no better */
    assert_ask(c, f.script, "return asked", "3");
    live_reload(&f, HEAD "k8s.rule { id = 'loop', kinds = { 'pods' }, check = function() end }");
    live_settle(&f);
    assert_int_equal(rule_status(&f, "loop").verdicts[VERDICT_PASS], 3);
    live_end(&f);
}

/* A slice ends while all objects become stale, the one that is being asked about too. */
static void test_the_end_of_a_slice_loses_no_count(void **state)
{
    struct cluster *c = *state;
    struct buf list = {0};
    struct fixture f = live_begin_hurried(
        c, HEAD
        "k8s.rule { id = 'loop', kinds = { 'pods' }, check = function(o) while true do o:name() end end }\n"
        "k8s.rule { id = 'second', kinds = { 'pods' }, check = function() end }\n");
    for (int i = 0; i < 60; i++) buf_printf(&list, "%sshop/p%d", i ? ";" : "", i);
    cluster_list(c, 0, buf_text(&list));
    for (int i = 0; i < 200; i++) {
        virtual_clock_advance(&c->clock, 5);
        assert_in_range(continuous_status(f.audit).pending, 0, 60);
    }
    live_settle(&f);
    assert_int_equal(rule_status(&f, "loop").verdicts[VERDICT_ERROR], 60);
    assert_int_equal(rule_status(&f, "second").verdicts[VERDICT_PASS], 60);
    buf_clear(&list);
    live_end(&f);
}

/* Who asks once is to have all the answers. */
static void test_a_rule_of_a_script_without_watches_is_evaluated(void **state)
{
    struct cluster *c = *state;
    struct fixture f = live_begin_hurried(c, LOOP);
    cluster_list(c, 0, "shop/a bad=1;shop/b bad=1;shop/c bad=1;shop/d bad=1;shop/e bad=1");
    cluster_settle(c);
    script_leave_rule(f.script, 0);
    live_settle(&f);
    assert_ask(c, f.script, "return asked", "5");
    assert_false(rule_status(&f, "loop").quarantined);
    live_end(&f);
}

/* --- several scripts, several names */

#define RULE(id, word) \
    "k8s.rule { id = '" id "', kinds = { 'pods' }, check = function(o, r) r:warn '" word "' end }\n"

/* One edit, of which the script that gets the rule is taken first. */
static void test_a_rule_that_goes_to_another_script_is_evaluated_there(void **state)
{
    struct cluster *c = *state;
    struct fixture f = live_begin(c, HEAD RULE("moves", "here"));
    struct script *other = cluster_load(c, "other", HEAD RULE("stays", "other")), *now;
    continuous_take(f.audit, NULL, other);
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a");
    live_settle(&f);
    now = cluster_load(c, "other", HEAD RULE("stays", "other") RULE("moves", "there"));
    cluster_resolve(c);
    continuous_take(f.audit, other, now);
    script_free(other);
    assert_int_equal(continuous_status(f.audit).duplicate_rules, 1);
    assert_int_equal(continuous_status(f.audit).rules, 2);
    live_reload(&f, HEAD RULE("new", "here"));
    live_settle(&f);
    assert_int_equal(continuous_status(f.audit).duplicate_rules, 0);
    char *known = live_known(&f);
    assert_string_equal(known, "; warn here  <- new shop/a warn\n; warn other  <- stays shop/a warn\n"
                               "; warn there  <- moves shop/a warn\n");
    free(known);
    continuous_take(f.audit, now, NULL);
    script_free(now);
    live_end(&f);
}

static void find_duplicate(void *ctx, const struct continuous_rule_status *status)
{
    if (status->duplicate_rule) *(const char **)ctx = status->duplicate_rule;
}

static void test_a_second_rule_of_an_id_is_reported_and_not_evaluated(void **state)
{
    struct cluster *c = *state;
    const char *duplicate_rule = NULL;
    struct fixture f = live_begin(c, HEAD RULE("one", "here"));
    struct script *other = cluster_load(c, "other", HEAD RULE("one", "there"));
    continuous_take(f.audit, NULL, other);
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a");
    live_settle(&f);
    continuous_each_rule(f.audit, find_duplicate, &duplicate_rule);
    assert_string_equal(duplicate_rule, "rules");
    assert_int_equal(continuous_status(f.audit).verdicts[VERDICT_WARN], 1);
    continuous_take(f.audit, other, NULL); /* it goes with its script */
    script_free(other);
    assert_int_equal(continuous_status(f.audit).duplicate_rules, 0);
    live_end(&f);
}

static void test_two_names_of_a_kind_are_one(void **state)
{
    struct cluster *c = *state;
    struct fixture f = live_begin(c, HEAD "asked = 0\nk8s.rule { id = 'r', kinds = { 'pods', 'pod' },\n"
                                          "  check = function(o, r) asked = asked + 1 end }\n");
    cluster_list(c, 0, "shop/a;shop/b");
    live_settle(&f);
    cluster_event(c, 0, LW_MODIFIED, "shop/a zone=x");
    live_settle(&f);
    struct continuous_status status = continuous_status(f.audit);
    assert_int_equal(status.objects, 2);
    assert_int_equal(status.verdicts[VERDICT_PASS], 2);
    assert_int_equal(status.waiting_rules, 0);
    assert_ask(c, f.script, "return asked", "3");
    live_end(&f);
}

/* As many as a kind may have, and by key, by namespace, and all: of each look it is known what it depends on.
 */
static void test_all_indexes_that_there_may_be_are_watched(void **state)
{
    struct cluster *c = *state;
    struct fixture f = live_begin(
        c, HEAD "local function rule(id, index) k8s.rule { id = 'r' .. id, kinds = { 'pods' },\n"
                "  uses = { n = { kind = 'nodes', index = index } },\n"
                "  check = function(o, r, use) if #use.n 'n2' > 0 then r:fail 'there is' end end } end\n"
                "for i = 1, 64 do rule(i, 'metadata.labels.l' .. i) end\n"
                "rule('k', 'key') rule('n', 'namespace')\n"
                "k8s.rule { id = 'all', kinds = { 'pods' }, uses = { n = { kind = 'nodes' } },\n"
                "  check = function(o, r, use) if #use.n() > 1 then r:fail 'two' end end }\n");
    cluster_list(c, 0, "shop/a");
    cluster_list(c, 1, "n1 zone=x");
    live_settle(&f);
    cluster_event(c, 1, LW_ADDED, "n2 l64=n2");
    live_settle(&f);
    assert_int_equal(continuous_status(f.audit).untracked_rules, 0);
    assert_int_equal(continuous_status(f.audit).verdicts[VERDICT_FAIL], 3);
    live_assert_true(&f);
    live_end(&f);
}

/* One rule stays, and one has another index each time. */
static void reload_with(struct fixture *f, int i)
{
    struct buf lua = {0};
    buf_printf(&lua,
               HEAD "k8s.rule { id = 'stays', kinds = { 'pods' },\n"
                    "  uses = { n = { kind = 'nodes', index = 'metadata.labels.zone' } },\n"
                    "  check = function(o, r, use) if #use.n 'x' > 1 then r:fail 'two' end end }\n"
                    "k8s.rule { id = 'other', kinds = { 'pods' },\n"
                    "  uses = { n = { kind = 'nodes', index = 'metadata.labels.l%d' } },\n"
                    "  check = function(o, r, use) if #use.n 'y' > 0 then r:fail 'there is' end end }\n",
               i);
    live_reload(f, buf_text(&lua));
    buf_clear(&lua);
}

static void test_an_index_goes_with_the_last_rule_that_uses_it(void **state)
{
    struct cluster *c = *state;
    struct fixture f = live_begin(c, HEAD);
    reload_with(&f, 0);
    cluster_list(c, 0, "shop/a");
    cluster_list(c, 1, "n1 zone=x");
    for (int i = 1; i <= 70; i++) {
        reload_with(&f, i);
        live_settle(&f);
    }
    const struct watch *watch = TAILQ_FIRST(&f.audit->watches);
    assert_null(TAILQ_NEXT(watch, link));
    assert_int_equal(watch->count, 2);
    cluster_event(c, 1, LW_ADDED, "n2 zone=x");
    cluster_event(c, 1, LW_ADDED, "n3 l70=y");
    live_settle(&f);
    assert_int_equal(continuous_status(f.audit).verdicts[VERDICT_FAIL], 2);
    live_assert_true(&f);
    live_end(&f);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, cluster_setup, cluster_teardown)
    const struct CMUnitTest tests[] = {
        T(test_the_last_error_of_a_rule_is_known),
        T(test_a_rule_over_its_limit_three_times_is_not_evaluated_any_more),
        T(test_it_is_evaluated_again_when_it_is_lifted),
        T(test_a_new_generation_begins_again),
        T(test_the_end_of_a_slice_loses_no_count),
        T(test_a_rule_that_goes_to_another_script_is_evaluated_there),
        T(test_a_second_rule_of_an_id_is_reported_and_not_evaluated),
        T(test_two_names_of_a_kind_are_one),
        T(test_all_indexes_that_there_may_be_are_watched),
        T(test_an_index_goes_with_the_last_rule_that_uses_it),
        T(test_a_rule_of_a_script_without_watches_is_evaluated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
