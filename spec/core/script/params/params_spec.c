/* core/script/params, lua/k8s/params.lua: what an operator sets of
 * rules. */
#include "script/params/declared.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "core/script/support/cluster.h"
#include "core/script/support/feed.h"
#include "script/rules/rule.h"

#define HEAD "local k8s = require 'k8s'\n"
#define RULE(id, params, body)                                                                           \
    "k8s.rule { id = '" id "', kinds = { 'pods' }, params = { " params " },\n"                           \
    "check = function(obj, r, use, params) " body " end, skip = function(obj, params) return params == " \
    "nil end,\nfix = function(obj, params) return params and {} end }\n"
#define RESTARTS                                                                                         \
    RULE("restarts", "restarts = 5, strict = false, from = { 'ghcr.io' }",                               \
         "r:warn(params.restarts .. ' ' .. tostring(params.strict) .. ' ' .. table.concat(params.from, " \
         "'+'))")

static struct buf said;

static void on_found(void *ctx, const struct rule_finding *finding)
{
    buf_printf(&said, "%s%.*s", said.len ? "; " : "", STR_ARG(finding->message));
}

static const char *ask(struct cluster *c, struct script *script, size_t rule)
{
    static const struct rule_sink sink = {.found = on_found};
    struct root *pod = feed_pod(c, "web", 1, 1);
    buf_clear(&said);
    script_evaluate_rule(script, rule, pod, &sink);
    root_unref(pod);
    return buf_text(&said);
}

/* Parameters as `given`, separated by ";". */
static struct params *params_of(const char *given)
{
    struct params *params = params_new();
    struct str rest = str_of(given), one;
    struct err err;
    while (*given && str_cut(&rest, ';', &one)) {
        char *text = xstrndup(one.p, one.n);
        if (!params_add(params, text, &err)) fail_msg("%s", err.text);
        free(text);
    }
    return params;
}

static void assert_told(struct cluster *c, const char *given, const char *lua, const char *text)
{
    struct params *params = params_of(given);
    c->host.params = params;
    struct script *script = cluster_load(c, "rules", lua);
    assert_string_equal(ask(c, script, 0), text);
    script_free(script);
    params_free(params);
}

static void test_rules_are_evaluated_with_their_defaults(void **state)
{
    assert_told(*state, "", HEAD RESTARTS, "5 false ghcr.io");
    assert_told(*state, "", HEAD RULE("a", "", "r:warn(type(params))"), "table");
    assert_told(*state, "",
                HEAD
                "k8s.rule { id = 'a', kinds = { 'pods' }, check = function(_, r, _, p) r:warn(type(p)) end }",
                "table");
}

static void test_an_operator_sets_them_for_all_rules_or_for_one(void **state)
{
    assert_told(*state, "restarts=10", HEAD RESTARTS, "10 false ghcr.io");
    assert_told(*state, "restarts=10;restarts=11", HEAD RESTARTS, "11 false ghcr.io");
    assert_told(*state, "restarts.restarts=12;restarts=10", HEAD RESTARTS, "12 false ghcr.io");
    assert_told(*state, "others.restarts=12", HEAD RESTARTS, "5 false ghcr.io");
    assert_told(*state, "strict=true;from=a.io, b.io;restarts=0.5", HEAD RESTARTS, "0.5 true a.io+b.io");
    assert_told(*state, "from=", HEAD RESTARTS, "5 false ");
    assert_told(*state, "a.b.n=3", HEAD RULE("a.b", "n = 1", "r:warn(params.n .. '')"), "3");
    assert_told(*state, "n=9007199254740993", HEAD RULE("a", "n = 1", "r:warn(type(params.n))"), "number");
}

