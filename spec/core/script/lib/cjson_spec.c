/* core/script/cjson: lua-cjson behind bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/script/support/fixture.h"

struct row {
    const char *lua, *expected;
};

static void test_it_is_the_library(void **state)
{
    static const struct row list[] = {
        {"return cjson.encode({1, 'a', true, cjson.null, {}})", "[1,\"a\",true,null,{}]"},
        {"return cjson.encode({[1] = 1, [4] = 4})", "[1,null,null,4]"},
        {"return cjson.decode('{\"a\":[1,2.5,null]}').a[2]", "2.5"},
        {"return cjson.decode('null') == cjson.null", "true"},
        {"local c = cjson.new() c.encode_number_precision(3) return c.encode(1/3) .. cjson.encode(1/3)",
         "0.3330.33333333333333"},
        {"cjson.encode_sparse_array(true) return cjson.encode({[1000] = 1})", "{\"1000\":1}"},
        {"return cjson.encode_max_depth() + cjson.decode_max_depth(5) + cjson.encode_number_precision()",
         "1019"},
        {"return cjson._NAME .. tostring(cjson.encode_keep_buffer(false))", "cjsontrue"},
        {"local n = 0 for _ in pairs(cjson) do n = n + 1 end return n", "13"},
        {"return #cjson.encode(('x'):rep(3e6)) + #cjson.encode(('x'):rep(10))", "3000014"},
        {"local t = {} for i = 1, 1e5 do t[i] = i end return #cjson.decode(cjson.encode(t))", "100000"},
        {"cjson.encode = nil return require('cjson').encode", "nil"},
    };
    struct fixture *f = *state;
    assert_lua(f, "cjson = require 'cjson'", "nil");
    for (size_t i = 0; i < ARRAY_LEN(list); i++) {
        const char *text = fixture_run(f, list[i].lua);
        if (strcmp(text, list[i].expected) != 0)
            fail_msg("%s\n  gave: %s\n  wanted: %s", list[i].lua, text, list[i].expected);
    }
}

static void test_what_it_makes_and_takes_is_bounded(void **state)
{
    static const struct row list[] = {
        {"local x = c.encode(('x'):rep(2^22 + 1))",
         "snippet.lua:1: cjson.encode: string exceeds 4 MiB; k8s.json accepts more"},
        {"local x = c.encode(('\\1'):rep(2^20))", "cjson.encode: string exceeds 4 MiB"},
        {"local s = ('x'):rep(2^21) local x = c.encode({s, s, s})", "cjson.encode: string exceeds 4 MiB"},
        {"local s = ('x'):rep(2^21) local x = c.encode({[s] = {[s] = 1}})",
         "cjson.encode: string exceeds 4 MiB"},
        {"local t = {} for i = 1, 60 do t = {t, t} end local x = c.encode(t)",
         "cjson.encode: string exceeds 4 MiB"},
        {"local t = {} t[1] = t local x = c.encode(t)",
         "snippet.lua:1: cjson.encode: nested deeper than 1000 levels"},
        {"local x = c.decode(('x'):rep(2^22 + 1))",
         "snippet.lua:1: cjson.decode: string exceeds 4 MiB; k8s.json accepts more"},
        {"local x = c.decode(('['):rep(2^20))", "cjson.decode: Found too many nested data structures"},
        {"c.encode_sparse_array(false, 0)",
         "snippet.lua:1: cjson.encode_sparse_array: ratio must be between 1 and 100, not 0"},
        {"c.encode_sparse_array(false, 2, 2^31)",
         "cjson.encode_sparse_array: safe must be between 0 and 10000"},
        {"c.encode_max_depth(1e9)", "cjson.encode_max_depth: depth must be between 1 and 1000"},
        {"c.decode_max_depth(1e9)", "cjson.decode_max_depth: depth must be between 1 and 1000"},
        {"c.decode_max_depth(0/0)", "cjson.decode_max_depth: depth must be between 1 and 1000"},
        {"local n = c.new() n.encode_max_depth(1e9)", "cjson.encode_max_depth: depth must be"},
        {"local x = c.encode(print)",
         "snippet.lua:1: cjson.encode: Cannot serialise function: type not supported"},
        {"local x = c.encode({[2^30] = 1})",
         "cjson.encode: Cannot serialise table: excessively sparse array"},
        {"c.encode_sparse_array(false, 100, 10000) local t = {} for i = 1, 9000 do t[i] = {[10000] = 1} end "
         "local x = "
         "c.encode(t)",
         "cjson.encode: string exceeds 4 MiB"},
        {"local x = c.decode('{')",
         "snippet.lua:1: cjson.decode: Expected object key string but found T_END"},
        {"local x = c.encode()", "bad argument #1 to 'encode' (expected 1 argument)"},
        {"local x = c.decode({})", "bad argument #1 to 'decode' (string expected, got table)"},
    };
    struct fixture *f = *state;
    assert_lua(f, "c = require 'cjson'", "nil");
    f->script->limits.values[LIMIT_VALUE_SIZE] = 1000;
    assert_raises(f, "local x = c.encode({'xxxx', ('y'):rep(999)})",
                  "cjson.encode: over the limit value-size (1000)");
    assert_raises(f, "local x = c.decode(('y'):rep(999) .. 'xx')",
                  "cjson.decode: over the limit value-size (1000)");
    f->script->limits.values[LIMIT_VALUE_SIZE] = 16 << 20;
    for (size_t i = 0; i < ARRAY_LEN(list); i++) {
        assert_raises(f, list[i].lua, list[i].expected);
        assert_lua(f, "return c.encode({1})", "[1]");
    }
}

/* A script may make any number of instances, and its memory does not count what each keeps. */
static void test_one_instance_keeps_its_buffer(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "return tostring(require('cjson').encode_keep_buffer(false))", "true");
    assert_lua(f, "n = require('cjson').new() return tostring(n.encode_keep_buffer(true))", "false");
    assert_lua(f, "return n.encode({('x'):rep(10)}) .. n.new().encode({1})", "[\"xxxxxxxxxx\"][1]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        T(test_it_is_the_library),
        T(test_what_it_makes_and_takes_is_bounded),
        T(test_one_instance_keeps_its_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
