/* What a create makes of a body. Messages and objects were taken down from a v1.36 server. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/object/object_rules.h"
#include "sim/object/status.h"
#include "sim/text/tree.h"

static const struct sim_now now = {.seconds = 1767225600, .uid = "u-1", .suffix = "abcde"};

static json_t *create(const char *plural, const char *body, const char *ns, struct sim_refusal *refusal)
{
    json_t *value = js(body), *object = sim_prepare_create(kind_named(plural), value, ns, &now, refusal);
    assert_json(value, body); /* not changed */
    assert_int_equal(object == NULL, refusal->status != NULL);
    return object;
}

static json_t *created(const char *plural, const char *body, const char *ns)
{
    struct sim_refusal refusal;
    json_t *object = create(plural, body, ns, &refusal);
    if (!object) fail_msg("%s", sim_text_at(refusal.status, "message"));
    return object;
}

static void assert_refused(const char *plural, const char *body, const char *ns, int code,
                           const char *message)
{
    struct sim_refusal refusal;
    assert_null(create(plural, body, ns, &refusal));
    assert_int_equal(sim_status_code(refusal.status), code);
    if (!strstr(sim_text_at(refusal.status, "message"), message))
        fail_msg("%s", sim_text_at(refusal.status, "message"));
    json_decref(refusal.status);
}

static void test_a_node_has_its_range_in_both_fields(void **state)
{
    json_t *node = created("nodes", "{'metadata':{'name':'a'},'spec':{'podCIDR':'10.1.0.0/24'}}", NULL);
    assert_json_at(node, "spec.podCIDRs", "['10.1.0.0/24']");
    json_decref(node);
    node = created("nodes", "{'metadata':{'name':'a'},'spec':{'podCIDRs':['10.1.0.0/24']}}", NULL);
    assert_json_at(node, "spec.podCIDR", "'10.1.0.0/24'");
    json_decref(node);
}

static void test_an_object_gets_its_identity(void **state)
{
    assert_json(
        created("configmaps", "{'metadata':{'name':'m'},'data':{'a':'b'}}", "default"),
        "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'m','namespace':'default','uid':'u-1',"
        "'creationTimestamp':'2026-01-01T00:00:00Z'},'data':{'a':'b'}}");
}

static void test_what_only_the_server_may_set_is_ignored(void **state)
{
    assert_json(
        created("configmaps",
                "{'metadata':{'name':'m','uid':'mine','creationTimestamp':'2020-01-01T00:00:00Z',"
                "'deletionTimestamp':'2020-01-01T00:00:00Z','deletionGracePeriodSeconds':3,'selfLink':'x',"
                "'unknown':1,'labels':{},'annotations':null,'finalizers':['example.com/x']}}",
                "default"),
        "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'m','namespace':'default','uid':'u-1',"
        "'creationTimestamp':'2026-01-01T00:00:00Z','finalizers':['example.com/x']}}");
}

static void test_metadata_comes_in_the_server_s_order(void **state)
{
    json_t *object =
        created("configmaps", "{'data':{},'metadata':{'labels':{'a':'b'},'name':'m'}}", "default");
    char *text = json_dumps(object, JSON_COMPACT);
    assert_string_equal(
        text, "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"m\",\"namespace\":"
              "\"default\",\"uid\":\"u-1\",\"creationTimestamp\":\"2026-01-01T00:00:00Z\",\"labels\":"
              "{\"a\":\"b\"}},\"data\":{}}");
    free(text);
    json_decref(object);
}

static void test_names_are_generated(void **state)
{
    json_t *object = created("configmaps", "{'metadata':{'generateName':'web-'}}", "default");
    assert_text_at(object, "metadata.name", "web-abcde");
    assert_text_at(object, "metadata.generateName", "web-");
    json_decref(object);
    object = created("configmaps",
                     "{'metadata':{'generateName':"
                     "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-'}}",
                     "default");
    assert_int_equal(strlen(sim_text_at(object, "metadata.name")), 63);
    json_decref(object);
    object = created("configmaps", "{'metadata':{'name':'m','generateName':'web-'}}", "default");
    assert_text_at(object, "metadata.name", "m");
    json_decref(object);
}

#define SUBDOMAIN                                                                                         \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and " \
    "must "                                                                                               \
    "start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "     \
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"

