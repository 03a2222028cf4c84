/* core/sim/managed/apply.c: server-side apply, of built-in kinds and of those of CRDs. */
#include <stdlib.h>
#include <string.h>

#include "core/sim/support/kube.h"
#include "sim/managed/apply.h"
#include "sim/object/status.h"
#include "sim/text/tree.h"

static struct sim_refusal refusal;

static json_t *apply(const struct sim_kind *kind, const json_t *live, const char *manager, bool force,
                     json_t *given)
{
    char *version = sim_api_version(kind);
    json_object_set_new(given, "kind", json_string(kind->kind));
    json_object_set_new(given, "apiVersion", json_string(version));
    json_object_set_new(sim_submap(given, "metadata"), "name", json_string("a"));
    const struct sim_apply how = {given, force, {manager, "Apply", version, NULL, 0}};
    json_t *object = sim_applied(kind, live, &how, &refusal);
    json_decref(given);
    free(version);
    return object;
}

/* Takes `live`; must not be refused. */
static json_t *applied(const char *plural, json_t *live, const char *manager, const char *given)
{
    json_t *object = apply(kind_named(plural), live, manager, false, js(given));
    if (!object) fail_msg("%s", sim_text_at(refusal.status, "message"));
    json_decref(live);
    return object;
}

static void assert_refused(json_t *object, int code, const char *message)
{
    assert_null(object);
    assert_string_equal(sim_text_at(refusal.status, "message"), message);
    assert_int_equal(sim_status_code(refusal.status), code);
    json_decref(refusal.status);
}

static void test_what_is_applied_no_more_goes_unless_others_own_it(void **state)
{
    json_t *object = applied("configmaps", NULL, "me", "{'data':{'a':'1','b':'1','c':'1'}}");
    object = applied("configmaps", object, "you", "{'data':{'b':'1'}}");
    object = applied("configmaps", object, "me", "{'data':{'c':'2'}}");
    assert_json_at(object, "data", "{'b':'1','c':'2'}");
    object = applied("configmaps", object, "you", "{}");
    assert_json_at(object, "data", "{'c':'2'}");
    assert_int_equal(json_array_size(sim_at(object, "metadata.managedFields")), 1);
    object = applied("configmaps", object, "me", "{}");
    assert_null(json_object_get(object, "data"));
    json_decref(object);
}

static void test_other_managers_values_are_conflicts(void **state)
{
    const struct sim_kind *kind = kind_named("configmaps");
    json_t *object = applied("configmaps", NULL, "me", "{'data':{'a':'1','b':'1'}}");
    assert_refused(apply(kind, object, "you", false, js("{'data':{'a':'2'}}")), 409,
                   "Apply failed with 1 conflict: conflict with \"me\": .data.a");
    assert_null(apply(kind, object, "you", false, js("{'data':{'a':'2','b':'3'}}")));
    assert_text_at(refusal.status, "message",
                   "Apply failed with 2 conflicts: conflicts with \"me\":\n- .data.a\n- .data.b");
    assert_json_at(
        refusal.status, "details",
        "{'causes':[{'reason':'FieldManagerConflict','message':'conflict with \\'me\\'','field':'.data.a'},"
        "{'reason':'FieldManagerConflict','message':'conflict with \\'me\\'','field':'.data.b'}]}");
    json_decref(refusal.status);
    json_t *forced = apply(kind, object, "you", true, js("{'data':{'a':'2'}}"));
    assert_json_at(forced, "data", "{'a':'2','b':'1'}");
    assert_json_at(json_array_get(sim_at(forced, "metadata.managedFields"), 0), "fieldsV1",
                   "{'f:data':{'f:b':{}}}");
    json_decref(forced);
    json_decref(object);
}

static void test_what_had_no_manager_is_of_before_the_first_apply(void **state)
{
    json_t *live = js("{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'a'},'data':{'a':'1'}}");
    assert_refused(apply(kind_named("configmaps"), live, "you", false, js("{'data':{'a':'2'}}")), 409,
                   "Apply failed with 1 conflict: conflict with \"before-first-apply\" using v1: .data.a");
    json_decref(live);
}

