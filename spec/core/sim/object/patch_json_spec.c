/* JSON patch: the examples of RFC 6902, appendix A, those of RFC 6901, and what must be refused. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/object/patch.h"

static const char *const good[][3] = {
    /* A.1 to A.17 */
    {"{'foo':'bar'}", "[{'op':'add','path':'/baz','value':'qux'}]", "{'baz':'qux','foo':'bar'}"},
    {"{'foo':['bar','baz']}", "[{'op':'add','path':'/foo/1','value':'qux'}]", "{'foo':['bar','qux','baz']}"},
    {"{'baz':'qux','foo':'bar'}", "[{'op':'remove','path':'/baz'}]", "{'foo':'bar'}"},
    {"{'foo':['bar','qux','baz']}", "[{'op':'remove','path':'/foo/1'}]", "{'foo':['bar','baz']}"},
    {"{'baz':'qux','foo':'bar'}", "[{'op':'replace','path':'/baz','value':'boo'}]",
     "{'baz':'boo','foo':'bar'}"},
    {"{'foo':{'bar':'baz','waldo':'fred'},'qux':{'corge':'grault'}}",
     "[{'op':'move','from':'/foo/waldo','path':'/qux/thud'}]",
     "{'foo':{'bar':'baz'},'qux':{'corge':'grault','thud':'fred'}}"},
    {"{'foo':['all','grass','cows','eat']}", "[{'op':'move','from':'/foo/1','path':'/foo/3'}]",
     "{'foo':['all','cows','eat','grass']}"},
    {"{'baz':'qux','foo':['a',2,'c']}",
     "[{'op':'test','path':'/baz','value':'qux'},{'op':'test','path':'/foo/1','value':2}]",
     "{'baz':'qux','foo':['a',2,'c']}"},
    {"{'foo':'bar'}", "[{'op':'add','path':'/child','value':{'grandchild':{}}}]",
     "{'foo':'bar','child':{'grandchild':{}}}"},
    {"{'foo':'bar'}", "[{'op':'add','path':'/baz','value':'qux','xyz':123}]", "{'foo':'bar','baz':'qux'}"},
    {"{'/':9,'~1':10}", "[{'op':'test','path':'/~01','value':10}]", "{'/':9,'~1':10}"},
    {"{'foo':['bar']}", "[{'op':'add','path':'/foo/-','value':['abc','def']}]",
     "{'foo':['bar',['abc','def']]}"},
    /* more of what the text says */
    {"{'a':1}", "[]", "{'a':1}"},
    {"{'a':1}", "[{'op':'add','path':'/a','value':2}]", "{'a':2}"},
    {"{'a':{'b':1}}", "[{'op':'copy','from':'/a','path':'/c'},{'op':'replace','path':'/c/b','value':2}]",
     "{'a':{'b':1},'c':{'b':2}}"},
    {"{'a':1}", "[{'op':'move','from':'/a','path':'/a'}]", "{'a':1}"},
    {"{'a':null}", "[{'op':'test','path':'/a','value':null}]", "{'a':null}"},
    {"{'a':{'x':[1,{'y':2.0}]}}", "[{'op':'test','path':'/a','value':{'x':[1,{'y':2}]}}]",
     "{'a':{'x':[1,{'y':2.0}]}}"},
    {"{'a/b':1,'m~n':2,'':3,' ':4}",
     "[{'op':'test','path':'/a~1b','value':1},{'op':'test','path':'/m~0n','value':2},{'op':'test','path':'/',"
     "'value':3},{'op':'test','path':'/ ','value':4}]",
     "{'a/b':1,'m~n':2,'':3,' ':4}"},
    {"{'a':[1,2]}", "[{'op':'add','path':'/a/2','value':3},{'op':'replace','path':'/a/0','value':0}]",
     "{'a':[0,2,3]}"},
    {"{'a':[1]}", "[{'op':'move','from':'/a/0','path':'/b'}]", "{'a':[],'b':1}"},
    /* what a real server takes beyond it */
    {"{'a':1}", "[{'op':'replace','path':'/b','value':2}]", "{'a':1,'b':2}"},
    {"{'a':1}", "[{'op':'test','path':'/b','value':null}]", "{'a':1}"},
    {"{'a':1}", "[{'op':'copy','from':'/x','path':'/b'}]", "{'a':1,'b':null}"},
    {"{}", "[{'op':'add','path':'/a'}]", "{'a':null}"},
    {"{'a':1}", "[{'op':'replace','path':'','value':{'b':2}}]", "{'b':2}"},
    {"{}", "[{'op':'add','path':'x/a','value':1}]", "{'a':1}"},
    {"{}", "[{'op':'add','path':'/a~2~','value':1}]", "{'a~2~':1}"},
    {"{'a':[1]}", "[{'op':'add','path':'/a/01','value':2},{'op':'replace','path':'/a/+0','value':0}]",
     "{'a':[0,2]}"},
    {"{'a':[1,2]}", "[{'op':'add','path':'/a/-1','value':3},{'op':'remove','path':'/a/-3'}]", "{'a':[2,3]}"},
    {"{'a':[{},{}]}", "[{'op':'move','from':'/a/0','path':'/a/0/b'}]", "{'a':[{'b':{}}]}"},
};

