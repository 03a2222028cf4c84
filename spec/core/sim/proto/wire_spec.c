/* Objects in protobuf: what is written is read as Go would write it as JSON; broken messages are refused. The
 * bytes of a real server are in spec/real/sim_protobuf_spec.lua. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/proto/wire.h"
#include "sim/text/tree.h"

static bool put(struct buf *bytes, const json_t *object)
{
    struct buf text = {0};
    sim_put_json(&text, object);
    bool ok = sim_wire_put(bytes, buf_slice(&text));
    buf_clear(&text);
    return ok;
}

static json_t *around(const char *text)
{
    struct buf bytes = {0};
    struct err err;
    json_t *object = js(text);
    assert_true(put(&bytes, object));
    json_t *again = sim_wire_get(buf_slice(&bytes), &err);
    if (!again) fail_msg("%s: %s", text, err.text);
    buf_clear(&bytes);
    json_decref(object);
    return again;
}

static void test_every_form_survives(void **state)
{
    assert_json(
        around("{'apiVersion':'v1','kind':'Secret','metadata':{'name':'a'},'data':{'k':'AAH/','e':''},"
               "'immutable':false,'type':'Opaque'}"),
        "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'a'},'data':{'k':'AAH/','e':''},"
        "'immutable':false,'type':'Opaque'}");
    assert_json(
        around("{'apiVersion':'v1','kind':'Service','metadata':{'name':'a'},'spec':{'ports':[{'port':80,"
               "'targetPort':'web'},{'port':81,'targetPort':8081}]}}"),
        "{'apiVersion':'v1','kind':'Service','metadata':{'name':'a'},'spec':{'ports':[{'port':80,"
        "'targetPort':'web'},{'port':81,'targetPort':8081}]},'status':{'loadBalancer':{}}}");
    assert_json(around("{'apiVersion':'authentication.k8s.io/v1','kind':'TokenRequest','metadata':{},"
                       "'spec':{'audiences':['a']}}"),
                "{'apiVersion':'authentication.k8s.io/v1','kind':'TokenRequest','metadata':{},'spec':{"
                "'audiences':['a'],'expirationSeconds':null,'boundObjectRef':null},'status':{'token':'',"
                "'expirationTimestamp':null}}");
    assert_json(
        around(
            "{'apiVersion':'coordination.k8s.io/v1','kind':'Lease','metadata':{'name':'a',"
            "'creationTimestamp':'2026-01-02T03:04:05Z'},'spec':{'renewTime':'2026-01-02T03:04:05.000678Z',"
            "'leaseDurationSeconds':-1}}"),
        "{'apiVersion':'coordination.k8s.io/v1','kind':'Lease','metadata':{'name':'a',"
        "'creationTimestamp':'2026-01-02T03:04:05Z'},'spec':{'renewTime':'2026-01-02T03:04:05.000678Z',"
        "'leaseDurationSeconds':-1}}");
    assert_json(around("{'apiVersion':'authorization.k8s.io/v1','kind':'SubjectAccessReview','metadata':{},"
                       "'spec':{'user':'u','extra':{'a':['b','c'],'d':[]}},'status':{'allowed':false}}"),
                "{'apiVersion':'authorization.k8s.io/v1','kind':'SubjectAccessReview','metadata':{},"
                "'spec':{'user':'u','extra':{'a':['b','c'],'d':[]}},'status':{'allowed':false}}");
}

static void test_schemas_of_definitions_survive(void **state)
{
    json_t *crd = around(
        "{'apiVersion':'apiextensions.k8s.io/v1','kind':'CustomResourceDefinition','metadata':{'name':'a'},"
        "'spec':{'group':'g','names':{'kind':'K','plural':'ks'},'scope':'Cluster','versions':[{'name':'v1',"
        "'served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object','maximum':1.5,'default':{'"
        "a':[1]},"
        "'enum':['a',2],'properties':{'p':{'items':{'type':'string'}}},'additionalProperties':false,"
        "'items':[{'type':'integer'},{'nullable':true}]}}}]}}");
    assert_json_at(crd, "spec",
                   "{'group':'g','names':{'kind':'K','plural':'ks'},'scope':'Cluster','versions':[{"
                   "'name':'v1','served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object',"
                   "'maximum':1.5,'default':{'a':[1]},'enum':['a',2],'properties':{'p':{'items':{'type':"
                   "'string'}}},'additionalProperties':false,'items':[{'type':'integer'},{'nullable':"
                   "true}]}}}]}");
    json_decref(crd);
}

static void test_lists_and_what_is_no_resource(void **state)
{
    assert_json(
        around("{'apiVersion':'v1','kind':'DeleteOptions','gracePeriodSeconds':0,'propagationPolicy':"
               "'Orphan','preconditions':{'uid':'u'}}"),
        "{'apiVersion':'v1','kind':'DeleteOptions','gracePeriodSeconds':0,'propagationPolicy':'Orphan',"
        "'preconditions':{'uid':'u'}}");
    assert_json(
        around("{'apiVersion':'autoscaling/v1','kind':'Scale','metadata':{'name':'a'},'spec':{'replicas':3},"
               "'status':{'replicas':2}}"),
        "{'apiVersion':'autoscaling/v1','kind':'Scale','metadata':{'name':'a'},'spec':{'replicas':3},"
        "'status':{'replicas':2}}");
    struct buf bytes = {0};
    json_t *list =
        js("{'apiVersion':'v1','kind':'ConfigMapList','metadata':{'resourceVersion':'7'},'items':[{"
           "'metadata':{'name':'a'}},{'metadata':{'name':'b'}}]}");
    assert_true(put(&bytes, list));
    assert_memory_equal(bytes.data,
                        "k8s\0\x0a\x13\x0a\x02v1\x12\x0d"
                        "ConfigMapList\x12",
                        26);
    buf_clear(&bytes);
    json_decref(list);
    json_t *unknown = js("{'apiVersion':'example.com/v1','kind':'Shop'}");
    assert_false(put(&bytes, unknown));
    assert_int_equal(bytes.len, 0);
    json_decref(unknown);
}

/* Each prefix of a message, and each bit of it turned over, is read or refused, and nothing else. */
static void test_broken_messages_are_refused(void **state)
{
    struct buf bytes = {0};
    struct err err;
    size_t refused = 0;
    json_t *pod =
        js("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'a','labels':{'a':'b'}},'spec':{'containers':"
           "[{'name':'c','image':'i','resources':{'limits':{'cpu':'1'}},'livenessProbe':{'httpGet':{'port':"
           "80}}}],'volumes':[{'name':'v','emptyDir':{}}]},'status':{'startTime':'2026-01-02T03:04:05Z'}}");
    assert_true(put(&bytes, pod));
    for (size_t n = 0; n < bytes.len; n++) {
        char *part = xmalloc(n ? n : 1);
        memcpy(part, bytes.data, n);
        json_t *object = sim_wire_get((struct str){part, n}, &err);
        refused += object == NULL;
        json_decref(object);
        free(part);
    }
    assert_int_equal(refused, bytes.len - 1); /* one is an envelope of nothing */
    for (size_t bit = 0; bit < 8 * bytes.len; bit++) {
        bytes.data[bit / 8] ^= (char)(1 << bit % 8);
        json_decref(sim_wire_get(buf_slice(&bytes), &err));
        bytes.data[bit / 8] ^= (char)(1 << bit % 8);
    }
    buf_clear(&bytes);
    json_decref(pod);
}

