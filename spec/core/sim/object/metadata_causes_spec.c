/* Where, and how often, a server reports what is wrong with metadata. Messages were taken down from v1.36. */
#include "sim/object/metadata.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/text/tree.h"

static const struct sim_now checked = {.seconds = 1, .uid = "u-1", .suffix = "abcde", .checked = true};

static void test_a_create_looks_at_metadata_where_a_server_does(void **state)
{
    static const char *const cases[][3] = {
        {"events", "{'metadata':{'labels':{'/':'b'}},'involvedObject':{'namespace':'other'}}",
         "Event \"\" is invalid: involvedObject.namespace: Invalid value: \"other\": does not match "
         "event.namespace"},
        {"customresourcedefinitions",
         "{'metadata':{'name':'a.example.com','labels':{'a':'-'}},'spec':{'group':'example.com','names':"
         "{'plural':'b'}}}",
         "is invalid: [metadata.name: Invalid value: \"a.example.com\": must be "
         "spec.names.plural+\".\"+spec.group, metadata.labels: Invalid value: \"-\""},
        /* A job has the labels of its pods after that, and a service its address before. */
        {"jobs",
         "{'metadata':{'name':'-a'},'spec':{'template':{'spec':{'containers':[{'name':'c','image':'i'}],"
         "'restartPolicy':'Never'}}}}",
         "Job.batch \"-a\" is invalid: [metadata.name: Invalid value: \"-a\": a lowercase RFC 1123 subdomain "
         "must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an "
         "alphanumeric character (e.g. 'example.com', regex used for validation is "
         "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'), spec.template.labels: "},
        /* The rule of its spec checks the name of an address, and nothing else does. */
        {"ipaddresses",
         "{'metadata':{'name':'2001:DB8::2'},'spec':{'parentRef':{'resource':'services','name':'a'}}}",
         "IPAddress.networking.k8s.io \"2001:DB8::2\" is invalid: metadata.name: Invalid value: "
         "\"2001:DB8::2\": must be in canonical form (\"2001:db8::2\")"},
        {"services", "{'spec':{'clusterIP':'10.0.0.7'}}",
         "Service \"\" is invalid: spec.clusterIPs: Invalid value: [\"\"]: failed to allocate IP: "
         "IPAddress.networking.k8s.io \"10.0.0.7\" is invalid: spec.parentRef.name: Required value"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct sim_kind *kind = kind_named(cases[i][0]);
        struct sim_refusal refusal = {0};
        json_t *body = js(cases[i][1]);
        assert_null(sim_prepare_create(kind, body, kind->namespaced ? "default" : NULL, &checked, &refusal));
        if (!strstr(sim_text_at(refusal.status, "message"), cases[i][2]))
            fail_msg("%s", sim_text_at(refusal.status, "message"));
        json_decref(refusal.status);
        json_decref(body);
    }
}

/* Of some kinds, those whose rules leave metadata to what all kinds have in common, they need no domain. */
static void test_finalizers_need_a_domain_where_a_server_wants_it(void **state)
{
    static const struct {
        const char *plural, *body;
        bool taken;
    } cases[] = {
        {"configmaps", "{'metadata':{'name':'a','finalizers':['x']}}", false},
        {"configmaps", "{'metadata':{'name':'a','finalizers':['orphan']}}", true},
        {"configmaps", "{'metadata':{'name':'a','finalizers':['orphan','foregroundDeletion']}}", false},
        {"runtimeclasses", "{'metadata':{'name':'a','finalizers':['x']},'handler':'h'}", true},
        {"runtimeclasses", "{'metadata':{'name':'a','finalizers':['x y']},'handler':'h'}", false},
        {"mutatingwebhookconfigurations", "{'metadata':{'name':'a','finalizers':['x']}}", true},
        {"leases", "{'metadata':{'name':'a','finalizers':['x']}}", true},
        {"events",
         "{'metadata':{'name':'a','finalizers':['x']},'involvedObject':{'namespace':'default'},"
         "'apiVersion':'v1','kind':'Event'}",
         true},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct sim_kind *kind = kind_named(cases[i].plural);
        struct sim_refusal refusal = {0};
        json_t *body = js(cases[i].body),
               *object =
                   sim_prepare_create(kind, body, kind->namespaced ? "default" : NULL, &checked, &refusal);
        if ((object != NULL) != cases[i].taken) fail_msg("%s %s", cases[i].plural, cases[i].body);
        json_decref(refusal.status);
        json_decref(object);
        json_decref(body);
    }
}

/* A kind's own rules repeat what every update is checked for. */
static void test_an_update_repeats_causes_as_often_as_a_server(void **state)
{
    static const char *const cases[][3] = {
        {"poddisruptionbudgets", "{'metadata':{'name':'a'},'spec':{'minAvailable':1}}", "kind kind "},
        {"limitranges", "{'metadata':{'name':'a'},'spec':{'limits':[]}}", "kind kind kind "},
        {"configmaps", "{'metadata':{'name':'a'},'immutable':true}", "kind kind kind immutable kind "},
        {"services", "{'metadata':{'name':'a'},'spec':{'ports':[{'port':1}]}}", "kind kind kind "},
        {"resourcequotas", "{'metadata':{'name':'a'}}", "kind kind kind "},
        {"runtimeclasses", "{'metadata':{'name':'a'},'handler':'h'}", "kind kind kind kind "},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct sim_kind *kind = kind_named(cases[i][0]);
        struct sim_refusal refusal = {0};
        struct buf fields = {0};
        json_t *first = js(cases[i][1]),
               *old = sim_prepare_create(kind, first, "default", &checked, &refusal), *body, *cause;
        size_t n;
        json_object_set_new(json_object_get(old, "metadata"), "resourceVersion", json_string("7"));
        body = json_deep_copy(old);
        json_object_set_new(json_object_get(body, "metadata"), "ownerReferences",
                            js("[{'apiVersion':'v1','kind':'','name':'b','uid':'c'}]"));
        json_object_del(body, "immutable");
        assert_null(sim_prepare_update(kind, old, body, NULL, &refusal));
        json_array_foreach (sim_at(refusal.status, "details.causes"), n, cause) {
            const char *field = sim_text_at(cause, "field"), *dot = strrchr(field, '.');
            buf_printf(&fields, "%s ", dot ? dot + 1 : field);
        }
        assert_string_equal(buf_text(&fields), cases[i][2]);
        buf_clear(&fields);
        json_decref(refusal.status);
        json_decref(first);
        json_decref(old);
        json_decref(body);
    }
}

static void test_a_job_keeps_the_labels_that_it_gave_its_pods(void **state)
{
    const struct sim_kind *kind = kind_named("jobs");
    struct sim_refusal refusal = {0};
    json_t *first =
               js("{'metadata':{'name':'a'},'spec':{'template':{'spec':{'containers':[{'name':'c','image':"
                  "'i'}],'restartPolicy':'Never'}}}}"),
           *old = sim_prepare_create(kind, first, "default", &checked, &refusal), *body = json_deep_copy(old);
    json_object_del(sim_at(body, "spec.template.metadata.labels"), "job-name");
    json_object_del(sim_at(body, "spec.template.metadata.labels"), "controller-uid");
    assert_null(sim_prepare_update(kind, old, body, NULL, &refusal));
    json_t *causes = sim_at(refusal.status, "details.causes");
    assert_text_at(json_array_get(causes, 0), "field", "spec.template.metadata.labels[controller-uid]");
    assert_text_at(json_array_get(causes, 0), "message", "Required value: must be 'u-1'");
    assert_text_at(json_array_get(causes, 1), "message", "Required value: must be 'a'");
    json_decref(refusal.status);
    json_decref(first);
    json_decref(old);
    json_decref(body);
    first =
        js("{'metadata':{'generateName':''},'spec':{'template':{'spec':{'containers':[{'name':'c','image':"
           "'i'}],'restartPolicy':'Never'}}}}");
    assert_null(sim_prepare_create(kind, first, "default", &checked, &refusal));
    assert_int_equal(json_array_size(sim_at(refusal.status, "details.causes")),
                     1); /* that there is no name */
    json_decref(refusal.status);
    json_decref(first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_create_looks_at_metadata_where_a_server_does),
        cmocka_unit_test(test_finalizers_need_a_domain_where_a_server_wants_it),
        cmocka_unit_test(test_a_job_keeps_the_labels_that_it_gave_its_pods),
        cmocka_unit_test(test_an_update_repeats_causes_as_often_as_a_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
