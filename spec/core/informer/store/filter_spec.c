/* core/informer/store/filter.c and what of handler_options.c compares paths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/informer/support/objects.h"
#include "informer/shared/handler_options.h"
#include "informer/store/filter.h"

static struct filter *filter;
static struct root *pod;

static const char pod_json[] =
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web\",\"namespace\":\"shop-eu\","
    "\"labels\":"
    "{\"app\":\"web\",\"tier\":\"front\"}},\"spec\":{\"nodeName\":null,\"priority\":5,\"hostNetwork\":true,"
    "\"containers\":[{\"name\":\"a\",\"image\":\"one\"},{\"name\":\"b\",\"image\":\"two\"}]},"
    "\"status\":{\"phase\":\"Running\",\"load\":5.0,\"list\":[]}}";

static int setup(void **state)
{
    objects_open();
    filter = filter_new();
    pod = object_from_json(pod_json);
    return 0;
}

static int teardown(void **state)
{
    root_unref(pod);
    filter_free(filter);
    objects_close();
    return 0;
}

static void add_namespace(const char *pattern)
{
    struct err err;
    if (!filter_add_namespace(filter, str_of(pattern), &err)) fail_msg("%s", err.text);
}

static void add_path(const char *path)
{
    struct err err;
    if (!filter_add_path(filter, str_of(path), &err)) fail_msg("%s", err.text);
}

static bool passes_in(const char *ns)
{
    char text[100];
    snprintf(text, sizeof text, "%s/web@1", ns);
    struct root *root = object(*ns ? text : "web@1");
    bool yes = filter_passes(filter, root);
    root_unref(root);
    return yes;
}

static void test_an_empty_filter_passes_everything(void **state)
{
    assert_true(filter_passes(filter, pod));
}

static void test_labels_are_selected(void **state)
{
    struct err err;
    assert_true(filter_set_selector(filter, STR("app=web,tier in (front, back)"), &err));
    assert_true(filter_passes(filter, pod));
    assert_true(filter_set_selector(filter, STR("app!=web"), &err));
    assert_false(filter_passes(filter, pod));
    assert_false(filter_set_selector(filter, STR("app==b==c"), &err));
    assert_non_null(strstr(err.text, "selector \"app==b==c\""));
}

static void test_one_of_the_listed_namespaces_is_enough(void **state)
{
    add_namespace("shop-eu");
    add_namespace("dev?");
    assert_true(passes_in("shop-eu"));
    assert_true(passes_in("dev1"));
    assert_false(passes_in("dev"));
    assert_false(passes_in("dev12"));
    assert_false(passes_in("shop"));
    assert_false(passes_in("shop-eu2"));
    assert_false(passes_in(""));
}

static void test_a_namespace_with_a_mark_is_left_out_whatever_the_order(void **state)
{
    add_namespace("!kube-*");
    assert_true(passes_in("shop"));
    assert_true(passes_in(""));
    assert_false(passes_in("kube-system"));
    assert_true(passes_in("kube"));
    add_namespace("*-system");
    assert_true(passes_in("cert-system"));
    assert_false(passes_in("kube-system"));
    assert_false(passes_in("shop"));
}

static void test_stars_match_any_run_of_characters(void **state)
{
    add_namespace("a*b*c");
    assert_true(passes_in("abc"));
    assert_true(passes_in("axxbxxbyc"));
    assert_false(passes_in("axxbxxbyd"));
    assert_false(passes_in("ab"));
    add_namespace("**");
    assert_true(passes_in("anything"));
    assert_true(passes_in(""));
}

static void test_a_name_that_is_no_namespace_is_refused(void **state)
{
    static const char *const bad[] = {
        "",    "!",   "a/b",  "Shop",
        "a b", "!!a", "[ab]", "0123456789012345678901234567890123456789012345678901234567890123456789"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err err;
        assert_false(filter_add_namespace(filter, str_of(bad[i]), &err));
        assert_non_null(strstr(err.text, "expected a name of at most 64 characters"));
    }
    assert_true(passes_in("shop"));
}

static void test_a_path_must_have_one_of_its_values(void **state)
{
    add_path("status.phase");
    filter_add_string(filter, STR("Pending"));
    assert_false(filter_passes(filter, pod));
    filter_add_string(filter, STR("Running"));
    assert_true(filter_passes(filter, pod));
    add_path("spec.hostNetwork");
    filter_add_bool(filter, true);
    assert_true(filter_passes(filter, pod));
    add_path("spec.priority");
    filter_add_number(filter, 6);
    assert_false(filter_passes(filter, pod));
}

static void test_values_agree_by_type_and_numbers_by_value(void **state)
{
    add_path("spec.priority");
    filter_add_string(filter, STR("5"));
    filter_add_bool(filter, true);
    assert_false(filter_passes(filter, pod));
    filter_add_number(filter, 5);
    add_path("status.load");
    filter_add_number(filter, 5);
    assert_true(filter_passes(filter, pod));
}

static void test_any_match_of_a_path_counts(void **state)
{
    add_path("spec.containers[*].image");
    filter_add_string(filter, STR("two"));
    assert_true(filter_passes(filter, pod));
    add_path("spec.containers[?name=='a'].image");
    filter_add_string(filter, STR("two"));
    assert_false(filter_passes(filter, pod));
}

static void test_null_agrees_with_what_is_null_or_absent(void **state)
{
    static const char *const absent[] = {"spec.nodeName", "spec.missing.deep", "status.list[*].x"};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
        add_path(absent[i]);
        filter_add_null(filter);
        assert_true(filter_passes(filter, pod));
    }
    add_path("status.phase");
    filter_add_null(filter);
    assert_false(filter_passes(filter, pod));
}

/* Whether the two differ for a handler that cares for `path`. */
static bool cares(const char *path, const char *before, const char *after)
{
    struct err err;
    struct handler_options *options = handler_options_new();
    assert_true(handler_options_add_changed(options, STR("spec.other"), &err));
    assert_true(handler_options_add_changed(options, str_of(path), &err));
    char text[2][400];
    for (int i = 0; i < 2; i++)
        snprintf(text[i], sizeof text[i],
                 "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"},%s}",
                 i ? after : before);
    struct root *a = object_from_json(text[0]), *b = object_from_json(text[1]);
    bool yes = handler_options_cares(options, a, b);
    root_unref(a);
    root_unref(b);
    handler_options_unref(options);
    return yes;
}

