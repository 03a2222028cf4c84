/* Label selectors: contract X-1..X-5. The messages were taken down from a v1.36 server. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/object/selector.h"

static bool selects(const char *text, const char *labels)
{
    char *message = NULL;
    struct sim_selector *selector = sim_label_selector_parse(text, &message);
    if (!selector) fail_msg("%s: %s", text, message);
    json_t *map = labels ? js(labels) : NULL;
    bool matched = sim_selector_matches_labels(selector, map);
    json_decref(map);
    sim_selector_free(selector);
    return matched;
}

/* */
static void test_every_operator_selects(void **state)
{
    static const char labels[] = "{'app':'web','tier':'db','n':'5','e':''}";
    static const char *const good[] = {"",
                                       "app",
                                       "!nope",
                                       "app=web",
                                       "app==web",
                                       "app!=x",
                                       "n>4",
                                       "n<6",
                                       "app in (a,web)",
                                       "app notin (a,b)",
                                       "app,tier",
                                       "e=",
                                       "app=web,n>4",
                                       "e in ()",
                                       "e in (a,)",
                                       "nope!=a",
                                       "nope notin (a)"};
    static const char *const bad[] = {"nope",     "!app",  "app=x",  "app!=web",     "n>5",
                                      "n<5",      "app>1", "app<1",  "app in (a,b)", "app notin (web)",
                                      "app,nope", "nope=", "nope>1", "nope in ()",   "app="};
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        if (!selects(good[i], labels)) fail_msg("%s should select", good[i]);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (selects(bad[i], labels)) fail_msg("%s should not select", bad[i]);
}

/* */
static void test_an_object_without_labels_is_as_one_with_none(void **state)
{
    assert_true(selects("a!=b", NULL));
    assert_true(selects("a notin (b)", "{}"));
    assert_true(selects("!a", NULL));
    assert_false(selects("a=b", NULL));
    assert_false(selects("a>1", NULL));
}

/* */
static void test_blanks_separate_and_in_is_a_word_too(void **state)
{
    assert_true(selects(" a\t=\r\nb , c ", "{'a':'b','c':''}"));
    assert_true(selects("in in (in,notin)", "{'in':'notin'}"));
    assert_true(selects("x=in", "{'x':'in'}"));
    assert_true(selects("notin", "{'notin':''}"));
    assert_true(selects("x in (a,,b)", "{'x':''}"));
}

static void test_comparisons_have_64_bits(void **state)
{
    assert_true(selects("a>9223372036854775806", "{'a':'9223372036854775807'}"));
    assert_false(selects("a>1", "{'a':'9223372036854775808'}"));
    assert_false(selects("a>1", "{'a':'5x'}"));
    assert_true(selects("a<1", "{'a':'-9223372036854775808'}"));
}

#define KEY_RULE                                                                                          \
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an " \
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "  \
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
#define VALUE_RULE                                                                                           \
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and "     \
    "must "                                                                                                  \
    "start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used " \
    "for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

static const char *const refused[][2] = {
    {"x==a==b", "found '==', expected: ',' or 'end of string'"},
    {"!x=a", "found '=', expected: ',' or 'end of string'"},
    {"x<a", "unable to parse requirement: values[0]: Invalid value: \"a\": for 'Gt', 'Lt' operators, the "
            "value must be an "
            "integer"},
    {"x,,y", "found ',', expected: identifier after ','"},
    {",x", "found ',', expected: !, identifier, or 'end of string'"},
    {"x,", "found '', expected: identifier after ','"},
    {"x in (a b)", "unable to parse requirement: found 'b', expected: ',' or ')'"},
    {"x in (a", "unable to parse requirement: found '', expected: ',' or ')'"},
    {"x in a", "unable to parse requirement: found 'a' expected: '('"},
    {"x y", "unable to parse requirement: found 'y', expected: in, notin, =, ==, !=, gt, lt"},
    {"x=y z", "found 'z', expected: ',' or 'end of string'"},
    {"x=$$", "unable to parse requirement: values[0][x]: Invalid value: \"$$\": " VALUE_RULE},
    {"-x", "unable to parse requirement: <nil>: Invalid value: \"-x\": " KEY_RULE},
    {"x in (", "unable to parse requirement: found '', expected: ',', ')' or identifier"},
    {"x in (=)", "unable to parse requirement: found '=', expected: ',', ')' or identifier"},
    {"/x", "unable to parse requirement: <nil>: Invalid value: \"/x\": prefix part must be non-empty"},
    {"x=a||y=b", "unable to parse requirement: values[0][x]: Invalid value: \"a||y\": " VALUE_RULE},
    {"=x", "found '=', expected: !, identifier, or 'end of string'"},
    {"!", "unable to parse requirement: found '', expected: identifier"},
    {"x in (a=b)", "unable to parse requirement: found '=', expected: ',' or ')'"},
    {"x!==y", "unable to parse requirement: found '=', expected: identifier"},
    {"x=!y", "unable to parse requirement: found '!', expected: identifier"},
    {"x notin", "unable to parse requirement: found '' expected: '('"},
    {"Über=x", "unable to parse requirement: <nil>: Invalid value: \"Über\": " KEY_RULE},
    {"x in (-b,-a)", "unable to parse requirement: [values[0][x]: Invalid value: \"-a\": " VALUE_RULE
                     ", values[1][x]: Invalid value: \"-b\": " VALUE_RULE "]"},
    {"x)", "unable to parse requirement: found ')', expected: in, notin, =, ==, !=, gt, lt"},
    {"!x in (a)", "found 'in', expected: ',' or 'end of string'"},
    {"x>-5", "unable to parse requirement: values[0][x]: Invalid value: \"-5\": " VALUE_RULE},
    {"x===y", "unable to parse requirement: found '=', expected: identifier"},
    {"!!x", "unable to parse requirement: found '!', expected: identifier"},
    {"x gt 5", "unable to parse requirement: found 'gt', expected: in, notin, =, ==, !=, gt, lt"},
};

/* */
static void test_bad_selectors_get_the_server_s_words(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        char *message = NULL;
        assert_null(sim_label_selector_parse(refused[i][0], &message));
        assert_string_equal(message, refused[i][1]);
        free(message);
    }
}

/* Whatever the text, there is either a selector or a message. */
static void test_random_texts_never_surprise(void **state)
{
    static const char letters[] = "ab=!(),<> in-/.\\";
    const char *given = getenv("SEED");
    unsigned seed = given ? (unsigned)strtoul(given, NULL, 10) : 4711;
    print_message("SEED=%u\n", seed);
    for (int round = 0; round < 20000; round++) {
        char text[16], *message = NULL;
        size_t n = (size_t)rand_r(&seed) % sizeof text;
        for (size_t i = 0; i < n; i++) text[i] = letters[(size_t)rand_r(&seed) % (sizeof letters - 1)];
        text[n ? n - 1 : 0] = '\0';
        struct sim_selector *selector = sim_label_selector_parse(text, &message);
        assert_int_equal(selector == NULL, message != NULL);
        if (selector) sim_selector_matches_labels(selector, NULL);
        sim_selector_free(selector);
        free(message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_operator_selects),
        cmocka_unit_test(test_an_object_without_labels_is_as_one_with_none),
        cmocka_unit_test(test_blanks_separate_and_in_is_a_word_too),
        cmocka_unit_test(test_comparisons_have_64_bits),
        cmocka_unit_test(test_bad_selectors_get_the_server_s_words),
        cmocka_unit_test(test_random_texts_never_surprise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