static const char *const bad[][3] = {
    /* A.9, A.12, A.15 */
    {"{'baz':'qux'}", "[{'op':'test','path':'/baz','value':'bar'}]",
     "operation 0 (test /baz): the value is another one"},
    {"{'foo':'bar'}", "[{'op':'add','path':'/baz/bat','value':'qux'}]",
     "operation 0 (add /baz/bat): there is nothing to hold \"bat\""},
    {"{'/':9,'~1':10}", "[{'op':'test','path':'/~01','value':'10'}]",
     "operation 0 (test /~01): the value is another one"},
    {"{}", "[7]", "operation 0 ( ): an operation has an op and a path, both strings"},
    {"{}", "[{'op':'add','value':1}]", "operation 0 (add ): an operation has an op and a path, both strings"},
    {"{}", "[{'op':'bogus','path':'/a','value':1}]", "operation 0 (bogus /a): unknown operation"},
    {"{}", "[{'op':'add','path':'a','value':1}]", "operation 0 (add a): a path has a slash"},
    {"{'a':1}", "[{'op':'remove','path':'/b'}]", "operation 0 (remove /b): no such value"},
    {"{'a':1}", "[{'op':'test','path':'/b','value':1}]", "operation 0 (test /b): the value is another one"},
    {"{'a':1}", "[{'op':'move','from':'/b','path':'/c'}]", "operation 0 (move /c): no such value"},
    {"{'a':1}", "[{'op':'add','path':'','value':[1]}]", "operation 0 (add ): a path has a slash"},
    {"{'a':[1]}", "[{'op':'copy','from':'/a/1','path':'/b'}]",
     "operation 0 (copy /b): \"1\" is not an index into a list of 1"},
    {"{'a':1}", "[{'op':'copy','from':'','path':'/b'}]", "operation 0 (copy /b): a path has a slash"},
    {"{'a':1}", "[{'op':'remove','path':''}]", "operation 0 (remove ): a path has a slash"},
    {"{'a':[1]}", "[{'op':'add','path':'/a/2','value':1}]",
     "operation 0 (add /a/2): \"2\" is not an index into a list of 1"},
    {"{'a':[1]}", "[{'op':'add','path':'/a/-3','value':1}]",
     "operation 0 (add /a/-3): \"-3\" is not an index into a list of 1"},
    {"{'a':[1]}", "[{'op':'remove','path':'/a/-'}]",
     "operation 0 (remove /a/-): \"-\" is not an index into a list of 1"},
    {"{'a':[1]}", "[{'op':'replace','path':'/a/1','value':2}]",
     "operation 0 (replace /a/1): \"1\" is not an index into a list of 1"},
    {"{'a':{}}", "[{'op':'move','from':'/a','path':'/a/b'}]",
     "operation 0 (move /a/b): there is nothing to hold \"b\""},
    {"{'a':1}", "[{'op':'test','path':'/a','value':1.0}]", "operation 0 (test /a): the value is another one"},
    {"{'a':1}", "[{'op':'replace','path':'','value':null}]",
     "operation 0 (replace ): a document is a map or a list"},
    {"{'a':1}", "[{'op':'move','path':'/b'}]", "operation 0 (move /b): it needs a from"},
    {"{'a':1}", "[{'op':'add','path':'/b','value':1},{'op':'remove','path':'/c'}]",
     "operation 1 (remove /c): no such value"},
};

