/* core/object/value/condition.c and scalar.c: what compares with what. */
#include "core/object/support/objects.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "object/value/condition.h"

static const char it[] = "{\"text\":\"web\",\"utf\":\"b\\u00fc\\u20acx\",\"cpu\":\"100m\",\"memory\":"
                         "\"64Mi\",\"seven\":\"7\",\"oh7\":\"007\",\"n\":7,"
                         "\"half\":0.5,\"one\":1.0,\"big\":9007199254740993,\"huge\":18446744073709551615,"
                         "\"vast\":1e300,\"yes\":true,\"no\":false,"
                         "\"null\":null,\"map\":{\"a\":1},\"empty\":\"\",\"time\":\"2024-05-06T07:08:09Z\","
                         "\"list\":[\"a\",\"b\",null],\"none\":[],"
                         "\"limits\":[\"100m\",\"2\"]}";

static struct value object;

static bool holds_many(const char *path, const char *op_name, const struct scalar *values, size_t count)
{
    enum condition_op op;
    struct err err;
    assert_true(condition_op_of(str_of(op_name), &op));
    struct condition *c = condition_new(str_of(path), op, values, count, &err);
    if (!c) fail_msg("%s", err.text);
    bool holds = condition_holds(c, object);
    condition_free(c);
    return holds;
}

static bool holds(const char *path, const char *op, struct scalar value)
{
    return holds_many(path, op, &value, 1);
}

static struct scalar text(const char *s)
{
    return scalar_text(str_of(s));
}

static struct scalar amount(const char *s)
{
    struct quantity q;
    struct err err;
    if (!quantity_parse(str_of(s), &q, &err)) fail_msg("%s", err.text);
    return scalar_quantity(&q);
}

static void test_texts_are_equal_by_their_bytes(void **state)
{
    assert_true(holds("text", "=", text("web")));
    assert_true(holds("text", "==", text("web")));
    assert_false(holds("text", "=", text("we")));
    assert_false(holds("text", "~=", text("web")));
    assert_true(holds("text", "!=", text("Web")));
    assert_true(holds("empty", "=", text("")));
    assert_false(holds("oh7", "=", text("7"))); /* names are no amounts */
    assert_false(holds("cpu", "=", text("0.1")));
    assert_false(holds("n", "=", text("7")));
    assert_false(holds("seven", "=", scalar_int(7)));
}

static void test_numbers_are_equal_by_their_value(void **state)
{
    assert_true(holds("n", "=", scalar_int(7)));
    assert_true(holds("n", "=", scalar_double(7)));
    assert_true(holds("one", "=", scalar_int(1)));
    assert_true(holds("half", "=", scalar_double(0.5)));
    assert_true(holds("vast", "=", scalar_double(1e300)));
    assert_true(holds("big", "=", scalar_int(9007199254740993)));
    assert_false(holds("big", "=", scalar_int(9007199254740992)));
    assert_true(holds("huge", "=", scalar_uint(UINT64_MAX)));
    assert_true(holds("yes", "=", scalar_bool(true)));
    assert_false(holds("yes", "=", scalar_bool(false)));
    assert_true(holds("yes", "~=", scalar_int(1)));
}

static void test_given_quantities_are_equal_by_amount(void **state)
{
    assert_true(holds("cpu", "=", amount("0.1")));
    assert_true(holds("memory", "=", amount("65536Ki")));
    assert_true(holds("n", "=", amount("7000m")));
    assert_true(holds("oh7", "=", amount("7")));
    assert_false(holds("text", "=", amount("7")));
    assert_true(holds("text", "~=", amount("7")));
}

static void test_null_and_absent_are_one(void **state)
{
    assert_true(holds("null", "=", scalar_null()));
    assert_true(holds("nowhere.at.all", "=", scalar_null()));
    assert_true(holds("none[*]", "=", scalar_null()));
    assert_false(holds("text", "=", scalar_null()));
    assert_true(holds("text", "~=", scalar_null()));
    assert_true(holds("nowhere", "~=", text("x")));
    assert_false(holds("nowhere", "=", text("")));
    assert_false(holds("nowhere", "<", text("x")));
    assert_false(holds("nowhere", ">=", scalar_int(0)));
    assert_false(holds("nowhere", "matches", text("*")));
}

static void test_amounts_are_in_order_whatever_their_form(void **state)
{
    assert_true(holds("cpu", "<", text("0.2")));
    assert_true(holds("cpu", "<=", text("0.1")));
    assert_true(holds("cpu", ">=", amount("100m")));
    assert_false(holds("cpu", ">", text("100m")));
    assert_true(holds("memory", ">", text("64M")));
    assert_true(holds("memory", ">", scalar_int(1000)));
    assert_true(holds("n", ">", text("6999m")));
    assert_true(holds("big", ">", scalar_int(9007199254740992)));
    assert_true(holds("vast", ">", scalar_uint(UINT64_MAX)));
    assert_true(holds("half", "<", scalar_double(0.75)));
    assert_false(holds("text", "<", text("7"))); /* no amount, so not in order with one */
    assert_false(holds("text", ">", text("7")));
}

static void test_other_texts_are_in_order_byte_by_byte(void **state)
{
    assert_true(holds("time", "<", text("2024-05-06T07:08:10Z")));
    assert_true(holds("time", ">", text("2024-05-06")));
    assert_false(holds("time", ">", text("2025-01-01T00:00:00Z")));
    assert_true(holds("text", "<", text("wec")));
    assert_true(holds("text", "<=", text("web")));
    assert_false(holds("n", "<", text("x")));
    assert_false(holds("map", "<", text("x")));
}

