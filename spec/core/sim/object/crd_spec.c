/* CustomResourceDefinitions: the kinds they define and the rules for them. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/lua/lua.h"
#include "sim/object/crd.h"
#include "sim/object/object_rules.h"
#include "sim/object/status.h"
#include "sim/text/tree.h"

#define SCHEMA "'schema':{'openAPIV3Schema':{'type':'object'}}"
#define CRD(versions)                                                                                        \
    "{'metadata':{'name':'widgets.example.com'},'spec':{'group':'example.com','scope':'Namespaced','names':" \
    "{"                                                                                                      \
    "'plural':'widgets','kind':'Widget','shortNames':['wg'],'categories':['all','gadgets']},'versions':"     \
    "[" versions "]}}"

static void free_kinds(struct sim_kind **kinds, size_t n)
{
    for (size_t i = 0; i < n; i++) sim_kind_free(kinds[i]);
    free(kinds);
}

static void test_each_served_version_is_a_kind_the_stable_one_first(void **state)
{
    json_t *crd =
        js(CRD("{'name':'v1beta1','served':true,'storage':false," SCHEMA
               "},{'name':'v1','served':true,'storage':true,'subresources':{'status':{}},"
               "'additionalPrinterColumns':[{'name':'A','type':'string','jsonPath':'.spec.a'}]," SCHEMA
               "},{'name':'v2','served':false,'storage':false," SCHEMA "}"));
    struct sim_kind **kinds;
    char *message;
    size_t n = sim_crd_kinds(crd, &kinds, &message);
    json_decref(crd);
    assert_int_equal(n, 2);
    assert_null(message);
    assert_string_equal(kinds[0]->group, "example.com");
    assert_string_equal(kinds[0]->version, "v1");
    assert_string_equal(kinds[0]->plural, "widgets");
    assert_string_equal(kinds[0]->singular, "widget");
    assert_string_equal(kinds[0]->kind, "Widget");
    assert_string_equal(kinds[0]->list_kind, "WidgetList");
    assert_string_equal(kinds[0]->short_names[0], "wg");
    assert_null(kinds[0]->short_names[1]);
    assert_string_equal(kinds[0]->categories[1], "gadgets");
    assert_true(kinds[0]->namespaced && kinds[0]->custom && kinds[0]->needs_version &&
                kinds[0]->has_generation);
    assert_true(kinds[0]->has_status);
    assert_false(kinds[0]->not_storage);
    assert_int_equal(json_array_size(kinds[0]->printer_columns), 1);
    assert_string_equal(kinds[1]->version, "v1beta1");
    assert_true(kinds[1]->not_storage);
    assert_false(kinds[1]->has_status);
    assert_null(kinds[1]->printer_columns);
    free_kinds(kinds, n);
}

static void test_names_may_be_given(void **state)
{
    json_t *crd = js(CRD("{'name':'v1','served':true,'storage':true," SCHEMA "}"));
    struct sim_kind **kinds;
    char *message;
    json_object_set_new(sim_at(crd, "spec"), "scope", json_string("Cluster"));
    json_object_set_new(sim_at(crd, "spec.names"), "singular", json_string("wid"));
    json_object_set_new(sim_at(crd, "spec.names"), "listKind", json_string("Widgets"));
    size_t n = sim_crd_kinds(crd, &kinds, &message);
    assert_int_equal(n, 1);
    assert_string_equal(kinds[0]->singular, "wid");
    assert_string_equal(kinds[0]->list_kind, "Widgets");
    assert_false(kinds[0]->namespaced);
    free_kinds(kinds, n);
    json_decref(crd);
}

static void test_a_crd_that_serves_nothing_hides_what_it_stores(void **state)
{
    json_t *crd = js(CRD("{'name':'v1','served':false,'storage':false," SCHEMA
                         "},{'name':'v2','served':false,'storage':true," SCHEMA "}"));
    struct sim_kind **kinds;
    char *message;
    assert_int_equal(sim_crd_kinds(crd, &kinds, &message), 1);
    assert_null(message);
    assert_true(kinds[0]->hidden && !kinds[0]->not_storage);
    assert_string_equal(kinds[0]->version, "v2");
    sim_kind_free(kinds[0]);
    free(kinds);
    json_decref(crd);
}

static const char *const refused[][2] = {
    {"{'metadata':{'name':'a.example.com'},'spec':{'group':'example.org','scope':'Namespaced','names':{'"
     "plural':'as',"
     "'kind':'A'},'versions':[{'name':'v1','served':true,'storage':true," SCHEMA "}]}}",
     "CustomResourceDefinition.apiextensions.k8s.io \"a.example.com\" is invalid: metadata.name: Invalid "
     "value: "
     "\"a.example.com\": must be spec.names.plural+\".\"+spec.group"},
    {"{'metadata':{'name':'as.example.com'},'spec':{'group':'example.com','scope':'Foo','names':{'plural':'"
     "as','kind':"
     "'A'},'versions':[{'name':'v1','served':true,'storage':true," SCHEMA "}]}}",
     "is invalid: spec.scope: Unsupported value: \"Foo\": supported values: \"Cluster\", \"Namespaced\""},
    {CRD(""), "is invalid: [spec.versions: Invalid value: []: must have exactly one version marked as "
              "storage version, "
              "status.storedVersions: Invalid value: null: must have at least one stored version]"},
    {CRD("{'name':'v1','served':true,'storage':true," SCHEMA
         "},{'name':'v1','served':true,'storage':true," SCHEMA "}"),
     "must contain unique version names"},
    {CRD("{'name':'v1','served':true,'storage':true}"),
     "is invalid: spec.versions[0].schema.openAPIV3Schema: Required value"},
    {CRD("{'name':'v1','served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'text'}}}"),
     "is invalid: [spec.validation.openAPIV3Schema.type: Invalid value: \"text\": must be object at the "
     "root, "
     "spec.validation.openAPIV3Schema.type: Unsupported value: \"text\": supported values: \"array\", "
     "\"boolean\", \"integer\", \"number\", \"object\", \"string\"]"},
    {CRD("{'name':'V1','served':true,'storage':true," SCHEMA "}"),
     "spec.versions[0].name: Invalid value: \"V1\": "},
    {CRD("{'name':'v1','served':true,'storage':true," SCHEMA
         ",'additionalPrinterColumns':[{'name':'','type':'foo','jsonPath':'a'},{'name':'x','type':'string'}]"
         "}"),
     "is invalid: [spec.additionalPrinterColumns[0].name: Required value, "
     "spec.additionalPrinterColumns[0].type: Invalid value: \"foo\": must be one of "
     "boolean,date,integer,number,string, spec.additionalPrinterColumns[0].JSONPath: Invalid value: \"a\": "
     "must be a simple json path starting with ., spec.additionalPrinterColumns[1].JSONPath: Required "
     "value]"},
    {"{'metadata':{'name':'x.example.com'},'spec':{}}",
     "spec.group: Required value, spec.scope: Required value"},
};

static void test_contradictory_fields_are_refused(void **state)
{
    static const struct sim_now now = {
        .seconds = 1767225600, .uid = "u-1", .suffix = "abcde", .checked = true};
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        json_t *crd = js(refused[i][0]);
        struct sim_refusal refusal;
        assert_null(sim_prepare_create(kind_named("customresourcedefinitions"), crd, NULL, &now, &refusal));
        assert_int_equal(sim_status_code(refusal.status), 422);
        if (!strstr(sim_text_at(refusal.status, "message"), refused[i][1]))
            fail_msg("%s", sim_text_at(refusal.status, "message"));
        json_decref(refusal.status);
        json_decref(crd);
    }
}

/* A stored definition is served, as long as it says how. */
static void test_only_what_cannot_be_served_is_not_served(void **state)
{
    static const char *const obstacles[ARRAY_LEN(refused)] = {
        "metadata.name: must be spec.names.plural+", "spec.scope: supported values",
        "spec.versions: must have exactly one version", "must contain unique version names",
        [ARRAY_LEN(refused) - 1] = "metadata.name: must be spec.names.plural+"};
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        json_t *crd = js(refused[i][0]);
        struct sim_kind **kinds;
        char *obstacle = NULL;
        size_t n = sim_crd_kinds(crd, &kinds, &obstacle);
        assert_int_equal(n, obstacles[i] ? 0 : 1);
        assert_int_equal(obstacle == NULL, obstacles[i] == NULL);
        if (obstacle && !strstr(obstacle, obstacles[i])) fail_msg("%s", obstacle);
        free_kinds(kinds, n);
        free(obstacle);
        json_decref(crd);
    }
}