static void test_bad_metadata_is_refused(void **state)
{
    assert_refused(
        "configmaps", "{}", "default", 422,
        "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is required");
    assert_refused("configmaps", "{'metadata':{'name':'A_b'}}", "default", 422,
                   "ConfigMap \"A_b\" is invalid: metadata.name: Invalid value: \"A_b\": " SUBDOMAIN);
    assert_refused(
        "configmaps", "{'metadata':{'generateName':'Bad_'}}", "default", 422,
        "ConfigMap \"Bad_abcde\" is invalid: [metadata.generateName: Invalid value: \"Bad_\": " SUBDOMAIN
        ", metadata.name: Invalid value: \"Bad_abcde\": " SUBDOMAIN "]");
    assert_refused(
        "namespaces", "{'metadata':{'name':'a.b'}}", NULL, 422,
        "Namespace \"a.b\" is invalid: metadata.name: Invalid value: \"a.b\": must not contain dots");
    assert_refused("configmaps", "{'metadata':{'name':'m','labels':{'a b':'c'}}}", "default", 422,
                   "metadata.labels: Invalid value: \"a b\": name part must consist of");
    assert_refused(
        "configmaps", "{'metadata':{'name':'m','labels':{'a':'$'}}}", "default", 422,
        "metadata.labels: Invalid value: \"$\": a valid label must be an empty string or consist of");
    assert_refused("configmaps", "{'metadata':{'name':'m','annotations':{'a b':'c'}}}", "default", 422,
                   "metadata.annotations: Invalid value: \"a b\": name part must consist of");
    assert_refused("configmaps", "{'metadata':{'name':'m','finalizers':['a b']}}", "default", 422,
                   "metadata.finalizers: Invalid value: \"a b\": name part must consist of");
    assert_refused("configmaps",
                   "{'metadata':{'name':'m','ownerReferences':[{'name':'x','kind':'K','apiVersion':'v1'}"
                   "]}}",
                   "default", 422, "metadata.ownerReferences.uid: Invalid value: \"\": must not be empty");
}

static void test_annotations_may_have_capitals_in_their_prefix_and_a_bounded_size(void **state)
{
    json_decref(created("configmaps", "{'metadata':{'name':'m','annotations':{'Example.Com/A':'x y z'}}}",
                        "default"));
    json_t *body = js("{'metadata':{'name':'m','annotations':{}}}");
    char *big = xmalloc(256 * 1024 + 1);
    struct sim_refusal refusal;
    memset(big, 'x', 256 * 1024);
    big[256 * 1024] = '\0';
    json_object_set_new(sim_at(body, "metadata.annotations"), "a", json_string(big));
    assert_null(sim_prepare_create(kind_named("configmaps"), body, "default", &now, &refusal));
    assert_text_at(
        refusal.status, "message",
        "ConfigMap \"m\" is invalid: metadata.annotations: Too long: may not be more than 262144 bytes");
    json_decref(refusal.status);
    json_decref(body);
    free(big);
}

static void test_bodies_of_another_shape_are_refused(void **state)
{
    assert_refused("configmaps", "[]", "default", 400, "");
    assert_refused(
        "configmaps", "{'metadata':7}", "default", 400,
        "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal number into "
        "Go value of type v1.ObjectMeta");
    assert_refused("configmaps", "{'metadata':{'name':'m','labels':{'x':1}}}", "default", 400,
                   "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string");
    assert_refused("configmaps", "{'metadata':{'name':7}}", "default", 400,
                   "json: cannot unmarshal number into Go struct field ObjectMeta.name of type string");
    assert_refused("configmaps", "{'metadata':{'name':'m','finalizers':[true]}}", "default", 400,
                   "json: cannot unmarshal bool into Go struct field ObjectMeta.finalizers of type string");
    assert_refused(
        "configmaps", "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'m'}}", "default", 400,
        "Pod in version \"v1\" cannot be handled as a ConfigMap: no kind \"Pod\" is registered for "
        "version \"v1\" in scheme");
    assert_refused("configmaps", "{'apiVersion':'v2','metadata':{'name':'m'}}", "default", 400,
                   "ConfigMap in version \"v2\" cannot be handled as a ConfigMap: no kind \"ConfigMap\" is "
                   "registered for "
                   "version \"v2\"");
}

static void test_the_namespace_is_that_of_the_path(void **state)
{
    assert_refused("configmaps", "{'metadata':{'name':'m','namespace':'other'}}", "default", 400,
                   "the namespace of the provided object does not match the namespace sent on the request");
    json_t *object = created("namespaces", "{'metadata':{'name':'team','namespace':'foo'}}", NULL);
    assert_null(sim_at(object, "metadata.namespace"));
    json_decref(object);
}

