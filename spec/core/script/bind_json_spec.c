/* core/script/bind_json.c, json_encode.c: k8s.json. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/script/support/fixture.h"

static int setup(void **state)
{
    fixture_setup(state);
    fixture_global(*state, "obj",
                   "{\"apiVersion\":\"v1\",\"kind\":\"K\",\"metadata\":{\"name\":\"n\"},\"a\":{\"z\":1.0,"
                   "\"b\":[],\"c\":null}}");
    assert_string_equal(fixture_run(*state, "k8s = require 'k8s' json = k8s.json"), "nil");
    return 0;
}

static void test_tables_become_text_with_sorted_keys(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "return json.encode { b = 1, a = { true, false, 'x' }, c = { d = {} } }",
               "{\"a\":[true,false,\"x\"],\"b\":1,\"c\":{\"d\":{}}}");
    assert_lua(f, "return json.encode(json.array {})", "[]");
    assert_lua(f, "return json.encode(json.array())", "[]");
    assert_lua(f, "return json.encode {}", "{}");
    assert_lua(f, "return json.encode { a = k8s.null }", "{\"a\":null}");
    assert_lua(f, "return json.encode(nil)", "null");
    assert_lua(f, "return json.encode 'a\"\\n\\0é'", "\"a\\\"\\n\\u0000é\"");
}

static void test_numbers_are_written_exactly_and_shortly(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "return json.encode { 1, 1.0, -3, 0.1, 1e100, 2^53, 1/3 }",
               "[1,1,-3,0.1,1e+100,9007199254740992,0.3333333333333333]");
    assert_lua(f, "return json.encode(k8s.int64 '9223372036854775807')", "9223372036854775807");
    assert_lua(f, "return json.encode { q = k8s.quantity '100m' }", "{\"q\":\"100m\"}");
    assert_raises(f, "json.encode(0/0)", "snippet.lua:1: k8s.json.encode: nan is no JSON number");
    assert_raises(f, "json.encode(1/0)", "inf is no JSON number");
}

static void test_views_are_written_as_they_are(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "return json.encode(obj.a)", "{\"z\":1.0,\"b\":[],\"c\":null}");
    assert_lua(f, "return json.encode { x = obj.a.b, y = 1 }", "{\"x\":[],\"y\":1}");
    assert_lua(f, "return json.encode(obj:copy().a)", "{\"b\":[],\"c\":null,\"z\":1}");
}

static void test_what_has_no_form_in_json_raises(void **state)
{
    struct fixture *f = *state;
    assert_raises(f, "json.encode(print)", "snippet.lua:1: k8s.json.encode: cannot encode a function");
    assert_raises(f, "json.encode { [1.5] = 1 }", "keys must be strings, one is a number");
    assert_raises(f, "json.encode { a = 1, [2] = 1 }", "keys must be strings");
    assert_raises(f, "json.array(1)", "k8s.json.array: the value must be a table, not number");
}

static void test_text_becomes_what_copy_gives(void **state)
{
    struct fixture *f = *state;
    assert_lua(f,
               "local t = json.decode '{\"a\":[1,{\"b\":null}],\"c\":true}' return t.a[1] .. "
               "tostring(t.a[2].b) .. tostring(t.c)",
               "1nulltrue");
    assert_lua(f,
               "return json.encode(json.decode "
               "'{\"a\":[],\"b\":{},\"c\":9007199254740993,\"d\":18446744073709551615,\"e\":1.5,\"f\":-"
               "9223372036854775808}')",
               "{\"a\":[],\"b\":{},\"c\":9007199254740993,\"d\":18446744073709551615,\"e\":1.5,\"f\":-"
               "9223372036854775808}");
    assert_lua(f, "return json.decode '\"x\"' .. json.decode '7' .. tostring(json.decode 'null')", "x7null");
}

static void test_text_that_is_no_json_is_an_error_value(void **state)
{
    struct fixture *f = *state;
    assert_lua(f,
               "local v, err = json.decode '{\"a\":' return tostring(v) .. err.reason .. "
               "tostring(#tostring(err) > 5)",
               "nilInvalidtrue");
    assert_lua(f, "return (json.decode '')", "nil");
    assert_raises(f, "json.decode(1)", "text must be a string, not number");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)
        T(test_tables_become_text_with_sorted_keys), T(test_numbers_are_written_exactly_and_shortly),
        T(test_views_are_written_as_they_are),       T(test_what_has_no_form_in_json_raises),
        T(test_text_becomes_what_copy_gives),        T(test_text_that_is_no_json_is_an_error_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
