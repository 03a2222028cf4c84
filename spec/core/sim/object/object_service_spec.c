/* Addresses, families and ports of services. Messages were taken down from a v1.36 server. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/object/object_spec.h"
#include "sim/object/status.h"
#include "sim/text/tree.h"

/* Settles `spec`, which follows `old` unless that is NULL. Returns what becomes of it; of one that is refused
 * the message. */
static json_t *settled(const char *old, const char *spec)
{
    struct sim_refusal refusal = {0};
    json_t *before = old ? json_pack("{s{ss ss} so}", "metadata", "name", "s", "uid", "u-1", "spec", js(old))
                         : NULL,
           *service = json_pack("{s{ss ss} so}", "metadata", "name", "s", "uid", "u-1", "spec", js(spec)),
           *result;
    if (sim_service_begin(kind_named("services"), before, service, false, &refusal)) {
        sim_service_finish(kind_named("services"), service);
        result = json_incref(json_object_get(service, "spec"));
    } else {
        result = json_incref(json_object_get(refusal.status, "message"));
        json_decref(refusal.status);
    }
    json_decref(service);
    json_decref(before);
    return result;
}

static void assert_settled(const char *old, const char *spec, const char *expected)
{
    assert_json(settled(old, spec), expected);
}

static void assert_refused(const char *old, const char *spec, const char *causes)
{
    json_t *result = settled(old, spec);
    const char *message = json_string_value(result);
    if (!message) fail_msg("%s is taken", spec);
    assert_string_equal(message + strlen("Service \"s\" is invalid: "), causes);
    json_decref(result);
}

#define HEADLESS \
    "'clusterIP':'None','clusterIPs':['None'],'ipFamilies':['IPv4'],'ipFamilyPolicy':'SingleStack'"
#define WITH_IP \
    "'clusterIP':'10.0.0.9','clusterIPs':['10.0.0.9'],'ipFamilies':['IPv4'],'ipFamilyPolicy':'SingleStack'"

static void test_a_service_without_addresses_and_a_selector_may_have_both_families(void **state)
{
    assert_settled(NULL, "{'clusterIP':'None'}",
                   "{'clusterIP':'None','clusterIPs':['None'],'ipFamilyPolicy':'RequireDualStack',"
                   "'ipFamilies':['IPv4','IPv6']}");
    assert_settled(NULL, "{'clusterIP':'None','selector':{'a':'b'}}",
                   "{'clusterIP':'None','selector':{'a':'b'},'clusterIPs':['None'],'ipFamilyPolicy':"
                   "'SingleStack','ipFamilies':['IPv4']}");
    static const char dual[] =
        "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this cluster is not "
        "configured for dual-stack services";
    /* The policy is the old one, the families are not; nothing else is looked at. */
    assert_refused("{'clusterIP':'None','clusterIPs':['None'],'ipFamilies':['IPv4','IPv6'],'ipFamilyPolicy':"
                   "'RequireDualStack'}",
                   "{'clusterIP':'None','selector':{'a':'b'},'type':'Odd'}", dual);
    assert_refused(NULL, "{'ipFamilyPolicy':'RequireDualStack'}", dual);
}

