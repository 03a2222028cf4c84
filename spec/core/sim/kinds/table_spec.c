/* Tables, partial objects, and what an Accept header asks for. */
#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/kinds/table.h"
#include "sim/object/status.h"
#include "sim/text/tree.h"

enum { NOW = 1767225600 }; /* 2026-01-01T00:00:00Z */

#define TABLE(version) "application/json;as=Table;v=" version ";g=meta.k8s.io"

/* Custom kinds have no protobuf of their own. */
static enum sim_form negotiated(const char *accept)
{
    return sim_negotiate_of(&(struct sim_kind){.custom = true}, accept).form;
}

static void test_an_accept_header_chooses_the_form(void **state)
{
    static const struct {
        const char *accept;
        enum sim_form form;
    } vectors[] = {
        {NULL, SIM_FORM_JSON},
        {"", SIM_FORM_JSON},
        {"*/*", SIM_FORM_JSON},
        {"application/*", SIM_FORM_JSON},
        {"application/json", SIM_FORM_JSON},
        {"application/json, */*", SIM_FORM_JSON},
        {"application/json;stream=watch", SIM_FORM_JSON},
        /* kubectl get */
        {TABLE("v1") "," TABLE("v1beta1") ",application/json", SIM_FORM_TABLE},
        {"application/json; as=Table; v=v1; g=meta.k8s.io", SIM_FORM_TABLE},
        {TABLE("v1beta1") ",application/json", SIM_FORM_TABLE},
        {TABLE("v1beta1"), SIM_FORM_TABLE},
        {TABLE("v1alpha1"), SIM_FORM_UNACCEPTABLE},
        {"application/json;as=Foo;v=v1;g=meta.k8s.io", SIM_FORM_UNACCEPTABLE},
        {"application/json;as=Table;v=v1;g=other", SIM_FORM_UNACCEPTABLE},
        {"application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", SIM_FORM_PARTIAL},
        /* client-go's metadata client */
        {"application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/"
         "json;as="
         "PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json",
         SIM_FORM_PARTIAL_LIST},
        {"application/vnd.kubernetes.protobuf", SIM_FORM_UNACCEPTABLE},
        {"application/vnd.kubernetes.protobuf,application/json", SIM_FORM_JSON},
        {"application/cbor", SIM_FORM_UNACCEPTABLE},
        {"application/yaml, text/html", SIM_FORM_JSON},
        {"text/html", SIM_FORM_UNACCEPTABLE},
        {"application/json;q=0.5," TABLE("v1"), SIM_FORM_TABLE},
        {TABLE("v1") ";q=0.1,application/json;q=0.9", SIM_FORM_JSON},
        {"application/json;q=0", SIM_FORM_UNACCEPTABLE},
        {"nonsense;;;=,,", SIM_FORM_UNACCEPTABLE},
    };
    for (size_t i = 0; i < ARRAY_LEN(vectors); i++)
        if (negotiated(vectors[i].accept) != vectors[i].form) fail_msg("%s", vectors[i].accept);
}

static json_t *namespace_named(const char *name)
{
    json_t *object =
        js("{'metadata':{'resourceVersion':'7','creationTimestamp':'2025-12-31T23:59:55Z','labels':{'a':"
           "'b'}},'spec':{'finalizers':['kubernetes']},'status':{'phase':'Active'}}");
    json_object_set_new(json_object_get(object, "metadata"), "name", json_string(name));
    return object;
}