static void test_lists_are_merged_by_key_in_the_given_order(void **state)
{
    json_t *object = applied("pods", NULL, "me",
                             "{'spec':{'containers':[{'name':'x','image':'1'},{'name':'y'},{'name':'z'}]}}");
    object = applied("pods", object, "you",
                     "{'spec':{'containers':[{'name':'z','tty':true},{'name':'new'},{'name':'x'}]}}");
    assert_json_at(object, "spec.containers",
                   "[{'name':'y'},{'name':'z','tty':true},{'name':'new'},{'name':'x','image':'1'}]");
    object = applied("pods", object, "you", "{'spec':{'containers':[{'name':'x'}]}}");
    assert_json_at(object, "spec.containers", "[{'name':'y'},{'name':'z'},{'name':'x','image':'1'}]");
    json_decref(object);
}

static void test_sets_and_atomic_lists(void **state)
{
    json_t *object = applied("pods", NULL, "me",
                             "{'metadata':{'finalizers':['a/b','c/d']},'spec':{'tolerations':"
                             "[{'key':'a'}]}}");
    object = applied("pods", object, "you", "{'metadata':{'finalizers':['e/f']}}");
    assert_json_at(object, "metadata.finalizers", "['a/b','c/d','e/f']");
    assert_refused(
        apply(kind_named("pods"), object, "you", false, js("{'spec':{'tolerations':[{'key':'b'}]}}")), 409,
        "Apply failed with 1 conflict: conflict with \"me\": .spec.tolerations");
    json_decref(object);
}

/* A reference is one value for its owners, but for the one of a volume. */
static void test_a_field_may_be_shared_though_its_type_may_not(void **state)
{
    json_t *object =
        applied("persistentvolumes", NULL, "me", "{'spec':{'claimRef':{'namespace':'a','name':'b'}}}");
    object = applied("persistentvolumes", object, "you", "{'spec':{'claimRef':{'uid':'c'}}}");
    assert_json_at(object, "spec.claimRef", "{'namespace':'a','name':'b','uid':'c'}");
    json_decref(object);
}

