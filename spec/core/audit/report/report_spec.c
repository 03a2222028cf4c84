/* core/audit/report_*.c: what each form says of the same table. That the whole of it is valid is proven by
 * readers of others, in spec/system/audit_reports_spec.lua and spec/real/audit_reports_spec.lua. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "audit/policy/policy_document.h"
#include "audit/report/report_parts.h"
#include "base/mem.h"
#include "core/audit/support/fixture.h"

static char *print(const char *form)
{
    const struct report_format *format = report_format_of(form);
    struct audit_table *table = fixture_table(format->passes);
    char *text = fixture_print(format->write, table, &fixture_options);
    audit_table_free(table);
    return text;
}

static void assert_says(const char *text, const char *part)
{
    if (!strstr(text, part)) fail_msg("\"%s\" is missing in:\n%s", part, text);
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *p = text; (p = strstr(p, part)); p += strlen(part)) count++;
    return count;
}

/* --- all forms */

/* A terminal, and who pipes one into it, gets no escape of an object's author; XML and YAML may not hold one.
 */
static void test_no_form_has_a_control_character(void **state)
{
    static const char *const forms[] = {"table", "wide",         "json",        "yaml", "sarif",
                                        "junit", "policyreport", "openreports", "html"};
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        char *text = print(forms[i]);
        for (const char *p = text; *p; p++) {
            bool control = ((unsigned char)*p < ' ' && *p != '\n') || *p == 0x7f ||
                           (*p == '\xc2' && (unsigned char)p[1] < 0xa0);
            if (control) fail_msg("%s has \\x%02x", forms[i], *p);
        }
        free(text);
    }
}

static void test_formats_are_found_by_name(void **state)
{
    struct str rest = STR(REPORT_FORMATS), name;
    while (str_cut(&rest, '|', &name)) {
        char *text = xstrndup(name.p, name.n);
        assert_string_equal(report_format_of(text)->name, text);
        free(text);
    }
    assert_null(report_format_of("xml"));
}

static void test_json_has_a_line_for_each_finding(void **state)
{
    char *text = print("json");
    assert_int_equal(count_of(text, "\n{\"rule\":"), 8);
    assert_says(text, "{\"summary\":{\"source\":\"dump.json\",\"time\":\"2026-11-22T19:00:00Z\",");
    assert_says(text, ",\"value\":{\"privileged\":true,\"runAsUser\":0},");
    assert_says(text, ",\n{\"rule\":\"quiet\",");
    free(text);
}

