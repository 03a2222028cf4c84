/* core/app/check/rbac_rules.c: the least rules, and how they are written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/check/rbac_rules.h"

#define HEAD(kind) "apiVersion: rbac.authorization.k8s.io/v1\nkind: " kind "\nmetadata:\n  name: kubelua\n"

enum { READ = RBAC_LIST | RBAC_WATCH };

static void check(struct rbac_rules *rules, const char *expected)
{
    struct buf out = {0};
    rbac_rules_print(rules, "kubelua", &out);
    assert_string_equal(buf_text(&out), expected);
    buf_clear(&out);
    rbac_rules_free(rules);
}

static void test_resources_of_a_group_with_the_same_verbs_are_one_rule(void **state)
{
    struct rbac_rules *rules = rbac_rules_new();
    rbac_rules_add(rules, "", "apps", "deployments", READ);
    rbac_rules_add(rules, "", "", "services", READ);
    rbac_rules_add(rules, "", "", "secrets", RBAC_GET);
    rbac_rules_add(rules, "", "", "pods", RBAC_LIST);
    rbac_rules_add(rules, "", "", "pods", RBAC_WATCH);
    rbac_rules_add(rules, "", "", "pods/status", RBAC_PATCH | RBAC_CREATE);
    check(
        rules,
        HEAD(
            "ClusterRole") "rules:\n"
                           "  - apiGroups: [\"\"]\n    resources: [pods, services]\n    verbs: [list, "
                           "watch]\n"
                           "  - apiGroups: [\"\"]\n    resources: [pods/status]\n    verbs: [create, patch]\n"
                           "  - apiGroups: [\"\"]\n    resources: [secrets]\n    verbs: [get]\n"
                           "  - apiGroups: [apps]\n    resources: [deployments]\n    verbs: [list, watch]\n");
}

static void test_a_namespace_has_a_role_of_what_does_not_hold_everywhere(void **state)
{
    struct rbac_rules *rules = rbac_rules_new();
    rbac_rules_add(rules, "shop", "", "pods", READ | RBAC_DELETE);
    rbac_rules_add(rules, "shop", "", "services", READ);
    rbac_rules_add(rules, "", "", "pods", READ);
    rbac_rules_add(rules, "5", "", "pods", READ | RBAC_GET);
    check(rules,
          HEAD("ClusterRole") "rules:\n"
                              "  - apiGroups: [\"\"]\n    resources: [pods]\n    verbs: [list, watch]\n"
                              "---\n" HEAD(
                                  "Role") "  namespace: \"5\"\nrules:\n"
                                          "  - apiGroups: [\"\"]\n    resources: [pods]\n    verbs: [get]\n"
                                          "---\n" HEAD("Role") "  namespace: shop\nrules:\n"
                                                               "  - apiGroups: [\"\"]\n    resources: "
                                                               "[pods]\n    verbs: [delete]\n"
                                                               "  - apiGroups: [\"\"]\n    resources: "
                                                               "[services]\n    verbs: [list, watch]\n");
}

static void test_what_holds_for_every_kind_is_not_said_of_one(void **state)
{
    struct rbac_rules *rules = rbac_rules_new();
    rbac_rules_add(rules, "", "*", "*", READ);
    rbac_rules_add(rules, "", "", "pods", READ);
    rbac_rules_add(rules, "shop", "", "secrets", READ | RBAC_UPDATE);
    check(rules,
          HEAD("ClusterRole") "rules:\n"
                              "  - apiGroups: [\"*\"]\n    resources: [\"*\"]\n    verbs: [list, watch]\n"
                              "---\n" HEAD("Role") "  namespace: shop\nrules:\n"
                                                   "  - apiGroups: [\"\"]\n    resources: [secrets]\n    "
                                                   "verbs: [update]\n");
}

static void test_no_rules_are_no_text(void **state)
{
    check(rbac_rules_new(), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resources_of_a_group_with_the_same_verbs_are_one_rule),
        cmocka_unit_test(test_a_namespace_has_a_role_of_what_does_not_hold_everywhere),
        cmocka_unit_test(test_what_holds_for_every_kind_is_not_said_of_one),
        cmocka_unit_test(test_no_rules_are_no_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
