/* Custom objects by their structural schema. Messages were taken down from a v1.36 server. */
#include "sim/validate/structural.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/text/tree.h"

static void assert_cause(const char *schema, const char *object, const char *field, const char *message)
{
    json_t *rules = js(schema), *value = js(object), *causes = json_array();
    sim_structural_check(rules, value, NULL, false, causes);
    if (json_array_size(causes) != (field ? 1 : 0))
        fail_msg("%s: %zu causes, %s", object, json_array_size(causes),
                 sim_text_at(json_array_get(causes, 0), "message"));
    if (field) {
        assert_text_at(json_array_get(causes, 0), "field", field);
        assert_text_at(json_array_get(causes, 0), "message", message);
    }
    json_decref(rules);
    json_decref(value);
    json_decref(causes);
}

static void test_a_status_is_checked_alone(void **state)
{
    json_t *schema = js("{'properties':{'spec':{'type':'object'},'status':{'type':'object','properties':"
                        "{'replicas':{'type':'integer','format':'int32'}}}}}");
    static const char *const cases[][3] = {
        {"{'spec':1,'status':1}", "status",
         "Invalid value: \"integer\":  in body must be of type object: \"integer\""},
        {"{'status':{'replicas':true}}", "status.replicas",
         "Invalid value: \"\": replicas in body must be of type int32: \"\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        json_t *object = js(cases[i][0]), *causes = json_array();
        sim_structural_check(schema, object, NULL, true, causes);
        assert_int_equal(json_array_size(causes), 1);
        assert_text_at(json_array_get(causes, 0), "field", cases[i][1]);
        assert_text_at(json_array_get(causes, 0), "message", cases[i][2]);
        json_decref(object);
        json_decref(causes);
    }
    json_decref(schema);
}

static void test_what_is_as_it_was_may_stay_wrong(void **state)
{
    json_t *schema = js(
        "{'type':'object','required':['b'],'properties':{'a':{'type':'object','required':['n'],'properties':{"
        "'n':{'type':'integer'},'w':{'maxLength':1}}},'m':{'type':'array','x-kubernetes-list-type':'map',"
        "'x-kubernetes-list-map-keys':['k'],'items':{'properties':{'k':{},'n':{'maximum':1}}}},'l':{'items':{"
        "'maximum':1}}}}");
    static const struct {
        const char *old, *object;
        size_t causes;
    } cases[] = {
        {"{'a':{'w':'xx'}}", "{'a':{'w':'xx'},'b':1}", 0},
        {"{'a':{'w':'xx'}}", "{'a':{'w':'xx'}}", 0},
        {"{'a':{'w':'xx'}}", "{'a':{'w':'yy'},'b':1}", 2},
        {"{'a':{'w':'xx'}}", "{'a':{'w':'xx','z':1},'b':1}", 1},
        {"{'m':[{'k':1,'n':2}]}", "{'b':1,'m':[{'k':0},{'k':1,'n':2}]}", 0},
        {"{'m':[{'k':1,'n':2}]}", "{'b':1,'m':[{'k':2,'n':2}]}", 1},
        {"{'l':[2]}", "{'b':1,'l':[2]}", 0},
        {"{'l':[2]}", "{'b':1,'l':[2,1]}", 1},
        {"{'b':1}", "{'b':1,'l':[2]}", 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        json_t *old = js(cases[i].old), *object = js(cases[i].object), *causes = json_array();
        sim_structural_check(schema, object, old, false, causes);
        if (json_array_size(causes) != cases[i].causes)
            fail_msg("%s: %zu causes", cases[i].object, json_array_size(causes));
        json_decref(old);
        json_decref(object);
        json_decref(causes);
    }
    json_decref(schema);
}

static void assert_pruned(const char *schema, const char *object, const char *expected, const char *unknown)
{
    json_t *rules = js(schema), *value = js(object);
    assert_json(sim_structural_prune(rules, value, false), unknown);
    assert_json(value, expected);
    json_decref(rules);
}

static void test_values_are_checked(void **state)
{
    static const char *const cases[][4] = {
        {"{'type':'integer'}", "'x'",
         "Invalid value: \"string\": a in body must be of type integer: \"string\""},
        {"{'type':'integer'}", "2.0", NULL},
        {"{'type':'number'}", "2", NULL},
        {"{'type':'string','nullable':true}", "null", NULL},
        {"{'type':'string','enum':['x','y']}", "'z'",
         "Unsupported value: \"z\": supported values: \"x\", \"y\""},
        {"{'type':'string','pattern':'^[a-z\\\\d]+$'}", "'a1'", NULL},
        {"{'type':'string','pattern':'^(?:a|b)\\\\d$'}", "'c1'",
         "Invalid value: \"c1\": a in body should match '^(?:a|b)\\d$'"},
        {"{'type':'string','maxLength':2}", "'äöü'", "Too long: may not be more than 2 bytes"},
        {"{'type':'string','minLength':2}", "'ä'",
         "Invalid value: \"ä\": a in body should be at least 2 chars long"},
        {"{'type':'integer','minimum':1}", "0",
         "Invalid value: 0: a in body should be greater than or equal to 1"},
        {"{'type':'integer','maximum':1,'exclusiveMaximum':true}", "1",
         "Invalid value: 1: a in body should be less than 1"},
        {"{'type':'integer','multipleOf':3}", "4", "Invalid value: 4: a in body should be a multiple of 3"},
        {"{'type':'array','items':{},'maxItems':1}", "[1,2]", "Too many: 2: must have at most 1 item"},
        {"{'type':'array','items':{},'minItems':1}", "[]",
         "Invalid value: 0: a in body should have at least 1 items"},
        {"{'type':'object','minProperties':1}", "{}",
         "Invalid value: 0: a in body should have at least 1 properties"},
        {"{'x-kubernetes-int-or-string':true}", "1.5",
         "Invalid value: \"number\": a in body must be of type integer,string: \"number\""},
        {"{'x-kubernetes-int-or-string':true}", "'http'", NULL},
        {"{'type':'string','format':'ipv4'}", "'1.2.3'",
         "Invalid value: \"1.2.3\": a in body must be of type ipv4: \"1.2.3\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *schema = xasprintf("{'type':'object','properties':{'a':%s}}", cases[i][0]);
        char *object = xasprintf("{'a':%s}", cases[i][1]);
        assert_cause(schema, object, cases[i][2] ? "a" : NULL, cases[i][2]);
        free(schema);
        free(object);
    }
}

static void test_places_are_named(void **state)
{
    static const char schema[] =
        "{'type':'object','properties':{'list':{'type':'array','x-kubernetes-list-type':'map',"
        "'x-kubernetes-list-map-keys':['name'],'items':{'type':'object','required':['name'],'properties':{"
        "'name':{'type':'string'}}}},'map':{'type':'object','additionalProperties':{'type':'integer'}}}}";
    assert_cause(schema, "{'list':[{'name':'a'},{}]}", "list[1].name", "Required value");
    assert_cause(schema, "{'map':{'x':'1'}}", "map.x",
                 "Invalid value: \"string\": map.x in body must be of type integer: \"string\"");
    assert_cause(schema, "{'list':[{'name':'a'},{'name':'b'}],'map':{'x':1}}", NULL, NULL);
}

static void test_unknown_fields_are_pruned(void **state)
{
    static const char schema[] =
        "{'type':'object','properties':{'spec':{'type':'object','properties':{'a':{'type':'string'},'list':{'"
        "type':"
        "'array','items':{'type':'object','properties':{'b':{'type':'integer'}}}},'map':{'type':'object',"
        "'additionalProperties':{'type':'object'}},'free':{'type':'object','properties':{'in':{'type':'"
        "object'}},"
        "'x-kubernetes-preserve-unknown-fields':true},'whole':{'type':'object','x-kubernetes-embedded-"
        "resource':true,"
        "'properties':{'spec':{'type':'object'}}}}}}}";
    assert_pruned(
        schema,
        "{'kind':'K','metadata':{'name':'n'},'top':1,'spec':{'z':{},'a':null,'list':[{'b':1,'c':2}],'map':{"
        "'k':{'x':1}},'free':{'any':[{'x':1}],'in':{'y':1}},'whole':{'kind':'Pod','spec':{},'data':1}}}",
        "{'kind':'K','metadata':{'name':'n'},'spec':{'list':[{'b':1}],'map':{'k':{}},'free':{'any':[{'x':1}]"
        ",'in':{}},'whole':{'kind':'Pod','spec':{}}}}",
        "['spec.free.in.y','spec.list[0].c','spec.map.k.x','spec.whole.data','spec.z','top']");
}

static void test_defaults_are_set(void **state)
{
    json_t *rules =
        js("{'properties':{'spec':{'default':{'a':1},'properties':{'a':{'default':2},'b':{'default':[]},"
           "'n':{'default':3,'nullable':true}}},'list':{'items':{'properties':{'c':{'default':'x'}}}}}}");
    json_t *empty = js("{}"), *given = js("{'spec':{'a':null,'b':[1],'n':null},'list':[{},{'c':'y'}]}");
    sim_structural_default(rules, empty);
    sim_structural_default(rules, given);
    assert_json(empty, "{'spec':{'a':1,'b':[],'n':3}}");
    assert_json(given, "{'spec':{'a':2,'b':[1],'n':null},'list':[{'c':'x'},{'c':'y'}]}");
    json_decref(rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_status_is_checked_alone),
        cmocka_unit_test(test_what_is_as_it_was_may_stay_wrong),
        cmocka_unit_test(test_values_are_checked),
        cmocka_unit_test(test_places_are_named),
        cmocka_unit_test(test_unknown_fields_are_pruned),
        cmocka_unit_test(test_defaults_are_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