/* A rule that counts in its parameters would tell something else when it is asked again. */
static void test_nobody_changes_them(void **state)
{
    struct cluster *c = *state;
    static const struct {
        const char *lua, *part;
    } cases[] = {
        {HEAD RULE("a", "n = 1", "params.n = 2"), "rules.lua:3: params is read-only: n cannot be set"},
        {HEAD RULE("a", "l = { 'x' }", "params.l[1] = 'y'"), "rules.lua:3: "},
        {HEAD RULE("a", "l = { 'x' }", "rawset(params, 'n', 1) r:warn 'set'"),
         "rules.lua:3: params is read-only: n cannot be set"},
        {HEAD RULE("a", "restarts = 1", "r:warn(params.restart)"),
         "rules.lua:3: params: unknown parameter \"restart\", did you mean \"restarts\"?"},
        {HEAD RULE("a", "", "r:warn(params.n)"),
         "rules.lua:3: params: the rule declares no parameters, found n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct script *script = cluster_load(c, "rules", cases[i].lua);
        const char *text = ask(c, script, 0);
        if (!strstr(text, cases[i].part)) fail_msg("%s", text);
        script_free(script);
    }
}

static void test_lists_are_read_as_lists_of_objects_are(void **state)
{
    assert_told(*state, "",
                HEAD RULE("a", "l = { 1, 2.5, 3 }",
                          "local sum = 0 for _, n in ipairs(params.l) do sum = sum + n end "
                          "r:warn(#params.l .. ' ' .. sum .. ' ' .. params.l[2])"),
                "3 6.5 2.5");
    assert_told(*state, "", HEAD RULE("a", "l = {}", "r:warn(#params.l .. '')"), "0");
}

static void test_skip_and_fix_have_them_too(void **state)
{
    struct cluster *c = *state;
    struct script *script = cluster_load(
        c, "rules",
        HEAD "k8s.rule { id = 'a', kinds = { 'pods' }, params = { n = 'x' }, check = print, "
             "skip = function(o, p) return p.n end, fix = function(o, p) return { n = p.n } end }");
    struct root *pod = feed_pod(c, "web", 1, 1);
    struct buf json = {0};
    struct err err;
    assert_string_equal(ask(c, script, 0), "x");
    assert_true(script_fix_by_rule(script, 0, pod, &json, &err));
    assert_string_equal(buf_text(&json), "{\"n\":\"x\"}");
    buf_clear(&json);
    root_unref(pod);
    script_free(script);
}

static void test_a_value_of_another_type_is_reported_with_its_place(void **state)
{
    struct cluster *c = *state;
    struct params *params = params_of("restarts=x");
    c->host.params = params;
    const char *error = cluster_load_error(c, "rules", HEAD RESTARTS);
    char expected[300];
    snprintf(expected, sizeof expected,
             "--param restarts: \"x\" is not a number, as rule restarts (%s/rules.lua:2) has 5", c->folder);
    assert_string_equal(error, expected);
    params_free(params);
}

static void test_bad_declarations_are_named_with_the_script_s_line(void **state)
{
    static const struct {
        const char *params, *part;
    } cases[] = {
        {"n = print",
         "rules.lua:2: k8s.rule: a: params: n must be a boolean, a number, a string, or an array of one of "
         "these, not function"},
        {"n = { a = 1 }", "params: n: unknown option \"a\", known are default, from, help, max, min, "},
        {"n = { 'x', a = 1 }", "not a table with other keys than 1 to 1"},
        {"n = { type = 'strin' }", "params: n: type: unknown type \"strin\", did you mean \"string\"?"},
        {"n = { help = 'x' }", "params: n: type or default is required"},
        {"n = { default = 1, required = true }", "params: n: required and default are mutually exclusive"},
        {"n = { type = 'integer', default = 'x' }", "params: n: default must be an integer, not a string"},
        {"n = { type = 'integer', default = 0, min = 1 }", "default 0 is less than 1, the least value"},
        {"n = { type = 'string', default = '', min = 1 }", "min and max are for numbers, integers and"},
        {"n = { type = 'string', min = 1 }", "params: n: min and max are for numbers, integers and"},
        {"n = { type = 'boolean', max = 1 }", "params: n: min and max are for numbers, integers and"},
        {"n = { type = 'integer', min = 'x' }", "params: n: min must be a number, not a string"},
        {"n = { type = 'duration', max = 'x' }", "params: n: max is not a duration: \"x\""},
        {"n = { type = 'integer', min = 5, max = 3 }", "params: n: min, 5, is more than max, 3"},
        {"n = { type = 'list', default = { 1 } }",
         "params: n: default must be a list of strings, and number 1"},
        {"n = { type = 'list', values = { 'a' } }", "params: n: values are not for lists"},
        {"n = { type = 'integer', values = { 1, 'a' } }",
         "params: n: values must be of the type number, and number 2 is a string"},
        {"n = { type = 'secret', default = 'x' }", "a secret must not have default, values, min or max"},
        {"n = { type = 'secret', from = 'secret:a/b/c' }", "params: n: from is for k8s.params"},
        {"n = { type = 'string', from = 'x' }", "from is for parameters of the type \"secret\""},
        {"n = { type = 'duration', default = 'soon' }", "default \"soon\" is not a duration, such as 90s"},
        {"n = { {} }", "not an array with a table"},
        {"n = { 1, 'a' }", "params: n has a number and, as number 2, a string"},
        {"n = 0/0", "k8s.rule: params"},
        {"n = 1/0", "k8s.rule: params"},
        {"5", "params: \"1\" is not a parameter name"},
        {"['a.b'] = 5", "params: \"a.b\" is not a parameter name: up to 56 letters, digits, '_' and '-'"},
        {"n = string.rep('x', 70000)", "k8s.rule: params"},
    };
    struct cluster *c = *state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char lua[600];
        snprintf(lua, sizeof lua,
                 HEAD "k8s.rule { id = 'a', kinds = { 'pods' }, check = print, params = { %s } }",
                 cases[i].params);
        const char *error = cluster_load_error(c, "rules", lua);
        if (!strstr(error, cases[i].part)) fail_msg("%s", error);
    }
    const char *error =
        cluster_load_error(c, "rules",
                           HEAD "local p = {} for i = 1, 51 do p['p' .. i] = i end "
                                "k8s.rule { id = 'a', kinds = { 'pods' }, check = print, params = p }");
    assert_non_null(strstr(error, "params: a rule has at most 50"));
    error = cluster_load_error(c, "rules",
                               HEAD "k8s.rule { id = 'a', kinds = { 'pods' }, check = print, params = 5 }");
    assert_non_null(strstr(error, "k8s.rule: params must be a table, not number"));
}

