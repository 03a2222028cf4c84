/* core/script/rules/rule.c, bind_rule.c, lua/k8s/rule*.lua: what rules say of objects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "base/mem.h"
#include "core/script/support/cluster.h"
#include "core/script/support/feed.h"
#include "core/script/support/rules.h"
#include "script/inventory/inventory.h"
#include "script/rules/rule.h"

static void test_the_worst_report_is_the_verdict(void **state)
{
    struct cluster *c = *state;
    assert_rule_says(c, RULE(""), VERDICT_PASS, "");
    assert_rule_says(c, RULE("r:pass()"), VERDICT_PASS, "pass ");
    assert_rule_says(c, RULE("r:warn 'w' r:pass()"), VERDICT_WARN, "warn w; pass ");
    assert_rule_says(c, RULE("r:fail('no limit', { path = 'spec', value = 5 }) r:warn 'w'"), VERDICT_FAIL,
                     "fail no limit at spec = 5; warn w");
    assert_rule_says(c, RULE("r:skip 'not ours'"), VERDICT_SKIP, "skip not ours");
    assert_rule_says(c, RULE("r:fail('n', { value = obj.metadata.name })"), VERDICT_FAIL, "fail n = \"web\"");
}

/* Whoever asks what a rule thinks is never told that all is well when it could not say. */
static void test_a_rule_that_fails_is_an_error_after_its_reports(void **state)
{
    struct cluster *c = *state;
    static const struct {
        const char *lua, *text;
    } cases[] = {
        {RULE("r:fail 'a' error 'b'"), "rules.lua:2: b"},
        {RULE("r:fial 'a'"), "rules.lua:2: r: unknown method \"fial\", did you mean \"fail\"?"},
        {RULE("r:namespace()"),
         "rules.lua:2: r: unknown method \"namespace\", known are fail, pass, skip, warn"},
        {RULE("r:deny 'a'"), "rules.lua:2: r: unknown method \"deny\", known are fail, pass, skip, warn"},
        {RULE("r.fail('a')"), "rules.lua:2: r:fail: methods are called with ':'"},
        {RULE("r:fail()"), "rules.lua:2: r:fail must be a string, not nil"},
        {RULE("r:fail('a', { pth = 'x' })"), "rules.lua:2: r:fail: unknown option \"pth\""},
        {RULE("k8s.sleep(1)"), "k8s.sleep may not be called in a rule"},
        {RULE("k8s.get('pods', 'a/b')"),
         "k8s.get may not be called in a rule; rules get other objects by `uses`"},
        {RULE("for _ = 1, 1001 do r:fail 'x' end"),
         "rules.lua:2: r:fail: more than 1000 findings for one object"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct script *script = cluster_load(c, "rules", cases[i].lua);
        struct root *pod = feed_pod(c, "web", 1, 1);
        assert_int_equal(ask(script, 0, pod), VERDICT_ERROR);
        if (!strstr(buf_text(&said), cases[i].text)) fail_msg("%s", buf_text(&said));
        root_unref(pod);
        script_free(script);
    }
}

static void test_a_rule_over_its_limit_is_an_error_that_names_it(void **state)
{
    struct cluster *c = *state;
    struct script *script = cluster_load(c, "rules", RULE("while true do local _ = {} end"));
    struct root *pod = feed_pod(c, "web", 1, 1);
    script->limits.values[LIMIT_HANDLER_CPU] = 20;
    assert_int_equal(ask(script, 0, pod), VERDICT_ERROR);
    if (!strstr(buf_text(&said), "rules.lua:2: over the limit handler-cpu (20ms) in the rule one"))
        fail_msg("%s", buf_text(&said));
    root_unref(pod);
    script_free(script);
}

static void test_what_is_skipped_is_not_checked(void **state)
{
    struct cluster *c = *state;
    assert_rule_says(c, SKIP("return true"), VERDICT_SKIP, "skip ");
    assert_rule_says(c, SKIP("return 'a copy of ' .. o:name()"), VERDICT_SKIP, "skip a copy of web");
    struct script *script = cluster_load(c, "rules", SKIP("return false"));
    struct root *pod = feed_pod(c, "web", 1, 1);
    assert_int_equal(ask(script, 0, pod), VERDICT_ERROR); /* it was checked */
    root_unref(pod);
    script_free(script);
}

static void test_other_objects_are_found_by_an_index(void **state)
{
    struct cluster *c = *state;
    c->host.runs_rules = true;
    struct script *script = cluster_load(
        c, "rules",
        HEAD
        "k8s.rule { id = 'one', kinds = { 'pods' }, uses = {\n"
        "  here = { kind = 'nodes', index = 'metadata.labels.ns' }, by = { kind = 'nodes', index = 'key' },\n"
        "  fn = { kind = 'nodes', index = function(o, emit) emit(o:label 'ns') end }, all = { kind = 'nodes' "
        "},\n"
        "  near = { kind = 'pods', index = 'namespace' } },\n"
        "  check = function(obj, r, use) r:warn(#use.here(obj:namespace()) .. #use.by 'n2' .. #use.by 'x' "
        "  .. #use.fn 'shop' .. #use.all() .. #use.near 'shop') end }");
    struct root *pod = feed_pod(c, "web", 1, 1);
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a;shop/b;bar/c");
    cluster_list(c, 1, "n1 ns=shop;n2 ns=shop;n3 ns=bar");
    cluster_settle(c);
    assert_said(script, 0, pod, VERDICT_WARN, "warn 210232");
    root_unref(pod);
    script_free(script);
}

/* Audits fill just these caches, and whoever looks for what depends on what asks these indexes. */
static void test_objects_that_a_rule_uses_are_reported_with_its_indexes(void **state)
{
    static const struct {
        const char *name, *index;
        size_t claim;
    } expected[] = {{"a", "", 1},
                    {"b", "metadata.labels.ns", 1},
                    {"c", "function one/c", 1},
                    {"d", "key", 2},
                    {"e", "namespace", 2}};
    struct cluster *c = *state;
    struct script *script = cluster_load(
        c, "rules",
        HEAD "k8s.rule { id = 'one', kinds = { 'pods', 'nodes' }, check = print, uses = {\n"
             "  a = { kind = 'nodes' }, b = { kind = 'nodes', index = 'metadata.labels.ns' },\n"
             "  c = { kind = 'nodes', index = function() end }, d = { kind = 'pods', index = 'key' },\n"
             "  e = { kind = 'pods', index = 'namespace' } } }\n"
             "k8s.rule { id = 'two', kinds = { 'pods' }, check = print,\n"
             "  uses = { b = { kind = 'nodes', index = 'metadata.labels.ns' } } }\n"
             "k8s.rule { id = 'three', kinds = { 'pods' }, check = print }");
    const struct script_rule *one = script_rule(script, 0), *two = script_rule(script, 1);
    assert_int_equal(script_claim_count(script), 4); /* pods and nodes, checked and used */
    assert_true(one->has_uses);
    assert_int_equal(one->use_count, ARRAY_LEN(expected));
    for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
        const struct rule_use *use = &one->uses[i];
        assert_string_equal(use->name, expected[i].name);
        assert_string_equal(use->index, expected[i].index);
        assert_string_equal(claim_spec(use->claim)->kind, expected[i].claim == 1 ? "nodes" : "pods");
        for (size_t k = 0; k < one->kind_count; k++) assert_ptr_not_equal(use->claim, one->kinds[k]);
    }
    assert_ptr_equal(two->uses[0].claim, one->uses[0].claim);
    assert_ptr_equal(two->kinds[0], one->kinds[0]);
    assert_false(script_rule(script, 2)->has_uses);
    script_free(script);
}

