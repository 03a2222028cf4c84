/* What an update makes of a body. Messages were taken down from a v1.36 server. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/object/object_rules.h"
#include "sim/object/patch.h"
#include "sim/object/status.h"
#include "sim/text/tree.h"

static const struct sim_now now = {.seconds = 1767225600, .uid = "u-1", .suffix = "abcde"};

/* As it stands in the store after a create, with version 7. */
static json_t *stored(const struct sim_kind *kind, const char *body, const char *ns)
{
    struct sim_refusal refusal = {0};
    json_t *value = js(body), *object = sim_prepare_create(kind, value, ns, &now, &refusal);
    json_decref(value);
    if (!object) fail_msg("%s", sim_text_at(refusal.status, "message"));
    json_object_set_new(json_object_get(object, "metadata"), "resourceVersion", json_string("7"));
    return object;
}

static json_t *config(const char *body)
{
    return stored(kind_named("configmaps"), body, "default");
}

static json_t *put(const struct sim_kind *kind, const json_t *old, const char *body, const char *subresource)
{
    struct sim_refusal refusal = {0};
    json_t *value = js(body), *before = json_deep_copy(old);
    json_t *object = sim_prepare_update(kind, old, value, subresource, &refusal);
    if (!object) fail_msg("%s", sim_text_at(refusal.status, "message"));
    assert_true(json_equal(before, (json_t *)old));
    assert_json(value, body);
    json_decref(before);
    return object;
}

static json_t *merge(const struct sim_kind *kind, const json_t *old, const char *patch,
                     const char *subresource, struct sim_refusal *refusal)
{
    json_t *value = js(patch), *body = sim_patch_merge(old, value);
    json_t *object = sim_prepare_update(kind, old, body, subresource, refusal);
    assert_int_equal(object == NULL, refusal->status != NULL);
    json_decref(value);
    json_decref(body);
    return object;
}

static void assert_refused(const struct sim_kind *kind, const json_t *old, const char *patch, int code,
                           const char *message)
{
    struct sim_refusal refusal = {0};
    assert_null(merge(kind, old, patch, NULL, &refusal));
    assert_int_equal(sim_status_code(refusal.status), code);
    if (!strstr(sim_text_at(refusal.status, "message"), message))
        fail_msg("%s", sim_text_at(refusal.status, "message"));
    json_decref(refusal.status);
}

static void test_templates_of_a_daemon_set_are_counted(void **state)
{
    static const char one[] =
        "{'metadata':{'name':'a'},'spec':{'selector':{'matchLabels':{'a':'b'}},'template':"
        "{'metadata':{'labels':{'a':'b'}},'spec':{'containers':[{'name':'c','image':'1'}]}}}}";
    static const char two[] =
        "{'metadata':{'name':'a'},'spec':{'selector':{'matchLabels':{'a':'b'}},'template':"
        "{'metadata':{'labels':{'a':'b'}},'spec':{'containers':[{'name':'c','image':'2'}]}}}}";
    json_t *old = stored(kind_named("daemonsets"), one, "default");
    json_t *same = put(kind_named("daemonsets"), old, one, NULL),
           *other = put(kind_named("daemonsets"), old, two, NULL);
    static const char count[] = "deprecated.daemonset.template.generation";
    assert_string_equal(sim_text_at(json_object_get(sim_at(same, "metadata.annotations"), count), ""), "1");
    assert_string_equal(sim_text_at(json_object_get(sim_at(other, "metadata.annotations"), count), ""), "2");
    json_decref(old);
    json_decref(same);
    json_decref(other);
}

static void test_an_update_keeps_what_is_the_server_s(void **state)
{
    json_t *old = config("{'metadata':{'name':'m','labels':{'a':'b'}},'data':{'a':'b'}}");
    assert_json(
        put(kind_named("configmaps"), old,
            "{'metadata':{'name':'m','generation':9,'creationTimestamp':'2020-01-01T00:00:00Z'},'data':{'z':"
            "'1'}}",
            NULL),
        "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'m','namespace':'default','uid':'u-1',"
        "'resourceVersion':'7','creationTimestamp':'2026-01-01T00:00:00Z'},'data':{'z':'1'}}");
    json_decref(old);
}

