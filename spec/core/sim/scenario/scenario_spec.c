/* Reading scenarios, durations and sizes. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/verbs.h"
#include "sim/text/duration.h"

static struct sim_scenario *parse(const char *text, struct err *err)
{
    json_t *value = js(text);
    char *json = json_dumps(value, 0);
    struct sim_scenario *scenario = sim_scenario_parse(str_of(json), err);
    free(json);
    json_decref(value);
    return scenario;
}

static void test_times_and_counts_have_defaults(void **state)
{
    struct err err;
    struct sim_scenario *s =
        parse("[{'do':'clear'},{'do':'clear','at':'1.5s','count':3},{'do':'clear','every':'20ms'},"
              "{'do':'clear','at':2,'every':1,'count':4}]",
              &err);
    assert_non_null(s);
    static const struct {
        int64_t at_ms, every_ms;
        size_t count;
    } expected[] = {{0, 0, 1}, {1500, 0, 3}, {0, 20, 0}, {2000, 1000, 4}};
    assert_int_equal(s->count, ARRAY_LEN(expected));
    for (size_t i = 0; i < s->count; i++) {
        assert_int_equal(s->steps[i].at_ms, expected[i].at_ms);
        assert_int_equal(s->steps[i].every_ms, expected[i].every_ms);
        assert_int_equal(s->steps[i].count, expected[i].count);
        assert_int_equal(s->steps[i].number, i + 1);
        assert_string_equal(s->steps[i].verb->name, "clear");
    }
    sim_scenario_free(s);
}

static void test_a_seed_may_be_given(void **state)
{
    struct err err;
    struct sim_scenario *s = parse("{'seed':7,'steps':[]}", &err);
    assert_int_equal(s->seed, 7);
    assert_int_equal(s->count, 0);
    sim_scenario_free(s);
}

static void test_what_is_wrong_is_named_with_its_step(void **state)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"{}", "a scenario is an array of steps, or an object with \"steps\""},
        {"[5]", "step 1: it is not an object"},
        {"[{'do':'clear'},{}]", "step 2: \"do\" is missing"},
        {"[{'do':'clear','resource':'pods'}]", "step 1 (clear): unknown parameter \"resource\""},
        {"[{'do':'touch','resource':5}]", "step 1 (touch): \"resource\" is not a string"},
        {"[{'do':'touch','resource':'po','pick':-1}]",
         "step 1 (touch): \"pick\" is not a whole number, or \"all\""},
        {"[{'do':'clear','at':'soon'}]",
         "step 1 (clear): \"at\" is not a duration such as \"250ms\" or \"2s\""},
        {"[{'do':'clear','every':0}]", "step 1 (clear): \"every\" is 0, and \"count\" is missing"},
        {"[{'do':'clear','count':0}]", "step 1 (clear): \"count\" is 0"},
        {"[{'do':'patch','resource':'po','patch':{},'ops':[]}]",
         "step 1 (patch): exactly one of \"patch\" and \"ops\" is required"},
        {"[{'do':'phase','resource':'po'}]", "step 1 (phase): \"phase\" is missing"},
        {"[{'do':'inject','what':'end'}]", "step 1 (inject): \"resource\" is missing"},
        {"[{'do':'fault','what':'status','verb':'post'}]", "step 1 (fault): unknown \"verb\": \"post\""},
        {"[{'do':'fault','what':'cut','verb':'patch'}]",
         "step 1 (fault): \"what\": \"cut\" does not apply to a patch"},
        {"[{'do':'fault','what':'status','code':200}]",
         "step 1 (fault): \"code\" is not an HTTP error code: 200"},
        {"[{'do':'fault','what':'oversize','size':'9Xi'}]",
         "step 1 (fault): \"size\" is not a size such as \"9Mi\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err;
        assert_null(parse(cases[i].text, &err));
        assert_string_equal(err.text, cases[i].expected);
    }
}

static void test_text_that_is_no_json_is_named_with_its_line(void **state)
{
    struct err err;
    assert_null(sim_scenario_parse(STR("[\n  {\"do\":}\n]"), &err));
    assert_non_null(strstr(err.text, "line 2: "));
    assert_null(sim_scenario_parse(STR(""), &err));
    assert_null(sim_scenario_parse(STR("[{\"do\":\"clear\",\"do\":\"clear\"}]"), &err));
}

static void expect_duration(const char *json, int64_t expected)
{
    json_t *value = js(json);
    int64_t ms = -1;
    assert_int_equal(sim_duration_read(value, &ms), expected >= 0);
    if (expected >= 0) assert_int_equal(ms, expected);
    json_decref(value);
}

static void test_durations_and_sizes(void **state)
{
    size_t bytes;
    expect_duration("'250ms'", 250);
    expect_duration("'1.5s'", 1500);
    expect_duration("'2m'", 120000);
    expect_duration("'1h'", 3600000);
    expect_duration("3", 3000);
    expect_duration("0.25", 250);
    expect_duration("'5'", -1);
    expect_duration("'s'", -1);
    expect_duration("'-1s'", -1);
    expect_duration("-1", -1);
    expect_duration("'nan'", -1);
    expect_duration("'infs'", -1);
    expect_duration("true", -1);
    json_t *size = js("'9Mi'");
    assert_true(sim_size_read(size, &bytes));
    assert_int_equal(bytes, 9 << 20);
    json_string_set(size, "64Q");
    assert_false(sim_size_read(size, &bytes));
    json_decref(size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times_and_counts_have_defaults),
        cmocka_unit_test(test_a_seed_may_be_given),
        cmocka_unit_test(test_what_is_wrong_is_named_with_its_step),
        cmocka_unit_test(test_text_that_is_no_json_is_named_with_its_line),
        cmocka_unit_test(test_durations_and_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