#define USES                                                                               \
    HEAD "local pods = k8s.informer 'pods'\n"                                              \
         "k8s.rule { id = 'one', kinds = { 'pods' }, uses = { n = { kind = 'nodes' } },\n" \
         "  check = function(_, r, use) r:warn(#use.n() .. '') end }\n"

/* Whoever asks no rules has no cache of what they would look at. */
static void test_claims_of_rules_are_suspended_where_none_evaluates_them(void **state)
{
    struct cluster *c = *state;
    struct script *script = cluster_load(c, "rules", USES);
    struct root *pod = feed_pod(c, "web", 1, 1);
    cluster_resolve(c);
    assert_int_equal(c->source_count, 1);
    assert_false(script_has_synced(script));
    cluster_list(c, 0, "shop/a");
    assert_true(script_has_synced(script));
    assert_said(script, 0, pod, VERDICT_ERROR, "error use.n: no cache of nodes");
    claim_suspend(script_rule(script, 0)->uses[0].claim, false);
    cluster_resolve(c);
    assert_int_equal(c->source_count, 2);
    cluster_list(c, 1, "n1;n2");
    assert_said(script, 0, pod, VERDICT_WARN, "warn 2");
    assert_null(claim_indexer(script_rule(script, 0)->kinds[0]));
    root_unref(pod);
    script_free(script);
}