static void test_an_update_that_changes_nothing_returns_an_equal_object(void **state)
{
    json_t *old = config("{'metadata':{'name':'m'},'data':{'a':'b'}}"), *same;
    struct sim_refusal refusal = {0};
    same = put(kind_named("configmaps"), old, "{'data':{'a':'b'},'metadata':{'name':'m','labels':{}}}", NULL);
    assert_true(json_equal(old, same));
    json_decref(same);
    same = merge(kind_named("configmaps"), old,
                 "{'metadata':{'creationTimestamp':null,'namespace':null,'generation':22}}", NULL, &refusal);
    assert_true(json_equal(old, same));
    json_decref(same);
    json_decref(old);

    old = stored(kind_named("pods"),
                 "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i'}]}}", "x");
    same = put(
        kind_named("pods"), old,
        "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i'}]},'status':{'phase':'x'}}",
        NULL);
    assert_true(json_equal(old, same));
    json_decref(same);
    json_decref(old);
}

static void test_an_object_that_was_stored_without_defaults_can_be_labelled(void **state)
{
    const struct sim_kind *pods = kind_named("pods");
    json_t *old = js("{'kind':'Pod','apiVersion':'v1','metadata':{'name':'p','namespace':'x','uid':'u',"
                     "'resourceVersion':'7','generation':1},'spec':{'containers':[{'name':'c','image':'i'}],"
                     "'nodeName':'n'},'status':{'phase':'Running'}}");
    struct sim_refusal refusal = {0};
    json_t *same = merge(pods, old, "{}", NULL, &refusal);
    assert_true(json_equal(old, same));
    json_decref(same);
    json_t *labelled = merge(pods, old, "{'metadata':{'labels':{'a':'b'}}}", NULL, &refusal);
    assert_int_equal(sim_int_at(labelled, "metadata.generation", 0), 1);
    assert_text_at(labelled, "metadata.labels.a", "b");
    assert_text_at(labelled, "status.phase", "Running");
    json_decref(labelled);
    json_decref(old);
}

static void test_versions_and_uids_must_be_those_of_the_object(void **state)
{
    const struct sim_kind *kind = kind_named("configmaps");
    json_t *old = config("{'metadata':{'name':'m'}}");
    assert_refused(
        kind, old, "{'metadata':{'resourceVersion':'6'}}", 409,
        "Operation cannot be fulfilled on configmaps \"m\": the object has been modified; please apply your "
        "changes to the latest version and try again");
    assert_refused(kind, old, "{'metadata':{'resourceVersion':'abc'}}", 500,
                   "strconv.ParseUint: parsing \"abc\": invalid syntax");
    assert_refused(kind, old, "{'metadata':{'uid':'other'}}", 409,
                   "Precondition failed: UID in precondition: other, UID in object meta: u-1");
    json_decref(put(kind, old, "{'metadata':{'name':'m','resourceVersion':'7'}}", NULL));
    json_decref(put(kind, old, "{'metadata':{'name':'m','resourceVersion':'0'}}", NULL));
    json_decref(old);
}

static void test_some_kinds_want_a_version(void **state)
{
    const struct sim_kind *kind = kind_named("leases");
    json_t *old = stored(kind, "{'metadata':{'name':'l'}}", "default");
    assert_refused(
        kind, old, "{'metadata':{'resourceVersion':null}}", 422,
        "leases.coordination.k8s.io \"l\" is invalid: metadata.resourceVersion: Invalid value: 0: must be "
        "specified for an update");
    json_decref(old);
}