static void test_in_is_equal_to_any(void **state)
{
    struct scalar values[] = {text("db"), text("web"), scalar_int(7), scalar_null()};
    assert_true(holds_many("text", "in", values, 4));
    assert_true(holds_many("n", "in", values, 4));
    assert_true(holds_many("nowhere", "in", values, 4));
    assert_false(holds_many("nowhere", "in", values, 3));
    assert_false(holds_many("text", "in", values, 1));
    assert_false(holds_many("text", "in", values, 0));
}

static void test_patterns_cover_the_complete_text(void **state)
{
    static const char *const good[] = {"web", "w*", "*b", "*", "w?b", "***", "?e?", "w*e*b*"};
    static const char *const bad[] = {"we", "eb", "", "?", "w??b", "*x*", "W*", "w?"};
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        if (!holds("text", "matches", text(good[i]))) fail_msg("%s", good[i]);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (holds("text", "matches", text(bad[i]))) fail_msg("%s", bad[i]);
    assert_true(holds("utf", "matches", text("b??x")));
    assert_true(holds("empty", "matches", text("*")));
    assert_true(holds("cpu", "matches", text("1*m")));
    assert_false(holds("n", "matches", text("*")));
}

static void test_of_many_values_any_will_do(void **state)
{
    assert_true(holds("list[*]", "=", text("b")));
    assert_true(holds("list[*]", "~=", text("a")));
    assert_true(holds("list[*]", "=", scalar_null()));
    assert_false(holds("list[*]", "=", text("c")));
    assert_true(holds("limits[*]", ">", text("1")));
    assert_false(holds("limits[*]", ">", text("2")));
    assert_false(holds("map", "=", text("a")));
    assert_true(holds("map", "~=", text("a")));
    assert_true(holds("map", "~=", scalar_null()));
}

static void assert_refused(const char *path, enum condition_op op, struct scalar value, const char *expected)
{
    struct err err;
    assert_null(condition_new(str_of(path), op, &value, 1, &err));
    assert_string_equal(err.text, expected);
}

static void test_an_unsupported_condition_is_reported(void **state)
{
    char pattern[300];
    memset(pattern, '*', sizeof pattern);
    assert_refused("a", CONDITION_LESS, scalar_null(), "null and booleans cannot be ordered");
    assert_refused("a", CONDITION_GREATER_EQUAL, scalar_bool(true), "null and booleans cannot be ordered");
    assert_refused("a", CONDITION_MATCHES, scalar_int(1), "a pattern must be a string");
    assert_refused("a", CONDITION_MATCHES, scalar_text((struct str){pattern, sizeof pattern}),
                   "pattern of 300 bytes exceeds the maximum of 256");
    assert_refused("a..b", CONDITION_EQUAL, text("x"), "path \"a..b\": empty name at 3");
    enum condition_op op;
    assert_false(condition_op_of(STR("=~"), &op));
    assert_false(condition_op_of(STR(""), &op));
}

static void test_the_order_of_all_values_is_total(void **state)
{
    const struct scalar sorted[] = {
        scalar_double(-1e300),
        scalar_int(-3),
        text("100m"),
        scalar_double(0.5),
        scalar_int(1),
        text("64Mi"),
        scalar_double(1e300),
        text(""),
        text("10.0.0.1"),
        text("a"),
        text("b"),
        scalar_bool(false),
        scalar_bool(true),
        scalar_null(),
    };
    for (size_t i = 0; i < ARRAY_LEN(sorted); i++)
        for (size_t j = 0; j < ARRAY_LEN(sorted); j++) {
            int order = scalar_order(&sorted[i], &sorted[j]);
            if ((order > 0) - (order < 0) != (i > j) - (i < j)) fail_msg("%zu and %zu: %d", i, j, order);
        }
}

static void test_only_one_text_is_an_equality_for_an_index(void **state)
{
    struct err err;
    struct str path;
    const struct scalar *value;
    struct scalar one = text("x"), number = scalar_int(1);
    struct condition *c = condition_new(STR("a.b"), CONDITION_EQUAL, &one, 1, &err);
    assert_true(condition_equality(c, &path, &value));
    assert_true(str_is(path, "a.b"));
    assert_true(str_is(value->text, "x"));
    condition_free(c);
    c = condition_new(STR("a.b"), CONDITION_EQUAL, &number, 1, &err);
    assert_false(condition_equality(c, &path, &value));
    condition_free(c);
    c = condition_new(STR("a.b"), CONDITION_NOT_EQUAL, &one, 1, &err);
    assert_false(condition_equality(c, &path, &value));
    condition_free(c);
}

static struct fixture fixture;
static struct root *root;

static int setup(void **state)
{
    fixture_open(&fixture);
    root = pack_it(fixture.packer, it, &object);
    return 0;
}

static int teardown(void **state)
{
    root_unref(root);
    fixture_close(&fixture);
    return 0;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_texts_are_equal_by_their_bytes),
        TEST(test_numbers_are_equal_by_their_value),
        TEST(test_given_quantities_are_equal_by_amount),
        TEST(test_null_and_absent_are_one),
        TEST(test_amounts_are_in_order_whatever_their_form),
        TEST(test_other_texts_are_in_order_byte_by_byte),
        TEST(test_in_is_equal_to_any),
        TEST(test_patterns_cover_the_complete_text),
        TEST(test_of_many_values_any_will_do),
        TEST(test_an_unsupported_condition_is_reported),
        TEST(test_the_order_of_all_values_is_total),
        TEST(test_only_one_text_is_an_equality_for_an_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
