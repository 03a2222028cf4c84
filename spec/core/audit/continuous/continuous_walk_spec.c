/* core/audit/continuous/continuous_walk.c: what rules say of a namespace, told in steps while things come and
 * go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/found/findings.h"
#include "core/audit/support/live/live.h"

#define POD_RULE(id)                                        \
    "k8s.rule { id = '" id "', kinds = { 'pods' }, check =" \
    " function(o, r) if o:label 'bad' then r:fail 'bad' end end }\n"
#define NODE_RULE "k8s.rule { id = 'node', kinds = { 'nodes' }, check = function() end }\n"
#define TWO       HEAD POD_RULE("one") POD_RULE("two") NODE_RULE

enum { PODS = 300, RULES = 2 };

struct walker {
    struct continuous_walk *walk;
    size_t results, last; /* in all; of the last step */
    size_t told[PODS];    /* of p0 and so on */
};

static void on_result(void *ctx, const struct continuous_result *result)
{
    struct walker *walker = ctx;
    struct text text;
    struct str name = root_name(result->object, &text);
    walker->results++;
    walker->last++;
    uint64_t number; /* no zero is behind the name */
    if (name.p[0] != 'p') return;
    assert_true(str_to_u64((struct str){name.p + 1, name.n - 1}, &number) && number < PODS);
    walker->told[number]++;
}

static bool step(struct walker *walker, size_t max)
{
    walker->last = 0;
    return continuous_walk_on(walker->walk, max, on_result, walker);
}

static void finish(struct walker *walker, size_t max)
{
    while (step(walker, max)) continue;
    continuous_walk_free(walker->walk);
    walker->walk = NULL;
}

static struct fixture begin(struct cluster *c, const char *lua)
{
    struct fixture f = live_begin(c, lua);
    struct buf pods = {0};
    for (int i = 0; i < PODS; i++) buf_printf(&pods, "%s%s/p%d", i ? ";" : "", i % 3 ? "shop" : "bar", i);
    cluster_list(c, 0, buf_text(&pods));
    cluster_list(c, 1, "n1;n2");
    live_settle(&f);
    buf_clear(&pods);
    return f;
}

static void remove_pod(struct fixture *f, int i)
{
    char pod[32];
    snprintf(pod, sizeof pod, "%s/p%d", i % 3 ? "shop" : "bar", i);
    cluster_event(f->c, 0, LW_DELETED, pod);
}

static void test_a_step_reports_so_many_results_and_no_more(void **state)
{
    struct fixture f = begin(*state, TWO);
    struct walker walker = {.walk = continuous_walk_new(f.audit, STR("shop"))};
    size_t steps = 1;
    while (step(&walker, 7)) {
        assert_true(walker.last < 7 + RULES);
        steps++;
    }
    continuous_walk_free(walker.walk);
    assert_int_equal(walker.results, PODS * 2 / 3 * RULES);
    assert_true(steps >= walker.results / (7 + RULES));
    for (int i = 0; i < PODS; i++) assert_int_equal(walker.told[i], i % 3 ? RULES : 0);
    live_end(&f);
}

static void test_what_has_no_namespace_has_a_walk_of_its_own(void **state)
{
    struct fixture f = begin(*state, TWO);
    struct walker walker = {.walk = continuous_walk_new(f.audit, STR(""))};
    finish(&walker, 1);
    assert_int_equal(walker.results, 2);
    walker = (struct walker){.walk = continuous_walk_new(f.audit, STR("nowhere"))};
    finish(&walker, 1);
    assert_int_equal(walker.results, 0);
    live_end(&f);
}

/* The next ones, those before, and the last; and some come, which have their places. */
static void test_an_object_that_stays_is_visited_once_whatever_comes_and_goes(void **state)
{
    struct fixture f = begin(*state, TWO);
    struct walker walker = {.walk = continuous_walk_new(f.audit, STR("shop"))};
    bool gone[PODS] = {false};
    for (int round = 0; step(&walker, 20); round++) {
        int told = 0;
        while (told < PODS && (told % 3 == 0 || walker.told[told] || gone[told])) told++;
        const int going[] = {told + 1, told + 2, told - 3, PODS - 1 - round, told};
        for (size_t i = 0; i < sizeof going / sizeof *going && told < PODS; i++) {
            int pod = going[i];
            if (pod < 0 || pod >= PODS || pod % 3 == 0 || gone[pod]) continue;
            remove_pod(&f, pod);
            gone[pod] = true;
        }
        char name[32];
        snprintf(name, sizeof name, "shop/new-%d", round);
        cluster_event(f.c, 0, LW_ADDED, name);
        virtual_clock_advance(&f.c->clock, 100);
    }
    continuous_walk_free(walker.walk);
    for (int i = 0; i < PODS; i++) {
        if (gone[i])
            assert_true(walker.told[i] <= RULES);
        else
            assert_int_equal(walker.told[i], i % 3 ? RULES : 0);
    }
    live_end(&f);
}

/* The slots of those that went are taken by those that come. */
static void test_a_namespace_goes_and_comes_again(void **state)
{
    struct fixture f = begin(*state, TWO);
    struct walker walker = {.walk = continuous_walk_new(f.audit, STR("shop"))};
    step(&walker, 10);
    size_t told = walker.results;
    for (int i = 0; i < PODS; i++)
        if (i % 3) remove_pod(&f, i);
    live_settle(&f);
    cluster_event(f.c, 0, LW_ADDED, "bar/p1");
    cluster_event(f.c, 0, LW_ADDED, "shop/p2");
    live_settle(&f);
    finish(&walker, 10);
    assert_true(walker.results <= told + RULES);
    walker = (struct walker){.walk = continuous_walk_new(f.audit, STR("shop"))};
    finish(&walker, 10);
    assert_int_equal(walker.results, RULES);
    assert_int_equal(walker.told[2], RULES);
    live_end(&f);
}

