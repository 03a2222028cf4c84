/* core/kube/kinds/resource.c: the order of resource versions (RV-1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kube/kinds/resource.h"

static int compare(const char *a, const char *b)
{
    struct err err;
    int order;
    if (!resource_version_compare(str_of(a), str_of(b), &order, &err)) fail_msg("%s", err.text);
    return (order > 0) - (order < 0);
}

static void test_rv1_the_shorter_is_the_smaller_and_else_bytes_decide(void **state)
{
    assert_int_equal(compare("9", "10"), -1);
    assert_int_equal(compare("10", "9"), 1);
    assert_int_equal(compare("123", "123"), 0);
    assert_int_equal(compare("123", "124"), -1);
    assert_int_equal(compare("99999999999999999999999999999998", "99999999999999999999999999999999"), -1);
    assert_int_equal(compare("100000000000000000000000000000000", "99999999999999999999999999999999"), 1);
}

static void test_rv1_what_is_no_version_is_an_error(void **state)
{
    static const char *const bad[] = {"", "0", "01", "-1", "+1", "1a", "a", " 1", "1 ", "1.0", "0x10"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err err;
        int order;
        if (resource_version_check(str_of(bad[i]), &err)) fail_msg("\"%s\" passed", bad[i]);
        assert_int_equal(err.code, ERR_INVALID);
        assert_false(resource_version_compare(str_of(bad[i]), STR("1"), &order, &err));
        assert_false(resource_version_compare(STR("1"), str_of(bad[i]), &order, &err));
    }
}

static void test_newer_is_neither_what_is_equal_nor_what_is_unknown(void **state)
{
    assert_true(version_is_newer(STR("10"), STR("9")));
    assert_false(version_is_newer(STR("9"), STR("10")));
    assert_false(version_is_newer(STR("9"), STR("9")));
    assert_false(version_is_newer(STR("a"), STR("9")));
    assert_false(version_is_newer(STR("9"), STR("")));
}

static void test_what_is_unknown_may_be_newer(void **state)
{
    assert_true(version_may_be_newer(STR("10"), STR("9")));
    assert_false(version_may_be_newer(STR("9"), STR("10")));
    assert_false(version_may_be_newer(STR("9"), STR("9")));
    assert_true(version_may_be_newer(STR("a"), STR("9")));
    assert_true(version_may_be_newer(STR("9"), STR("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rv1_the_shorter_is_the_smaller_and_else_bytes_decide),
        cmocka_unit_test(test_rv1_what_is_no_version_is_an_error),
        cmocka_unit_test(test_newer_is_neither_what_is_equal_nor_what_is_unknown),
        cmocka_unit_test(test_what_is_unknown_may_be_newer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
