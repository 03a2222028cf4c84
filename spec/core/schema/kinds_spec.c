/* Kinds and resources of the bundle. */
#include "schema/schema.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static bool has(const char *const *list, const char *word)
{
    for (; *list; list++)
        if (strcmp(*list, word) == 0) return true;
    return false;
}

static void test_pods_are_found_by_kind_and_by_resource(void **state)
{
    const struct schema_kind *pod = schema_kind("", "v1", "Pod");
    assert_non_null(pod);
    assert_ptr_equal(schema_resource("", "v1", "pods"), pod);
    assert_string_equal(pod->group, "");
    assert_string_equal(pod->version, "v1");
    assert_string_equal(pod->singular, "pod");
    assert_string_equal(pod->type, "core/v1.Pod");
    assert_true(pod->namespaced && pod->on && pod->generation && pod->graceful && pod->returns_deleted);
    assert_false(pod->created_by_update || pod->needs_version || pod->takes_status);
    assert_true(has(pod->short_names, "po") && has(pod->categories, "all"));
    assert_true(has(pod->field_labels, "spec.nodeName") && !has(pod->field_labels, "spec.hostname"));
    assert_true(has(pod->verbs, "deletecollection"));
    assert_string_equal(pod->first_status, "{\"phase\":\"Pending\",\"qosClass\":\"BestEffort\"}");
}

static void test_a_default_that_only_pods_have(void **state)
{
    const struct schema_kind *pod = schema_kind("", "v1", "Pod");
    assert_int_equal(pod->default_count, 1);
    assert_string_equal(pod->defaults->path, "spec.enableServiceLinks");
    assert_string_equal(pod->defaults->value, "true");
    assert_null(*pod->defaults->unless);
    const struct schema_kind *job = schema_kind("batch", "v1", "Job");
    for (size_t i = 0; i < job->default_count; i++)
        if (strcmp(job->defaults[i].path, "spec.completions") == 0)
            assert_string_equal(job->defaults[i].unless[0], "parallelism");
}

static void test_subresources_name_what_they_take(void **state)
{
    const struct schema_kind *deployment = schema_resource("apps", NULL, "deployments");
    const struct schema_subresource *scale = schema_subresource(deployment, "scale");
    assert_int_equal(deployment->subresource_count, 2);
    assert_string_equal(scale->version, "autoscaling/v1");
    assert_string_equal(scale->kind, "Scale");
    assert_true(has(scale->verbs, "patch") && !has(scale->verbs, "create"));
    const struct schema_subresource *eviction = schema_subresource(schema_kind("", "v1", "Pod"), "eviction");
    assert_string_equal(eviction->version, "policy/v1");
    assert_null(schema_subresource(deployment, "eviction"));
    assert_non_null(schema_subresource(schema_resource("", "v1", "serviceaccounts"), "token"));
    assert_non_null(schema_subresource(
        schema_resource("certificates.k8s.io", "v1", "certificatesigningrequests"), "approval"));
}

static void test_rules_of_names_and_writes(void **state)
{
    assert_int_equal(schema_kind("", "v1", "ConfigMap")->names, SCHEMA_SUBDOMAIN);
    assert_int_equal(schema_kind("", "v1", "Namespace")->names, SCHEMA_LABEL);
    assert_int_equal(schema_kind("rbac.authorization.k8s.io", "v1", "Role")->names, SCHEMA_PATH);
    assert_true(schema_kind("coordination.k8s.io", "v1", "Lease")->needs_version);
    assert_true(schema_kind("coordination.k8s.io", "v1", "Lease")->created_by_update);
    assert_true(schema_kind("", "v1", "Node")->takes_status);
    assert_false(has(schema_kind("", "v1", "Namespace")->verbs, "deletecollection"));
}

static void test_versions_that_are_off(void **state)
{
    const struct schema_kind *off = schema_kind("resource.k8s.io", "v1beta1", "ResourceClaim");
    assert_false(off->on);
    assert_ptr_equal(schema_kind("resource.k8s.io", NULL, "ResourceClaim"),
                     schema_kind("resource.k8s.io", "v1", "ResourceClaim"));
    assert_null(schema_kind("scheduling.k8s.io", NULL, "Workload"));
    assert_non_null(schema_kind("scheduling.k8s.io", "v1alpha2", "Workload"));
    /* Two versions of a group are on: the one that the server prefers comes first. */
    assert_string_equal(schema_kind("autoscaling", NULL, "HorizontalPodAutoscaler")->version, "v2");
    assert_true(schema_kind("autoscaling", "v1", "HorizontalPodAutoscaler")->on);
}

static void test_what_is_not_there(void **state)
{
    assert_null(schema_kind("apps", "v1", "Pod"));
    assert_null(schema_kind("apps", "v1beta1", "Deployment"));
    assert_null(schema_kind("", "v1", ""));
    assert_null(schema_kind(NULL, NULL, NULL));
    assert_null(schema_resource("", "v1", NULL));
    assert_null(schema_subresource(NULL, "status"));
}

static void test_all_kinds_have_types_and_verbs(void **state)
{
    size_t count, on = 0;
    const struct schema_kind *kinds = schema_kinds(&count);
    assert_int_equal(count, 95);
    for (size_t i = 0; i < count; i++) {
        on += kinds[i].on;
        assert_non_null(*kinds[i].verbs);
        assert_non_null(schema_type_of_kind(&kinds[i]));
        assert_true(!kinds[i].on || (kinds[i].version[0] == 'v' && !strchr(kinds[i].version + 1, 'a')));
    }
    assert_int_equal(on, 68);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pods_are_found_by_kind_and_by_resource),
        cmocka_unit_test(test_a_default_that_only_pods_have),
        cmocka_unit_test(test_subresources_name_what_they_take),
        cmocka_unit_test(test_rules_of_names_and_writes),
        cmocka_unit_test(test_versions_that_are_off),
        cmocka_unit_test(test_what_is_not_there),
        cmocka_unit_test(test_all_kinds_have_types_and_verbs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
