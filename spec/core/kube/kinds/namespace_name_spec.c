/* core/kube/kinds/resource.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kube/kinds/resource.h"

static void test_names_are_labels(void **state)
{
    static const char *const good[] = {"a", "0", "kube-system", "a--b", "1-2"};
    static const char *const bad[] = {"",    "-",   "-a",  "a-",       "A",     "a.b",
                                      "a/b", "a b", "a_b", "\xc3\xa4", "team-*"};
    char text[80];
    struct err err;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!namespace_name_check(str_of(good[i]), &err)) fail_msg("%s", err.text);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (namespace_name_check(str_of(bad[i]), &err)) fail_msg("\"%s\" is good", bad[i]);
    memset(text, 'a', sizeof text);
    assert_true(namespace_name_check((struct str){text, 63}, &err));
    assert_false(namespace_name_check((struct str){text, 64}, &err));
}

static void test_a_pattern_is_refused_where_it_does_not_belong(void **state)
{
    static const char *const patterns[] = {"team-*", "a?", "!a"};
    char expected[200];
    struct err err;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        snprintf(expected, sizeof expected,
                 "\"%s\" is not a valid namespace name: lower-case letters, digits and '-', at most 63 "
                 "characters; patterns are only supported in namespaces of handlers",
                 patterns[i]);
        assert_false(namespace_name_check(str_of(patterns[i]), &err));
        assert_string_equal(err.text, expected);
    }
    assert_false(namespace_name_check(str_of("a/b"), &err));
    assert_string_equal(
        err.text,
        "\"a/b\" is not a valid namespace name: lower-case letters, digits and '-', at most 63 characters");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_are_labels),
        cmocka_unit_test(test_a_pattern_is_refused_where_it_does_not_belong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
