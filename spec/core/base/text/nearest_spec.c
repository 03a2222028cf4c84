/* core/base/nearest: a slip of the fingers is forgiven, another word is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text/nearest.h"

static const char *of(const char *wanted)
{
    static const char *const names[] = {"v",    "run",    "exec",   "sim",       "bench",      "port",
                                        "pods", "status", "server", "namespace", "log-format", "namespaces"};
    struct nearest nearest = nearest_to(str_of(wanted));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) nearest_try(&nearest, names[i]);
    return nearest.name;
}

static void test_one_slip_is_forgiven_in_a_short_name(void **state)
{
    assert_string_equal(of("rnu"), "run");   /* two letters changed places */
    assert_string_equal(of("prot"), "port"); /* the same */
    assert_string_equal(of("ru"), "run");
    assert_string_equal(of("sims"), "sim");
    assert_string_equal(of("bensh"), "bench");
    assert_string_equal(of("statsu"), "status");
    assert_string_equal(of("SatUts"), "status"); /* two slips of six letters */
}

static void test_more_slips_are_forgiven_in_a_long_name(void **state)
{
    assert_string_equal(of("severr"), "server");
    assert_string_equal(of("nmaespcae"), "namespace");
    assert_string_equal(of("lgo-fromta"), "log-format");
}

static void test_capitals_are_no_slip(void **state)
{
    assert_string_equal(of("RNU"), "run");
    assert_string_equal(of("NameSpcae"), "namespace");
}

static void test_another_word_is_not_taken_for_one_that_is_known(void **state)
{
    static const char *const words[] = {"", "x", "r", "pid", "rum2", "post2", "exit", "torus", "frobnicate"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (of(words[i])) fail_msg("%s is not %s", words[i], of(words[i]));
}

static void test_the_nearest_wins_and_the_first_of_equals(void **state)
{
    assert_string_equal(of("namespaces"), "namespaces");
    assert_string_equal(of("namespacex"), "namespace");
}

static void test_a_very_long_word_is_near_to_nothing(void **state)
{
    char word[200];
    for (size_t i = 0; i < sizeof word; i++) word[i] = 'a';
    word[sizeof word - 1] = '\0';
    struct nearest nearest = nearest_to(str_of(word));
    nearest_try(&nearest, word + 1);
    assert_null(nearest.name);
    nearest = nearest_to(str_of("aaa"));
    nearest_try(&nearest, word);
    assert_null(nearest.name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_slip_is_forgiven_in_a_short_name),
        cmocka_unit_test(test_more_slips_are_forgiven_in_a_long_name),
        cmocka_unit_test(test_capitals_are_no_slip),
        cmocka_unit_test(test_another_word_is_not_taken_for_one_that_is_known),
        cmocka_unit_test(test_the_nearest_wins_and_the_first_of_equals),
        cmocka_unit_test(test_a_very_long_word_is_near_to_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
