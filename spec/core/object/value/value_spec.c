/* core/object/value: cursors into objects. */
#include "core/object/support/objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/value/dict.h"

static struct root *root;
static struct value it;

static void use(void **state, const char *json)
{
    struct fixture *f = *state;
    root = pack_it(f->packer, json, &it);
}

static void done(void)
{
    root_unref(root);
}

static void test_types(void **state)
{
    static const struct {
        const char *key;
        enum value_type type;
    } cases[] = {
        {"null", VALUE_NULL},        {"yes", VALUE_BOOL},       {"no", VALUE_BOOL},
        {"small", VALUE_INT},        {"large", VALUE_INT},      {"huge", VALUE_UINT},
        {"double", VALUE_DOUBLE},    {"s0", VALUE_STRING},      {"s3", VALUE_STRING},
        {"s4", VALUE_STRING},        {"word", VALUE_STRING},    {"time", VALUE_STRING},
        {"map", VALUE_MAP},          {"emptyMap", VALUE_MAP},   {"array", VALUE_ARRAY},
        {"emptyArray", VALUE_ARRAY}, {"missing", VALUE_ABSENT},
    };
    use(state, "{\"null\":null,\"yes\":true,\"no\":false,\"small\":1,\"large\":9007199254740993,\"huge\":"
               "18446744073709551615,"
               "\"double\":1.5,\"s0\":\"\",\"s3\":\"abc\",\"s4\":\"abcd\",\"word\":\"Running\",\"time\":"
               "\"2026-11-01T00:00:00Z\","
               "\"map\":{\"a\":1},\"emptyMap\":{},\"array\":[1],\"emptyArray\":[]}");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct value v = value_field(it, str_of(cases[i].key));
        if (value_type(v) != cases[i].type)
            fail_msg("%s is of type %d, not %d", cases[i].key, value_type(v), cases[i].type);
    }
    done();
}

static void test_a_zeroed_value_is_absent(void **state)
{
    struct value zero = {0};
    struct text text;
    assert_int_equal(value_type(zero), VALUE_ABSENT);
    assert_int_equal(value_type(value_absent), VALUE_ABSENT);
    assert_int_equal(value_count(zero), 0);
    assert_null(value_str(zero, &text).p);
    assert_int_equal(value_type(value_field(zero, STR("a"))), VALUE_ABSENT);
    assert_int_equal(value_type(value_item(zero, 0)), VALUE_ABSENT);
    assert_false(value_bool(zero));
    assert_int_equal(value_int(zero), 0);
}

static void test_integers_of_every_size(void **state)
{
    use(state, "[0,-1,268435455,268435456,-268435456,-268435457,9223372036854775807,-9223372036854775808,"
               "9223372036854775808,18446744073709551615]");
    static const int64_t ints[] = {0, -1, 268435455, 268435456, -268435456, -268435457, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < ARRAY_LEN(ints); i++) {
        assert_int_equal(value_type(value_item(it, i)), VALUE_INT);
        assert_true(value_int(value_item(it, i)) == ints[i]);
        assert_true(value_double(value_item(it, i)) == (double)ints[i]);
    }
    assert_true(value_uint(value_item(it, 8)) == 9223372036854775808u);
    assert_true(value_uint(value_item(it, 9)) == UINT64_MAX);
    assert_true(value_double(value_item(it, 9)) == 18446744073709551616.0);
    done();
}

static void test_short_strings(void **state)
{
    use(state, "[\"\",\"a\",\"ab\",\"abc\",\"\\u0000\",\"é\",\"日\",\"abcd\"]");
    static const struct str texts[] = {{"", 0},   {"a", 1}, {"ab", 2}, {"abc", 3},
                                       {"\0", 1}, {"é", 2}, {"日", 3}, {"abcd", 4}};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct text text;
        struct str s = value_str(value_item(it, i), &text);
        assert_non_null(s.p);
        assert_true(str_eq(s, texts[i]));
        assert_true(value_str_is(value_item(it, i), texts[i]));
        assert_false(value_str_is(value_item(it, i), STR("abx")));
        assert_false(value_str_is(value_item(it, i), STR("abcx")));
    }
    done();
}