static void test_a_setting_that_was_not_declared_is_a_mistake_of_the_script(void **state)
{
    static const char *const cases[][2] = {
        {"local s = k8s.params {} print(s.a)", "settings: the script declares no settings, found a"},
        {"local s = k8s.params { limit = 5 } print(s.limits)",
         "settings: unknown setting \"limits\", did you mean \"limit\"?"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char lua[200];
        snprintf(lua, sizeof lua, HEAD "%s", cases[i][0]);
        const char *error = cluster_load_error(*state, "rules", lua);
        if (!strstr(error, cases[i][1])) fail_msg("%s", error);
    }
}

static void test_assignments_that_are_none_are_refused(void **state)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"restarts", "--param restarts: expected [SCRIPT:][RULE.]NAME=VALUE"},
        {"", "--param : expected [SCRIPT:][RULE.]NAME=VALUE"},
        {"=5", "--param =5: \"\" must have the form [SCRIPT:][RULE.]NAME"},
        {"a.=5", "--param a.=5: \"a.\" must have the form [SCRIPT:][RULE.]NAME"},
        {".a=5", "--param .a=5: \".a\" must have the form [SCRIPT:][RULE.]NAME"},
    };
    struct params *params = params_new();
    struct err err;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_false(params_add(params, cases[i].text, &err));
        assert_string_equal(err.text, cases[i].error);
    }
    params_free(params);
}

/* --- files */

static const char *file_of(struct cluster *c, const char *name, const char *text)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", c->folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return path;
}

static void assert_file_told(struct cluster *c, const char *text, const char *expected)
{
    struct params *params = params_new();
    struct err err;
    if (!params_read(params, file_of(c, "params", text), &err)) fail_msg("%s", err.text);
    c->host.params = params;
    struct script *script = cluster_load(c, "rules", HEAD RESTARTS);
    assert_string_equal(ask(c, script, 0), expected);
    script_free(script);
    params_free(params);
}

static void test_a_file_has_names_or_rules(void **state)
{
    assert_file_told(*state, "", "5 false ghcr.io");
    assert_file_told(*state, "restarts: 10\nstrict: true\n", "10 true ghcr.io");
    assert_file_told(*state, "restarts: 10\nrestarts.restarts: 11\n", "11 false ghcr.io");
    assert_file_told(*state, "restarts:\n  restarts: 7\n  from: [a, b]\nother:\n  restarts: 8\n",
                     "7 false a+b");
    assert_file_told(*state, "{\"restarts\": {\"restarts\": 7, \"strict\": true}}", "7 true ghcr.io");
}