static void test_errors_say_what_is_wrong(void **state)
{
    static const struct {
        struct str bytes;
        const char *error;
    } bad[] = {
        {STR("{}"), "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"},
        {STR("k8s\0"), "proto: the envelope is cut off, or has no apiVersion and kind"},
        {STR("k8s\0\x0a\x0a\x0a\x02v1\x12\x04Shop"), "no kind \"Shop\" is registered for version \"v1\""},
        {STR("k8s\0\x0a\x0f\x0a\x02v1\x12\x09"
             "ConfigMap\x12\x02\x0a\x05"),
         "proto: the message is cut off or malformed"},
        {STR("k8s\0\x0a\x0f\x0a\x02v1\x12\x09"
             "ConfigMap\x12\x05\x12\x03\x0a\x01\xff"),
         "proto: data: invalid UTF-8"},
        {STR("k8s\0\x0a\x0f\x0a\x02v1\x12\x09"
             "ConfigMap\x12\x02\x08\x01"),
         "proto: metadata: wrong wire type"},
    };
    struct err err;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        assert_null(sim_wire_get(bad[i].bytes, &err));
        assert_string_equal(err.text, bad[i].error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_form_survives),
        cmocka_unit_test(test_schemas_of_definitions_survive),
        cmocka_unit_test(test_lists_and_what_is_no_resource),
        cmocka_unit_test(test_broken_messages_are_refused),
        cmocka_unit_test(test_errors_say_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
