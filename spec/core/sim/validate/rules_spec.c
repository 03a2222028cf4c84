/* Kubernetes' validations by tables. Messages were taken down from a v1.36 server; spec/real/ compares more
 * of them. */
#include "sim/validate/rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/text/tree.h"

/* "FIELD: MESSAGE" of each cause, a line each. */
static void assert_causes(json_t *causes, const char *expected)
{
    struct buf text = {0};
    json_t *cause;
    size_t i;
    json_array_foreach (causes, i, cause)
        buf_printf(&text, "%s: %s\n", sim_text_at(cause, "field"), sim_text_at(cause, "message"));
    assert_string_equal(buf_text(&text), expected);
    buf_clear(&text);
    json_decref(causes);
}

static json_t *checked(const char *kind, const char *object)
{
    json_t *value = js(object), *causes = json_array();
    sim_rules_check(kind, NULL, value, NULL, causes);
    json_decref(value);
    return causes;
}

static void test_causes_show_what_was_given_of_an_empty_value(void **state)
{
    static const char *const cases[][4] = {
        {"Ingress", "{'spec':{}}", "{'spec':{'rules':[]}}",
         "spec: Invalid value: []: either `defaultBackend` or `rules` must be specified\n"},
        {"Ingress", "{'spec':{}}", "{'spec':{}}",
         "spec: Invalid value: null: either `defaultBackend` or `rules` must be specified\n"},
        {"Deployment",
         "{'spec':{'selector':{'matchLabels':{'a':'b'}},'strategy':{'type':'Odd'},'template':{'spec':"
         "{'containers':[{'name':'a','image':'i'}],'restartPolicy':'Always'}}}}",
         "{'spec':{'template':{'metadata':{'labels':{}}}}}",
         "spec.template.metadata.labels: Invalid value: {}: `selector` does not match template `labels`\n"
         "spec.strategy: Unsupported value: {\"Type\":\"Odd\",\"RollingUpdate\":null}: supported values: "
         "\"Recreate\", \"RollingUpdate\"\n"},
        {"DaemonSet",
         "{'spec':{'selector':{'matchLabels':{'a':'b'}},'updateStrategy':{'type':'Odd','rollingUpdate':"
         "{'maxUnavailable':1,'maxSurge':'5%'}},'template':{'metadata':{'labels':{'a':'b'}},'spec':{'"
         "containers':"
         "[{'name':'a','image':'i'}],'restartPolicy':'Always'}}}}",
         "{'spec':{'updateStrategy':{'rollingUpdate':{'maxSurge':'5%'}}}}",
         "spec.updateStrategy: Unsupported value: {\"Type\":\"Odd\",\"RollingUpdate\":{\"MaxUnavailable\":0,"
         "\"MaxSurge\":\"5%\"}}: supported values: \"RollingUpdate\", \"OnDelete\"\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        json_t *object = js(cases[i][1]), *given = js(cases[i][2]), *causes = json_array();
        sim_rules_check(cases[i][0], NULL, object, given, causes);
        assert_causes(causes, cases[i][3]);
        json_decref(object);
        json_decref(given);
    }
}

/* Causes of the change alone. */
static json_t *changed(const char *kind, const char *old, const char *object)
{
    json_t *before = js(old), *after = js(object), *all = json_array(), *own = json_array(), *cause;
    json_t *as_new = checked(kind, object);
    size_t i;
    sim_rules_check(kind, before, after, NULL, all);
    json_array_foreach (all, i, cause)
        if (json_is_object(cause) && !sim_has_equal(as_new, cause)) json_array_append(own, cause);
    json_decref(before);
    json_decref(after);
    json_decref(all);
    json_decref(as_new);
    return own;
}

static void test_containers_are_checked_one_by_one(void **state)
{
    assert_causes(
        checked("Pod", "{'spec':{'containers':[{'name':'a','image':'i'},{'name':'a'},"
                       "{'image':'i','ports':[{'containerPort':0},{'containerPort':65536}]}]}}"),
        "spec.containers[1].image: Required value\n"
        "spec.containers[1].name: Duplicate value: \"a\"\n"
        "spec.containers[2].name: Required value\n"
        "spec.containers[2].ports[0].containerPort: Required value\n"
        "spec.containers[2].ports[1].containerPort: Invalid value: 65536: must be between 1 and 65535, "
        "inclusive\n");
    assert_causes(checked("Pod", "{'spec':{'containers':[{'name':'a','image':'i'}]}}"), "");
    assert_causes(checked("Unknown", "{}"), "");
}

static void test_workloads_select_their_template(void **state)
{
    assert_causes(
        checked("Deployment", "{'spec':{'replicas':-1,'selector':{'matchLabels':{'a':'b'}},'template':{"
                              "'metadata':{'labels':{'a':'c'}},'spec':{'restartPolicy':'Never','containers':"
                              "[{'name':'a','image':'i'}]}}}}"),
        "spec.replicas: Invalid value: -1: must be greater than or equal to 0\n"
        "spec.template.metadata.labels: Invalid value: {\"a\":\"c\"}: `selector` does not match template "
        "`labels`\n"
        "spec.template.spec.restartPolicy: Unsupported value: \"Never\": supported values: \"Always\"\n");
    assert_causes(
        checked("ReplicationController",
                "{'spec':{'minReadySeconds':-1,'selector':{'a':'b'},'template':{"
                "'metadata':{'labels':{'a':'c'}},'spec':{'restartPolicy':'Always',"
                "'activeDeadlineSeconds':5,'containers':[{'name':'a','image':'i'}]}}}}"),
        "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0\n"
        "spec.template.metadata.labels: Invalid value: {\"a\":\"c\"}: `selector` does not match template "
        "`labels`\n"
        "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicationController "
        "is not Supported\n");
    assert_causes(checked("ReplicationController", "{'spec':{'replicas':1}}"),
                  "spec.selector: Required value\nspec.template: Required value\n");
}

/* An apply whose container has the name null added another one each time. */
static void test_a_template_alone_is_one_of_pods(void **state)
{
    assert_causes(checked("PodTemplate", "{'template':{'spec':{'containers':[{'name':'','image':'i'}]}}}"),
                  "template.spec.containers[0].name: Required value\n");
}

static void test_a_suspended_job_may_change_what_places_its_pods(void **state)
{
    static const char old[] =
        "{'spec':{'suspend':true,'template':{'spec':{'containers':[{'name':'a','image':'i'}],"
        "'restartPolicy':'Never'}}}}";
    assert_causes(changed("Job", old,
                          "{'spec':{'suspend':true,'template':{'spec':{'containers':[{'name':'a','image':'i',"
                          "'resources':{'limits':{'cpu':'1'}}}],'nodeSelector':{'a':'b'},'restartPolicy':"
                          "'Never'}}}}"),
                  "");
    assert_causes(
        changed("Job", old,
                "{'spec':{'suspend':true,'template':{'spec':{'containers':[],'restartPolicy':"
                "'Never'}}}}"),
        "spec.template.spec: Invalid value: {\"containers\":[],\"restartPolicy\":\"Never\"}: field is "
        "immutable\n");
}

static void test_an_immutable_secret_takes_no_empty_data_either(void **state)
{
    json_t *secret = js("{'immutable':true,'type':'Opaque'}"), *causes = json_array(),
           *given = js("{'immutable':true,'type':'Opaque','data':{}}");
    sim_rules_check("Secret", secret, secret, given, causes);
    json_array_remove(causes, 0); /* the places of metadata */
    json_array_remove(causes, 1);
    assert_causes(causes, "data: Forbidden: field is immutable when `immutable` is set\n");
    json_decref(secret);
    json_decref(given);
}

static void test_some_fields_keep_their_value(void **state)
{
    assert_causes(changed("Deployment", "{'spec':{'selector':{'matchLabels':{'a':'b'}}}}",
                          "{'spec':{'selector':{'matchLabels':{'a':'c'}}}}"),
                  "spec.selector: Invalid value: {\"matchLabels\":{\"a\":\"c\"}}: field is immutable\n");
    assert_causes(changed("Secret", "{'type':'Opaque'}", "{'type':'x'}"),
                  "type: Invalid value: \"x\": field is immutable\n");
    assert_causes(changed("Secret", "{'type':'Opaque'}", "{'type':'Opaque','data':{}}"), "");
    assert_causes(changed("Secret", "{}", "{'type':'x'}"), "");
}

static void test_conditions_choose_rules(void **state)
{
    assert_causes(checked("Service",
                          "{'spec':{'type':'ExternalName','clusterIPs':['None'],'ipFamilies':['IPv4'],"
                          "'ipFamilyPolicy':'SingleStack','sessionAffinity':'None'}}"),
                  "spec.clusterIPs: Forbidden: may not be set for ExternalName services\n"
                  "spec.ipFamilies: Forbidden: may not be set for ExternalName services\n"
                  "spec.ipFamilyPolicy: Forbidden: may not be set for ExternalName services\n"
                  "spec.externalName: Required value\n");
    assert_causes(checked("Secret", "{'type':'kubernetes.io/tls','data':{'tls.crt':''}}"),
                  "data[tls.key]: Required value\n");
    assert_causes(checked("Event", "{'metadata':{'namespace':'a'},'involvedObject':{'namespace':'b'}}"),
                  "involvedObject.namespace: Invalid value: \"b\": does not match event.namespace\n");
    assert_causes(checked("ConfigMap", "{'data':{'a':'x'},'binaryData':{'a':'AA=='}}"),
                  "data[a]: Invalid value: \"a\": duplicate of key present in binaryData\n");
}

static void test_values_are_shown_as_go_has_them(void **state)
{
    assert_causes(
        checked("Service",
                "{'spec':{'type':'ClusterIP','clusterIP':'None','sessionAffinity':'None','ports':["
                "{'name':'a','port':80,'protocol':'TCP'},{'name':'b','port':80,'protocol':'TCP'}]}}"),
        "spec.ports[1]: Duplicate value: "
        "{\"Name\":\"\",\"Protocol\":\"TCP\",\"AppProtocol\":null,\"Port\":80,"
        "\"TargetPort\":0,\"NodePort\":0}\n");
    assert_causes(checked("CronJob", "{'spec':{'schedule':'a  b','concurrencyPolicy':'Allow'}}"),
                  "spec.schedule: Invalid value: \"a  b\": expected exactly 5 fields, found 2: [a b]\n"
                  "spec.jobTemplate.spec.template.spec.containers: Required value\n");
}

static void test_forms_and_amounts(void **state)
{
    assert_causes(
        checked("Endpoints", "{'subsets':[{'addresses':[{'ip':'x'}]},{}]}"),
        "subsets[0].addresses[0].ip: Invalid value: \"x\": must be a valid IP address, (e.g. 10.9.8.7 or "
        "2001:db8::ffff)\n"
        "subsets[0].addresses[0].ip: Invalid value: \"x\": must be a valid IP address\n"
        "subsets[1]: Required value: must specify `addresses` or `notReadyAddresses`\n");
    assert_causes(checked("PodDisruptionBudget", "{'spec':{'minAvailable':'150%'}}"),
                  "spec.minAvailable: Invalid value: \"150%\": must not be greater than 100%\n");
    assert_causes(
        checked("LimitRange", "{'spec':{'limits':[{'type':'odd','max':{'x':'1','storage':'1'}}]}}"),
        "spec.limits[0].type: Invalid value: \"odd\": must be a standard limit type or fully qualified\n"
        "spec.limits[0].max[x]: Invalid value: \"x\": must be a standard resource type or fully qualified\n");
    assert_causes(
        checked("Node", "{'spec':{'podCIDR':'10.0.0.0'}}"),
        "spec.podCIDRs[0]: Invalid value: \"10.0.0.0\": must be a valid CIDR value, (e.g. 10.9.8.0/24 or "
        "2001:db8::/64)\n");
}

static void assert_warnings_of(const char *kind, const char *object, const char *expected)
{
    json_t *value = js(object), *warnings = json_array();
    sim_rules_warnings(kind, NULL, value, warnings);
    json_decref(value);
    assert_json(warnings, expected);
}

static void assert_warnings(const char *service, const char *expected)
{
    assert_warnings_of("Service", service, expected);
}

static void test_names_that_become_host_names_should_be_labels(void **state)
{
    assert_warnings_of("Pod", "{'metadata':{'name':'a'}}", "[]");
    assert_warnings_of("Pod", "{'metadata':{'name':'a.b'}}",
                       "['metadata.name: this is used in the Pod\\u0027s hostname, which can result in "
                       "surprising behavior; a DNS label is recommended: [must not contain dots]']");
}

static void test_quantities_of_bytes_should_be_whole(void **state)
{
    assert_warnings_of(
        "PersistentVolumeClaim",
        "{'spec':{'resources':{'requests':{'storage':'2500m'},'limits':{'storage':'3'}}}}",
        "['spec.resources.requests[storage]: fractional byte value \\'2500m\\' is invalid, must "
        "be an integer']");
    assert_warnings_of("Pod",
                       "{'metadata':{'name':'a'},'spec':{'containers':[{'resources':{'limits':{'cpu':'10m',"
                       "'memory':'1500m'}}}]}}",
                       "['spec.containers[0].resources.limits[memory]: fractional byte value \\'1500m\\' is "
                       "invalid, must be an integer']");
}

static void test_warnings_of_what_is_ignored(void **state)
{
    assert_true(sim_rules_warn("Service"));
    assert_false(sim_rules_warn("ConfigMap"));
    assert_warnings("{'spec':{'type':'ClusterIP','clusterIP':'None','sessionAffinity':'None'}}", "[]");
    assert_warnings("{'spec':{'type':'ClusterIP','clusterIP':'10.0.0.1','sessionAffinity':'ClientIP'}}",
                    "[]");
    assert_warnings("{'metadata':{'annotations':{'service.kubernetes.io/topology-aware-hints':'auto'}},"
                    "'spec':{'type':'ClusterIP','clusterIP':'None','sessionAffinity':'ClientIP',"
                    "'externalIPs':['1.2.3.4'],'externalName':'x'}}",
                    "['annotation service.kubernetes.io/topology-aware-hints is deprecated, please use "
                    "service.kubernetes.io/topology-mode instead',"
                    "'spec.externalIPs is ignored for headless services',"
                    "'spec.SessionAffinity is ignored for headless services',"
                    "'spec.externalName is ignored when spec.type is not \\'ExternalName\\'']");
    assert_warnings("{'spec':{'type':'NodePort','clusterIP':'10.0.0.1','externalIPs':['1.2.3.4']}}",
                    "['spec.externalIPs is deprecated and may no longer be implemented in some clusters']");
}

static void test_changes_that_are_forbidden(void **state)
{
    static const char *const fixed = "{'spec':{'serviceName':'a','replicas':1}}";
    assert_causes(changed("StatefulSet", fixed, "{'spec':{'serviceName':'a','replicas':2}}"), "");
    assert_causes(
        changed("StatefulSet", fixed, "{'spec':{'replicas':1}}"),
        "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', "
        "'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
        "'minReadySeconds' are forbidden\n");
    assert_causes(changed("ConfigMap", "{'immutable':true,'data':{'a':'1'}}", "{'data':{'a':'2'}}"),
                  "immutable: Forbidden: field is immutable when `immutable` is set\n"
                  "data: Forbidden: field is immutable when `immutable` is set\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_causes_show_what_was_given_of_an_empty_value),
        cmocka_unit_test(test_containers_are_checked_one_by_one),
        cmocka_unit_test(test_workloads_select_their_template),
        cmocka_unit_test(test_a_template_alone_is_one_of_pods),
        cmocka_unit_test(test_a_suspended_job_may_change_what_places_its_pods),
        cmocka_unit_test(test_an_immutable_secret_takes_no_empty_data_either),
        cmocka_unit_test(test_some_fields_keep_their_value),
        cmocka_unit_test(test_conditions_choose_rules),
        cmocka_unit_test(test_values_are_shown_as_go_has_them),
        cmocka_unit_test(test_forms_and_amounts),
        cmocka_unit_test(test_names_that_become_host_names_should_be_labels),
        cmocka_unit_test(test_quantities_of_bytes_should_be_whole),
        cmocka_unit_test(test_warnings_of_what_is_ignored),
        cmocka_unit_test(test_changes_that_are_forbidden),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