static void test_a_version_must_not_be_brought_along(void **state)
{
    assert_refused("configmaps", "{'metadata':{'name':'m','resourceVersion':'5'}}", "default", 500,
                   "resourceVersion should not be set on objects to be created");
    json_t *object = created("configmaps", "{'metadata':{'name':'m','resourceVersion':'0'}}", "default");
    assert_null(sim_at(object, "metadata.resourceVersion"));
    json_decref(object);
}

static void test_a_pod_gets_its_defaults(void **state)
{
    assert_json(
        created("pods",
                "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i'}]},'status':{'phase':"
                "'Running'}}",
                "default"),
        "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'p','namespace':'default','uid':'u-1','"
        "generation':1,"
        "'creationTimestamp':'2026-01-01T00:00:00Z'},'spec':{'containers':[{'name':'c','image':'i','"
        "resources':{},"
        "'terminationMessagePath':'/dev/"
        "termination-log','terminationMessagePolicy':'File','imagePullPolicy':'Always'}"
        "],'restartPolicy':'Always','terminationGracePeriodSeconds':30,'dnsPolicy':'ClusterFirst','"
        "securityContext':{},"
        "'schedulerName':'default-scheduler','tolerations':[{'key':'node.kubernetes.io/"
        "not-ready','operator':'Exists',"
        "'effect':'NoExecute','tolerationSeconds':300},{'key':'node.kubernetes.io/"
        "unreachable','operator':'Exists',"
        "'effect':'NoExecute','tolerationSeconds':300}],'priority':0,'enableServiceLinks':true,'"
        "preemptionPolicy':"
        "'PreemptLowerPriority'},'status':{'phase':'Pending','qosClass':'BestEffort'}}");
}

static void test_a_pod_keeps_its_fields(void **state)
{
    json_t *pod = created("pods",
                          "{'metadata':{'name':'p'},'spec':{'nodeName':'n1','containers':[{'name':'c','image'"
                          ":'i:v1','resources':{"
                          "'limits':{'cpu':1,'memory':'1Gi'}},'ports':[{'containerPort':80}],'env':[{'name':'"
                          "x','valueFrom':{'fieldRef':"
                          "{'fieldPath':'metadata.name'}}}],'livenessProbe':{'httpGet':{'port':80}}}],'"
                          "volumes':[{'name':'v'},{'name':"
                          "'c','configMap':{'name':'c'}}],'terminationGracePeriodSeconds':5,'restartPolicy':'"
                          "Never','tolerations':[{"
                          "'operator':'Exists'}]}}",
                          "default");
    assert_json_at(
        pod, "spec.containers",
        "[{'name':'c','image':'i:v1','ports':[{'containerPort':80,'protocol':'TCP'}],'env':[{'name':'x',"
        "'valueFrom':{'fieldRef':{'apiVersion':'v1','fieldPath':'metadata.name'}}}],'resources':{'limits':{"
        "'cpu':1,'memory':'1Gi'},'requests':{'cpu':1,'memory':'1Gi'}},'livenessProbe':{'httpGet':{'path':"
        "'/','port':80,'scheme':'HTTP'},'timeoutSeconds':1,'periodSeconds':10,'successThreshold':1,"
        "'failureThreshold':3},'terminationMessagePath':'/dev/termination-log','terminationMessagePolicy':"
        "'File','imagePullPolicy':'IfNotPresent'}]");
    assert_json_at(pod, "spec.volumes",
                   "[{'name':'v','emptyDir':{}},{'name':'c','configMap':{'name':'c','defaultMode':420}}]");
    assert_json_at(pod, "spec.tolerations", "[{'operator':'Exists'}]");
    assert_int_equal(sim_int_at(pod, "spec.terminationGracePeriodSeconds", 0), 5);
    assert_text_at(pod, "spec.restartPolicy", "Never");
    assert_text_at(pod, "status.qosClass", "Guaranteed");
    json_decref(pod);
}

static void test_the_quality_of_service_follows_from_the_resources(void **state)
{
    static const char *const vectors[][2] = {
        {"{}", "BestEffort"},
        {"{'requests':{'cpu':'100m'}}", "Burstable"},
        {"{'limits':{'cpu':'1'}}", "Burstable"},
        {"{'limits':{'cpu':'1','memory':'1Gi'},'requests':{'cpu':'1000m','memory':'1024Mi'}}", "Guaranteed"},
        {"{'limits':{'cpu':'1','memory':'1Gi'},'requests':{'cpu':'999m','memory':'1Gi'}}", "Burstable"},
    };
    for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
        char *body =
            xasprintf("{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i','resources':%s}"
                      "]}}",
                      vectors[i][0]);
        json_t *pod = created("pods", body, "default");
        assert_text_at(pod, "status.qosClass", vectors[i][1]);
        json_decref(pod);
        free(body);
    }
}