static void test_the_examples_of_the_rfc(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        json_t *target = js(good[i][0]), *ops = js(good[i][1]);
        char *message = NULL;
        json_t *result = sim_patch_json(target, ops, &message);
        if (!result) fail_msg("%s: %s", good[i][1], message);
        assert_json(result, good[i][2]);
        assert_json(target, good[i][0]);
        assert_json(ops, good[i][1]);
    }
}

/* Names in the order in which Kubernetes writes them. */
static const char *const ordered[][3] = {
    {"{'b':{'z':1,'y':{'d':1,'c':2}},'a':[{'f':1,'e':2}]}", "[]",
     "{'a':[{'f':1,'e':2}],'b':{'z':1,'y':{'d':1,'c':2}}}"},
    {"{'b':{'z':1,'y':{'d':1,'c':2}}}", "[{'op':'add','path':'/b/x','value':{'n':1,'m':2}}]",
     "{'b':{'x':{'n':1,'m':2},'y':{'d':1,'c':2},'z':1}}"},
    {"{'b':{'z':1,'y':2},'a':{}}", "[{'op':'copy','from':'/b','path':'/a/c'}]",
     "{'a':{'c':{'z':1,'y':2}},'b':{'z':1,'y':2}}"},
    {"{'b':{'z':1,'y':2}}",
     "[{'op':'remove','path':'/b/z'},{'op':'copy','from':'/b','path':'/a'},{'op':'add',"
     "'path':'/b/x','value':3}]",
     "{'a':{'y':2},'b':{'x':3,'y':2}}"},
    {"{'b':{'z':{'d':1,'c':2},'y':2}}",
     "[{'op':'test','path':'/b/z/c','value':2},{'op':'move','from':'/b/z',"
     "'path':'/a'}]",
     "{'a':{'c':2,'d':1},'b':{'y':2}}"},
    {"{'b':[{'z':1,'y':2},{'z':{'d':1,'c':2},'y':2}]}",
     "[{'op':'test','path':'/b/1','value':{'y':2,'z':{'c':2,'d':1}}}]",
     "{'b':[{'z':1,'y':2},{'y':2,'z':{'c':2,'d':1}}]}"},
};

static void test_only_maps_that_an_operation_looks_into_are_sorted(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(ordered); i++) {
        json_t *ops = js(ordered[i][1]), *target = js(ordered[i][0]);
        char *message = NULL;
        json_t *result = sim_patch_json(target, ops, &message);
        if (!result) fail_msg("%s: %s", ordered[i][1], message);
        assert_json_text(result, ordered[i][2]);
        json_decref(target);
        json_decref(ops);
    }
}

static void test_a_patch_that_does_not_apply_is_refused_completely(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        json_t *target = js(bad[i][0]), *ops = js(bad[i][1]);
        char *message = NULL;
        assert_null(sim_patch_json(target, ops, &message));
        assert_string_equal(message, bad[i][2]);
        assert_json(target, bad[i][0]);
        json_decref(ops);
        free(message);
    }
}

static void test_a_patch_that_doubles_its_document_is_stopped(void **state)
{
    json_t *target = js("{'a':[1]}"), *ops = json_array();
    char *message = NULL;
    for (int i = 0; i < 64; i++)
        json_array_append_new(ops, json_pack("{s:s,s:s,s:s}", "op", "copy", "from", "/a", "path", "/a/-"));
    assert_null(sim_patch_json(target, ops, &message));
    assert_non_null(strstr(message, "the patch copies too much"));
    free(message);
    json_decref(target);
    json_decref(ops);
}

static void test_a_patch_has_ten_thousand_operations_at_most(void **state)
{
    json_t *target = js("{}"), *ops = json_array(), *one = js("{'op':'add','path':'/a','value':1}");
    char *message = NULL;
    for (int i = 0; i < 10001; i++) json_array_append(ops, one);
    assert_null(sim_patch_json(target, ops, &message));
    assert_string_equal(message, "The allowed maximum operations in a JSON patch is 10000, got 10001");
    free(message);
    json_decref(one);
    json_decref(target);
    json_decref(ops);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_examples_of_the_rfc),
        cmocka_unit_test(test_only_maps_that_an_operation_looks_into_are_sorted),
        cmocka_unit_test(test_a_patch_that_does_not_apply_is_refused_completely),
        cmocka_unit_test(test_a_patch_that_doubles_its_document_is_stopped),
        cmocka_unit_test(test_a_patch_has_ten_thousand_operations_at_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
