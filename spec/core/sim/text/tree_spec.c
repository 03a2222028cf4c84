/* core/sim/text/tree.c: values as text. */
#include <string.h>

#include "core/sim/support/kube.h"
#include "sim/text/tree.h"

static void test_values_are_compact_and_in_their_order(void **state)
{
    static const char *const texts[] = {
        "{}",
        "[]",
        "null",
        "[true,false,null,0,-1,9223372036854775807,-9223372036854775808,1.5,-2e100]",
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
        cmocka_unit_test(test_any_text_is_read_again_as_the_same_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