static void test_the_body_is_about_the_object_of_the_path(void **state)
{
    const struct sim_kind *kind = kind_named("configmaps");
    json_t *old = config("{'metadata':{'name':'m1'}}");
    assert_refused(kind, old, "{'metadata':{'name':'m9'}}", 400,
                   "the name of the object (m9) does not match the name on the URL (m1)");
    assert_refused(kind, old, "{'metadata':null}", 400,
                   "the name of the object (m1 based on URL) was undeterminable: name must be provided");
    assert_refused(kind, old, "{'metadata':{'namespace':'zz'}}", 400,
                   "the namespace of the provided object does not match the namespace sent on the request");
    assert_refused(kind, old, "{'metadata':{'labels':{'a':'$'}}}", 422,
                   "metadata.labels: Invalid value: \"$\"");
    json_decref(old);
}

static void test_a_deletion_is_neither_begun_nor_ended_by_an_update(void **state)
{
    const struct sim_kind *kind = kind_named("configmaps");
    json_t *old = config("{'metadata':{'name':'m','finalizers':['example.com/a']}}");
    struct sim_refusal refusal = {0};
    json_t *more =
        merge(kind, old, "{'metadata':{'finalizers':['example.com/a','example.com/b']}}", NULL, &refusal);
    assert_int_equal(json_array_size(sim_at(more, "metadata.finalizers")), 2);
    json_decref(more);
    assert_refused(
        kind, old, "{'metadata':{'deletionTimestamp':'2020-01-01T00:00:00Z'}}", 422,
        "ConfigMap \"m\" is invalid: metadata.deletionTimestamp: Invalid value: \"2020-01-01T00:00:00Z\": "
        "field is immutable");
    json_object_set_new(json_object_get(old, "metadata"), "deletionTimestamp",
                        json_string("2026-01-01T00:00:00Z"));
    json_t *object =
        merge(kind, old, "{'metadata':{'deletionTimestamp':null,'labels':{'a':'b'}}}", NULL, &refusal);
    assert_text_at(object, "metadata.deletionTimestamp", "2026-01-01T00:00:00Z");
    assert_false(sim_is_finished(kind, object));
    json_decref(object);
    assert_refused(
        kind, old, "{'metadata':{'finalizers':['example.com/a','example.com/b']}}", 422,
        "ConfigMap \"m\" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the "
        "object is being deleted, found new finalizers []string{\"example.com/b\"}");
    json_decref(old);
}

static void test_an_object_is_finished_when_its_last_finalizer_goes(void **state)
{
    const struct sim_kind *kind = kind_named("pods");
    json_t *old =
        stored(kind,
               "{'metadata':{'name':'p','finalizers':['example.com/a']},'spec':{'containers':[{'name':"
               "'c','image':'i'}]}}",
               "x");
    struct sim_refusal refusal = {0};
    json_t *object = merge(kind, old, "{'metadata':{'finalizers':null}}", NULL, &refusal);
    assert_false(sim_is_finished(kind, object)); /* nobody asked for its deletion */
    json_decref(object);
    json_object_set_new(json_object_get(old, "metadata"), "deletionTimestamp",
                        json_string("2026-01-01T00:00:00Z"));
    json_object_set_new(json_object_get(old, "metadata"), "deletionGracePeriodSeconds", json_integer(30));
    object = merge(kind, old, "{'metadata':{'finalizers':null}}", NULL, &refusal);
    assert_false(sim_is_finished(kind, object)); /* its node has still to say that it ended */
    json_decref(object);
    json_object_set_new(json_object_get(old, "metadata"), "deletionGracePeriodSeconds", json_integer(0));
    object = merge(kind, old, "{'metadata':{'finalizers':null}}", NULL, &refusal);
    assert_true(sim_is_finished(kind, object));
    json_decref(object);
    json_decref(old);
}

