/* Lua of the simulator: values that go in and come back; ages, and JSONPath as printer columns use it. */
#include <pthread.h>

#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/lua/lua.h"
#include "sim/text/tree.h"

/* The value that sim.jsonpath finds, a new reference; NULL for nothing. */
static json_t *first(const json_t *value, const char *path)
{
    lua_State *L = sim_lua_take("sim.jsonpath", "first");
    sim_lua_push(L, value);
    lua_pushstring(L, path);
    return sim_lua_call(L);
}

static bool is_valid(const char *path)
{
    lua_State *L = sim_lua_take("sim.jsonpath", "valid");
    lua_pushstring(L, path);
    return sim_lua_is(L);
}

/* A path without steps leads to the value itself. */
static void test_a_value_comes_back_as_it_was(void **state)
{
    static const char *const texts[] = {"null",
                                        "true",
                                        "false",
                                        "''",
                                        "'\\u00e4'",
                                        "0",
                                        "-7",
                                        "9007199254740991",
                                        "9007199254740993",
                                        "-9223372036854775808",
                                        "1.0",
                                        "1.5",
                                        "1e300",
                                        "[]",
                                        "{}",
                                        "[1,2.0,null,{'b':1,'a':[{}]}]"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        json_t *value = js(texts[i]), *back = first(value, "");
        char *before = json_dumps(value, JSON_ENCODE_ANY), *after = json_dumps(back, JSON_ENCODE_ANY);
        assert_string_equal(before, after);
        free(before);
        free(after);
        json_decref(value);
        json_decref(back);
    }
}

static void test_a_function_that_raises_gives_nothing(void **state)
{
    lua_State *L = sim_lua_take("sim.ages", "of");
    lua_newtable(L);
    assert_null(sim_lua_call(L));
    L = sim_lua_take("sim.ages", "format");
    assert_false(sim_lua_is(L));
}

/* The last disruption that a budget allows replaces a condition, and reads the old one after that. */
static void test_what_a_function_replaces_is_there_until_the_call_is_over(void **state)
{
    json_t *budget = js("{'metadata':{'name':'a'},'status':{'disruptionsAllowed':1,'conditions':"
                        "[{'type':'DisruptionAllowed','status':'False','lastTransitionTime':'then'}]}}");
    lua_State *L = sim_lua_take("sim.evictions", "disrupt");
    sim_lua_push(L, budget);
    lua_pushliteral(L, "pod");
    lua_pushliteral(L, "now");
    assert_null(sim_lua_call(L));
    json_t *conditions = json_object_get(json_object_get(budget, "status"), "conditions");
    assert_string_equal(sim_text_at(json_array_get(conditions, 0), "reason"), "InsufficientPods");
    assert_string_equal(sim_text_at(json_array_get(conditions, 0), "lastTransitionTime"), "then");
    json_decref(budget);
}

static void *work(void *ctx)
{
    json_t *value = js("{'a':[{'b':1},{'b':2}]}");
    for (int i = 0; i < 200; i++) {
        json_t *found = first(value, ".a[-1].b");
        if (json_integer_value(found) != 2) *(bool *)ctx = true;
        json_decref(found);
    }
    json_decref(value);
    return NULL;
}

/* More threads than states that are kept. */
static void test_each_thread_has_a_state_of_its_own(void **state)
{
    pthread_t threads[12];
    bool failed[ARRAY_LEN(threads)] = {false};
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &failed[i]), 0);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
        pthread_join(threads[i], NULL);
        assert_false(failed[i]);
    }
}

/* --- ages */

/* The boundaries of apimachinery's HumanDuration. */
static void test_ages_have_two_or_three_figures(void **state)
{
    enum { M = 60, H = 60 * M, D = 24 * H };
    static const struct {
        int64_t seconds;
        const char *text;
    } vectors[] = {{-2, "'<invalid>'"},
                   {-1, "'0s'"},
                   {0, "'0s'"},
                   {119, "'119s'"},
                   {2 * M, "'2m'"},
                   {2 * M + 10, "'2m10s'"},
                   {10 * M - 1, "'9m59s'"},
                   {10 * M + 59, "'10m'"},
                   {3 * H - 1, "'179m'"},
                   {3 * H, "'3h'"},
                   {3 * H + M, "'3h1m'"},
                   {8 * H + 59 * M, "'8h'"},
                   {47 * H, "'47h'"},
                   {2 * D, "'2d'"},
                   {2 * D + H, "'2d1h'"},
                   {8 * D + 23 * H, "'8d'"},
                   {729LL * D, "'729d'"},
                   {730LL * D, "'2y'"},
                   {735LL * D, "'2y5d'"},
                   {8LL * 365 * D + 100 * D, "'8y'"}};
    for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
        lua_State *L = sim_lua_take("sim.ages", "format");
        lua_pushnumber(L, (lua_Number)vectors[i].seconds);
        assert_json(sim_lua_call(L), vectors[i].text);
    }
}

static json_t *age_of(const char *text, int64_t now_s)
{
    lua_State *L = sim_lua_take("sim.ages", "of");
    lua_pushstring(L, text);
    lua_pushnumber(L, (lua_Number)now_s);
    return sim_lua_call(L);
}

static void test_the_age_of_no_time_is_unknown(void **state)
{
    assert_json(age_of("", 1767225600), "'<unknown>'");
    assert_json(age_of("2026-01-01T00:00:00Z", 1767225605), "'5s'");
}

/* --- JSONPath */

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
        json_t *value = first(root, found[i][0]);
        assert_true(is_valid(found[i][0]));
        if (!found[i][1] && value) fail_msg("%s leads somewhere", found[i][0]);
        if (found[i][1] && !value) fail_msg("%s leads nowhere", found[i][0]);
        if (value) assert_json(value, found[i][1]);
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
        if (is_valid(bad[i])) fail_msg("%s is good", bad[i]);
        assert_null(first(root, bad[i]));
    }
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_value_comes_back_as_it_was),
        cmocka_unit_test(test_a_function_that_raises_gives_nothing),
        cmocka_unit_test(test_what_a_function_replaces_is_there_until_the_call_is_over),
        cmocka_unit_test(test_each_thread_has_a_state_of_its_own),
        cmocka_unit_test(test_ages_have_two_or_three_figures),
        cmocka_unit_test(test_the_age_of_no_time_is_unknown),
        cmocka_unit_test(test_the_first_value_is_found),
        cmocka_unit_test(test_malformed_paths_are_known_and_lead_nowhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