static void test_images_without_a_tag_are_always_pulled(void **state)
{
    static const char *const vectors[][2] = {{"nginx", "Always"},
                                             {"nginx:latest", "Always"},
                                             {"nginx:1", "IfNotPresent"},
                                             {"host:5000/nginx", "Always"},
                                             {"host:5000/nginx:1", "IfNotPresent"},
                                             {"nginx@sha256:00", "IfNotPresent"}};
    for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
        char *body = xasprintf("{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'%s'}]}}",
                               vectors[i][0]);
        json_t *pod = created("pods", body, "default");
        assert_text_at(json_array_get(sim_at(pod, "spec.containers"), 0), "imagePullPolicy", vectors[i][1]);
        json_decref(pod);
        free(body);
    }
}

static void test_a_pod_needs_containers(void **state)
{
    struct sim_now request = now;
    struct sim_refusal refusal;
    json_t *pod = js("{'metadata':{'name':'p'}}");
    request.checked = true;
    assert_null(sim_prepare_create(kind_named("pods"), pod, "default", &request, &refusal));
    assert_string_equal(sim_text_at(refusal.status, "message"),
                        "Pod \"p\" is invalid: spec.containers: Required value");
    json_decref(refusal.status);
    json_decref(pod);
}

static void test_other_kinds_get_their_defaults(void **state)
{
    json_t *object = created("namespaces", "{'metadata':{'name':'team'}}", NULL);
    assert_json_at(object, "spec", "{'finalizers':['kubernetes']}");
    assert_json_at(object, "status", "{'phase':'Active'}");
    assert_json_at(object, "metadata.labels", "{'kubernetes.io/metadata.name':'team'}");
    assert_null(sim_at(object, "metadata.generation"));
    json_decref(object);

    object = created("secrets",
                     "{'metadata':{'name':'s'},'stringData':{'a':'hello','e':''},'data':{'b':'aGk='}}", "x");
    assert_json_at(object, "data", "{'a':'aGVsbG8=','b':'aGk=','e':''}");
    assert_text_at(object, "type", "Opaque");
    assert_null(json_object_get(object, "stringData"));
    json_decref(object);

    object = created(
        "deployments",
        "{'metadata':{'name':'d'},'spec':{'template':{'spec':{'containers':[{'name':'c','image':'i'}]}}},"
        "'status':{'replicas':3}}",
        "x");
    assert_int_equal(sim_int_at(object, "spec.replicas", 0), 1);
    assert_int_equal(sim_int_at(object, "metadata.generation", 0), 1);
    assert_json_at(object, "spec.strategy",
                   "{'type':'RollingUpdate','rollingUpdate':{'maxUnavailable':'25%','maxSurge':'25%'}}");
    assert_text_at(object, "spec.template.spec.dnsPolicy", "ClusterFirst");
    assert_null(sim_at(object, "spec.template.spec.tolerations"));
    assert_json_at(object, "status", "{}");
    json_decref(object);
}

static void test_a_service_gets_an_address(void **state)
{
    json_t *object = created("services",
                             "{'metadata':{'name':'s'},'spec':{'ports':[{'port':80}],'clusterIP':'None'},"
                             "'status':{'x':1}}",
                             "x");
    assert_json_at(
        object, "spec",
        "{'ports':[{'port':80,'protocol':'TCP','targetPort':80}],'type':'ClusterIP','sessionAffinity':"
        "'None','internalTrafficPolicy':'Cluster','clusterIP':'None','clusterIPs':['None'],'ipFamilies':["
        "'IPv4','IPv6'],'ipFamilyPolicy':'RequireDualStack'}");
    assert_json_at(object, "status", "{'loadBalancer':{}}");
    json_decref(object);
    object = created("services", "{'metadata':{'name':'s'},'spec':{'ports':[{'port':80}]}}", "x");
    assert_int_equal(strncmp(sim_text_at(object, "spec.clusterIP"), "10.0.", 5), 0);
    assert_string_equal(json_string_value(json_array_get(sim_at(object, "spec.clusterIPs"), 0)),
                        sim_text_at(object, "spec.clusterIP"));
    json_decref(object);
    object = created("services",
                     "{'metadata':{'name':'s'},'spec':{'type':'ExternalName','externalName':'a.b'}}", "x");
    assert_json_at(object, "spec", "{'type':'ExternalName','externalName':'a.b','sessionAffinity':'None'}");
    json_decref(object);
    object =
        created("services",
                "{'metadata':{'name':'s'},'spec':{'clusterIP':'None','selector':{'a':'b'},'sessionAffinity':"
                "'ClientIP'}}",
                "x");
    assert_json_at(object, "spec.ipFamilies", "['IPv4']");
    assert_json_at(object, "spec.sessionAffinityConfig", "{'clientIP':{'timeoutSeconds':10800}}");
    json_decref(object);
    object = created("services",
                     "{'metadata':{'name':'s'},'spec':{'clusterIP':'None','sessionAffinity':'None',"
                     "'sessionAffinityConfig':{'clientIP':{'timeoutSeconds':1}}}}",
                     "default");
    assert_null(sim_at(object, "spec.sessionAffinityConfig"));
    json_decref(object);
}