static void test_claims_of_rules_have_caches_where_they_are_evaluated(void **state)
{
    struct cluster *c = *state;
    c->host.runs_rules = true;
    struct script *script = cluster_load(c, "rules", USES);
    cluster_resolve(c);
    assert_int_equal(c->source_count, 2); /* pods are one informer */
    assert_non_null(claim_indexer(script_rule(script, 0)->kinds[0]));
    cluster_list(c, 0, "shop/a");
    assert_false(script_has_synced(script));
    cluster_list(c, 1, "n1;n2");
    assert_true(script_has_synced(script));
    script_free(script);
}

static void test_a_name_that_is_not_in_uses_is_reported(void **state)
{
    struct cluster *c = *state;
    c->host.runs_rules = true;
    struct script *script = cluster_load(
        c, "rules",
        HEAD "k8s.rule { id = 'a', kinds = { 'pods' }, check = function(_, _, use) use.x() end }\n"
             "k8s.rule { id = 'b', kinds = { 'pods' }, uses = { svcs = { kind = 'nodes' } },\n"
             "  check = function(_, _, use) use.svc() end }");
    struct root *pod = feed_pod(c, "web", 1, 1);
    static const char *const parts[] = {"rules.lua:2: use: the rule declares no uses, found x",
                                        "rules.lua:4: use: unknown name \"svc\", did you mean \"svcs\"?"};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        assert_int_equal(ask(script, i, pod), VERDICT_ERROR);
        if (!strstr(buf_text(&said), parts[i])) fail_msg("%s", buf_text(&said));
    }
    root_unref(pod);
    script_free(script);
}

static void test_an_unsupported_lookup_is_reported(void **state)
{
    struct cluster *c = *state;
    c->host.runs_rules = true;
    struct script *script = cluster_load(
        c, "rules",
        HEAD "k8s.rule { id = 'a', kinds = { 'pods' }, uses = { n = { kind = 'nodes', index = 'key' },\n"
             "  m = { kind = 'nodes', index = 'metadata.name' } },\n"
             "  check = function(obj, r, use) use[obj:name()](obj.spec) end }");
    static const char *const names[] = {"n", "m"};
    static const char *const parts[] = {
        "rules.lua:4: use.n: the key must be a string, not nil",
        "rules.lua:4: use.m: the value must be a string, a number or a boolean, not nil"};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        struct root *pod = feed_pod(c, names[i], 1, 1);
        assert_int_equal(ask(script, 0, pod), VERDICT_ERROR);
        if (!strstr(buf_text(&said), parts[i])) fail_msg("%s", buf_text(&said));
        root_unref(pod);
    }
    script_free(script);
}

