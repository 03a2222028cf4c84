/* core/audit/fix/fixes.c and fixer_values.c: what is to be done, whose it is, and what is sent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/fix/fixer_values.h"
#include "audit/fix/fixes.h"
#include "base/clock.h"
#include "base/mem.h"
#include "kube/kinds/well_known.h"

static struct pool *pool;
static struct packer *packer;
static struct catalogue *catalogue;

static int setup(void **state)
{
    (void)state;
    pool = pool_new(NULL);
    packer = packer_new(pool);
    catalogue = catalogue_well_known();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    catalogue_free(catalogue);
    packer_free(packer);
    pool_free(pool);
    return 0;
}

static struct root *pack(const char *json)
{
    struct buf text = {0};
    struct root *root;
    struct err err;
    buf_puts(&text, json);
    assert_true(fix_pack(packer, &text, &root, &err));
    buf_clear(&text);
    return root;
}

static void test_the_rules_of_a_fix_are_reported_once(void **state)
{
    (void)state;
    struct audit_fix fix = {0};
    static const char *const ids[] = {"image", "tag", "image-tag", "image", "tag", "ag", "image-tag"};
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) audit_fix_add_rule(&fix, ids[i]);
    assert_string_equal(fix.rules, "image, tag, image-tag, ag");
    audit_fix_clear(&fix);
}

static void check_object(const char *json, const char *expected, const char *type)
{
    struct audit_fix fix = {0};
    struct root *root = pack(json);
    struct buf out = {0};
    fix_name(&fix, root_value(root), catalogue);
    audit_fix_put_object(&fix, &out);
    assert_string_equal(buf_text(&out), expected);
    assert_string_equal(fix.type, type);
    buf_clear(&out);
    root_unref(root);
    audit_fix_clear(&fix);
}

static void test_objects_are_named_as_kubectl_does(void **state)
{
    (void)state;
    check_object("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web\"}}", "pod/web",
                 "pods");
    check_object("{\"apiVersion\":\"apps/v1\",\"kind\":\"StatefulSet\",\"metadata\":{\"name\":\"db\"}}",
                 "statefulset.apps/db", "statefulsets.apps");
    check_object("{\"apiVersion\":\"example.com/v1\",\"kind\":\"Widget\",\"metadata\":{\"name\":\"w\"}}",
                 "widget.example.com/w", "Widget.v1.example.com");
    check_object("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{}}", "pod/", "pods");
}

static void check_lock(const char *json, const char *version, const char *expected)
{
    char *copy = xstrdup(json);
    const struct audit_fix fix = {.json = copy};
    struct buf out = {0};
    struct err err;
    assert_true(fix_lock(packer, &fix, str_of(version), &out, &err));
    assert_string_equal(buf_text(&out), expected);
    buf_clear(&out);
    free(copy);
}

static void test_what_is_sent_names_the_version(void **state)
{
    (void)state;
    check_lock("{\"spec\":{\"a\":null,\"b\":[{\"c\":null}]}}", "17",
               "{\"spec\":{\"a\":null,\"b\":[{\"c\":null}]},\"metadata\":{\"resourceVersion\":\"17\"}}");
    check_lock("{\"metadata\":{\"labels\":{\"a\":null}}}", "\"\\",
               "{\"metadata\":{\"labels\":{\"a\":null},\"resourceVersion\":\"\\\"\\\\\"}}");
    /* A rule that says a version of its own does not get around it. */
    check_lock("{\"metadata\":{\"resourceVersion\":\"1\"}}", "17",
               "{\"metadata\":{\"resourceVersion\":\"17\"}}");
    check_lock("{\"metadata\":null}", "17", "{\"metadata\":{\"resourceVersion\":\"17\"}}");
}

static void check_manifest(const char *json, const char *object, const char *ns, const char *expected)
{
    struct root *manifest = pack(json), *of = pack(object);
    struct audit_fix fix = {0};
    fix_manifest(packer, &fix, root_value(manifest), of, catalogue);
    assert_true(fix.is_manifest);
    assert_string_equal(fix.ns, ns);
    assert_string_equal(fix.json, expected);
    audit_fix_clear(&fix);
    root_unref(manifest);
    root_unref(of);
}

static void test_a_manifest_is_in_the_namespace_of_what_it_is_for(void **state)
{
    (void)state;
    static const char pod[] =
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web\",\"namespace\":\"shop\"}}";
    check_manifest("{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"s\"}}", pod, "shop",
                   "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"s\","
                   "\"namespace\":\"shop\"}}");
    check_manifest(
        "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"s\",\"namespace\":\"ops\"}}",
        pod, "ops",
        "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"s\","
        "\"namespace\":\"ops\"}}");
    check_manifest("{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n\"}}", pod, "",
                   "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n\"}}");
}

static struct audit_fix manifest_of(const char *json)
{
    struct root *root = pack(json);
    struct audit_fix fix = {0};
    fix_manifest(packer, &fix, root_value(root), root, catalogue);
    root_unref(root);
    return fix;
}