static void test_entries_keep_their_order(void **state)
{
    use(state, "{\"z\":1,\"a\":2,\"m\":{\"k:{}\":3,\"b\":4,\"aa\":5}}");
    static const char *const outer[] = {"z", "a", "m"}, *const inner[] = {"k:{}", "b", "aa"};
    struct value m = value_absent;
    for (size_t i = 0; i < 3; i++) {
        struct str key;
        struct text text;
        m = value_entry(it, i, &key, &text);
        assert_true(str_is(key, outer[i]));
    }
    for (size_t i = 0; i < 3; i++) {
        struct str key;
        struct text text;
        assert_int_equal(value_int(value_entry(m, i, &key, &text)), (int)i + 3);
        assert_true(str_is(key, inner[i]));
    }
    struct str key;
    struct text text;
    assert_int_equal(value_type(value_entry(m, 3, &key, &text)), VALUE_ABSENT);
    assert_null(key.p);
    assert_int_equal(value_type(value_entry(value_item(m, 0), 0, &key, &text)), VALUE_ABSENT);
    done();
}

static void test_fields_of_both_kinds_of_maps(void **state)
{
    use(state, "{\"shaped\":{\"name\":1,\"value\":2},\"own\":{\"k:{\\\"a\\\":1}\":3,\"name\":4,\"v:1\":5}}");
    struct value shaped = value_field(it, STR("shaped")), own = value_field(it, STR("own"));
    assert_int_equal(value_int(value_field(shaped, STR("value"))), 2);
    assert_int_equal(value_int(value_field(own, STR("name"))), 4);
    assert_int_equal(value_int(value_field(own, STR("v:1"))), 5);
    assert_int_equal(value_int(value_field(own, STR("k:{\"a\":1}"))), 3);
    assert_int_equal(value_type(value_field(own, STR("v:2"))), VALUE_ABSENT);
    assert_int_equal(value_type(value_field(shaped, STR("never seen"))), VALUE_ABSENT);
    assert_int_equal(value_int(value_field_id(shaped, dict_find(STR("name")), STR(""))), 1);
    assert_int_equal(value_int(value_field_id(own, dict_find(STR("name")), STR(""))), 4);
    assert_int_equal(value_int(value_field_id(own, DICT_NONE, STR("v:1"))), 5);
    assert_int_equal(value_type(value_field_id(shaped, DICT_NONE, STR("v:1"))), VALUE_ABSENT);
    assert_int_equal(dict_find(STR("v:1")), DICT_NONE);
    done();
}

static void test_a_value_without_parts_has_no_content(void **state)
{
    use(state, "[1,\"text that is long\",{},[],null,18446744073709551615,{\"a\":1}]");
    for (size_t i = 0; i < 6; i++) {
        struct value v = value_item(it, i);
        assert_int_equal(value_count(v), 0);
        assert_int_equal(value_type(value_field(v, STR("a"))), VALUE_ABSENT);
        assert_int_equal(value_type(value_item(v, 0)), VALUE_ABSENT);
    }
    assert_int_equal(value_type(value_item(it, 7)), VALUE_ABSENT);
    assert_int_equal(value_type(value_item(value_item(it, 6), 0)), VALUE_ABSENT);
    struct text text;
    assert_null(value_str(value_item(it, 6), &text).p);
    assert_int_equal(value_int(value_item(it, 1)), 0);
    done();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_types),
        TEST(test_a_zeroed_value_is_absent),
        TEST(test_integers_of_every_size),
        TEST(test_short_strings),
        TEST(test_entries_keep_their_order),
        TEST(test_fields_of_both_kinds_of_maps),
        TEST(test_a_value_without_parts_has_no_content),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
