/* Defaults that a create sets by the schema of a kind. spec/real/sim_kinds_spec.lua compares them with those
 * of a real server. */
#include <stdlib.h>

#include "core/sim/support/kube.h"
#include "sim/object/object_rules.h"
#include "sim/text/tree.h"

static json_t *created(const char *plural, const char *body)
{
    static const struct sim_now now = {.seconds = 1767225600, .uid = "u-1", .suffix = "abcde"};
    const struct sim_kind *kind = kind_named(plural);
    struct sim_refusal refusal;
    json_t *value = js(body);
    json_t *object = sim_prepare_create(kind, value, kind->namespaced ? "default" : NULL, &now, &refusal);
    if (!object) fail_msg("%s", sim_text_at(refusal.status, "message"));
    json_decref(value);
    return object;
}

static void assert_default(const char *plural, const char *body, const char *path, const char *wanted)
{
    json_t *object = created(plural, body);
    assert_json_at(object, path, wanted);
    json_decref(object);
}

static void test_a_default_that_another_field_takes_away(void **state)
{
    assert_default("statefulsets", "{'metadata':{'name':'s'},'spec':{}}", "spec.updateStrategy",
                   "{'type':'RollingUpdate','rollingUpdate':{'partition':0}}");
    assert_default("statefulsets", "{'metadata':{'name':'s'},'spec':{'updateStrategy':{'type':'OnDelete'}}}",
                   "spec.updateStrategy", "{'type':'OnDelete'}");
    /* The real server's: only a type that was not set brings the rest. */
    assert_default("statefulsets",
                   "{'metadata':{'name':'s'},'spec':{'updateStrategy':{'type':'RollingUpdate'}}}",
                   "spec.updateStrategy", "{'type':'RollingUpdate'}");
    assert_default("deployments", "{'metadata':{'name':'d'},'spec':{'strategy':{'type':'RollingUpdate'}}}",
                   "spec.strategy.rollingUpdate", "{'maxUnavailable':'25%','maxSurge':'25%'}");
}

static void test_a_default_of_one_kind_alone(void **state)
{
    assert_default("jobs", "{'metadata':{'name':'j'},'spec':{}}", "spec",
                   "{'parallelism':1,'completions':1,'backoffLimit':6,'completionMode':'NonIndexed',"
                   "'manualSelector':false,'podReplacementPolicy':'TerminatingOrFailed','suspend':false}");
    json_t *object = created("jobs", "{'metadata':{'name':'j'},'spec':{'parallelism':3}}");
    assert_null(sim_at(object, "spec.completions"));
    json_decref(object);
}

static void test_a_job_selects_its_pods(void **state)
{
    json_t *object = created("jobs", "{'metadata':{'name':'j'},'spec':{'template':{'spec':{}}}}");
    json_t *labels = sim_at(object, "spec.template.metadata.labels");
    assert_json(json_incref(labels),
                "{'batch.kubernetes.io/controller-uid':'u-1','batch.kubernetes.io/job-name':'j',"
                "'controller-uid':'u-1','job-name':'j'}");
    assert_true(json_equal(labels, sim_at(object, "metadata.labels")));
    assert_json_at(object, "spec.selector", "{'matchLabels':{'batch.kubernetes.io/controller-uid':'u-1'}}");
    json_decref(object);
    assert_default(
        "jobs",
        "{'metadata':{'name':'j'},'spec':{'manualSelector':true,'template':{'metadata':{'labels':{'a':"
        "'b'}}}}}",
        "spec.template.metadata", "{'labels':{'a':'b'}}");
}

static void test_fields_that_are_always_there(void **state)
{
    assert_default("events", "{'metadata':{'name':'e'},'involvedObject':{}}", "source", "{}");
    assert_default("events", "{'metadata':{'name':'e'},'involvedObject':{}}", "firstTimestamp", "null");
    assert_default("persistentvolumeclaims", "{'metadata':{'name':'c'},'spec':{}}", "spec",
                   "{'resources':{},'volumeMode':'Filesystem'}");
    /* A missing required field is not made up. */
    json_t *object = created("deployments", "{'metadata':{'name':'d'},'spec':{}}");
    assert_null(sim_at(object, "spec.template"));
    json_decref(object);
}

