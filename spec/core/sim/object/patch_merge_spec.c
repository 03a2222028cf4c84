/* JSON merge patch: the test cases of RFC 7386, appendix A, and what Kubernetes does beyond them. */
#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/object/patch.h"

static const char *const vectors[][3] = {
    {"{'a':'b'}", "{'a':'c'}", "{'a':'c'}"},
    {"{'a':'b'}", "{'b':'c'}", "{'a':'b','b':'c'}"},
    {"{'a':'b'}", "{'a':null}", "{}"},
    {"{'a':'b','b':'c'}", "{'a':null}", "{'b':'c'}"},
    {"{'a':['b']}", "{'a':'c'}", "{'a':'c'}"},
    {"{'a':'c'}", "{'a':['b']}", "{'a':['b']}"},
    {"{'a':{'b':'c'}}", "{'a':{'b':'d','c':null}}", "{'a':{'b':'d'}}"},
    {"{'a':[{'b':'c'}]}", "{'a':[1]}", "{'a':[1]}"},
    {"['a','b']", "['c','d']", "['c','d']"},
    {"{'a':'b'}", "['c']", "['c']"},
    {"{'a':'foo'}", "null", "null"},
    {"{'a':'foo'}", "'bar'", "'bar'"},
    {"{'e':null}", "{'a':1}", "{'e':null,'a':1}"},
    {"[1,2]", "{'a':'b','c':null}", "{'a':'b'}"},
    {"{}", "{'a':{'bb':{'ccc':null}}}", "{'a':{'bb':{}}}"},
    /* 64-bit numbers stay what they are */
    {"{'a':9223372036854775807}", "{'b':-9223372036854775807}",
     "{'a':9223372036854775807,'b':-9223372036854775807}"},
};

static void test_the_cases_of_the_rfc(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
        json_t *target = js(vectors[i][0]), *patch = js(vectors[i][1]);
        assert_json(sim_patch_merge(target, patch), vectors[i][2]);
        assert_json(target, vectors[i][0]);
        assert_json(patch, vectors[i][1]);
    }
}

static const char *const ordered[][3] = {
    {"{'b':{'z':1,'y':{'d':1,'c':2}},'a':1}", "{}", "{'a':1,'b':{'z':1,'y':{'d':1,'c':2}}}"},
    {"{'b':{'z':1,'y':{'d':1,'c':2}}}", "{'b':{'x':{'n':1,'m':2}}}",
     "{'b':{'x':{'m':2,'n':1},'y':{'d':1,'c':2},'z':1}}"},
    /* nulls leave lists, too, but where one takes the place of a map */
    {"{}", "{'a':[{'c':1,'b':null},null]}", "{'a':[{'c':1},null]}"},
    {"{'a':1}", "{'a':[[{'c':1,'b':null}]]}", "{'a':[[{'c':1}]]}"},
    {"{'a':{}}", "{'a':[{'c':1,'b':null}]}", "{'a':[{'c':1,'b':null}]}"},
    {"{'a':null}", "{'a':{'b':null}}", "{'a':{}}"},
};

static void test_names_are_sorted_and_nulls_pruned_as_kubernetes_does(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(ordered); i++) {
        json_t *target = js(ordered[i][0]), *patch = js(ordered[i][1]);
        assert_json_text(sim_patch_merge(target, patch), ordered[i][2]);
        json_decref(target);
        json_decref(patch);
    }
}

static void test_the_example_of_the_rfc(void **state)
{
    json_t *target =
        js("{'title':'Goodbye!','author':{'givenName':'John','familyName':'Doe'},'tags':['example',"
           "'sample'],'content':'This will be unchanged'}");
    json_t *patch =
        js("{'title':'Hello!','phoneNumber':'+01-123-456-7890','author':{'familyName':null},'tags':["
           "'example']}");
    assert_json(sim_patch_merge(target, patch),
                "{'title':'Hello!','author':{'givenName':'John'},'tags':['example'],'content':'This will be "
                "unchanged','phoneNumber':'+01-123-456-7890'}");
    json_decref(target);
    json_decref(patch);
}

static void test_the_result_shares_nothing(void **state)
{
    json_t *target = js("{'a':{'b':1}}"), *patch = js("{'c':{'d':1}}"),
           *result = sim_patch_merge(target, patch);
    json_object_clear(json_object_get(result, "a"));
    json_object_clear(json_object_get(result, "c"));
    json_decref(result);
    assert_json(target, "{'a':{'b':1}}");
    assert_json(patch, "{'c':{'d':1}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_cases_of_the_rfc),
        cmocka_unit_test(test_names_are_sorted_and_nulls_pruned_as_kubernetes_does),
        cmocka_unit_test(test_the_example_of_the_rfc),
        cmocka_unit_test(test_the_result_shares_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