static int64_t generation_after(const struct sim_kind *kind, const json_t *old, const char *patch,
                                const char *subresource)
{
    struct sim_refusal refusal = {0};
    json_t *object = merge(kind, old, patch, subresource, &refusal);
    if (!object) fail_msg("%s", sim_text_at(refusal.status, "message"));
    int64_t generation = sim_int_at(object, "metadata.generation", 0);
    json_decref(object);
    return generation;
}

static const struct sim_kind widgets = {.group = "example.com",
                                        .version = "v1",
                                        .plural = "widgets",
                                        .kind = "Widget",
                                        .namespaced = true,
                                        .custom = true,
                                        .has_status = true,
                                        .has_generation = true,
                                        .needs_version = true};

static void test_the_generation_counts_what_is_wanted(void **state)
{
    const struct sim_kind *deployments = kind_named("deployments"), *sets = kind_named("replicasets");
    json_t *old = stored(deployments, "{'metadata':{'name':'d'},'spec':{'replicas':1}}", "x");
    assert_int_equal(generation_after(deployments, old, "{'spec':{'replicas':2}}", NULL), 2);
    assert_int_equal(generation_after(deployments, old, "{'metadata':{'labels':{'a':'b'}}}", NULL), 1);
    assert_int_equal(generation_after(deployments, old, "{'metadata':{'annotations':{'a':'b'}}}", NULL), 2);
    assert_int_equal(generation_after(deployments, old, "{'status':{'replicas':2}}", NULL), 1);
    assert_int_equal(generation_after(deployments, old, "{'status':{'replicas':2}}", "status"), 1);
    json_decref(old);
    old = stored(sets, "{'metadata':{'name':'d'},'spec':{'replicas':1}}", "x");
    assert_int_equal(generation_after(sets, old, "{'metadata':{'annotations':{'a':'b'}}}", NULL), 1);
    json_decref(old);
    old = stored(&widgets, "{'kind':'Widget','apiVersion':'example.com/v1','metadata':{'name':'w'},'data':1}",
                 "x");
    assert_int_equal(generation_after(&widgets, old, "{'data':2}", NULL), 2);
    assert_int_equal(generation_after(&widgets, old, "{'metadata':{'annotations':{'a':'b'}}}", NULL), 1);
    assert_int_equal(generation_after(&widgets, old, "{'status':{'x':1}}", NULL), 1);
    json_decref(old);
    struct sim_kind plain = widgets;
    plain.has_status = false;
    old = stored(&plain, "{'kind':'Widget','apiVersion':'example.com/v1','metadata':{'name':'w'}}", "x");
    assert_int_equal(generation_after(&plain, old, "{'status':{'x':1}}", NULL), 2);
    json_decref(old);
}

static void test_the_generation_counts_what_is_no_spec_and_empty_lists_of_some_kinds(void **state)
{
    const struct sim_kind *hooks = kind_named("validatingwebhookconfigurations");
    const struct sim_kind *policies = kind_named("networkpolicies"), *sets = kind_named("replicasets");
    json_t *old = stored(hooks, "{'metadata':{'name':'h'}}", NULL);
    assert_int_equal(generation_after(hooks, old, "{'metadata':{'labels':{'a':'b'}}}", NULL), 1);
    assert_int_equal(generation_after(hooks, old,
                                      "{'webhooks':[{'name':'a.b.c','clientConfig':{'url':'https://a'},"
                                      "'sideEffects':'None','admissionReviewVersions':['v1']}]}",
                                      NULL),
                     2);
    json_decref(old);
    old = stored(kind_named("priorityclasses"), "{'metadata':{'name':'p'},'value':1}", NULL);
    assert_int_equal(generation_after(kind_named("priorityclasses"), old, "{'description':'d'}", NULL), 1);
    json_decref(old);
    old = stored(policies, "{'metadata':{'name':'p'},'spec':{'podSelector':{}}}", "x");
    assert_int_equal(generation_after(policies, old, "{'spec':{'podSelector':{}}}", NULL), 1);
    assert_int_equal(generation_after(policies, old, "{'spec':{'ingress':[]}}", NULL), 2);
    json_decref(old);
    old = stored(
        sets,
        "{'metadata':{'name':'d'},'spec':{'template':{'spec':{'containers':[{'name':'c','image':'i'}]}}}}",
        "x");
    assert_int_equal(generation_after(sets, old, "{'spec':{'template':{'spec':{'volumes':[]}}}}", NULL), 1);
    json_decref(old);
}