static void test_an_object_that_goes_and_comes_again_is_visited_once_at_most(void **state)
{
    struct fixture f = begin(*state, TWO);
    struct walker walker = {.walk = continuous_walk_new(f.audit, STR("shop"))};
    step(&walker, 10);
    assert_int_equal(walker.told[1], RULES);
    const int again[] = {1, 2, PODS - 1}; /* told of, and the last */
    for (size_t i = 0; i < sizeof again / sizeof *again; i++) {
        char pod[32];
        remove_pod(&f, again[i]);
        snprintf(pod, sizeof pod, "shop/p%d", again[i]);
        cluster_event(f.c, 0, LW_ADDED, pod);
    }
    live_settle(&f);
    finish(&walker, 10);
    for (int i = 0; i < PODS - 1; i++) assert_int_equal(walker.told[i], i % 3 ? RULES : 0);
    assert_int_equal(walker.told[PODS - 1], 0);
    live_end(&f);
}

/* One comes for each that it passes. */
static void test_a_walk_ends_however_many_come(void **state)
{
    struct fixture f = begin(*state, TWO);
    struct walker walker = {.walk = continuous_walk_new(f.audit, STR("shop"))};
    for (int i = 0; step(&walker, 1); i++) {
        char pod[32];
        snprintf(pod, sizeof pod, "shop/new-%d", i);
        cluster_event(f.c, 0, LW_ADDED, pod);
        live_settle(&f);
        assert_in_range(i, 0, PODS);
    }
    continuous_walk_free(walker.walk);
    assert_int_equal(walker.results, PODS * 2 / 3 * RULES);
    live_end(&f);
}

static void test_a_walk_goes_on_over_a_reload(void **state)
{
    struct fixture f = begin(*state, TWO);
    struct walker walker = {.walk = continuous_walk_new(f.audit, STR("shop"))};
    step(&walker, 10);
    live_reload(&f, TWO "-- more\n");
    finish(&walker, 10);
    assert_int_equal(walker.results, PODS * 2 / 3 * RULES);
    walker = (struct walker){.walk = continuous_walk_new(f.audit, STR("shop"))};
    step(&walker, 10);
    live_reload(&f, HEAD NODE_RULE); /* nobody asks about pods any more */
    size_t told = walker.results;
    finish(&walker, 10);
    assert_int_equal(walker.results, told);
    live_end(&f);
}

static size_t unevaluated(struct fixture *f, const char *ns, size_t results)
{
    struct walker walker = {.walk = continuous_walk_new(f->audit, str_of(ns))};
    while (step(&walker, 10)) continue;
    size_t count = continuous_walk_unevaluated(walker.walk);
    continuous_walk_free(walker.walk);
    assert_int_equal(walker.results, results);
    return count;
}

static void test_a_walk_counts_what_is_still_to_be_evaluated(void **state)
{
    enum { SHOP = PODS * 2 / 3 };
    struct fixture f = begin(*state, TWO);
    assert_int_equal(unevaluated(&f, "shop", SHOP * RULES), 0);
    live_hold(true);
    live_reload(&f, HEAD POD_RULE("one") POD_RULE("other") NODE_RULE);
    assert_int_equal(unevaluated(&f, "shop", SHOP), SHOP);
    assert_int_equal(unevaluated(&f, "", 2), 0);
    cluster_event(f.c, 0, LW_ADDED, "shop/new");
    cluster_settle(f.c);
    assert_int_equal(unevaluated(&f, "shop", SHOP), SHOP + 2);
    live_hold(false);
    live_settle(&f);
    assert_int_equal(unevaluated(&f, "shop", (SHOP + 1) * RULES), 0);
    live_reload(
        &f,
        HEAD "k8s.rule { id = 'one', kinds = { 'pods' }, namespaces = { 'bar' }, check = function() end }\n");
    live_settle(&f);
    assert_int_equal(unevaluated(&f, "shop", 0), 0); /* it does not take them */
    live_end(&f);
}

static void test_pending_evaluations_of_a_waiting_rule_are_not_counted(void **state)
{
    struct fixture f =
        live_begin(*state, HEAD "k8s.rule { id = 'one', kinds = { 'pods' }, check = function() end,\n"
                                "  uses = { n = { kind = 'nodes', index = 'key' } } }\n");
    cluster_list(f.c, 0, "shop/a;shop/b");
    live_settle(&f);
    assert_int_equal(unevaluated(&f, "shop", 0), 0);
    live_hold(true);
    cluster_list(f.c, 1, "n1");
    cluster_settle(f.c);
    virtual_clock_advance(&f.c->clock, 200);
    assert_int_equal(unevaluated(&f, "shop", 0), 2);
    live_hold(false);
    live_end(&f);
}

#define unit(test) cmocka_unit_test_setup_teardown(test, cluster_setup, cluster_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit(test_a_step_reports_so_many_results_and_no_more),
        unit(test_what_has_no_namespace_has_a_walk_of_its_own),
        unit(test_an_object_that_stays_is_visited_once_whatever_comes_and_goes),
        unit(test_a_namespace_goes_and_comes_again),
        unit(test_an_object_that_goes_and_comes_again_is_visited_once_at_most),
        unit(test_a_walk_ends_however_many_come),
        unit(test_a_walk_goes_on_over_a_reload),
        unit(test_a_walk_counts_what_is_still_to_be_evaluated),
        unit(test_pending_evaluations_of_a_waiting_rule_are_not_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
