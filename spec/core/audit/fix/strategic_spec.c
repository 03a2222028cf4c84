/* core/audit/fix/strategic.c: what differs of pods and of what makes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "audit/fix/strategic.h"
#include "base/mem.h"
#include "object/pack/pack.h"

static struct pool *pool;
static struct packer *packer;

static int setup(void **state)
{
    (void)state;
    pool = pool_new(NULL);
    packer = packer_new(pool);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    packer_free(packer);
    pool_free(pool);
    return 0;
}

static struct root *pack(const char *type, const char *fields)
{
    struct buf json = {0};
    struct root *root;
    struct err err;
    buf_printf(&json, "{%s,\"metadata\":{\"name\":\"web\"},%s}", type, fields);
    buf_reserve(&json, TAPE_PADDING);
    assert_true(pack_text(packer, json.data, json.len, &(const struct pack_type){0}, &root, &err));
    buf_clear(&json);
    return root;
}

/* `expected` "": no such patch. */
static void check(const char *type, const char *from, const char *to, const char *expected)
{
    struct root *old = pack(type, from), *new = pack(type, to);
    struct buf out = {0};
    assert_int_equal(strategic_diff(&out, root_value(old), root_value(new)), *expected != '\0');
    assert_string_equal(buf_text(&out), expected);
    buf_clear(&out);
    root_unref(old);
    root_unref(new);
}

#define POD "\"apiVersion\":\"v1\",\"kind\":\"Pod\""
#define ENV "\"env\":[{\"name\":\"A\",\"value\":\"secret\"},{\"name\":\"B\",\"value\":\"b\"}]"

static void check_pod(const char *from, const char *to, const char *expected)
{
    char *old = xasprintf("\"spec\":{%s}", from), *new = xasprintf("\"spec\":{%s}", to),
         *patch = *expected ? xasprintf("{\"spec\":{%s}}", expected) : xstrdup("");
    check(POD, old, new, patch);
    free(old);
    free(new);
    free(patch);
}

static void test_a_container_is_named_and_its_environment_is_not_reported(void **state)
{
    (void)state;
    check_pod("\"containers\":[{\"name\":\"db\"},{\"name\":\"web\",\"image\":\"a\"," ENV "}]",
              "\"containers\":[{\"name\":\"db\"},{\"name\":\"web\",\"image\":\"b\"," ENV "}]",
              "\"containers\":[{\"name\":\"web\",\"image\":\"b\"}]");
    check_pod(
        "\"containers\":[{\"name\":\"web\",\"tty\":true,\"securityContext\":{\"a\":1,\"b\":2}}]",
        "\"containers\":[{\"name\":\"web\",\"securityContext\":{\"a\":1,\"c\":{\"d\":[]}}}]",
        "\"containers\":[{\"name\":\"web\",\"tty\":null,\"securityContext\":{\"b\":null,\"c\":{\"d\":[]}}}]");
}

static void test_lists_in_a_container_have_keys_of_their_own(void **state)
{
    (void)state;
    check_pod("\"containers\":[{\"name\":\"web\"," ENV "}]",
              "\"containers\":[{\"name\":\"web\",\"env\":[{\"name\":\"A\",\"value\":\"secret\"},"
              "{\"name\":\"B\",\"value\":\"c\"}]}]",
              "\"containers\":[{\"name\":\"web\",\"env\":[{\"name\":\"B\",\"value\":\"c\"}]}]");
    check_pod("\"containers\":[{\"name\":\"web\",\"ports\":[{\"containerPort\":1},{\"containerPort\":2}],"
              "\"volumeMounts\":[{\"mountPath\":\"/a\",\"name\":\"x\"}]}]",
              "\"containers\":[{\"name\":\"web\",\"ports\":[{\"containerPort\":1},{\"containerPort\":2,"
              "\"name\":\"p\"}],\"volumeMounts\":[{\"mountPath\":\"/a\",\"name\":\"y\"}]}]",
              "\"containers\":[{\"name\":\"web\",\"ports\":[{\"containerPort\":2,\"name\":\"p\"}],"
              "\"volumeMounts\":[{\"mountPath\":\"/a\",\"name\":\"y\"}]}]");
    /* Those without a key are replaced. */
    check_pod("\"containers\":[{\"name\":\"web\",\"args\":[\"a\",\"b\"]}],\"tolerations\":[{\"key\":\"a\"}]",
              "\"containers\":[{\"name\":\"web\",\"args\":[\"c\"]}],\"tolerations\":[]",
              "\"containers\":[{\"name\":\"web\",\"args\":[\"c\"]}],\"tolerations\":[]");
}

static void test_what_is_gone_and_what_is_new(void **state)
{
    (void)state;
    check_pod("\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"}]", "\"containers\":[{\"name\":\"b\"}]",
              "\"containers\":[{\"name\":\"a\",\"$patch\":\"delete\"}]");
    check_pod("\"containers\":[{\"name\":\"a\"," ENV "}]",
              "\"containers\":[{\"name\":\"a\"," ENV "},{\"name\":\"b\",\"image\":\"b\"}]",
              "\"containers\":[{\"name\":\"b\",\"image\":\"b\"}],"
              "\"$setElementOrder/containers\":[{\"name\":\"a\"},{\"name\":\"b\"}]");
    check_pod("\"containers\":[{\"name\":\"a\"," ENV "},{\"name\":\"b\"}]",
              "\"containers\":[{\"name\":\"b\"},{\"name\":\"a\"," ENV "}]",
              "\"$setElementOrder/containers\":[{\"name\":\"b\"},{\"name\":\"a\"}]");
    check_pod("\"containers\":[{\"name\":\"a\",\"env\":[]}]",
              "\"containers\":[{\"name\":\"a\",\"env\":[{\"name\":\"X\"}]}],\"volumes\":[{\"name\":\"v\"}]",
              "\"containers\":[{\"name\":\"a\",\"env\":[{\"name\":\"X\"}],"
              "\"$setElementOrder/env\":[{\"name\":\"X\"}]}],\"volumes\":[{\"name\":\"v\"}]");
}