static void test_status_and_the_rest_are_written_apart(void **state)
{
    json_t *old = stored(&widgets,
                         "{'kind':'Widget','apiVersion':'example.com/"
                         "v1','metadata':{'name':'w','labels':{'a':'b'}},'spec':{'n':1}}",
                         "x");
    struct sim_refusal refusal = {0};
    json_t *object = merge(&widgets, old, "{'spec':{'n':5},'status':{'x':1},'metadata':{'labels':{'a':'c'}}}",
                           "status", &refusal);
    assert_json_at(object, "spec", "{'n':1}");
    assert_json_at(object, "status", "{'x':1}");
    assert_text_at(object, "metadata.labels.a", "b");
    json_t *next = merge(&widgets, object, "{'spec':{'n':5},'status':{'x':2}}", NULL, &refusal);
    assert_json_at(next, "spec", "{'n':5}");
    assert_json_at(next, "status", "{'x':1}");
    json_decref(next);
    json_decref(object);
    json_decref(old);
}

/* Built-in kinds take labels and finalizers through their status too. */
static void test_the_status_of_a_pod_may_bring_metadata(void **state)
{
    const struct sim_kind *pods = kind_named("pods");
    json_t *old =
        stored(pods,
               "{'metadata':{'name':'p','ownerReferences':[{'apiVersion':'v1','kind':'K','name':'k',"
               "'uid':'u'}]},'spec':{'containers':[{'name':'c','image':'i'}]}}",
               "x");
    struct sim_refusal refusal = {0};
    json_t *object =
        merge(pods, old,
              "{'spec':{'nodeName':'n'},'status':{'phase':'Running'},'metadata':{'labels':{'a':'c'},"
              "'ownerReferences':null}}",
              "status", &refusal);
    assert_text_at(object, "status.phase", "Running");
    assert_text_at(object, "status.qosClass", "BestEffort");
    assert_text_at(object, "spec.nodeName", "");
    assert_text_at(object, "metadata.labels.a", "c");
    assert_int_equal(json_array_size(sim_at(object, "metadata.ownerReferences")), 1);
    json_decref(object);
    json_decref(old);
}

static void test_the_spec_of_a_pod_is_fixed_but_for_images_and_the_like(void **state)
{
    const struct sim_kind *pods = kind_named("pods");
    json_t *old =
        stored(pods, "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i'}]}}", "x");
    struct sim_refusal refusal = {0};
    assert_refused(pods, old, "{'spec':{'nodeName':'n'}}", 422,
                   "Pod \"p\" is invalid: spec: Forbidden: pod updates may not change fields other than "
                   "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
                   "`spec.tolerations`");
    json_t *object = merge(pods, old,
                           "{'spec':{'containers':[{'name':'c','image':'j','imagePullPolicy':'Always'}],"
                           "'activeDeadlineSeconds':5}}",
                           NULL, &refusal);
    assert_int_equal(sim_int_at(object, "metadata.generation", 0), 2);
    json_decref(object);
    object = merge(pods, old, "{'spec':{'nodeName':'n'}}", "binding", &refusal);
    assert_text_at(object, "spec.nodeName", "n");
    json_decref(object);
    json_decref(old);
}

