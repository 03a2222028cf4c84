/* core/script/params/param_value.c: values of parameters by the types of their defaults. */
#include "script/params/param_value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"

static struct buf out;

static const char *read_as(const char *given, bool is_json, const char *fallback)
{
    struct err err;
    out.len = 0;
    const struct param_given one = {.value = given, .is_json = is_json, .source = "--param a"};
    if (!param_value_read(&one, false, str_of(fallback), &out, &err)) {
        out.len = 0;
        buf_puts(&out, err.text + strlen("--param a: "));
    }
    return buf_text(&out);
}

static void test_what_is_written_is_read_as_the_default_is(void **state)
{
    static const struct {
        const char *given, *fallback, *result;
    } cases[] = {
        {"10", "5", "10"},
        {" -1.5e3 ", "5", "-1.5e3"},
        {"18446744073709551615", "5", "18446744073709551615"},
        {"x", "5", "\"x\" is not a number"},
        {"", "5", "\"\" is not a number"},
        {"0x10", "5", "\"0x10\" is not a number"},
        {"true", "5", "\"true\" is not a number"},
        {"\"5\"", "5", "\"\"5\"\" is not a number"},
        {"5,6", "5", "\"5,6\" is not a number"},
        {"1e999", "5", "\"1e999\" is not a number"},
        {"true", "false", "true"},
        {"false", "true", "false"},
        {"yes", "false", "\"yes\" must be true or false"},
        {"10", "\"a\"", "\"10\""},
        {"", "\"a\"", "\"\""},
        {" a\"b ", "\"a\"", "\" a\\\"b \""},
        {"a, b", "[\"x\"]", "[\"a\",\"b\"]"},
        {"a", "[]", "[\"a\"]"},
        {"", "[\"x\"]", "[]"},
        {"[\"a,b\"]", "[\"x\"]", "[\"a,b\"]"},
        {"1,2", "[3]", "[1,2]"},
        {"1,b", "[3]", "\"1,b\" is not a list of numbers"},
        {"true,false", "[true]", "[true,false]"},
        {"1", "[true]", "\"1\" is not a list of booleans"},
        {"[1]", "[\"x\"]", "\"[1]\" is not a list of strings"},
        {"[[1]]", "[1]", "\"[[1]]\" is not a list of numbers"},
        {"[1", "[1]", "\"[1\" is not a list of numbers"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(read_as(cases[i].given, false, cases[i].fallback), cases[i].result);
}

static void test_json_is_of_the_very_type(void **state)
{
    static const struct {
        const char *given, *fallback, *result;
    } cases[] = {
        {"10", "5", "10"},
        {"\"10\"", "5", "\"10\" is not a number"},
        {"null", "5", "null is not a number"},
        {"10", "\"a\"", "10 is not a string"},
        {"{\"a\":1}", "\"a\"", "{\"a\":1} is not a string"},
        {"[]", "[1]", "[]"},
        {"[\"a\",\"b\"]", "[]", "[\"a\",\"b\"]"},
        {"[\"a\",1]", "[]", "[\"a\",1] is not a list of strings"},
        {"\"a\"", "[]", "\"a\" is not a list of strings"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(read_as(cases[i].given, true, cases[i].fallback), cases[i].result);
}

static void test_long_values_are_cut(void **state)
{
    char given[200];
    memset(given, 'x', sizeof given);
    given[sizeof given - 1] = '\0';
    assert_int_equal(strlen(read_as(given, false, "5")), 80 + strlen("\"\" is not a number"));
    buf_clear(&out);
}

static void test_types_have_names(void **state)
{
    static const char *const cases[][2] = {
        {"true", "true or false"},      {"5", "a number"},
        {"-1.5", "a number"},           {"\"5\"", "a string"},
        {"[]", "a list of strings"},    {"[\"a\"]", "a list of strings"},
        {"[1,2]", "a list of numbers"}, {"[false]", "a list of booleans"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(param_value_type(str_of(cases[i][0])), cases[i][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_written_is_read_as_the_default_is),
        cmocka_unit_test(test_json_is_of_the_very_type),
        cmocka_unit_test(test_long_values_are_cut),
        cmocka_unit_test(test_types_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