static void test_an_audit_without_findings_is_complete_in_each_form(void **state)
{
    static const struct {
        const char *form, *says;
    } cases[] = {{"json", "\"results\":[\n]}"},
                 {"yaml", "results: []\n"},
                 {"sarif", "\"results\":[]}]}\n"},
                 {"junit", "</testsuites>\n"},
                 {"policyreport", "kind: \"ClusterPolicyReport\""},
                 {"openreports", "kind: \"ClusterReport\""},
                 {"html", "<p>No findings.</p>"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct audit_table *table = audit_table_new(true);
        char *text = fixture_print(report_format_of(cases[i].form)->write, table, &fixture_options);
        assert_says(text, cases[i].says);
        free(text);
        audit_table_free(table);
    }
}

/* --- SARIF */

static void test_sarif_has_rules_results_and_what_went_wrong(void **state)
{
    char *text = print("sarif");
    assert_int_equal(count_of(text, "\"ruleId\":"),
                     6); /* four failures and warnings, one of a node, one accepted */
    assert_says(text, "{\"id\":\"image-tag\",\"name\":\"ImageTag\",");
    assert_says(text, "\"security-severity\":\"9.5\"");
    assert_says(text, "\"executionSuccessful\":false");
    assert_says(text, "\"associatedRule\":{\"id\":\"broken\",\"index\":3}");
    assert_says(text, "\"uri\":\"manifests/web%20pod.yaml\"},\"region\":{\"startLine\":12}");
    assert_says(text, "\"uri\":\"a/../b%0A.json\"");
    assert_says(text,
                "\"fullyQualifiedName\":\"Pod/shop/web-1/spec.containers[0].image\",\"kind\":\"property\"");
    assert_says(text, "\"suppressions\":[{\"kind\":\"inSource\",\"status\":\"accepted\","
                      "\"justification\":\"ours, until 2027-01-31\"}]");
    free(text);
}

/* --- JUnit */

static void test_junit_has_a_suite_for_each_rule_and_a_case_for_each_object(void **state)
{
    char *text = print("junit");
    assert_int_equal(count_of(text, "<testsuite "), 4);
    assert_int_equal(count_of(text, "<testcase "), 9);
    assert_says(text,
                "<testsuites name=\"kubelua audit\" tests=\"9\" failures=\"4\" errors=\"1\" skipped=\"2\""
                " time=\"1.234\" timestamp=\"2026-11-22T19:00:00Z\">");
    assert_says(text, "<testsuite name=\"image-tag\" tests=\"2\" failures=\"2\" errors=\"0\" skipped=\"0\">");
    assert_says(text, "<failure message=\"&lt;b&gt;&amp;&quot;&#39; ]]&gt; \xef\xbf\xbd[31m ");
    assert_says(text, "<skipped message=\"not of ours\"/>");
    assert_says(text, "<error message=\"rules.lua:33: attempt to index a nil value\" type=\"error\">");
    free(text);
}

static void test_markup_takes_any_byte(void **state)
{
    static const struct {
        const char *text, *markup;
    } cases[] = {
        {"plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"<a href=\"x\">'&amp;", "&lt;a href=&quot;x&quot;&gt;&#39;&amp;amp;"},
        {"]]>", "]]&gt;"},
        {"\t\n\r", "&#9;&#10;&#13;"},
        {"a\x01z", "a\xef\xbf\xbdz"},
        {"a\x7fz", "a\xef\xbf\xbdz"},
        {"a\xc2\x9bz", "a\xef\xbf\xbdz"},                             /* of C1: terminals take it for ESC [ */
        {"a\xef\xbf\xbez", "a\xef\xbf\xbdz"},                         /* U+FFFE */
        {"a\xed\xa0\x80z", "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz"}, /* half of a character */
        {"a\xe2\x80\xae"
         "z",
         "a\xef\xbf\xbdz"}, /* right to left from here on */
        {"a\xff", "a\xef\xbf\xbd"},
        {"a\xe2\x82", "a\xef\xbf\xbd\xef\xbf\xbd"},
        {"", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf out = {0};
        markup_put(&out, str_of(cases[i].text));
        assert_string_equal(buf_text(&out), cases[i].markup);
        buf_clear(&out);
    }
    struct buf out = {0};
    markup_attribute(&out, "a", (struct str){"\0", 1});
    assert_string_equal(buf_text(&out), " a=\"\xef\xbf\xbd\"");
    buf_clear(&out);
}

/* --- HTML */

static void test_a_page_has_nothing_from_elsewhere_and_escapes_all(void **state)
{
    char *text = print("html");
    assert_int_equal(count_of(text, "<section class="), 4);
    assert_int_equal(count_of(text, "<li data-ns=\"shop\">"), 7);
    assert_int_equal(count_of(text, "<li data-ns=\"\">"), 1);
    assert_int_equal(count_of(text, "<script>"), 1); /* no name of an object is one */
    assert_int_equal(count_of(text, "</script>"), 1);
    assert_int_equal(count_of(text, "://") + count_of(text, "@import") + count_of(text, "url("), 0);
    assert_says(text, "<code>&quot;&lt;script&gt;alert(1)&lt;/script&gt;&quot;</code>");
    assert_says(text, "<small>manifests/web pod.yaml:12</small>");
    assert_says(text, "<p><strong>What to do:</strong> Name a version.</p>");
    assert_says(text, "<li class=\"critical\"><b>1</b>critical</li>");
    free(text);
}

static void test_a_large_page_begins_folded(void **state)
{
    struct audit_table *table = fixture_large(2000, 4);
    char *text = fixture_print(report_html, table, &fixture_options);
    assert_int_equal(count_of(text, "<li data-ns="), 2000);
    assert_int_equal(count_of(text, "<ul class=\"rows\">"), 40);
    assert_int_equal(count_of(text, "<details open>"), 0);
    free(text);
    audit_table_free(table);
}

/* --- reports of policies */

static void test_policy_reports_are_one_for_each_namespace(void **state)
{
    char *text = print("policyreport");
    assert_int_equal(count_of(text, "---\n"), 2);
    assert_says(text,
                "kind: \"PolicyReport\"\nmetadata:\n  name: \"kubelua-audit\"\n  namespace: \"shop\"\n");
    assert_says(text, "summary:\n  pass: 2\n  skip: 2\n  warn: 1\n  fail: 3\n  error: 1\n");
    assert_says(text, "message: \"it is privileged (ours, until 2027-01-31)\"\n");
    assert_int_equal(count_of(text, "- source: "), 8);                 /* passes are counted only */
    assert_int_equal(count_of(text, "  severity: \"critical\"\n"), 2); /* of the properties */
    assert_says(text,
                "    uid: \"6c1b7e55-0000-4000-8000-000000000001\"\n    fieldPath: \"spec.containers[0]");
    free(text);
    text = print("openreports");
    assert_says(text, "configuration:\n  limits:\n    statusFilter:\n    - \"skip\"\n    - \"warn\"\n");
    assert_int_equal(count_of(text, "  severity: \"critical\"\n"), 4);
    free(text);
}

static size_t number_behind(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    assert_non_null(at);
    return strtoul(at + strlen(key), NULL, 10);
}

/* But for passes, which are counted only. */
static void test_a_summary_counts_the_results_of_its_document(void **state)
{
    static const char *const verdicts[] = {"skip", "warn", "fail", "error"};
    char *text = print("policyreport");
    for (char *part = strstr(text, "---\n"), *next; part; part = next) {
        next = strstr(part + 1, "---\n");
        if (next) *next = '\0';
        for (size_t i = 0; i < ARRAY_LEN(verdicts); i++) {
            struct buf key = {0}, result = {0};
            buf_printf(&key, "\n  %s: ", verdicts[i]);
            buf_printf(&result, "  result: \"%s\"\n", verdicts[i]);
            assert_int_equal(number_behind(part, buf_text(&key)), count_of(part, buf_text(&result)));
            buf_clear(&key);
            buf_clear(&result);
        }
        if (next) *next = '-';
    }
    free(text);
}

/* Nobody's dashboard shows a namespace as clean when not all rules were asked. */
static void test_each_report_of_an_audit_that_is_not_complete_reports_it(void **state)
{
    struct report_options options = fixture_options;
    struct audit_table *table = fixture_table(false), *empty = audit_table_new(false);
    options.incomplete = "Not all rules could be asked";
    char *text = fixture_print(report_policy, table, &options);
    assert_int_equal(count_of(text, "---\n"), 2);
    assert_int_equal(
        count_of(text, "  annotations:\n    kubelua/incomplete: \"Not all rules could be asked\"\n"), 2);
    assert_int_equal(count_of(text, "  policy: \"kubelua\"\n  rule: \"incomplete\"\n  result: \"error\"\n"),
                     2);
    assert_says(text, "  error: 2\n"); /* that one, and the one of a rule */
    free(text);
    text = fixture_print(report_openreports, empty, &options);
    assert_int_equal(count_of(text, "---\n"), 1);
    assert_says(text, "  error: 1\n");
    free(text);
    audit_table_free(table);
    audit_table_free(empty);
}

/* `kubectl apply` notes the whole object in an annotation, which has 256 KiB at most. */
static void test_a_large_report_comes_in_parts(void **state)
{
    enum { ROWS = 40000 };
    struct audit_table *table = fixture_large(ROWS, 4);
    char *text = fixture_print(report_policy, table, &fixture_options);
    size_t results = 0, parts = 0;
    for (char *part = strstr(text, "---\n"), *next; part; part = next) {
        next = strstr(part + 1, "---\n");
        if (next) *next = '\0';
        results += count_of(part, "- source: ");
        parts++;
        assert_true(strlen(part) < 2 * POLICY_REPORT_BYTES); /* YAML is larger than the JSON that counts */
        if (next) *next = '-';
    }
    assert_int_equal(results, ROWS);
    assert_int_equal(parts, 100);
    assert_says(text, "name: \"kubelua-audit\"\n  namespace: \"team-0\"\n");
    free(text);
    audit_table_free(table);
}

static void test_an_object_without_a_valid_namespace_is_in_the_report_of_the_cluster(void **state)
{
    struct audit_table *table = audit_table_new(true);
    const struct audit_object object = {.kind = STR("Pod"), .ns = STR("no/name"), .name = STR("a")};
    audit_table_add_rule(table,
                         &(const struct audit_rule){
                             .id = "one", .title = "t", .category = "", .why = "", .how = "", .file = ""});
    audit_table_begin_object(table, &object);
    audit_table_add(table, &(const struct audit_row){.verdict = VERDICT_FAIL});
    audit_table_count(table, 0, VERDICT_FAIL);
    char *text = fixture_print(report_policy, table, &fixture_options);
    assert_says(text, "kind: \"ClusterPolicyReport\"\nmetadata:\n  name: \"kubelua-audit\"\n  labels:");
    assert_says(text, "  policy: \"one\"\n");
    assert_says(text, "    namespace: \"no/name\"\n");
    assert_int_equal(count_of(text, "---\n"), 1);
    free(text);
    audit_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_form_has_a_control_character),
        cmocka_unit_test(test_formats_are_found_by_name),
        cmocka_unit_test(test_json_has_a_line_for_each_finding),
        cmocka_unit_test(test_an_audit_without_findings_is_complete_in_each_form),
        cmocka_unit_test(test_sarif_has_rules_results_and_what_went_wrong),
        cmocka_unit_test(test_junit_has_a_suite_for_each_rule_and_a_case_for_each_object),
        cmocka_unit_test(test_markup_takes_any_byte),
        cmocka_unit_test(test_a_page_has_nothing_from_elsewhere_and_escapes_all),
        cmocka_unit_test(test_a_large_page_begins_folded),
        cmocka_unit_test(test_policy_reports_are_one_for_each_namespace),
        cmocka_unit_test(test_a_summary_counts_the_results_of_its_document),
        cmocka_unit_test(test_each_report_of_an_audit_that_is_not_complete_reports_it),
        cmocka_unit_test(test_a_large_report_comes_in_parts),
        cmocka_unit_test(test_an_object_without_a_valid_namespace_is_in_the_report_of_the_cluster),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
