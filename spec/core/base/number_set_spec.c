/* core/base/number_set. */
#include "base/number_set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_numbers_are_in_it_once_however_many_there_are(void **state)
{
    struct number_set set = {0};
    assert_false(number_set_has(&set, 1));
    for (uint64_t i = 1; i <= 100000; i++) assert_true(number_set_add(&set, i << 20));
    for (uint64_t i = 1; i <= 100000; i++) assert_false(number_set_add(&set, i << 20));
    assert_int_equal(set.count, 100000);
    assert_true(set.room <= 4 * set.count);
    assert_true(number_set_has(&set, UINT64_C(100000) << 20));
    assert_false(number_set_has(&set, UINT64_C(100001) << 20));
    number_set_clear(&set);
}

static void test_zero_is_none(void **state)
{
    struct number_set set = {0};
    number_set_add(&set, 5);
    assert_false(number_set_has(&set, 0));
    number_set_clear(&set);
}

static void test_an_emptied_one_keeps_a_small_table_alone(void **state)
{
    struct number_set set = {0};
    number_set_add(&set, 5);
    size_t room = set.room;
    number_set_empty(&set, room);
    assert_int_equal(set.room, room);
    assert_false(number_set_has(&set, 5));
    assert_true(number_set_add(&set, 5));
    number_set_empty(&set, room - 1);
    assert_int_equal(set.room, 0);
    assert_false(number_set_has(&set, 5));
    number_set_clear(&set);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_are_in_it_once_however_many_there_are),
        cmocka_unit_test(test_zero_is_none),
        cmocka_unit_test(test_an_emptied_one_keeps_a_small_table_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
