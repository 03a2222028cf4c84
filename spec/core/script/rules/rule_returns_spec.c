/* core/script/rules/rule_returns.c: what the functions of a rule may return. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/script/support/feed.h"
#include "core/script/support/rules.h"

/* Who knows other tools returns a verdict, who knows Lua returns nil and an error: silence would be a pass.
 */
static void test_what_a_check_returns_is_an_error_with_its_line(void **state)
{
    struct cluster *c = *state;
    assert_rule_says(c, RULE("return r:fail 'a'"), VERDICT_FAIL, "fail a");
    assert_rule_says(c, RULE("return nil"), VERDICT_PASS, "");
    assert_rule_says(c, RULE("return nil, nil"), VERDICT_PASS, "");
#define RETURNS(values) \
    "error rules.lua:2: check must return nothing, not " values "; use r:fail(message) to report a failure"
    assert_rule_says(c, RULE("return 'bad'"), VERDICT_ERROR, RETURNS("string"));
    assert_rule_says(c, RULE("return false"), VERDICT_ERROR, RETURNS("boolean"));
    assert_rule_says(c, RULE("return true"), VERDICT_ERROR, RETURNS("boolean"));
    assert_rule_says(c, RULE("return false, 'bad'"), VERDICT_ERROR, RETURNS("boolean and string"));
    assert_rule_says(c, RULE("return nil, 'bad'"), VERDICT_ERROR, RETURNS("nil and string"));
    assert_rule_says(c, RULE("return {}, 1, 2, 3, 4, 5, 6"), VERDICT_ERROR,
                     RETURNS("table and number and number and number and more"));
    assert_rule_says(c, RULE("r:warn 'w' return obj"), VERDICT_ERROR, "warn w; " RETURNS("view"));
    /* One of C has no lines. */
    assert_rule_says(c, HEAD "k8s.rule { id = 'one', kinds = { 'pods' }, check = type }", VERDICT_ERROR,
                     "error k8s.rule: one: check must return nothing, not string; use r:fail(message) to "
                     "report a failure");
}

static void test_a_skip_that_returns_anything_else_is_an_error(void **state)
{
    struct cluster *c = *state;
#define NO_REASON "error rules.lua:2: skip must return true, a reason, or nothing, not "
    assert_rule_says(c, SKIP("return {}"), VERDICT_ERROR, NO_REASON "table");
    assert_rule_says(c, SKIP("return 0"), VERDICT_ERROR, NO_REASON "number");
    assert_rule_says(c, SKIP("return nil, 'why'"), VERDICT_ERROR, NO_REASON "nil and string");
    assert_rule_says(c, SKIP("return true, 'why'"), VERDICT_ERROR, NO_REASON "boolean and string");
}

static void test_a_fix_that_is_none_is_an_error(void **state)
{
    struct cluster *c = *state;
    static const char *const lua =
        HEAD "k8s.rule { id = 'one', kinds = { 'pods' }, check = print, fix = function(o) "
             "if o:name() == 'bad' then return 5 end return nil, 'no idea' end }";
    static const char *const
        names[] = {"bad", "worse"},
        *const errors[] = {"rules.lua:2: fix must return a patch, a manifest or nil, not number",
                           "rules.lua:2: fix must return a patch, a manifest or nil, not nil and string"};
    struct script *script = cluster_load(c, "rules", lua);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct root *pod = feed_pod(c, names[i], 1, 1);
        struct buf json = {0};
        struct err err;
        assert_false(script_fix_by_rule(script, 0, pod, &json, &err));
        assert_string_equal(without_folder(str_of(err.text)).p, errors[i]);
        assert_int_equal(json.len, 0);
        root_unref(pod);
    }
    script_free(script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, cluster_setup, cluster_teardown)
        T(test_what_a_check_returns_is_an_error_with_its_line),
        T(test_a_skip_that_returns_anything_else_is_an_error),
        T(test_a_fix_that_is_none_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
