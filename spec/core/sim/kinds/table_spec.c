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

/* A row: its cells, and its conditions. */
static json_t *row_of(const struct sim_kind *kind, json_t *object)
{
    json_t *row = sim_table_cells(kind, object, NOW);
    json_decref(object);
    return row;
}

static void test_cells_are_those_of_the_columns(void **state)
{
    json_t *columns = sim_table_columns(kind_named("namespaces"));
    assert_int_equal(json_array_size(columns), 3);
    assert_text_at(json_array_get(columns, 0), "name", "Name");
    assert_text_at(json_array_get(columns, 0), "format", "name");
    assert_text_at(json_array_get(columns, 2), "name", "Age");
    json_decref(columns);
    json_t *object = js("{'metadata':{'name':'one','creationTimestamp':'2025-12-31T23:59:55Z'},'status':{"
                        "'phase':'Active'}}");
    assert_json(row_of(kind_named("namespaces"), object), "[['one','Active','5s'],null]");
    assert_json(row_of(kind_named("namespaces"), js("{'metadata':{}}")), "[['','','<unknown>'],null]");
}

static void test_pods_that_ended_report_it_in_their_row(void **state)
{
    json_t *row = row_of(kind_named("pods"), js("{'metadata':{'name':'p'},'status':{'phase':'Succeeded'}}"));
    assert_json(json_incref(json_array_get(row, 1)),
                "[{'type':'Completed','status':'True','reason':'Succeeded','message':'The pod has completed "
                "successfully.'}]");
    json_decref(row);
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
    json_t *definitions = sim_table_columns(&widget);
    assert_json(sim_table_cells(&widget, object, NOW), "[['w','hello','3','True','60m'],null]");
    assert_json(
        json_incref(json_array_get(definitions, 2)),
        "{'name':'Num','type':'string','format':'','description':'Custom resource definition column (in "
        "JSONPath format): .spec.num','priority':1}");
    assert_text_at(json_array_get(definitions, 3), "description", "is it");
    json_decref(definitions);

    widget.printer_columns = NULL;
    definitions = sim_table_columns(&widget);
    assert_json(sim_table_cells(&widget, object, NOW), "[['w','60m'],null]");
    assert_text_at(json_array_get(definitions, 1), "type", "date");
    json_decref(definitions);
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
        json_t *row = sim_table_cells(&widget, object, NOW);
        assert_json(json_incref(json_array_get(json_array_get(row, 0), 1)), vectors[i][2]);
        json_decref(row);
        json_decref(object);
        json_decref(columns);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_accept_header_chooses_the_form),
        cmocka_unit_test(test_cells_are_those_of_the_columns),
        cmocka_unit_test(test_pods_that_ended_report_it_in_their_row),
        cmocka_unit_test(test_custom_objects_show_the_columns_of_their_crd),
        cmocka_unit_test(test_cells_of_custom_objects_have_the_type_of_their_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