static void test_a_table_has_columns_rows_and_the_list_s_metadata(void **state)
{
    json_t *objects[] = {namespace_named("one"), namespace_named("two")};
    json_t *table = sim_table(kind_named("namespaces"), objects, 2, "42", "token", NULL, true, NOW);
    assert_text_at(table, "kind", "Table");
    assert_text_at(table, "apiVersion", "meta.k8s.io/v1");
    assert_json_at(table, "metadata", "{'resourceVersion':'42','continue':'token'}");
    json_t *columns = json_object_get(table, "columnDefinitions"), *rows = json_object_get(table, "rows");
    assert_int_equal(json_array_size(columns), 3);
    assert_text_at(json_array_get(columns, 0), "name", "Name");
    assert_text_at(json_array_get(columns, 0), "format", "name");
    assert_text_at(json_array_get(columns, 2), "name", "Age");
    assert_json_at(json_array_get(rows, 0), "cells", "['one','Active','5s']");
    assert_json_at(json_array_get(rows, 1), "object",
                   "{'kind':'PartialObjectMetadata','apiVersion':'meta.k8s.io/v1','metadata':{'name':'two',"
                   "'resourceVersion':'7','creationTimestamp':'2025-12-31T23:59:55Z','labels':{'a':'b'}}}");
    json_decref(table);
    json_decref(objects[0]);
    json_decref(objects[1]);
}

static void test_one_object_has_its_own_version(void **state)
{
    json_t *object = namespace_named("one");
    json_t *table = sim_table(kind_named("namespaces"), &object, 1, NULL, NULL, "None", false, NOW);
    assert_json_at(table, "metadata", "{'resourceVersion':'7'}");
    assert_json_at(table, "columnDefinitions", "null");
    assert_json_at(table, "rows", "[{'cells':['one','Active','5s'],'object':null}]");
    json_decref(table);
    json_decref(object);
}

static void test_an_empty_table_has_no_rows(void **state)
{
    json_t *table = sim_table(kind_named("pods"), NULL, 0, "42", NULL, NULL, true, NOW);
    assert_json_at(table, "rows", "[]");
    assert_int_equal(json_array_size(json_object_get(table, "columnDefinitions")), 9);
    json_decref(table);
}

static void test_a_complete_object_can_be_requested(void **state)
{
    json_t *object = namespace_named("one");
    json_t *table = sim_table(kind_named("namespaces"), &object, 1, NULL, NULL, "Object", true, NOW);
    json_t *included = json_object_get(json_array_get(json_object_get(table, "rows"), 0), "object");
    assert_text_at(included, "kind", "Namespace");
    assert_text_at(included, "apiVersion", "v1");
    assert_text_at(included, "status.phase", "Active");
    assert_null(json_object_get(object, "kind"));
    json_decref(table);
    json_decref(object);
}

static void test_the_bookmark_of_a_watch_list_keeps_its_annotation(void **state)
{
    json_t *bookmark =
        js("{'metadata':{'resourceVersion':'9','annotations':{'k8s.io/initial-events-end':'true'}}}");
    json_t *table = sim_table(kind_named("namespaces"), &bookmark, 1, "9", NULL, "None", false, NOW);
    assert_json_at(
        table, "rows",
        "[{'cells':['','','<unknown>'],'object':{'kind':'PartialObjectMetadata','apiVersion':"
        "'meta.k8s.io/v1','metadata':{'resourceVersion':'9','annotations':{'k8s.io/initial-events-end':"
        "'true'}}}}]");
    json_decref(table);
    json_decref(bookmark);
}

static void test_pods_that_ended_report_it_in_their_row(void **state)
{
    json_t *pod = js("{'metadata':{'name':'p'},'status':{'phase':'Succeeded'}}");
    json_t *table = sim_table(kind_named("pods"), &pod, 1, NULL, NULL, "None", false, NOW);
    assert_json_at(
        json_array_get(json_object_get(table, "rows"), 0), "conditions",
        "[{'type':'Completed','status':'True','reason':'Succeeded','message':'The pod has completed "
        "successfully.'}]");
    json_decref(table);
    json_decref(pod);
}

