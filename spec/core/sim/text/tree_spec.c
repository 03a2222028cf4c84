/* core/sim/text/tree.c: values as text. */
#include <string.h>

#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/text/tree.h"

static void test_values_are_compact_and_in_their_order(void **state)
{
    static const char *const texts[] = {
        "{}",
        "[]",
        "null",
        "[true,false,null,0,-1,9223372036854775807,-9223372036854775808,1.5,-2e+100]",
        "{\"b\":{\"a\":[{},[],[[1]],{\"\":\"\"}]},\"a\":1}",
        "\"\\\"\\\\\\n\\r\\t\\u0001/\xc3\xa9\xf0\x9f\x9a\x80\"",
        "{\"\\\"key\\n\":\"{\",\"{\":2}",
        "\"a\\u0000b\"",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct buf text = {0};
        json_t *value = json_loads(texts[i], JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        buf_puts(&text, "before");
        sim_put_json(&text, value);
        assert_string_equal(buf_text(&text) + strlen("before"), texts[i]);
        json_decref(value);
        buf_clear(&text);
    }
}

/* Each as Go's encoding/json writes the float64. */
static void test_numbers_are_written_as_go_writes_them(void **state)
{
    static const char *const pairs[][2] = {
        {"0.1", "0.1"},
        {"3.0", "3"},
        {"-3.0", "-3"},
        {"1e3", "1000"},
        {"-0.0", "-0"},
        {"0.30000000000000004", "0.30000000000000004"},
        {"0.000001", "0.000001"},
        {"0.0000012", "0.0000012"},
        {"1e-7", "1e-7"},
        {"-1.25e-10", "-1.25e-10"},
        {"123456789012345678901", "123456789012345680000"},
        {"12345678901234567890", "12345678901234567000"},
        {"1e20", "100000000000000000000"},
        {"1e21", "1e+21"},
        {"1.7976931348623157e308", "1.7976931348623157e+308"},
        {"5e-324", "5e-324"},
    };
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        struct buf text = {0};
        json_error_t error;
        json_t *value = sim_parse(str_of(pairs[i][0]), JSON_DECODE_ANY, &error);
        sim_put_json(&text, value);
        assert_string_equal(buf_text(&text), pairs[i][1]);
        json_decref(value);
        buf_clear(&text);
    }
    const char *stored = "{\"a\":12345678901234567000,\"b\":9223372036854775807}";
    json_t *value = sim_read_stored(str_of(stored), NULL, json_object());
    assert_float_equal(json_real_value(json_object_get(value, "a")), 12345678901234567000.0, 0);
    assert_true(json_integer_value(json_object_get(value, "b")) == INT64_MAX);
    json_decref(value);
}

static void test_any_text_is_read_again_as_the_same_value(void **state)
{
    struct buf text = {0};
    json_t *value = json_pack("{s[s]sfsi}", "a", "\b\f\x7f", "b", 1e-300, "c", -5);
    sim_put_json(&text, value);
    json_t *again = json_loadb(text.data, text.len, 0, NULL);
    assert_true(json_equal(value, again));
    json_decref(again);
    json_decref(value);
    buf_clear(&text);
}

static void test_bytes_that_are_no_utf8_are_replaced_but_in_yaml(void **state)
{
    static const char text[] =
        "{\"a\xff\":\"\xc3\xed\xa0\x80\xc3\xa4\",\"b\":1e30,\"c\":18446744073709551616}";
    json_error_t error;
    json_t *value = sim_parse(str_of(text), 0, &error);
    assert_string_equal(sim_text_at(value, "a\xef\xbf\xbd"),
                        "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xc3\xa4");
    assert_true(json_is_real(json_object_get(value, "c")));
    json_decref(value);
    assert_null(sim_parse(str_of(text), JSON_DISABLE_EOF_CHECK, &error));
    assert_null(sim_parse(STR("[\xff]"), 0, &error));
    assert_null(sim_parse(STR("\xff"), JSON_DECODE_ANY, &error));
}

static void test_half_a_pair_is_replaced(void **state)
{
    static const char *const cases[][2] = {
        {"\\ud800x", "\xef\xbf\xbdx"},
        {"\\uDC00\\ud83D\\ude00\\ud83d", "\xef\xbf\xbd\xf0\x9f\x98\x80\xef\xbf\xbd"},
        {"\\ud83d\\ud83d\\ude00", "\xef\xbf\xbd\xf0\x9f\x98\x80"},
        {"\\\\ud800\\udfff", "\\ud800\xef\xbf\xbd"},
        {"\xff\\udbff\\u0041", "\xef\xbf\xbd\xef\xbf\xbd"
                               "A"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf text = {0};
        json_error_t error;
        buf_printf(&text, "{\"n\":18446744073709551616,\"a\":\"%s\",\"o\":-9223372036854775809}",
                   cases[i][0]);
        json_t *value = sim_parse(buf_slice(&text), 0, &error);
        if (!value) fail_msg("%s: %s", cases[i][0], error.text);
        assert_string_equal(sim_text_at(value, "a"), cases[i][1]);
        assert_true(json_is_real(json_object_get(value, "n")) && json_is_real(json_object_get(value, "o")));
        json_decref(value);
        buf_clear(&text);
    }
    json_error_t error;
    assert_null(sim_parse(STR("{\"a\":\"\\ud800\""), 0, &error));
    assert_null(sim_parse(STR("[\"\\ud8"), 0, &error));
    assert_null(sim_parse(STR("[\"\\ud8zz\"]"), 0, &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_that_are_no_utf8_are_replaced_but_in_yaml),
        cmocka_unit_test(test_half_a_pair_is_replaced),
        cmocka_unit_test(test_values_are_compact_and_in_their_order),
        cmocka_unit_test(test_numbers_are_written_as_go_writes_them),
        cmocka_unit_test(test_any_text_is_read_again_as_the_same_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