/* As in Go: zero is nothing, but for a pointer. */
static void test_what_counts_as_set(void **state)
{
    assert_default(
        "services",
        "{'metadata':{'name':'s'},'spec':{'type':'','ports':[{'port':80,'protocol':'','targetPort':0}"
        "]}}",
        "spec.ports", "[{'port':80,'protocol':'TCP','targetPort':80}]");
    assert_default("services", "{'metadata':{'name':'s'},'spec':{'type':''}}", "spec.type", "'ClusterIP'");
    assert_default("deployments", "{'metadata':{'name':'d'},'spec':{'replicas':0}}", "spec.replicas", "0");
    assert_default("pods",
                   "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c'}],'volumes':[{'name':'v',"
                   "'hostPath':null,'secret':{}}]}}",
                   "spec.volumes", "[{'name':'v','hostPath':null,'secret':{'defaultMode':420}}]");
}

static void test_what_is_no_object_stays(void **state)
{
    assert_default("deployments", "{'metadata':{'name':'d'},'spec':7}", "spec", "7");
    assert_default("services", "{'metadata':{'name':'s'},'spec':{'ports':[3,null]}}", "spec.ports",
                   "[3,null]");
    assert_default("jobs", "{'metadata':{'name':'j'},'spec':{'template':[]}}", "spec.template", "[]");
}

static void test_first_statuses(void **state)
{
    assert_default("persistentvolumes", "{'metadata':{'name':'v'},'spec':{}}", "status",
                   "{'phase':'Pending','lastPhaseTransitionTime':'2026-01-01T00:00:00Z'}");
    assert_default("daemonsets", "{'metadata':{'name':'d'},'status':{'numberReady':3}}", "status.numberReady",
                   "0");
    assert_default("nodes", "{'metadata':{'name':'n'}}", "status.daemonEndpoints.kubeletEndpoint",
                   "{'Port':0}");
    assert_default("nodes", "{'metadata':{'name':'n'}}", "spec.taints",
                   "[{'key':'node.kubernetes.io/not-ready','effect':'NoSchedule'}]");
}

static void test_policy_types_follow_from_the_rules(void **state)
{
    assert_default("networkpolicies", "{'metadata':{'name':'p'},'spec':{'podSelector':{}}}",
                   "spec.policyTypes", "['Ingress']");
    assert_default("networkpolicies", "{'metadata':{'name':'p'},'spec':{'egress':[{}]}}", "spec.policyTypes",
                   "['Ingress','Egress']");
}

static void test_requests_follow_from_limits_in_pods_and_not_in_templates(void **state)
{
    json_t *object = created("pods", "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','resources':"
                                     "{'limits':{'cpu':'2','memory':'1Gi'},'requests':{'cpu':'1'}}}]}}");
    json_t *containers = sim_at(object, "spec.containers");
    assert_json_at(json_array_get(containers, 0), "resources.requests", "{'cpu':'1','memory':'1Gi'}");
    json_decref(object);
    object = created("deployments", "{'metadata':{'name':'d'},'spec':{'template':{'spec':{'containers':"
                                    "[{'name':'c','resources':{'limits':{'cpu':'2'}}}]}}}}");
    containers = sim_at(object, "spec.template.spec.containers");
    assert_null(sim_at(json_array_get(containers, 0), "resources.requests"));
    json_decref(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_default_that_another_field_takes_away),
        cmocka_unit_test(test_a_default_of_one_kind_alone),
        cmocka_unit_test(test_a_job_selects_its_pods),
        cmocka_unit_test(test_fields_that_are_always_there),
        cmocka_unit_test(test_what_counts_as_set),
        cmocka_unit_test(test_what_is_no_object_stays),
        cmocka_unit_test(test_first_statuses),
        cmocka_unit_test(test_policy_types_follow_from_the_rules),
        cmocka_unit_test(test_requests_follow_from_limits_in_pods_and_not_in_templates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
