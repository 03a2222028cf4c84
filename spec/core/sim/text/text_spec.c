/* The scanner over JSON text. */
#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/text/text.h"

static void expect_member(const char *text, const char *key, const char *expected)
{
    struct str value = {0};
    bool found = sim_text_member(str_of(text), key, &value);
    if (!found || !str_is(value, expected)) print_error("%s of %s: %.*s\n", key, text, STR_ARG(value));
    assert_true(found);
    assert_true(str_is(value, expected));
}

static void test_members_are_found_behind_all_kinds_of_values(void **state)
{
    const char *text = "{\"a\":1,\"b\":\"x,}\",\"c\":{\"a\":2,\"z\":[1,{\"d\":3}]},\"d\":[\"]\"],\"e\":null,"
                       "\"f\":-1.5e3,\"\":true}";
    expect_member(text, "a", "1");
    expect_member(text, "b", "\"x,}\"");
    expect_member(text, "c", "{\"a\":2,\"z\":[1,{\"d\":3}]}");
    expect_member(text, "d", "[\"]\"]");
    expect_member(text, "e", "null");
    expect_member(text, "f", "-1.5e3");
    expect_member(text, "", "true");
}

static void test_quotes_inside_strings_do_not_end_them(void **state)
{
    const char *text =
        "{\"a\":\"\\\"\",\"b\":\"\\\\\",\"c\":\"\\\\\\\"}\",\"d\":{\"\\\"k\":\"\\\\\"},\"e\":5}";
    expect_member(text, "a", "\"\\\"\"");
    expect_member(text, "b", "\"\\\\\"");
    expect_member(text, "c", "\"\\\\\\\"}\"");
    expect_member(text, "e", "5");
}

static void test_what_is_not_there_is_not_found(void **state)
{
    static const char *const texts[] = {"{}", "{\"b\":{\"a\":1}}", "[\"a\",1]", "\"a\"", "5", "", "{"};
    struct str value = STR("before");
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_false(sim_text_member(str_of(texts[i]), "a", &value));
    assert_true(str_is(value, "before"));
}

static void test_elements_of_arrays_have_no_keys(void **state)
{
    static const char *const expected[] = {"\"a\"", "{\"b\":1}", "[]", "3"};
    struct sim_members members;
    struct str key, value;
    assert_true(sim_members_open(STR("[\"a\",{\"b\":1},[],3]"), &members));
    for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
        assert_true(sim_members_next(&members, &key, &value));
        assert_int_equal(key.n, 0);
        assert_true(str_is(value, expected[i]));
    }
    assert_false(sim_members_next(&members, &key, &value));
}

static void test_text_that_breaks_off_is_never_read_beyond_its_end(void **state)
{
    const char whole[] = "{\"a\":{\"b\":\"c\\\"\",\"d\":[1,2,{\"e\":null}]},\"f\":\"g\"}";
    for (size_t n = 0; n < sizeof whole; n++) {
        char *cut = xmalloc(n + 1); /* so that a sanitizer sees the end */
        memcpy(cut, whole, n);
        struct str value;
        sim_text_member((struct str){cut, n}, "nothing", &value);
        free(cut);
    }
}

static void test_only_strings_have_an_inside(void **state)
{
    assert_true(str_is(sim_text_unquote(STR("\"abc\"")), "abc"));
    assert_true(str_is(sim_text_unquote(STR("\"\"")), ""));
    assert_true(str_is(sim_text_unquote(STR("12")), ""));
    assert_true(str_is(sim_text_unquote(STR("null")), ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members_are_found_behind_all_kinds_of_values),
        cmocka_unit_test(test_quotes_inside_strings_do_not_end_them),
        cmocka_unit_test(test_what_is_not_there_is_not_found),
        cmocka_unit_test(test_elements_of_arrays_have_no_keys),
        cmocka_unit_test(test_text_that_breaks_off_is_never_read_beyond_its_end),
        cmocka_unit_test(test_only_strings_have_an_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
