/* core/app/plan/plan_detail.c: what two details of a plan differ in, as people read it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "app/plan/plan_detail.h"
#include "base/mem.h"

#define A "function 00112233445566aa"
#define B "function ffeeddccbbaa9988"
#define C "function 0123456789abcdef"

static struct inventory *known(void)
{
    static struct inventory plan;
    plan.notes_functions = true;
    inventory_note_function(&plan, "ffeeddccbbaa9988", "x.lua", 7);
    inventory_note_function(&plan, "ffeeddccbbaa9988", "x.lua", 9); /* the first place stays */
    return &plan;
}

static void assert_differ(const char *before, const char *after, const char *expected, bool placed)
{
    struct buf out = {0};
    struct inventory *plan = known();
    bool told = plan_detail_compare(before, after, plan, &out);
    assert_string_equal(buf_text(&out), expected);
    assert_int_equal(told, placed);
    buf_clear(&out);
    inventory_clear(plan);
}

static void test_functions_are_told_by_their_places(void **state)
{
    assert_differ("pods in shop {OnAdd=" A ", OnUpdate=" A "}", "pods in shop {OnAdd=" B ", OnUpdate=" A "}",
                  "OnAdd changed (x.lua:7)", true);
    assert_differ(A, B, "function changed (x.lua:7)", true);
    assert_differ("{" A ", leader=true}", "{" B "}", "function changed (x.lua:7), leader=true removed", true);
    assert_differ("pods {OnAdd=" A "}", "pods {OnAdd=" C ", OnDelete=" B "}",
                  "OnAdd changed, OnDelete added (x.lua:7)", true);
    assert_differ("pods {OnAdd=" A ", OnDelete=" B "}", "pods {OnAdd=" A "}", "OnDelete removed", false);
    assert_differ("\"spec.nodeName\"", B, "\"spec.nodeName\" -> function", false);
}

static void test_other_values_are_told_as_they_are(void **state)
{
    assert_differ("pods {OnAdd=" A ", selector=\"app=web\"}", "pods {OnAdd=" A ", selector=\"app=api\"}",
                  "selector \"app=web\" -> \"app=api\"", false);
    assert_differ("{}", "{resync=\"10m\"}", "resync=\"10m\" added", false);
    assert_differ("{labels={\"a\", \"b\"}, version=1}", "{labels={\"a\"}, version=2}",
                  "labels {\"a\", \"b\"} -> {\"a\"}, version 1 -> 2", false);
    assert_differ("pods in shop {OnAdd=" A "}", "nodes {OnAdd=" A "}", "pods in shop -> nodes", false);
    assert_differ("{a={x=" A "}}", "{a={x=" B "}}", "a changed", false);
}

static void test_texts_may_hold_anything(void **state)
{
    assert_differ("{help=\"a, b={c\\\"} " A "\", n=1}", "{help=\"a, b={c\\\"} " A "\", n=2}", "n 1 -> 2",
                  false);
    assert_differ("{help=\"x}\", n=1}", "{help=\"" A ",\", n=1}", "help \"x}\" -> \"" A ",\"", false);
    assert_differ("{help=\"never ends", "{help=\"nor this", "{help=\"never ends -> {help=\"nor this", false);
    assert_differ("{a={{{}", "{}", "a={{{ removed", false);
}

static void test_what_cannot_be_compared_says_why(void **state)
{
    assert_differ(A, "?`mark` is a userdata, which cannot be compared",
                  "`mark` is a userdata, which cannot be compared", false);
    assert_differ("?`mark` is a userdata, which cannot be compared", B, "changed", false);
}

static void assert_printed(const char *detail, const char *expected)
{
    struct buf out = {0};
    plan_detail_print(detail, &out);
    assert_string_equal(buf_text(&out), expected);
    buf_clear(&out);
}

static void test_hashes_are_left_out(void **state)
{
    assert_printed("pods {OnAdd=" A ", filter=" B ", selector=\"" C "\"}",
                   "pods {OnAdd=function, filter=function, selector=\"" C "\"}");
    assert_printed("{}", "");
    assert_printed("", "");
    assert_printed("?why", "why");
    assert_printed("{note=functions 1}", "{note=functions 1}");
}

static void test_a_field_is_found(void **state)
{
    const char *detail = "{migrate=" A ", version=12}";
    assert_true(str_is(plan_detail_field(detail, "version"), "12"));
    assert_true(str_is(plan_detail_field(detail, "migrate"), A));
    assert_int_equal(plan_detail_field(detail, "kind").n, 0);
    assert_int_equal(plan_detail_field("", "kind").n, 0);
    assert_int_equal(plan_detail_field("{x={version=3}}", "version").n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_are_told_by_their_places),
        cmocka_unit_test(test_other_values_are_told_as_they_are),
        cmocka_unit_test(test_texts_may_hold_anything),
        cmocka_unit_test(test_what_cannot_be_compared_says_why),
        cmocka_unit_test(test_hashes_are_left_out),
        cmocka_unit_test(test_a_field_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