static void test_where_a_merge_patch_is_the_one_to_take(void **state)
{
    (void)state;
    check_pod("\"hostNetwork\":true", "\"hostNetwork\":false", "");                            /* no list */
    check_pod("\"containers\":[{\"image\":\"a\"}]", "\"containers\":[{\"image\":\"b\"}]", ""); /* no key */
    check_pod("\"containers\":[{\"name\":null}]", "\"containers\":[{\"name\":null,\"a\":1}]", ""); /* none */
    check_pod("\"containers\":[1]", "\"containers\":[2]", "");
    check_pod("\"containers\":[{\"name\":\"a\"}]", "\"containers\":{\"name\":\"a\"}", "");
    check_pod("\"containers\":[{\"name\":\"a\",\"ports\":[{\"containerPort\":53,\"protocol\":\"UDP\"},"
              "{\"containerPort\":53,\"protocol\":\"TCP\"}]}]",
              "\"containers\":[{\"name\":\"a\",\"ports\":[{\"containerPort\":53,\"protocol\":\"UDP\"}]}]",
              "");
    check_pod("\"containers\":[{\"name\":\"a\",\"tty\":null}]",
              "\"containers\":[{\"name\":\"a\"}],\"x\":null",
              "\"containers\":[{\"name\":\"a\",\"tty\":null}]");
    check_pod("\"containers\":[{\"name\":\"a\"}]", "\"containers\":[{\"name\":\"a\",\"tty\":null}]", "");
    /* Lists that may have keys which are not known here. */
    check(POD, "\"spec\":{\"containers\":[{\"name\":\"a\"}]},\"status\":{\"c\":[1]}",
          "\"spec\":{\"containers\":[{\"name\":\"a\",\"b\":1}]},\"status\":{\"c\":[2]}", "");
    check("\"apiVersion\":\"example.com/v1\",\"kind\":\"Pod\"",
          "\"spec\":{\"containers\":[{\"name\":\"a\"}]}",
          "\"spec\":{\"containers\":[{\"name\":\"a\",\"b\":1}]}", "");
    check("\"apiVersion\":\"v1\",\"kind\":\"Service\"", "\"spec\":{\"ports\":[{\"port\":1}]}",
          "\"spec\":{\"ports\":[{\"port\":2}]}", "");
}

static void test_a_list_that_is_too_long_is_none_of_containers(void **state)
{
    (void)state;
    struct buf from = {0}, to = {0};
    for (int i = 0; i < 1001; i++) buf_printf(&from, "%s{\"name\":\"c%d\"}", i ? "," : "", i);
    buf_printf(&to, "\"containers\":[%s,{\"name\":\"new\"}]", buf_text(&from));
    char *old = xasprintf("\"containers\":[%s]", buf_text(&from));
    check_pod(old, buf_text(&to), "");
    free(old);
    buf_clear(&from);
    buf_clear(&to);
}

static void test_the_kinds_that_make_pods(void **state)
{
    (void)state;
    static const char *const workloads[][2] = {{"v1", "ReplicationController"}, {"apps/v1", "Deployment"},
                                               {"apps/v1", "StatefulSet"},      {"apps/v1", "DaemonSet"},
                                               {"apps/v1", "ReplicaSet"},       {"batch/v1", "Job"}};
    const char
        *old = "\"spec\":{\"x\":[1],\"template\":{\"spec\":{\"containers\":[{\"name\":\"a\"," ENV "}]}}}",
        *new = "\"spec\":{\"x\":[2],\"template\":{\"spec\":{\"containers\":[{\"name\":\"a\"," ENV
               ",\"b\":1}]}}}",
        *patch = "{\"spec\":{\"x\":[2],\"template\":{\"spec\":{\"containers\":[{\"name\":\"a\",\"b\":1}]}}}}";
    for (size_t i = 0; i < ARRAY_LEN(workloads); i++) {
        char *type = xasprintf("\"apiVersion\":\"%s\",\"kind\":\"%s\"", workloads[i][0], workloads[i][1]);
        check(type, old, new, patch);
        free(type);
    }
    char *job = xasprintf("\"spec\":{\"jobTemplate\":{%s}}", old),
         *changed = xasprintf("\"spec\":{\"jobTemplate\":{%s}}", new),
         *expected = xasprintf("{\"spec\":{\"jobTemplate\":%s}}", patch);
    check("\"apiVersion\":\"batch/v1\",\"kind\":\"CronJob\"", job, changed, expected);
    free(job);
    free(changed);
    free(expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_container_is_named_and_its_environment_is_not_reported),
        cmocka_unit_test(test_lists_in_a_container_have_keys_of_their_own),
        cmocka_unit_test(test_what_is_gone_and_what_is_new),
        cmocka_unit_test(test_where_a_merge_patch_is_the_one_to_take),
        cmocka_unit_test(test_a_list_that_is_too_long_is_none_of_containers),
        cmocka_unit_test(test_the_kinds_that_make_pods),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