static void test_families_are_those_of_the_cluster(void **state)
{
    assert_settled(NULL, "{'clusterIP':'10.0.0.9'}",
                   "{'clusterIP':'10.0.0.9','clusterIPs':['10.0.0.9'],"
                   "'ipFamilyPolicy':'SingleStack','ipFamilies':['IPv4']}");
    assert_refused(NULL, "{'ipFamilies':['IPv6']}",
                   "spec.ipFamilies[0]: Invalid value: \"IPv6\": not configured on this cluster");
    assert_refused(
        NULL, "{'clusterIP':'fd00::1'}",
        "spec.clusterIPs[0]: Invalid value: [\"fd00::1\"]: IPv6 is not configured on this cluster");
    assert_refused(NULL, "{'ipFamilies':['IPv4','IPv6'],'ipFamilyPolicy':'SingleStack'}",
                   "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or "
                   "'PreferDualStack' when multiple IP families are specified");
    assert_refused(NULL, "{'ipFamilies':['IPv5','IPv5'],'ipFamilyPolicy':'Odd'}",
                   "[spec.ipFamilies[0]: Unsupported value: \"IPv5\": supported values: \"IPv4\", \"IPv6\", "
                   "spec.ipFamilies[1]: Unsupported value: \"IPv5\": supported values: \"IPv4\", \"IPv6\", "
                   "spec.ipFamilies[1]: Duplicate value: \"IPv5\", spec.ipFamilyPolicy: Unsupported value: "
                   "\"Odd\": supported values: \"PreferDualStack\", \"RequireDualStack\", \"SingleStack\"]");
    assert_refused(
        "{'clusterIP':'None','clusterIPs':['None'],'ipFamilies':['IPv4','IPv6'],'ipFamilyPolicy':"
        "'RequireDualStack'}",
        "{'clusterIP':'None','ipFamilies':['IPv4']}",
        "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": must be 'SingleStack' to release "
        "the secondary IP family");
}

static void test_addresses_are_looked_at_before_all_else(void **state)
{
    static const char *const wrong[] = {
        "text",   "1.2.3", "1.2.3.4.5",         "1.2.3.256", ".1.2.3", "1..2.3",
        "1.2.3.", "a:b",   "1:2:3:4:5:6:7:8:9", "::1::",     ":::",    "12345::"};
    static const char *const right[] = {"10.0.3.4", "010.0.3.5"};
    static const char *const other[] = {"::1", "1:2:3:4:5:6:7:8", "fd00::"};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        char *spec = xasprintf("{'clusterIP':'%s'}", wrong[i]),
             *cause =
                 xasprintf("spec.clusterIPs[0]: Invalid value: \"%s\": must be a valid IP address, (e.g. "
                           "10.9.8.7 or 2001:db8::ffff)",
                           wrong[i]);
        assert_refused(NULL, spec, cause);
        free(spec);
        free(cause);
    }
    for (size_t i = 0; i < ARRAY_LEN(right) + ARRAY_LEN(other); i++) {
        bool taken = i < ARRAY_LEN(right);
        char *spec = xasprintf("{'clusterIP':'%s'}", taken ? right[i] : other[i - ARRAY_LEN(right)]);
        json_t *result = settled(NULL, spec);
        if (json_is_object(result) != taken) fail_msg("%s", spec);
        json_decref(result);
        free(spec);
    }
    assert_refused(NULL, "{'clusterIP':'10.0.0.9','clusterIPs':['10.0.0.8']}",
                   "spec.clusterIPs: Invalid value: [\"10.0.0.8\"]: first value must match `clusterIP`");
    assert_refused(NULL, "{'clusterIPs':['10.0.0.8']}",
                   "spec.clusterIPs: Invalid value: [\"10.0.0.8\"]: must be empty when `clusterIP` is not "
                   "specified");
    assert_refused(NULL, "{'clusterIP':'None','clusterIPs':['None','10.0.0.8']}",
                   "spec.clusterIPs: Invalid value: [\"None\",\"10.0.0.8\"]: 'None' must be the first and "
                   "only value");
}

static void test_an_update_keeps_the_address_and_the_policy(void **state)
{
    assert_settled("{" WITH_IP "}", "{}", "{" WITH_IP "}");
    assert_settled("{" WITH_IP "}", "{'clusterIP':'None'}",
                   "{'clusterIP':'None','clusterIPs':['None'],'ipFamilyPolicy':'SingleStack','ipFamilies':"
                   "['IPv4']}"); /* which a rule refuses later */
}

