/* core/engine/bucket/bucket_key.c, core/engine/bucket/bucket_target.c: names that NATS does not allow in
 * subjects, and URLs of buckets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "engine/bucket/bucket_key.h"
#include "engine/bucket/bucket_target.h"

#define RESOURCE(group, plural, kind, scope)                                     \
    {                                                                            \
        (char[]){group}, (char[]){"v1"}, (char[]){plural}, (char[]){kind}, scope \
    }

static const struct resource deployments = RESOURCE("apps", "deployments", "Deployment", SCOPE_NAMESPACED);
static const struct resource roles =
    RESOURCE("rbac.authorization.k8s.io", "clusterroles", "ClusterRole", SCOPE_CLUSTER);
static const struct resource pods = RESOURCE("", "pods", "Pod", SCOPE_NAMESPACED);

static void assert_key(const struct resource *resource, const char *ns, const char *name,
                       const char *expected)
{
    struct buf key = {0}, ns_read = {0}, name_read = {0};
    bucket_key(resource, str_of(ns), str_of(name), &key);
    assert_string_equal(buf_text(&key), expected);
    assert_true(bucket_key_read(buf_slice(&key), &ns_read, &name_read));
    assert_string_equal(buf_text(&ns_read), ns);
    assert_string_equal(buf_text(&name_read), name);
    buf_clear(&key);
    buf_clear(&ns_read);
    buf_clear(&name_read);
}

static void test_keys_have_one_token_for_each_part(void **state)
{
    assert_key(&deployments, "shop", "web", "objects.apps.v1.deployments.shop.web");
    assert_key(&pods, "shop", "my.name", "objects._.v1.pods.shop.my=2Ename");
    assert_key(&roles, "", "system:a*b>c d",
               "objects.rbac=2Eauthorization=2Ek8s=2Eio.v1.clusterroles._.system=3Aa=2Ab=3Ec=20d");
    assert_key(&roles, "", "_", "objects.rbac=2Eauthorization=2Ek8s=2Eio.v1.clusterroles._.=5F");
    assert_key(&roles, "", "a_b=c", "objects.rbac=2Eauthorization=2Ek8s=2Eio.v1.clusterroles._.a_b=3Dc");
    assert_key(&pods, "shop", "\xC3\xA9", "objects._.v1.pods.shop.=C3=A9");
}

static void test_filters_admit_a_kind_or_a_namespace_of_it(void **state)
{
    struct buf filter = {0};
    bucket_filter(&deployments, STR(""), STR(""), &filter);
    assert_string_equal(buf_text(&filter), "objects.apps.v1.deployments.*.*");
    filter.len = 0;
    bucket_filter(&deployments, STR("shop"), STR(""), &filter);
    assert_string_equal(buf_text(&filter), "objects.apps.v1.deployments.shop.*");
    filter.len = 0;
    bucket_filter(&deployments, STR(""), STR("my.web"), &filter);
    assert_string_equal(buf_text(&filter), "objects.apps.v1.deployments.*.my=2Eweb");
    buf_clear(&filter);
}

static void test_what_is_no_key_of_an_object_is_refused(void **state)
{
    static const char *const keys[] = {"",
                                       "publisher",
                                       "objects.apps.v1.deployments.shop",
                                       "objects.apps.v1.deployments.shop.web.more",
                                       "others.apps.v1.deployments.shop.web",
                                       "objects.apps.v1.deployments.shop.",
                                       "objects.apps.v1.deployments.shop._",
                                       "objects.apps.v1.deployments.shop.a=2",
                                       "objects.apps.v1.deployments.shop.a=zz",
                                       "objects.apps.v1.deployments.shop.a="};
    struct buf ns = {0}, name = {0};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (bucket_key_read(str_of(keys[i]), &ns, &name)) fail_msg("%s", keys[i]);
    buf_clear(&ns);
    buf_clear(&name);
}

static void test_urls_are_read(void **state)
{
    struct bucket_target target;
    assert_true(bucket_target_read("nats://a:4222,b/prod_1-x", &target, NULL));
    assert_string_equal(target.servers, "a:4222,b");
    assert_string_equal(target.bucket, "prod_1-x");
    assert_string_equal(target.shown, "nats://a:4222,b/prod_1-x");
    target.password = strdup("hunter2");
    bucket_target_clear(&target);
    assert_null(target.password);
}

static void assert_refused(const char *url, const char *why)
{
    struct bucket_target target;
    struct err err = {0};
    assert_false(bucket_target_read(url, &target, &err));
    if (!strstr(err.text, why)) fail_msg("%s: %s", url, err.text);
    if (strstr(err.text, "hunter2")) fail_msg("the password is shown: %s", err.text);
    assert_null(target.shown);
}

static void test_other_urls_are_refused_without_their_secrets(void **state)
{
    assert_refused("http://a/b", "must be nats://");
    assert_refused("nats://a", "must be nats://");
    assert_refused("nats:///b", "must be nats://");
    assert_refused("nats://a/", "letters, digits");
    assert_refused("nats://a/b.c", "letters, digits");
    assert_refused("nats://a/b/c", "letters, digits");
    assert_refused("nats://me:hunter2@a/b", "without a user");
    assert_refused("https://me:hunter2@a/b", "must be nats://");
}

static void test_each_namespace_is_of_one_part(void **state)
{
    struct bucket_place all = {0}, parts[7];
    size_t counts[7] = {0};
    char text[16];
    for (unsigned i = 0; i < 7; i++) {
        parts[i] = (struct bucket_place){0};
        snprintf(text, sizeof text, "%u/7", i);
        assert_true(bucket_part_read(text, &parts[i], NULL));
        /* Objects without a namespace are everybody's. */
        assert_true(bucket_part_has(&parts[i], STR("")));
    }
    for (int n = 0; n < 700; n++) {
        int owners = 0;
        snprintf(text, sizeof text, "team-%d", n);
        assert_true(bucket_part_has(&all, str_of(text)));
        for (int i = 0; i < 7; i++)
            if (bucket_part_has(&parts[i], str_of(text))) {
                owners++;
                counts[i]++;
            }
        assert_int_equal(owners, 1);
    }
    for (int i = 0; i < 7; i++) assert_in_range(counts[i], 50, 150);
}

static void test_other_parts_are_refused(void **state)
{
    static const char *const parts[] = {"",     "1",   "/",      "1/",  "/2",   "2/2",
                                        "-1/2", "0/0", "0/1001", "a/b", "0/2/3"};
    struct bucket_place place = {0};
    struct err err;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (bucket_part_read(parts[i], &place, &err)) fail_msg("%s", parts[i]);
        assert_non_null(strstr(err.text, "must be I/N"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_have_one_token_for_each_part),
        cmocka_unit_test(test_filters_admit_a_kind_or_a_namespace_of_it),
        cmocka_unit_test(test_what_is_no_key_of_an_object_is_refused),
        cmocka_unit_test(test_urls_are_read),
        cmocka_unit_test(test_other_urls_are_refused_without_their_secrets),
        cmocka_unit_test(test_each_namespace_is_of_one_part),
        cmocka_unit_test(test_other_parts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