static void test_an_event_has_all_its_times(void **state)
{
    json_t *object = created("events", "{'metadata':{'name':'e'},'involvedObject':{},'count':2}", "x");
    json_object_del(object, "metadata");
    assert_json(object, "{'kind':'Event','apiVersion':'v1','involvedObject':{},'count':2,'source':{},"
                        "'firstTimestamp':null,'lastTimestamp':null,'eventTime':null,'reportingComponent':'',"
                        "'reportingInstance':''}");
}

static void test_a_node_may_bring_its_status(void **state)
{
    json_t *object = created("nodes", "{'metadata':{'name':'n'},'status':{'capacity':{'cpu':'4'}}}", NULL);
    assert_json_at(object, "status.capacity", "{'cpu':'4'}");
    assert_json_at(object, "status.allocatable", "{'cpu':'4'}");
    /* JSON shows it even when it is empty. */
    assert_json_at(object, "status.daemonEndpoints", "{'kubeletEndpoint':{'Port':0}}");
    assert_text_at(object, "status.nodeInfo.kubeletVersion", "");
    json_decref(object);
}

static void test_custom_objects_are_kept_as_they_are(void **state)
{
    struct sim_kind widget = {.group = "example.com",
                              .version = "v1",
                              .plural = "widgets",
                              .kind = "Widget",
                              .namespaced = true,
                              .custom = true,
                              .has_status = true,
                              .has_generation = true};
    struct sim_refusal refusal;
    json_t *body =
        js("{'apiVersion':'example.com/v1','kind':'Widget','metadata':{'name':'w'},'spec':{'n':null},"
           "'status':{'x':1},'other':[1]}");
    assert_json(
        sim_prepare_create(&widget, body, "default", &now, &refusal),
        "{'kind':'Widget','apiVersion':'example.com/v1','metadata':{'name':'w','namespace':'default','uid':"
        "'u-1','generation':1,'creationTimestamp':'2026-01-01T00:00:00Z'},'spec':{'n':null},'other':[1]}");
    widget.has_status = false;
    json_t *object = sim_prepare_create(&widget, body, "default", &now, &refusal);
    assert_json_at(object, "status", "{'x':1}");
    json_decref(object);
    json_decref(body);

    body = js("{'metadata':{'name':'w'}}");
    assert_null(sim_prepare_create(&widget, body, "default", &now, &refusal));
    assert_int_equal(sim_status_code(refusal.status), 400);
    json_decref(refusal.status);
    json_decref(body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_node_has_its_range_in_both_fields),
        cmocka_unit_test(test_an_object_gets_its_identity),
        cmocka_unit_test(test_what_only_the_server_may_set_is_ignored),
        cmocka_unit_test(test_metadata_comes_in_the_server_s_order),
        cmocka_unit_test(test_names_are_generated),
        cmocka_unit_test(test_bad_metadata_is_refused),
        cmocka_unit_test(test_annotations_may_have_capitals_in_their_prefix_and_a_bounded_size),
        cmocka_unit_test(test_bodies_of_another_shape_are_refused),
        cmocka_unit_test(test_the_namespace_is_that_of_the_path),
        cmocka_unit_test(test_a_version_must_not_be_brought_along),
        cmocka_unit_test(test_a_pod_gets_its_defaults),
        cmocka_unit_test(test_a_pod_keeps_its_fields),
        cmocka_unit_test(test_the_quality_of_service_follows_from_the_resources),
        cmocka_unit_test(test_images_without_a_tag_are_always_pulled),
        cmocka_unit_test(test_a_pod_needs_containers),
        cmocka_unit_test(test_other_kinds_get_their_defaults),
        cmocka_unit_test(test_a_service_gets_an_address),
        cmocka_unit_test(test_an_event_has_all_its_times),
        cmocka_unit_test(test_a_node_may_bring_its_status),
        cmocka_unit_test(test_custom_objects_are_kept_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