static void test_manifests_of_one_object(void **state)
{
    (void)state;
    static const char one[] =
        "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"a\"}}";
    static const struct {
        const char *json;
        bool same;
    } cases[] = {
        {"{\"apiVersion\":\"apps/v1beta1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"a\"}}", true},
        {"{\"apiVersion\":\"v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"a\"}}", false},
        {"{\"apiVersion\":\"apps/v1\",\"kind\":\"DaemonSet\",\"metadata\":{\"name\":\"a\"}}", false},
        {"{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"b\"}}", false},
        {"{\"apiVersion\":\"apps/"
         "v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"a\",\"namespace\":\"x\"}}",
         false},
    };
    struct audit_fixes fixes = {0};
    struct audit_fix first = manifest_of(one);
    audit_fixes_add(&fixes, &first);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct audit_fix fix = manifest_of(cases[i].json);
        assert_int_equal(audit_fixes_find_manifest(&fixes, &fix) == &fixes.items[0], cases[i].same);
        assert_false(audit_fixes_have_patch(&fixes, &fix)); /* a manifest is none */
        audit_fix_clear(&fix);
    }
    audit_fixes_clear(&fixes);
}

static void test_patches_are_no_manifests(void **state)
{
    (void)state;
    static const char one[] = "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}";
    struct audit_fixes fixes = {0};
    struct audit_fix patch = manifest_of(one), fix = manifest_of(one);
    patch.is_manifest = false;
    audit_fixes_add(&fixes, &patch);
    assert_null(audit_fixes_find_manifest(&fixes, &fix));
    assert_true(audit_fixes_have_patch(&fixes, &fix));
    audit_fixes_add(&fixes, &fix);
    assert_ptr_equal(audit_fixes_find_manifest(&fixes, &fix), &fixes.items[1]);
    assert_true(audit_fixes_have_patch(&fixes, &fix));
    audit_fixes_clear(&fixes);
}

static void test_those_without_a_name_are_new_objects_each_time(void **state)
{
    (void)state;
    struct audit_fixes fixes = {0};
    for (int i = 0; i < 2; i++) {
        struct audit_fix fix = manifest_of("{\"apiVersion\":\"v1\",\"kind\":\"Pod\"}");
        assert_null(audit_fixes_find_manifest(&fixes, &fix));
        audit_fixes_add(&fixes, &fix);
    }
    audit_fixes_clear(&fixes);
}

enum { MANY = 40000 };

/* In a moment, and not in the square of their number. */
static void test_many_manifests_and_many_reasons(void **state)
{
    (void)state;
    struct audit_fixes fixes = {0};
    const struct audit_fix model = {.is_manifest = true};
    char line[101];
    memset(line, 'x', 100);
    int64_t begun_ns = clock_measure_ns();
    for (int i = 0; i < MANY; i++) {
        struct audit_fix fix = model;
        fix.api_version = xstrdup("v1");
        fix.kind = xstrdup("Secret");
        fix.ns = xasprintf("team-of-the-shop-%d", i);
        fix.name = xstrdup("pull-secret");
        assert_null(audit_fixes_find_manifest(&fixes, &fix));
        audit_fixes_add(&fixes, &fix);
        assert_ptr_equal(audit_fixes_find_manifest(&fixes, &fix), &fixes.items[i]);
        audit_fix_add_reasons(&fixes.items[0], (struct str){line, 100});
    }
    assert_int_equal(fixes.items[0].reasons.len, MANY * 100);
    /* The square of 40,000 takes a minute. */
    assert_true(clock_measure_ns() - begun_ns < 5000000000);
    audit_fixes_clear(&fixes);
}

static void test_how_much_there_is(void **state)
{
    (void)state;
    struct buf out = {0};
    audit_fixes_sum_up(&(const struct audit_fixes){.with = 1, .objects = 1}, &out);
    assert_string_equal(buf_text(&out), "1 finding has a fix, 0 have none; 1 object");
    out.len = 0;
    audit_fixes_sum_up(&(const struct audit_fixes){.with = 2, .without = 1, .objects = 2, .still = 1}, &out);
    assert_string_equal(buf_text(&out),
                        "2 findings have a fix, 1 has none; 2 objects; 1 rule fails with the patch too");
    buf_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patches_are_no_manifests),
        cmocka_unit_test(test_those_without_a_name_are_new_objects_each_time),
        cmocka_unit_test(test_many_manifests_and_many_reasons),
        cmocka_unit_test(test_the_rules_of_a_fix_are_reported_once),
        cmocka_unit_test(test_objects_are_named_as_kubectl_does),
        cmocka_unit_test(test_what_is_sent_names_the_version),
        cmocka_unit_test(test_a_manifest_is_in_the_namespace_of_what_it_is_for),
        cmocka_unit_test(test_manifests_of_one_object),
        cmocka_unit_test(test_how_much_there_is),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