static void test_a_crd_is_established_after_its_create(void **state)
{
    static const struct sim_now now = {.seconds = 1767225600, .uid = "u-1", .suffix = "abcde"};
    json_t *body = js(CRD("{'name':'v1beta1','served':true,'storage':true," SCHEMA "}"));
    struct sim_refusal refusal;
    json_t *crd = sim_prepare_create(kind_named("customresourcedefinitions"), body, NULL, &now, &refusal);
    assert_json_at(
        crd, "status",
        "{'conditions':null,'acceptedNames':{'plural':'','kind':''},'storedVersions':['v1beta1']}");
    sim_crd_do("establish", crd, now.seconds, NULL);
    assert_json_at(
        crd, "status",
        "{'conditions':[{'type':'NamesAccepted','status':'True','lastTransitionTime':"
        "'2026-01-01T00:00:00Z','reason':'NoConflicts','message':'no conflicts found'},{'type':"
        "'Established','status':'True','lastTransitionTime':'2026-01-01T00:00:00Z','reason':"
        "'InitialNamesAccepted','message':'the initial names have been accepted'}],'acceptedNames':{"
        "'plural':'widgets','kind':'Widget','shortNames':['wg'],'categories':['all','gadgets'],'singular':"
        "'widget','listKind':'WidgetList'},'storedVersions':['v1beta1']}");
    assert_json_at(crd, "spec.conversion", "{'strategy':'None'}");
    json_t *again = json_deep_copy(crd);
    sim_crd_do("establish", again, now.seconds + 60, NULL);
    assert_true(json_equal(again, crd));
    json_decref(again);
    json_decref(crd);
    json_decref(body);
}

