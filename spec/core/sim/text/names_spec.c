/* Syntax of names, label keys and values. */
#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/text/names.h"

static bool passes(bool (*check)(struct str, struct buf *), const char *text)
{
    struct buf problems = {0};
    bool good = check(str_of(text), &problems);
    assert_int_equal(good, problems.len == 0);
    buf_clear(&problems);
    return good;
}

#define A50 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void test_subdomains_are_labels_joined_by_dots(void **state)
{
    static const char *const good[] = {"a", "a-b.c-d", "0", "a.0",
                                       A50 A50 ".a" /* a label may be long here */};
    static const char *const bad[] = {
        "", "A", "a_b", ".a", "a.", "a..b", "-a", "a-", "a.-b", "ü", A50 A50 A50 A50 A50 "aaaa"};
    for (size_t i = 0; i < ARRAY_LEN(good); i++) assert_true(passes(sim_check_subdomain, good[i]));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) assert_false(passes(sim_check_subdomain, bad[i]));
}

static void test_labels_have_no_dots_and_63_characters_at_most(void **state)
{
    assert_true(passes(sim_check_label, A50 "aaaaaaaaaaaaa"));
    assert_false(passes(sim_check_label, A50 "aaaaaaaaaaaaaa"));
    assert_false(passes(sim_check_label, "a.b"));
    struct buf problems = {0};
    sim_check_label(STR("a.b"), &problems);
    assert_string_equal(buf_text(&problems), "must not contain dots");
    buf_clear(&problems);
}

static void test_a_segment_of_a_path_has_no_slash(void **state)
{
    static const char *const good[] = {"system:node", "A", "...", "a b"};
    static const char *const bad[] = {".", "..", "a/b", "%41"};
    for (size_t i = 0; i < ARRAY_LEN(good); i++) assert_true(passes(sim_check_segment, good[i]));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) assert_false(passes(sim_check_segment, bad[i]));
}

/* */
static void test_a_key_may_have_a_prefix(void **state)
{
    static const char *const good[] = {"a", "A_b.c-9", "example.com/a", A50 A50 ".x/a", A50 "aaaaaaaaaaaaa"};
    static const char *const bad[] = {"",
                                      "/a",
                                      "a/",
                                      "a/b/c",
                                      "Upper.com/a",
                                      "a_b/c",
                                      "-a",
                                      "a ",
                                      A50 "aaaaaaaaaaaaaa",
                                      A50 A50 A50 A50 A50 "aaaa/a"};
    for (size_t i = 0; i < ARRAY_LEN(good); i++) assert_true(passes(sim_check_key, good[i]));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) assert_false(passes(sim_check_key, bad[i]));
}

static void test_a_label_value_may_be_empty(void **state)
{
    static const char *const good[] = {"", "A_b.c-9", A50 "aaaaaaaaaaaaa"};
    static const char *const bad[] = {"a/b", "-", "a-", "$", A50 "aaaaaaaaaaaaaa"};
    for (size_t i = 0; i < ARRAY_LEN(good); i++) assert_true(passes(sim_check_label_value, good[i]));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) assert_false(passes(sim_check_label_value, bad[i]));
}

static void test_several_problems_are_joined(void **state)
{
    struct buf problems = {0};
    sim_check_key(STR("/"), &problems);
    assert_non_null(strstr(buf_text(&problems),
                           "prefix part must be non-empty; name part must be non-empty; name "
                           "part must consist of"));
    buf_clear(&problems);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_subdomains_are_labels_joined_by_dots),
        cmocka_unit_test(test_labels_have_no_dots_and_63_characters_at_most),
        cmocka_unit_test(test_a_segment_of_a_path_has_no_slash),
        cmocka_unit_test(test_a_key_may_have_a_prefix),
        cmocka_unit_test(test_a_label_value_may_be_empty),
        cmocka_unit_test(test_several_problems_are_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
