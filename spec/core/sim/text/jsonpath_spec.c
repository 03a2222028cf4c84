/* JSONPath as printer columns use it. */
#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/text/jsonpath.h"

static const char object[] =
    "{'spec':{'a':1,'b.c':'dotted','list':['p','q',{'x':'deep'}],'none':null},"
    "'status':{'conditions':[{'type':'A','status':'no','n':1},{'type':'Ready','status':'True','n':5},"
    "{'type':'Late','status':'maybe','n':9}]}}";

static const char *const found[][2] = {
    {".spec.a", "1"},
    {"", object},
    {".spec.b\\.c", "'dotted'"},
    {".spec['b.c']", "'dotted'"},
    {".spec[\"b.c\"]", "'dotted'"},
    {".spec.list[0]", "'p'"},
    {".spec.list[-1].x", "'deep'"},
    {".spec.list[*]", "'p'"},
    {".spec.list[*].x", "'deep'"},
    {".spec.*", "1"},
    {"..x", "'deep'"},
    {".status..n", "1"},
    {".spec.none", "null"},
    {".status.conditions[?(@.type==\"Ready\")].status", "'True'"},
    {".status.conditions[?(@.type=='Ready')].status", "'True'"},
    {".status.conditions[?( @.type == 'Ready' )].status", "'True'"},
    {".status.conditions[?(@.type!='A')].status", "'True'"},
    {".status.conditions[?(@.n>5)].type", "'Late'"},
    {".status.conditions[?(@.n>=5)].type", "'Ready'"},
    {".status.conditions[?(@.n<5)].type", "'A'"},
    {".status.conditions[?(@.n<=0.5)]", NULL},
    {".status.conditions[?(@.nope)].type", NULL},
    {".status.conditions[?(@.n)].type", "'A'"},
    {".spec.nope", NULL},
    {".spec.list[3]", NULL},
    {".spec.list[-4]", NULL},
    {".spec.a.b", NULL},
    {".spec.a[0]", NULL},
};

static void test_the_first_value_is_found(void **state)
{
    json_t *root = js(object);
    for (size_t i = 0; i < ARRAY_LEN(found); i++) {
        json_t *value = sim_jsonpath_first(root, found[i][0]);
        assert_true(sim_jsonpath_valid(found[i][0]));
        if (!found[i][1] && value) fail_msg("%s leads somewhere", found[i][0]);
        if (found[i][1] && !value) fail_msg("%s leads nowhere", found[i][0]);
        if (value) assert_json(json_incref(value), found[i][1]);
    }
    json_decref(root);
}

static void test_malformed_paths_are_known_and_lead_nowhere(void **state)
{
    static const char *const bad[] = {".a[",           ".a[0",     ".a[x]",         ".a['b]", ".a[?(@.x==)]",
                                      ".a[?(@.x=='y'", ".a[?@.x]", ".a[?(x=='y')]", ".",      ".a.",
                                      ".a[?(@.x='y)]", ".a[]"};
    json_t *root = js("{'a':[{'x':'y'}]}");
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        if (sim_jsonpath_valid(bad[i])) fail_msg("%s is good", bad[i]);
        assert_null(sim_jsonpath_first(root, bad[i]));
    }
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first_value_is_found),
        cmocka_unit_test(test_malformed_paths_are_known_and_lead_nowhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