static bool precedes(const char *a, const char *b)
{
    lua_State *L = sim_lua_take("sim.crds", "precedes");
    lua_pushstring(L, a);
    lua_pushstring(L, b);
    return sim_lua_is(L);
}

static void test_versions_are_ordered_by_how_stable_they_are(void **state)
{
    static const char *const order[] = {"v10",       "v2",        "v1",   "v11beta2", "v10beta3", "v3beta1",
                                        "v12alpha1", "v11alpha2", "foo1", "foo10",    "v0",       "v1gamma"};
    for (size_t i = 0; i + 1 < ARRAY_LEN(order); i++) {
        assert_true(precedes(order[i], order[i + 1]));
        assert_true(!precedes(order[i + 1], order[i]));
    }
    assert_false(precedes("v1", "v1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_served_version_is_a_kind_the_stable_one_first),
        cmocka_unit_test(test_names_may_be_given),
        cmocka_unit_test(test_a_crd_that_serves_nothing_hides_what_it_stores),
        cmocka_unit_test(test_contradictory_fields_are_refused),
        cmocka_unit_test(test_only_what_cannot_be_served_is_not_served),
        cmocka_unit_test(test_a_crd_is_established_after_its_create),
        cmocka_unit_test(test_versions_are_ordered_by_how_stable_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