static void test_custom_objects_show_the_columns_of_their_crd(void **state)
{
    json_t *columns =
        js("[{'name':'Str','type':'string','jsonPath':'.spec.str'},{'name':'Num','type':'string',"
           "'jsonPath':'.spec.num','priority':1},{'name':'Ready','type':'string','description':'is it',"
           "'jsonPath':'.status.conditions[?(@.type==\\'Ready\\')].status'},{'name':'Age','type':'date',"
           "'jsonPath':'.metadata.creationTimestamp'}]");
    struct sim_kind widget = {.kind = "Widget", .custom = true, .printer_columns = columns};
    json_t *object =
        js("{'metadata':{'name':'w','creationTimestamp':'2025-12-31T23:00:00Z'},'spec':{'str':'hello',"
           "'num':3},'status':{'conditions':[{'type':'Ready','status':'True'}]}}");
    json_t *table = sim_table(&widget, &object, 1, NULL, NULL, "None", true, NOW);
    json_t *definitions = json_object_get(table, "columnDefinitions");
    assert_json_at(table, "rows", "[{'cells':['w','hello','3','True','60m'],'object':null}]");
    assert_json(
        json_incref(json_array_get(definitions, 2)),
        "{'name':'Num','type':'string','format':'','description':'Custom resource definition column (in "
        "JSONPath format): .spec.num','priority':1}");
    assert_text_at(json_array_get(definitions, 3), "description", "is it");
    json_decref(table);

    widget.printer_columns = NULL;
    table = sim_table(&widget, &object, 1, NULL, NULL, "None", true, NOW);
    assert_json_at(table, "rows", "[{'cells':['w','60m'],'object':null}]");
    assert_text_at(json_array_get(json_object_get(table, "columnDefinitions"), 1), "type", "date");
    json_decref(table);
    json_decref(object);
    json_decref(columns);
}

/* Taken down from a v1.36 server. */
static void test_cells_of_custom_objects_have_the_type_of_their_column(void **state)
{
    static const char *const vectors[][3] = {
        {"string", "'a'", "'a'"},
        {"string", "3", "'3'"},
        {"string", "true", "'true'"},
        {"string", "null", "'<no value>'"},
        {"string", "1500000.5", "'1.5000005e+06'"},
        {"string", "0.25", "'0.25'"},
        {"string", "3.0", "'3'"},
        {"string", "100000.0", "'100000'"},
        {"string", "0.00001", "'1e-05'"},
        {"string", "{'b':1,'a':'x'}", "'{\\'a\\':\\'x\\',\\'b\\':1}'"},
        {"string", "['p',2]", "'[\\'p\\',2]'"},
        {"integer", "7", "7"},
        {"integer", "1500000.5", "1500000"},
        {"integer", "'7'", "null"},
        {"integer", "1e300", "null"},
        {"number", "3", "3"},
        {"number", "'3'", "null"},
        {"boolean", "true", "true"},
        {"boolean", "'true'", "null"},
        {"date", "'hello'", "'<invalid>'"},
        {"date", "7", "null"},
        {"date", "'2025-12-31T23:59:00Z'", "'60s'"},
    };
    for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
        json_t *columns =
            json_pack("[{s:s,s:s,s:s}]", "name", "X", "type", vectors[i][0], "jsonPath", ".spec.x");
        struct sim_kind widget = {.kind = "Widget", .custom = true, .printer_columns = columns};
        json_t *object =
            json_pack("{s:{s:s},s:{s:o}}", "metadata", "name", "w", "spec", "x", js(vectors[i][1]));
        json_t *table = sim_table(&widget, &object, 1, NULL, NULL, "None", false, NOW);
        json_t *cells = json_object_get(json_array_get(json_object_get(table, "rows"), 0), "cells");
        assert_json(json_incref(json_array_get(cells, 1)), vectors[i][2]);
        json_decref(table);
        json_decref(object);
        json_decref(columns);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_accept_header_chooses_the_form),
        cmocka_unit_test(test_a_table_has_columns_rows_and_the_list_s_metadata),
        cmocka_unit_test(test_one_object_has_its_own_version),
        cmocka_unit_test(test_an_empty_table_has_no_rows),
        cmocka_unit_test(test_a_complete_object_can_be_requested),
        cmocka_unit_test(test_the_bookmark_of_a_watch_list_keeps_its_annotation),
        cmocka_unit_test(test_pods_that_ended_report_it_in_their_row),
        cmocka_unit_test(test_custom_objects_show_the_columns_of_their_crd),
        cmocka_unit_test(test_cells_of_custom_objects_have_the_type_of_their_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