static void test_files_with_mistakes_report_where(void **state)
{
    struct cluster *c = *state;
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"- a\n", "/params:1: expected a map of parameters, or of rules to such maps"},
        {"a: 1\n.b: 2\n", "/params:2: \".b\" must have the form [SCRIPT:][RULE.]NAME"},
        {"\"a\\0b\": 1\n", "\" must have the form [SCRIPT:][RULE.]NAME"},
        {"a: 1\n\"restarts\\0x\":\n  restarts: 7\n",
         "/params:3: the id of a rule must not contain a NUL byte"},
        {"a: [1\n", "/params:2: "},
        {"a: &a [*a]\n", "/params:1: a: value exceeds 65536 bytes of JSON"},
    };
    struct params *params = params_new();
    struct err err;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_false(params_read(params, file_of(c, "params", cases[i].text), &err));
        if (!strstr(err.text, cases[i].error)) fail_msg("%s", err.text);
    }
    assert_false(params_read(params, "/nowhere/params", &err));
    assert_non_null(strstr(err.text, "/nowhere/params"));
    assert_true(params_read(params, file_of(c, "params", "a: 1\nrestarts: \"10\"\n"), &err));
    c->host.params = params;
    const char *error = cluster_load_error(c, "rules", HEAD RESTARTS);
    assert_non_null(strstr(error, "/params:2: restarts: \"10\" is not a number, as rule restarts ("));
    params_free(params);
}

/* --- what no rule takes */

static void assert_checked(struct cluster *c, const char *given, const char *error)
{
    struct params *params = params_of(given);
    struct err err = {0};
    c->host.params = params;
    struct script *scripts[] = {
        cluster_load(c, "one", HEAD RULE("one", "restarts = 5", "")),
        cluster_load(c, "two", HEAD RULE("two", "images = 'x', restarts = 5", "")),
    };
    assert_int_equal(params_check(params, scripts, 2, &err), !error);
    if (error) assert_string_equal(err.text, error);
    script_free(scripts[0]);
    script_free(scripts[1]);
    params_free(params);
}

static void test_what_no_rule_takes_is_an_error_with_the_nearest_name(void **state)
{
    struct err err;
    assert_true(params_check(NULL, NULL, 0, &err));
    assert_checked(*state, "", NULL);
    assert_checked(*state, "restarts=1;two.images=y;one.restarts=3", NULL);
    assert_checked(
        *state, "restart=1",
        "--param restart: no script or rule has a parameter \"restart\", did you mean \"restarts\"?");
    assert_checked(*state, "quux=1", "--param quux: no script or rule has a parameter \"quux\"");
    assert_checked(*state, "one.images=y", "--param one.images: the rule one has no parameter \"images\"");
    assert_checked(*state, "two.image=y",
                   "--param two.image: the rule two has no parameter \"image\", did you mean \"images\"?");
    assert_checked(
        *state, "onee.restarts=1",
        "--param onee.restarts: no rule with the id \"onee\" has parameters, did you mean \"one\"?");
}

static void test_defaults_stay_beside_what_was_given(void **state)
{
    struct cluster *c = *state;
    struct params *params = params_of("n=3");
    struct buf out = {0};
    c->host.params = params;
    struct script *script =
        cluster_load(c, "rules", HEAD RULE("a", "n = 1.5, b = 'x', l = {}, t = true", ""));
    for (size_t i = 0; i < script_param_count(script); i++)
        buf_printf(&out, "%s=%s;", script_param(script, i)->name, script_param(script, i)->fallback);
    assert_string_equal(buf_text(&out), "b=\"x\";l=[];n=1.5;t=true;");
    assert_string_equal(script_param(script, 2)->value, "3");
    assert_string_equal(script_param(script, 2)->source, "--param n");
    assert_null(script_param(script, 1)->source);
    buf_clear(&out);
    buf_clear(&said);
    script_free(script);
    params_free(params);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, cluster_setup, cluster_teardown)
        T(test_rules_are_evaluated_with_their_defaults),
        T(test_an_operator_sets_them_for_all_rules_or_for_one),
        T(test_nobody_changes_them),
        T(test_lists_are_read_as_lists_of_objects_are),
        T(test_skip_and_fix_have_them_too),
        T(test_a_value_of_another_type_is_reported_with_its_place),
        T(test_bad_declarations_are_named_with_the_script_s_line),
        T(test_a_setting_that_was_not_declared_is_a_mistake_of_the_script),
        T(test_assignments_that_are_none_are_refused),
        T(test_a_file_has_names_or_rules),
        T(test_files_with_mistakes_report_where),
        T(test_what_no_rule_takes_is_an_error_with_the_nearest_name),
        T(test_defaults_stay_beside_what_was_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
