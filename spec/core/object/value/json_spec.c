/* core/object/json: packed values as text. */
#include "core/object/support/objects.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void assert_written(void **state, const char *json, const char *expected)
{
    struct fixture *f = *state;
    struct value it;
    struct root *root = pack_it(f->packer, json, &it);
    assert_string_equal(json_of(it), expected);
    root_unref(root);
}

static void test_numbers(void **state)
{
    static const char *const cases[][2] = {
        {"0", "0"},
        {"-0", "0"},
        {"1.0", "1.0"},
        {"-0.0", "-0.0"},
        {"1e0", "1.0"},
        {"100.0", "100.0"},
        {"0.1", "0.1"},
        {"1e300", "1e+300"},
        {"1e15", "1e+15"},
        {"5e-324", "5e-324"},
        {"1.7976931348623157e308", "1.7976931348623157e+308"},
        {"0.30000000000000004", "0.30000000000000004"},
        {"123456789.123", "123456789.123"},
        {"18446744073709551615", "18446744073709551615"},
        {"-9223372036854775808", "-9223372036854775808"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) assert_written(state, cases[i][0], cases[i][1]);
}

static void test_doubles_read_back_the_same(void **state)
{
    struct fixture *f = *state;
    struct random r = random_start("doubles");
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = random_next(&r);
        double d;
        memcpy(&d, &bits, sizeof d);
        if (!isfinite(d)) continue;
        char text[64];
        snprintf(text, sizeof text, "%.17g", d);
        if (!strpbrk(text, ".e")) strcat(text, ".0");
        struct value it;
        struct root *root = pack_it(f->packer, text, &it);
        assert_true(value_double(it) == d);
        const char *out = json_of(it);
        assert_true(strtod(out, NULL) == d);
        root_unref(root);
    }
}

static void test_strings_are_escaped(void **state)
{
    assert_written(state, "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u001f\\u007f é 🚀\"",
                   "\"\\\"\\\\/\\u0008\\u000c\\n\\r\\t\\u001f\x7f é 🚀\"");
    assert_written(state, "{\"a\\\"b\":\"\\ud83d\\ude80\"}", "{\"a\\\"b\":\"🚀\"}");
}

static void test_empty_and_null_are_kept(void **state)
{
    assert_written(state, "{\"a\":{},\"b\":[],\"c\":null,\"d\":\"\",\"e\":[{},[],null]}",
                   "{\"a\":{},\"b\":[],\"c\":null,\"d\":\"\",\"e\":[{},[],null]}");
}

static void test_absent_is_written_as_null(void **state)
{
    assert_string_equal(json_of(value_absent), "null");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_numbers),
        TEST(test_doubles_read_back_the_same),
        TEST(test_strings_are_escaped),
        TEST(test_empty_and_null_are_kept),
        TEST(test_absent_is_written_as_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
