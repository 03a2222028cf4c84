/* core/script/view/bind_int64.c, bind_quantity.c: numbers that Lua's are too small for. */
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
                   "{\"apiVersion\":\"v1\",\"kind\":\"K\",\"metadata\":{\"name\":\"n\"},\"a\":"
                   "9007199254740992,\"b\":9007199254740993,"
                   "\"c\":-9007199254740993,\"d\":18446744073709551615,\"cpu\":\"1500m\"}");
    assert_string_equal(fixture_run(*state, "k8s = require 'k8s' q = k8s.quantity"), "nil");
    return 0;
}

static void test_integers_beyond_two_to_the_53_are_exact(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "return type(obj.a) .. type(obj.b)", "numberuserdata");
    assert_lua(f, "return tostring(obj.b) .. tostring(obj.c) .. tostring(obj.d)",
               "9007199254740993-900719925474099318446744073709551615");
    assert_lua(f, "return obj.b == k8s.int64 '9007199254740993'", "true");
    assert_lua(f, "return tostring(obj.c < obj.b) .. tostring(obj.b < obj.d) .. tostring(obj.d <= obj.b)",
               "truetruefalse");
    assert_lua(f, "return tostring(k8s.int64(-5)) .. tostring(k8s.int64(k8s.int64(7)))", "-57");
}

static void test_int64_is_made_of_integers_and_text_only(void **state)
{
    struct fixture *f = *state;
    assert_raises(f, "k8s.int64 'x'", "snippet.lua:1: k8s.int64: \"x\" is not a 64-bit integer");
    assert_raises(f, "k8s.int64 '18446744073709551616'", "\" is not a 64-bit integer");
    assert_raises(f, "k8s.int64 '-9223372036854775809'", "\" is not a 64-bit integer");
    assert_raises(f, "k8s.int64(1.5)", "number must be an integer within 2^53");
    assert_raises(f, "k8s.int64(2^60)",
                  "k8s.int64: number must be an integer within 2^53; pass larger ones as a string");
    assert_raises(f, "k8s.int64()", "must be a string, not nil");
    assert_raises(f, "return obj.b < 5", "attempt to compare");
}

static void test_quantities_are_added_and_compared_exactly(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "return tostring(q(obj.cpu) + q '500m')", "2");
    assert_lua(f, "return tostring(q '1Gi' - '512Mi')", "512Mi");
    assert_lua(f, "return tostring(q '100m' * 3) .. ' ' .. tostring(3 * q '100m')", "300m 300m");
    assert_lua(
        f, "return tostring(q '1000m' == q '1') .. tostring(q '1' < q '1100m') .. tostring(q '2' <= q '1')",
        "truetruefalse");
    assert_lua(f, "return q('1500m'):number()", "1.5");
    assert_lua(f, "return tostring(q(2) + 0.5)", "2500m");
}

static void test_text_that_is_no_quantity_is_an_error_value(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "local v, err = q 'much' return tostring(v) .. err.reason", "nilInvalid");
    assert_raises(f, "q()", "snippet.lua:1: quantity: expected a quantity, text or a number, not nil");
    assert_raises(f, "return q '1' + {}", "not table");
    assert_raises(f, "return q '1' * 1e300", "by a whole number only");
    assert_raises(f, "return q '1' * 1.5", "by a whole number only");
    assert_raises(f, "q('1').number()", "called on nil, not on a quantity");
    assert_raises(f, "return q('1') < '2'", "attempt to compare"); /* Lua asks no method for two types */
    assert_string_equal(fixture_run(f, "return q('1') == '1'"), "false");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)
        T(test_integers_beyond_two_to_the_53_are_exact),
        T(test_int64_is_made_of_integers_and_text_only),
        T(test_quantities_are_added_and_compared_exactly),
        T(test_text_that_is_no_quantity_is_an_error_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