static void test_wrong_configurations_are_refused_in_the_words_of_the_server(void **state)
{
    static const struct {
        const char *given, *message;
    } cases[] = {
        {"{'spec':{'colour':1}}", ".spec.colour: field not declared in schema"},
        {"{'spec':{'nodeName':[]}}",
         ".spec.nodeName: expected string, got &value.valueUnstructured{Value:[]interface {}{}}"},
        {"{'spec':{'nodeName':{'a':[1,true,'x',null]}}}",
         ".spec.nodeName: expected string, got &value.valueUnstructured{Value:map[string]interface "
         "{}{\"a\":[]interface {}{1, true, \"x\", interface {}(nil)}}}"},
        {"{'spec':{'hostNetwork':'x'}}", ".spec.hostNetwork: expected boolean, got &{x}"},
        {"{'spec':{'containers':{}}}", ".spec.containers: expected list, got &{map[]}"},
        {"{'spec':{'priority':'x'}}", ".spec.priority: expected numeric (int or float), got string"},
        {"{'spec':{'containers':[{'name':'a'},{'name':'a'}]}}",
         ".spec.containers: duplicate entries for key [name=\"a\"]"},
        {"{'spec':{'containers':[null]}}",
         ".spec.containers: element 0: associative list with keys may not have a null element"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *message =
            sim_textf("failed to create typed patch object (/a; /v1, Kind=Pod): %s", cases[i].message);
        assert_refused(apply(kind_named("pods"), NULL, "me", false, js(cases[i].given)), 500,
                       json_string_value(message));
        json_decref(message);
    }
    assert_refused(apply(kind_named("pods"), NULL, "me", false, js("{'metadata':{'managedFields':[]}}")), 400,
                   "metadata.managedFields must be nil");
}

/* A kind of a CRD, with this schema of its spec. */
static struct sim_kind custom(json_t *schema)
{
    return (struct sim_kind){.group = "example.com",
                             .version = "v1",
                             .plural = "widgets",
                             .kind = "Widget",
                             .custom = true,
                             .structural =
                                 json_pack("{ss s{so}}", "type", "object", "properties", "spec", schema)};
}

static void test_a_crd_tells_how_its_lists_are_merged(void **state)
{
    struct sim_kind kind =
        custom(js("{'type':'object','properties':{'whole':{'type':'array','items':{'type':'string'}},"
                  "'set':{'type':'array','x-kubernetes-list-type':'set','items':{'type':'string'}},"
                  "'free':{'type':'object','x-kubernetes-preserve-unknown-fields':true},"
                  "'keyed':{'type':'array','x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['"
                  "port','protocol'],"
                  "'items':{'type':'object','properties':{'port':{'type':'integer'},'n':{'type':'integer'},"
                  "'protocol':{'type':'string','default':'TCP'}}}}}}"));
    json_t *first = apply(&kind, NULL, "me", false,
                          js("{'spec':{'set':['a'],'keyed':[{'port':1,'n':1}],'free':{'x':{'y':1}}}}"));
    json_t *second =
        apply(&kind, first, "you", false,
              js("{'spec':{'set':['b'],'keyed':[{'port':1,'protocol':'TCP'},{'port':2}],'whole':['w']}}"));
    assert_non_null(second);
    assert_json_at(second, "spec",
                   "{'set':['a','b'],'keyed':[{'port':1,'n':1,'protocol':'TCP'},{'port':2}],"
                   "'free':{'x':{'y':1}},'whole':['w']}");
    assert_refused(apply(&kind, second, "me", false, js("{'spec':{'whole':['v']}}")), 409,
                   "Apply failed with 1 conflict: conflict with \"you\": .spec.whole");
    assert_refused(
        apply(&kind, second, "me", false, js("{'spec':{'more':1}}")), 500,
        "failed to create typed patch object (/a; example.com/v1, Kind=Widget): .spec.more: field not "
        "declared in schema");
    json_decref(first);
    json_decref(second);
    json_decref((json_t *)kind.structural);
}

/* A key of a built-in kind that has none is the zero value; a custom one has to say it, or its schema. */
static void test_an_element_without_any_key_is_refused(void **state)
{
    struct sim_kind kind =
        custom(js("{'type':'object','properties':{'keyed':{'type':'array','x-kubernetes-list-type':'map',"
                  "'x-kubernetes-list-map-keys':['name'],'items':{'type':'object',"
                  "'properties':{'name':{'type':'string'},'n':{'type':'integer'}}}}}}"));
    assert_refused(apply(&kind, NULL, "me", false, js("{'spec':{'keyed':[{'n':1}]}}")), 500,
                   "failed to create typed patch object (/a; example.com/v1, Kind=Widget): .spec.keyed: "
                   "element 0: associative list with keys has an element that omits all key fields "
                   "[\"name\"] (and doesn't have default values for any key fields)");
    json_decref((json_t *)kind.structural);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_applied_no_more_goes_unless_others_own_it),
        cmocka_unit_test(test_other_managers_values_are_conflicts),
        cmocka_unit_test(test_what_had_no_manager_is_of_before_the_first_apply),
        cmocka_unit_test(test_lists_are_merged_by_key_in_the_given_order),
        cmocka_unit_test(test_sets_and_atomic_lists),
        cmocka_unit_test(test_a_field_may_be_shared_though_its_type_may_not),
        cmocka_unit_test(test_wrong_configurations_are_refused_in_the_words_of_the_server),
        cmocka_unit_test(test_a_crd_tells_how_its_lists_are_merged),
        cmocka_unit_test(test_an_element_without_any_key_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
