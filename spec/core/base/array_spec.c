/* core/base/array.h: arrays that grow by one, and lose one. */
#include "base/array.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

struct list {
    uint64_t *items;
    uint32_t count; /* any type of integer */
};

static void test_an_array_keeps_what_was_added_however_many_there_are(void **state)
{
    struct list list = {0};
    for (uint64_t i = 0; i < 1000; i++) *array_add(list.items, list.count) = i;
    assert_int_equal(list.count, 1000);
    for (uint64_t i = 0; i < 1000; i++) assert_int_equal(list.items[i], i);
    free(list.items);
}

static void test_an_array_moves_only_when_its_count_is_a_power_of_two(void **state)
{
    char *items = NULL;
    for (size_t count = 0; count <= 64; count++) {
        char *grown = array_grow(items, count, 1);
        if (count & (count - 1) || (count && count < ARRAY_MIN)) assert_ptr_equal(grown, items);
        items = grown;
        memset(items, 'x', count + 1); /* a sanitizer sees whether there is room */
    }
    free(items);
}

static void test_an_array_of_which_elements_were_dropped_grows_again(void **state)
{
    struct list list = {0};
    for (uint64_t i = 0; i < 100; i++) *array_add(list.items, list.count) = i;
    for (uint32_t kept = 0; kept <= 100; kept += 5) {
        list.count = kept;
        while (list.count < 100) {
            uint64_t next = list.count;
            *array_add(list.items, list.count) = next;
        }
        for (uint64_t i = 0; i < 100; i++) assert_int_equal(list.items[i], i);
    }
    free(list.items);
}

static void test_an_array_with_its_room_keeps_it_when_it_is_emptied(void **state)
{
    size_t *items = NULL, count = 0, room = 0;
    for (size_t i = 0; i < 1000; i++) {
        array_reserve(items, count, room);
        items[count++] = i;
    }
    for (size_t i = 0; i < 1000; i++) assert_int_equal(items[i], i);
    assert_true(room >= 1000 && room < 2000);
    size_t *full = items, before = room;
    for (count = 0; count < 1000; count++) array_reserve(items, count, room);
    assert_ptr_equal(items, full);
    assert_int_equal(room, before);
    free(items);
}

static void test_an_element_is_removed_at_either_end_and_between(void **state)
{
    struct list list = {0};
    for (uint64_t i = 0; i < 5; i++) *array_add(list.items, list.count) = i;
    array_remove(list.items, list.count, 0);
    array_remove(list.items, list.count, 1);
    array_remove(list.items, list.count, list.count - 1);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.items[0], 1);
    assert_int_equal(list.items[1], 3);
    array_remove(list.items, list.count, 0);
    array_remove(list.items, list.count, 0);
    assert_int_equal(list.count, 0);
    free(list.items);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_array_keeps_what_was_added_however_many_there_are),
        cmocka_unit_test(test_an_array_moves_only_when_its_count_is_a_power_of_two),
        cmocka_unit_test(test_an_array_of_which_elements_were_dropped_grows_again),
        cmocka_unit_test(test_an_array_with_its_room_keeps_it_when_it_is_emptied),
        cmocka_unit_test(test_an_element_is_removed_at_either_end_and_between),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
