/* core/base/number_map. */
#include "base/number_map.h"

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
    assert_int_equal(set.map.count, 100000);
    assert_true(set.map.room <= 4 * set.map.count);
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
    size_t room = set.map.room;
    number_set_empty(&set, room);
    assert_int_equal(set.map.room, room);
    assert_false(number_set_has(&set, 5));
    assert_true(number_set_add(&set, 5));
    number_set_empty(&set, room - 1);
    assert_int_equal(set.map.room, 0);
    assert_false(number_set_has(&set, 5));
    number_set_clear(&set);
}

struct known {
    uint64_t number;
    int times;
};

static void test_what_is_known_of_a_number_stays_as_the_table_grows(void **state)
{
    struct number_map map = {0};
    for (int round = 1; round <= 3; round++)
        for (uint64_t i = 1; i <= 10000; i++) {
            struct known *known = number_map_add(&map, i, sizeof *known);
            assert_int_equal(known->number, i);
            assert_int_equal(++known->times, round);
        }
    struct number_map copy = number_map_copy(&map, sizeof(struct known));
    number_map_clear(&map);
    const struct known *last = number_map_find(&copy, 10000, sizeof *last);
    assert_int_equal(last->times, 3);
    assert_null(number_map_find(&copy, 10001, sizeof *last));
    assert_null(number_map_find(&map, 1, sizeof *last));
    number_map_clear(&copy);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_are_in_it_once_however_many_there_are),
        cmocka_unit_test(test_what_is_known_of_a_number_stays_as_the_table_grows),
        cmocka_unit_test(test_zero_is_none),
        cmocka_unit_test(test_an_emptied_one_keeps_a_small_table_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