/* An object that the index function could not tell the values of is not found, and all would seem well. */
static void test_an_index_function_that_failed_is_an_error_of_who_uses_it(void **state)
{
    struct cluster *c = *state;
    c->host.runs_rules = true;
    struct script *script = cluster_load(
        c, "rules",
        HEAD
        "k8s.rule { id = 'a', kinds = { 'pods' }, check = function(_, r, use) r:warn(#use.n 'x' .. '') end,\n"
        "  skip = function(o) return o:name() == 'skipped' end,\n"
        "  uses = { n = { kind = 'nodes', index = function(o, emit)\n"
        "    if o:name() == 'n2' then error 'no' end emit 'x' end } } }\n"
        "k8s.rule { id = 'b', kinds = { 'pods' }, check = function(_, r, use) r:warn(#use.n() .. '') end,\n"
        "  uses = { n = { kind = 'nodes' } } }");
    struct root *pod = feed_pod(c, "web", 1, 1), *skipped = feed_pod(c, "skipped", 1, 1);
    cluster_resolve(c);
    cluster_list(c, 1, "n1");
    assert_said(script, 0, pod, VERDICT_WARN, "warn 1");
    cluster_event(c, 1, LW_ADDED, "n2");
    assert_int_equal(ask(script, 0, pod), VERDICT_ERROR);
    assert_non_null(
        strstr(buf_text(&said), "warn 1; error use.n may be incomplete because its index function failed: "));
    assert_non_null(strstr(buf_text(&said), "rules.lua:5: no"));
    assert_int_equal(ask(script, 0, skipped), VERDICT_SKIP);
    assert_said(script, 1, pod, VERDICT_WARN, "warn 2");
    root_unref(pod);
    root_unref(skipped);
    script_free(script);
}

/* A report keeps it for each object. */
static void test_long_messages_are_cut_and_long_paths_refused(void **state)
{
    struct cluster *c = *state;
    struct script *script =
        cluster_load(c, "rules",
                     HEAD "k8s.rule { id = 'a', kinds = { 'pods' }, check = function(_, r)\n"
                          "  r:fail(('x'):rep(3999) .. '\\195\\164\\195\\164') end }\n"
                          "k8s.rule { id = 'b', kinds = { 'pods' }, check = function(_, r)\n"
                          "  r:fail('x', { path = ('x'):rep(1001) }) end }\n"
                          "k8s.rule { id = 'c', kinds = { 'pods' }, check = print, skip = function()\n"
                          "  return ('x'):rep(1e6) end }\n"
                          "k8s.rule { id = 'd', kinds = { 'pods' }, check = function()\n"
                          "  error(('x'):rep(1e6)) end }");
    struct root *pod = feed_pod(c, "web", 1, 1);
    assert_int_equal(ask(script, 0, pod), VERDICT_FAIL);
    assert_int_equal(said.len, strlen("fail ") + 3999 + strlen("..."));
    assert_string_equal(buf_text(&said) + said.len - 4, "x...");
    assert_int_equal(ask(script, 1, pod), VERDICT_ERROR);
    assert_non_null(
        strstr(buf_text(&said), "rules.lua:5: r:fail: path must have at most 1000 bytes, not 1001"));
    assert_int_equal(ask(script, 2, pod), VERDICT_SKIP);
    assert_int_equal(said.len, strlen("skip ") + 4000 + strlen("..."));
    assert_int_equal(ask(script, 3, pod), VERDICT_ERROR);
    assert_true(said.len < 70000);
    root_unref(pod);
    script_free(script);
}

static void test_a_fix_is_a_patch(void **state)
{
    struct cluster *c = *state;
    struct script *script = cluster_load(
        c, "rules",
        HEAD "k8s.rule { id = 'one', kinds = { 'pods' }, check = print, fix = function(o) "
             "if o:name() == 'web' then return { metadata = { labels = { name = o:name() } } } end "
             "end }");
    struct buf json = {0};
    struct err err;
    static const char *const names[] = {"web", "other"};
    static const char *const expected[] = {"{\"metadata\":{\"labels\":{\"name\":\"web\"}}}", ""};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct root *pod = feed_pod(c, names[i], 1, 1);
        json.len = 0;
        assert_true(script_fix_by_rule(script, 0, pod, &json, &err));
        assert_string_equal(buf_text(&json), expected[i]);
        root_unref(pod);
    }
    buf_clear(&json);
    script_free(script);
}