static void test_an_external_name_gives_up_what_it_does_not_change(void **state)
{
    assert_settled("{" WITH_IP ",'internalTrafficPolicy':'Cluster'}",
                   "{'type':'ExternalName','internalTrafficPolicy':'Cluster'}", "{'type':'ExternalName'}");
    assert_settled("{" HEADLESS "}", "{'type':'ExternalName','clusterIP':'None'}", "{'type':'ExternalName'}");
    /* Another address is not held against the type, and stays. */
    assert_settled("{" WITH_IP "}", "{'type':'ExternalName','clusterIP':'None'}",
                   "{'type':'ExternalName','clusterIP':'None','clusterIPs':['None']}");
    assert_settled("{'type':'ExternalName','clusterIP':'None','clusterIPs':['None']}",
                   "{'type':'ExternalName','clusterIP':'None'}",
                   "{'type':'ExternalName','clusterIP':'None','clusterIPs':['None']}");
}

static void test_ports_of_nodes_go_with_their_type(void **state)
{
    static const char old[] = "{" WITH_IP ",'type':'LoadBalancer','externalTrafficPolicy':'Cluster',"
                              "'allocateLoadBalancerNodePorts':true,'ports':[{'port':80,'nodePort':30080}]}";
    assert_settled(old,
                   "{" WITH_IP ",'type':'ClusterIP','externalTrafficPolicy':'Cluster',"
                   "'allocateLoadBalancerNodePorts':true,'ports':[{'port':80,'nodePort':30080}]}",
                   "{" WITH_IP ",'type':'ClusterIP','ports':[{'port':80}]}");
    assert_settled(old, "{" WITH_IP ",'type':'ClusterIP','ports':[{'port':80,'nodePort':30081}]}",
                   "{" WITH_IP ",'type':'ClusterIP','ports':[{'port':80,'nodePort':30081}]}");
}

static void test_an_address_is_of_a_service_with_a_name(void **state)
{
    struct sim_refusal refusal = {0};
    json_t *service = js("{'metadata':{'uid':'u-1'},'spec':{'clusterIP':'None'}}");
    assert_true(sim_service_begin(kind_named("services"), NULL, service, false, &refusal));
    json_decref(service);
    service = js("{'metadata':{'uid':'u-1'},'spec':{}}");
    assert_false(sim_service_begin(kind_named("services"), NULL, service, false, &refusal));
    assert_non_null(strstr(sim_text_at(refusal.status, "message"), "spec.parentRef.name: Required value"));
    json_decref(refusal.status);
    assert_true(sim_service_begin(kind_named("services"), NULL, service, true, &refusal)); /* takes none */
    json_decref(service);
    service = js("{'metadata':{'name':'c'},'spec':{'clusterIP':'text'}}");
    assert_true(
        sim_service_begin(kind_named("configmaps"), NULL, service, false, &refusal)); /* any other kind */
    json_decref(service);
}

static bool has_all_ports(void *ctx, const char *key, const char *text)
{
    return strstr(text, "odePort") != NULL;
}

static void test_ports_of_nodes_may_be_used_up(void **state)
{
    struct sim_refusal refusal = {.is_taken = has_all_ports};
    json_t *service = json_pack("{s{ss ss} so}", "metadata", "name", "s", "uid", "u-1", "spec",
                                js("{'type':'NodePort','ports':[{'port':80}]}"));
    assert_false(sim_service_begin(kind_named("services"), NULL, service, false, &refusal));
    assert_int_equal(sim_status_code(refusal.status), 500);
    assert_string_equal(json_string_value(json_object_get(refusal.status, "message")),
                        "Internal error occurred: failed to allocate a nodePort: range is full");
    json_decref(refusal.status);
    json_decref(service);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_service_without_addresses_and_a_selector_may_have_both_families),
        cmocka_unit_test(test_families_are_those_of_the_cluster),
        cmocka_unit_test(test_addresses_are_looked_at_before_all_else),
        cmocka_unit_test(test_an_update_keeps_the_address_and_the_policy),
        cmocka_unit_test(test_an_external_name_gives_up_what_it_does_not_change),
        cmocka_unit_test(test_ports_of_nodes_go_with_their_type),
        cmocka_unit_test(test_ports_of_nodes_may_be_used_up),
        cmocka_unit_test(test_an_address_is_of_a_service_with_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