static void test_changed_compares_the_values_at_the_paths_only(void **state)
{
    assert_false(cares("spec.x", "\"spec\":{\"x\":1,\"y\":1}", "\"spec\":{\"x\":1,\"y\":2}"));
    assert_true(cares("spec.x", "\"spec\":{\"x\":1}", "\"spec\":{\"x\":2}"));
    assert_true(cares("spec.x", "\"spec\":{}", "\"spec\":{\"x\":2}"));
    assert_false(cares("spec.x", "\"spec\":{\"x\":null}", "\"spec\":{}"));
    assert_false(cares("spec.x", "\"spec\":{\"x\":{\"a\":1,\"b\":2}}", "\"spec\":{\"x\":{\"b\":2,\"a\":1}}"));
}

static void test_changed_compares_all_matches_in_their_order(void **state)
{
    assert_false(cares("spec.x[*].a", "\"spec\":{\"x\":[{\"a\":1},{\"a\":2}]}",
                       "\"spec\":{\"x\":[{\"a\":1,\"b\":3},{\"a\":2}]}"));
    assert_true(cares("spec.x[*]", "\"spec\":{\"x\":[1,2]}", "\"spec\":{\"x\":[2,1]}"));
    assert_true(cares("spec.x[*]", "\"spec\":{\"x\":[1,2]}", "\"spec\":{\"x\":[1,2,3]}"));
    assert_true(cares("spec.x[*]", "\"spec\":{\"x\":[1,2]}", "\"spec\":{\"x\":[]}"));
    static const char many[] = "\"spec\":{\"x\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,"
                               "24,25,26,27,28,29,30,31,32,33]}";
    char other[200];
    strcpy(other, many);
    strcpy(strstr(other, "33"), "34]}");
    assert_false(cares("spec.x[*]", many, many));
    assert_true(cares("spec.x[*]", many, other));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_an_empty_filter_passes_everything),
        TEST(test_labels_are_selected),
        TEST(test_one_of_the_listed_namespaces_is_enough),
        TEST(test_a_namespace_with_a_mark_is_left_out_whatever_the_order),
        TEST(test_stars_match_any_run_of_characters),
        TEST(test_a_name_that_is_no_namespace_is_refused),
        TEST(test_a_path_must_have_one_of_its_values),
        TEST(test_values_agree_by_type_and_numbers_by_value),
        TEST(test_any_match_of_a_path_counts),
        TEST(test_null_agrees_with_what_is_null_or_absent),
        TEST(test_changed_compares_the_values_at_the_paths_only),
        TEST(test_changed_compares_all_matches_in_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