static void test_a_namespace_is_finalized_by_its_subresource(void **state)
{
    const struct sim_kind *kind = kind_named("namespaces");
    json_t *old = stored(kind, "{'metadata':{'name':'team'}}", NULL);
    struct sim_refusal refusal = {0};
    json_object_set_new(json_object_get(old, "metadata"), "deletionTimestamp",
                        json_string("2026-01-01T00:00:00Z"));
    json_t *object = merge(kind, old, "{'spec':{'finalizers':[]}}", NULL, &refusal);
    assert_json_at(object, "spec.finalizers", "['kubernetes']");
    assert_false(sim_is_finished(kind, object));
    json_decref(object);
    object = merge(kind, old, "{'spec':{'finalizers':[]}}", "finalize", &refusal);
    assert_true(sim_is_finished(kind, object));
    json_decref(object);
    json_decref(old);
}

static void test_a_secret_keeps_its_type(void **state)
{
    const struct sim_kind *kind = kind_named("secrets");
    json_t *old = stored(kind, "{'metadata':{'name':'s'},'type':'example.com/x'}", "x");
    json_t *object = put(kind, old, "{'metadata':{'name':'s'},'stringData':{'a':'b'}}", NULL);
    assert_text_at(object, "type", "example.com/x");
    assert_text_at(object, "data.a", "Yg==");
    json_decref(object);
    json_decref(old);
}

static void test_a_service_keeps_its_address(void **state)
{
    const struct sim_kind *kind = kind_named("services");
    json_t *old = stored(kind, "{'metadata':{'name':'s'},'spec':{'clusterIP':'10.0.0.9'}}", "x");
    json_t *object = put(kind, old, "{'metadata':{'name':'s'},'spec':{'selector':{'a':'b'}}}", NULL);
    assert_text_at(object, "spec.clusterIP", "10.0.0.9");
    assert_json_at(object, "spec.clusterIPs", "['10.0.0.9']");
    json_decref(object);
    json_decref(old);
}

static void test_managed_fields_stay_unless_the_body_has_them(void **state)
{
    const struct sim_kind *kind = kind_named("configmaps");
    json_t *old = config("{'metadata':{'name':'m','managedFields':[{'manager':'a'}]}}");
    json_t *object = put(kind, old, "{'metadata':{'name':'m','labels':{'a':'b'}}}", NULL);
    assert_json_at(object, "metadata.managedFields", "[{'manager':'a'}]");
    json_decref(object);
    object = put(kind, old, "{'metadata':{'name':'m','managedFields':[{'manager':'b'}]}}", NULL);
    assert_json_at(object, "metadata.managedFields", "[{'manager':'b'}]");
    json_decref(object);
    json_decref(old);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_templates_of_a_daemon_set_are_counted),
        cmocka_unit_test(test_an_update_keeps_what_is_the_server_s),
        cmocka_unit_test(test_an_update_that_changes_nothing_returns_an_equal_object),
        cmocka_unit_test(test_an_object_that_was_stored_without_defaults_can_be_labelled),
        cmocka_unit_test(test_versions_and_uids_must_be_those_of_the_object),
        cmocka_unit_test(test_some_kinds_want_a_version),
        cmocka_unit_test(test_the_body_is_about_the_object_of_the_path),
        cmocka_unit_test(test_a_deletion_is_neither_begun_nor_ended_by_an_update),
        cmocka_unit_test(test_an_object_is_finished_when_its_last_finalizer_goes),
        cmocka_unit_test(test_the_generation_counts_what_is_wanted),
        cmocka_unit_test(test_the_generation_counts_what_is_no_spec_and_empty_lists_of_some_kinds),
        cmocka_unit_test(test_status_and_the_rest_are_written_apart),
        cmocka_unit_test(test_the_status_of_a_pod_may_bring_metadata),
        cmocka_unit_test(test_the_spec_of_a_pod_is_fixed_but_for_images_and_the_like),
        cmocka_unit_test(test_a_namespace_is_finalized_by_its_subresource),
        cmocka_unit_test(test_a_secret_keeps_its_type),
        cmocka_unit_test(test_a_service_keeps_its_address),
        cmocka_unit_test(test_managed_fields_stay_unless_the_body_has_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
