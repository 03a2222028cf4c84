/* Decoding by the schema bundle. Messages and objects were taken down from a v1.36 server. */
#include "sim/validate/decode.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/text/tree.h"
#include "sim/validate/duplicates.h"
#include "sim/validate/scalars.h"

static json_t *decode(const char *type, const char *text, struct sim_decoding *decoding)
{
    json_t *value = js(text), *object = sim_decode(schema_type(type), value, decoding);
    assert_json(value, text); /* not changed */
    assert_int_equal(object == NULL, decoding->error != NULL);
    return object;
}

static void assert_decoded(const char *type, const char *text, const char *expected)
{
    struct sim_decoding decoding = {0};
    json_t *object = decode(type, text, &decoding);
    if (!object) fail_msg("%s: %s", text, decoding.error);
    assert_null(decoding.unknown);
    assert_json(object, expected);
}

static void assert_wrong(const char *type, const char *text, const char *message)
{
    struct sim_decoding decoding = {0};
    json_t *object = decode(type, text, &decoding);
    assert_null(object);
    assert_string_equal(decoding.error, message);
    free(decoding.error);
}

static void test_wrong_types_have_go_s_message(void **state)
{
    static const char *const cases[][3] = {
        {"core/v1.Pod", "{'spec':{'nodeName':1}}",
         "number into Go struct field PodSpec.spec.nodeName of type string"},
        {"core/v1.Secret", "{'type':1}", "number into Go struct field Secret.type of type v1.SecretType"},
        {"core/v1.Secret", "{'data':{'a':['x']}}", "string into Go struct field Secret.data of type uint8"},
        {"core/v1.Namespace", "{'spec':{'finalizers':1}}",
         "number into Go struct field NamespaceSpec.spec.finalizers of type []v1.FinalizerName"},
        {"core/v1.Pod", "{'spec':[]}", "array into Go struct field Pod.spec of type v1.PodSpec"},
        {"core/v1.Pod", "{'spec':{'containers':'x'}}",
         "string into Go struct field PodSpec.spec.containers of type []v1.Container"},
        {"core/v1.Pod", "{'spec':{'containers':[{},true]}}",
         "bool into Go struct field PodSpec.spec.containers of type v1.Container"},
        {"core/v1.Pod", "{'spec':{'containers':[{'ports':[{'containerPort':'x'}]}]}}",
         "string into Go struct field ContainerPort.spec.containers.ports.containerPort of type int32"},
        {"core/v1.Pod", "{'spec':{'volumes':[{'emptyDir':1}]}}",
         "number into Go struct field Volume.spec.volumes.VolumeSource.emptyDir of type "
         "v1.EmptyDirVolumeSource"},
        {"core/v1.Pod", "{'metadata':{'labels':{'a':{}}}}",
         "object into Go struct field ObjectMeta.metadata.labels of type string"},
        {"core/v1.Pod", "{'metadata':{'creationTimestamp':7}}",
         "number into Go struct field ObjectMeta.metadata.creationTimestamp of type string"},
        {"apps/v1.Deployment", "{'spec':{'replicas':3000000000}}",
         "number 3000000000 into Go struct field DeploymentSpec.spec.replicas of type int32"},
        {"apps/v1.Deployment", "{'spec':{'replicas':2.5}}",
         "number 2.5 into Go struct field DeploymentSpec.spec.replicas of type int32"},
        {"core/v1.Service", "{'spec':{'ports':[{'targetPort':true}]}}",
         "bool into Go struct field ServicePort.spec.ports.targetPort of type int32"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *message = xasprintf("json: cannot unmarshal %s", cases[i][2]);
        assert_wrong(cases[i][0], cases[i][1], message);
        free(message);
    }
}

/* Taken down from a v1.36 server, but for those that are read from runtime/converter.go: time, int32, bytes.
 */
static void test_what_a_strategic_merge_patch_makes_is_converted(void **state)
{
    static const char *const cases[][3] = {
        {"core/v1.Container", "{'image':2.5}", "unrecognized type: string"},
        {"core/v1.Container", "{'image':['x']}", "unrecognized type: string"},
        {"core/v1.ServiceAccount", "{'secrets':[1]}", "cannot restore struct from: int64"},
        {"meta/v1.ObjectMeta", "{'finalizers':[1]}", "cannot convert int64 to string"},
        {"meta/v1.ObjectMeta", "{'finalizers':true}", "cannot restore slice from bool"},
        {"meta/v1.ObjectMeta", "{'labels':[1]}", "cannot restore map from slice"},
        {"meta/v1.ObjectMeta", "{'creationTimestamp':7}",
         "json: cannot unmarshal number into Go value of type string"},
        {"core/v1.Secret", "{'type':1}", "cannot convert int64 to v1.SecretType"},
        {"core/v1.Secret", "{'data':{'a':{}}}", "cannot restore slice from map"},
        {"apps/v1.DeploymentSpec", "{'replicas':'two'}", "unrecognized type: int32"},
        {"apps/v1.DeploymentSpec", "{'replicas':2.5}", "cannot convert float64 to int32"},
        {"apps/v1.DeploymentSpec", "{'paused':1}", "unrecognized type: bool"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct sim_decoding decoding = {.converts = true};
        assert_null(decode(cases[i][0], cases[i][1], &decoding));
        assert_string_equal(decoding.error, cases[i][2]);
        free(decoding.error);
    }
    struct sim_decoding decoding = {.converts = true};
    assert_json(decode("apps/v1.RollingUpdateDaemonSet", "{'maxSurge':'1'}", &decoding), "{'maxSurge':'1'}");
    json_t *cut = decode("apps/v1.StatefulSetSpec", "{'replicas':4294967298}", &decoding);
    assert_int_equal(sim_int_at(cut, "replicas", 0), 2);
    json_decref(cut);
}

static void test_texts_of_a_form_are_checked(void **state)
{
    static const char *const cases[][3] = {
        {"core/v1.ResourceRequirements", "{'limits':{'cpu':'much'}}",
         "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
        {"core/v1.ResourceRequirements", "{'limits':{'cpu':'1mm'}}", "unable to parse quantity's suffix"},
        {"core/v1.ResourceRequirements", "{'limits':{'cpu':'1.5e-99999999999999999999'}}",
         "unable to parse quantity's suffix"},
        {"core/v1.ResourceRequirements", "{'limits':{'cpu':'1e+9223372036854775808'}}",
         "unable to parse quantity's suffix"},
        {"core/v1.Secret", "{'data':{'a':'%%'}}", "illegal base64 data at input byte 0"},
        {"meta/v1.ObjectMeta", "{'creationTimestamp':'yesterday'}",
         "parsing time \"yesterday\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"yesterday\" as "
         "\"2006\""},
        {"coordination/v1.LeaseSpec", "{'renewTime':'2020-01-01T00:00:00Z'}",
         "parsing time \"2020-01-01T00:00:00Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"Z\" "
         "as "
         "\".000000\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) assert_wrong(cases[i][0], cases[i][1], cases[i][2]);
}

#define READ_AS "as \"2006-01-02T15:04:05Z07:00\": cannot parse "

static void test_times_are_read_as_go_does(void **state)
{
    static const char *const wrong[][2] = {
        {"2026-01-01T00:00:00", READ_AS "\"\" as \"Z07:00\""},
        {"2026-01-01t00:00:00Z", READ_AS "\"t00:00:00Z\" as \"T\""},
        {"2026-01-01T00:00:00.Z", READ_AS "\".Z\" as \"Z07:00\""},
        {"2026-01-01T00:00:00*02:00", READ_AS "\"*02:00\" as \"Z07:00\""},
        {"2026-01-01T00:0:00Z", READ_AS "\"0:00Z\" as \"04\""},
        {"2026-13-01T00:00:00Z", ": month out of range"},
        {"2026-02-29T00:00:00Z", ": day out of range"},
        {"2026-01-01T24:00:00Z", ": hour out of range"},
        {"2026-01-01T00:60:00Z", ": minute out of range"},
        {"2026-01-01T00:00:60Z", ": second out of range"},
        {"2026-01-01T00:00:00+25:00", ": time zone offset hour out of range"},
        {"2026-01-01T00:00:00+01:61", ": time zone offset minute out of range"},
        {"2026-01-01T00:00:00Z0", ": extra text: \"0\""},
    };
    static const char *const good[][2] = {
        {"2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"},
        {"2026-01-01T01:00:00.999+02:00", "2025-12-31T23:00:00Z"},
        {"2024-02-28T23:30:00,5-00:31", "2024-02-29T00:01:00Z"},
        {"2026-01-01T5:00:00Z", "2026-01-01T05:00:00Z"},
        {"0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"},
    };
    json_t *canonical;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        char *problem = sim_check_time(wrong[i][0], false, &canonical), *expected;
        expected =
            xasprintf("parsing time \"%s\"%s%s", wrong[i][0], wrong[i][1][0] == ':' ? "" : " ", wrong[i][1]);
        assert_string_equal(problem, expected);
        free(problem);
        free(expected);
    }
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        assert_null(sim_check_time(good[i][0], false, &canonical));
        assert_string_equal(json_string_value(canonical), good[i][1]);
        json_decref(canonical);
    }
    assert_null(sim_check_time("2026-01-01T00:00:00.123456+01:00", true, &canonical));
    assert_string_equal(json_string_value(canonical), "2025-12-31T23:00:00.123456Z");
    json_decref(canonical);
}

static void test_durations_are_read_as_go_does(void **state)
{
    static const char *const wrong[][2] = {
        {"", "time: invalid duration \"\""},
        {"-", "time: invalid duration \"-\""},
        {".s", "time: invalid duration \".s\""},
        {"5", "time: missing unit in duration \"5\""},
        {"1..2s", "time: missing unit in duration \"1..2s\""},
        {"1h1x", "time: unknown unit \"x\" in duration \"1h1x\""},
        {"1\"", "time: unknown unit \"\\\"\" in duration \"1\\\"\""},
        {"1\xc3\xa9", "time: unknown unit \"\\xc3\\xa9\" in duration \"1\\xc3\\xa9\""},
        {"3000000h", "time: invalid duration \"3000000h\""},
    };
    static const char *const good[] = {"0", "-0", "+1.5h", "1m30s", "10\u00b5s", ".5ms", "1.s"};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        char *problem = sim_check_duration(wrong[i][0]);
        assert_string_equal(problem, wrong[i][1]);
        free(problem);
    }
    for (size_t i = 0; i < ARRAY_LEN(good); i++) assert_null(sim_check_duration(good[i]));
}

static void test_the_first_error_counts_but_for_one_that_ends_the_decoding(void **state)
{
    assert_wrong("core/v1.Pod", "{'kind':1,'spec':{'nodeName':1}}",
                 "json: cannot unmarshal number into Go struct field Pod.TypeMeta.kind of type string");
    assert_wrong("core/v1.Container", "{'name':1,'resources':{'limits':{'cpu':'1mm'}},'image':2}",
                 "unable to parse quantity's suffix");
}

static void test_objects_are_as_go_writes_them(void **state)
{
    assert_decoded("core/v1.Container", "{'image':null,'args':[],'name':'c','env':[{'name':'A','value':''}]}",
                   "{'name':'c','env':[{'name':'A'}],'resources':{}}");
    assert_decoded("core/v1.ResourceRequirements", "{'limits':{'cpu':0.5,'memory':'1Gi'},'requests':{}}",
                   "{'limits':{'cpu':'500m','memory':'1Gi'}}");
    assert_decoded("core/v1.SecurityContext", "{'privileged':false,'runAsUser':0}",
                   "{'privileged':false,'runAsUser':0}"); /* pointers */
    assert_decoded("meta/v1.ObjectMeta", "{'creationTimestamp':'2020-01-01T02:00:00.5+02:00','labels':{}}",
                   "{'creationTimestamp':'2020-01-01T00:00:00Z'}");
    assert_decoded("rbac/v1.Role", "{'metadata':{'name':'r'}}", "{'metadata':{'name':'r'},'rules':null}");
}

static void test_quantities_are_canonical(void **state)
{
    static const char *const cases[][2] = {
        {"0.5", "500m"},
        {"1000m", "1"},
        {"1024Mi", "1Gi"},
        {"0.5Gi", "512Mi"},
        {"1.5Gi", "1536Mi"},
        {"100E", "100E"},
        {"1e3", "1e3"},
        {"0.1Ki", "102400m"},
        {"1500", "1500"},
        {"1000Ki", "1000Ki"},
        {"-2.5", "-2500m"},
        {".5", "500m"},
        {"0Gi", "0"},
        {"1000000000000", "1T"},
        {"12345678901234567890", "12345678901234567890"},
        {"010", "010"},
        {"+5", "+5"},
        {"1.500", "1.500"},
        {"0100m", "0100m"},
        {"1E3", "1E3"},
        {"1e+03", "1e+03"},
        {"5.", "5."},
        {"0005000", "5k"},
        {"1.1Gi", "1181116006400m"},
        {"1e1000", "10e999"},
        {"1e19", "10e18"},
        {"0.0001", "1m"},
        {"1e-10", "1e-3"},
        {"-010Ki", "-010Ki"},
        {"010000Ki", "10000Ki"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *given = xasprintf("{'limits':{'cpu':'%s'}}", cases[i][0]);
        char *expected = xasprintf("{'limits':{'cpu':'%s'}}", cases[i][1]);
        assert_decoded("core/v1.ResourceRequirements", given, expected);
        free(given);
        free(expected);
    }
}

/* A server keeps 32 bits of the exponent; here the text stays. */
static void test_large_exponents_do_not_overflow(void **state)
{
    assert_decoded("core/v1.ResourceRequirements", "{'limits':{'cpu':'1.5e-9223372036854775808'}}",
                   "{'limits':{'cpu':'1.5e-9223372036854775808'}}");
    assert_decoded("core/v1.ResourceRequirements", "{'limits':{'cpu':'15e9223372036854775807'}}",
                   "{'limits':{'cpu':'15e9223372036854775807'}}");
}

static void test_bytes_may_be_an_empty_list(void **state)
{
    assert_decoded("core/v1.Secret", "{'data':{'a':[],'b':null}}", "{'metadata':{},'data':{'a':'','b':''}}");
}

static void test_fields_come_in_the_order_of_the_source(void **state)
{
    struct sim_decoding decoding = {0};
    json_t *port = decode("core/v1.ServicePort", "{'port':1,'protocol':'TCP','name':'n'}", &decoding);
    char *text = json_dumps(port, JSON_COMPACT);
    assert_string_equal(text, "{\"name\":\"n\",\"protocol\":\"TCP\",\"port\":1,\"targetPort\":0}");
    free(text);
    json_decref(port);
}

static void test_unknown_fields_are_dropped_and_told(void **state)
{
    struct sim_decoding decoding = {0};
    json_t *pod =
        decode("core/v1.Pod",
               "{'spec':{'containers':[{'name':'c','foo':{'x':1}},{'ports':[{'Name':1}]}],'bar':1},'Spec':{},"
               "'metadata':{'labels':{'any':'x'}}}",
               &decoding);
    assert_json(decoding.unknown, "['unknown field \\'spec.containers[0].foo\\'',"
                                  "'unknown field \\'spec.containers[1].ports[0].Name\\'',"
                                  "'unknown field \\'spec.bar\\'','unknown field \\'Spec\\'']");
    assert_json(pod, "{'metadata':{'labels':{'any':'x'}},'spec':{'containers':[{'name':'c','resources':{}},"
                     "{'name':'','ports':[{'containerPort':0}],'resources':{}}]},'status':{}}");
}

static void test_duplicate_fields_are_told_once(void **state)
{
    static const char text[] =
        "{ \"a\": [ {\"b\": 1, \"c\" : {}, \"b\":\"}\"} ],\n \"d\": 1, \"a\": \"\\\"\", "
        "\"d\": null, \"d\": {\"a\":1} }";
    assert_json(sim_duplicates(str_of(text), NULL, false),
                "['duplicate field \\'a[0].b\\'','duplicate field \\'a\\'','duplicate field \\'d\\'']");
    assert_json(sim_duplicates(str_of(text), NULL, true),
                "['line 1: key \\'b\\' already set in map','line 2: key \\'a\\' already set in map',"
                "'line 2: key \\'d\\' already set in map']");
}

static void test_unknown_fields_are_no_duplicates(void **state)
{
    static const char text[] =
        "{\"spec\":{\"odd\":{\"a\":1,\"a\":2},\"nodeSelector\":{\"a\":\"b\",\"a\":\"c\"},\"odd\":1,"
        "\"hostPID\":true,\"containers\":[{\"x\":1,\"name\":\"c\",\"name\":\"d\"}],\"hostPID\":"
        "false}}";
    assert_json(sim_duplicates(str_of(text), schema_type("core/v1.Pod"), false),
                "['unknown field \\'spec.odd\\'','duplicate field \\'spec.nodeSelector.a\\'',"
                "'unknown field \\'spec.containers[0].x\\'','duplicate field \\'spec.containers[0].name\\'',"
                "'duplicate field \\'spec.hostPID\\'']");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_types_have_go_s_message),
        cmocka_unit_test(test_what_a_strategic_merge_patch_makes_is_converted),
        cmocka_unit_test(test_texts_of_a_form_are_checked),
        cmocka_unit_test(test_times_are_read_as_go_does),
        cmocka_unit_test(test_durations_are_read_as_go_does),
        cmocka_unit_test(test_the_first_error_counts_but_for_one_that_ends_the_decoding),
        cmocka_unit_test(test_objects_are_as_go_writes_them),
        cmocka_unit_test(test_quantities_are_canonical),
        cmocka_unit_test(test_large_exponents_do_not_overflow),
        cmocka_unit_test(test_bytes_may_be_an_empty_list),
        cmocka_unit_test(test_fields_come_in_the_order_of_the_source),
        cmocka_unit_test(test_unknown_fields_are_dropped_and_told),
        cmocka_unit_test(test_duplicate_fields_are_told_once),
        cmocka_unit_test(test_unknown_fields_are_no_duplicates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