static void test_bad_rules_are_named_with_the_script_s_line(void **state)
{
    static const struct {
        const char *options, *part;
    } cases[] = {
        {"", "rules.lua:2: k8s.rule: id is missing"},
        {"id = 'one'", "k8s.rule: kinds is missing"},
        {"id = 'one', kinds = { 'pods' }", "k8s.rule: check is missing"},
        {"id = 'a b', kinds = { 'pods' }, check = print",
         "k8s.rule: \"a b\" is not a valid id: use 1 to 56 letters"},
        {"id = 'one', kinds = {}, check = print", "k8s.rule: one: kinds must not be empty"},
        {"id = 'one', kinds = { 1 }, check = print", "k8s.informer: the kind must be a string, not number"},
        {"id = 'one', kinds = { 'pods' }, check = print, severity = 'hihg'",
         "k8s.rule: severity: unknown \"hihg\", did you mean \"high\"?"},
        {"id = 'one', kinds = { 'pods' }, check = print, severety = 'high'",
         "k8s.rule: unknown option \"severety\", did you mean \"severity\"?"},
        {"id = 'one', kinds = { 'pods' }, check = print, namespaces = { 'A' }",
         "k8s.rule: one: namespaces: namespace \"A\""},
        {"id = 'one', kinds = { 'pods' }, check = print, uses = { a = { index = 'key' } }",
         "k8s.rule: one: uses: a: kind is missing"},
        {"id = 'one', kinds = { 'pods' }, check = print, uses = { a = { kind = 'nodes', index = 'a..b' } }",
         "path \"a..b\""},
        {"id = 'two', kinds = { 'pods' }, check = print", "k8s.rule: two is already registered"},
    };
    struct cluster *c = *state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char lua[600];
        snprintf(lua, sizeof lua,
                 HEAD "k8s = k8s k8s.rule { id = 'two', kinds = { 'pods' }, check = print } k8s.rule { %s }",
                 cases[i].options);
        const char *error = cluster_load_error(c, "rules", lua);
        if (!strstr(error, cases[i].part)) fail_msg("%s", error);
    }
}

static void test_rules_are_in_the_inventory(void **state)
{
    struct cluster *c = *state;
    struct script *script = cluster_load(
        c, "rules",
        HEAD "\nk8s.rule { id = 'one', title = 'One', why = 'Because.', how = 'So.', severity = 'high', "
             "category = 'Security', kinds = { 'pods', 'nodes' }, namespaces = { '!kube-*' }, "
             "check = print }");
    assert_int_equal(script_rule_count(script), 1);
    const struct script_rule *rule = script_rule(script, 0);
    assert_string_equal(rule->id, "one");
    assert_string_equal(rule->title, "One");
    assert_string_equal(rule->why, "Because.");
    assert_string_equal(rule->how, "So.");
    assert_string_equal(rule->category, "Security");
    assert_int_equal(rule->severity, SEVERITY_HIGH);
    assert_int_equal(rule->kind_count, 2);
    assert_true(rule_takes(rule, STR("shop")));
    assert_false(rule_takes(rule, STR("kube-system")));
    assert_int_equal(script_rule_place(script, 0)->line, 3);
    script_free(script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, cluster_setup, cluster_teardown)
        T(test_the_worst_report_is_the_verdict),
        T(test_a_rule_that_fails_is_an_error_after_its_reports),
        T(test_a_rule_over_its_limit_is_an_error_that_names_it),
        T(test_what_is_skipped_is_not_checked),
        T(test_other_objects_are_found_by_an_index),
        T(test_objects_that_a_rule_uses_are_reported_with_its_indexes),
        T(test_claims_of_rules_are_suspended_where_none_evaluates_them),
        T(test_claims_of_rules_have_caches_where_they_are_evaluated),
        T(test_a_name_that_is_not_in_uses_is_reported),
        T(test_an_unsupported_lookup_is_reported),
        T(test_an_index_function_that_failed_is_an_error_of_who_uses_it),
        T(test_long_messages_are_cut_and_long_paths_refused),
        T(test_a_fix_is_a_patch),
        T(test_bad_rules_are_named_with_the_script_s_line),
        T(test_rules_are_in_the_inventory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
