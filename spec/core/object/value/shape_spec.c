/* core/object/shape: lists of keys and their numbers. */
#include "core/object/support/objects.h"

#include "object/value/dict.h"

static void test_a_list_of_keys_has_one_number(void **state)
{
    const uint32_t keys[] = {KEY_NAME, KEY_UID, KEY_LABELS}, other[] = {KEY_UID, KEY_NAME, KEY_LABELS};
    uint32_t shape = shape_intern(keys, 3, NULL);
    assert_true(shape != SHAPE_NONE);
    assert_int_equal(shape_intern(keys, 3, NULL), shape);
    assert_true(shape_intern(other, 3, NULL) != shape);
    assert_true(shape_intern(keys, 2, NULL) != shape);
    assert_int_equal(shape_key_count(shape), 3);
    assert_memory_equal(shape_keys(shape), keys, sizeof keys);
}

static void test_slots(void **state)
{
    const uint32_t keys[] = {KEY_NAME, KEY_UID, KEY_LABELS};
    uint32_t shape = shape_intern(keys, 3, NULL);
    for (int twice = 0; twice < 2; twice++) {
        assert_int_equal(shape_slot(shape, KEY_NAME), 0);
        assert_int_equal(shape_slot(shape, KEY_LABELS), 2);
        assert_int_equal(shape_slot(shape, KEY_KIND), -1);
        assert_int_equal(shape_slot(shape, DICT_KEYS_MAX - 1), -1);
    }
}

/* The cache of slots is small: every answer must be right whatever was asked before. */
static void test_slots_of_many_shapes_in_any_order(void **state)
{
    enum { SHAPES = 500, KEYS = 20 };
    struct random r = random_start("slots");
    uint32_t shape[SHAPES];
    for (uint32_t i = 0; i < SHAPES; i++) {
        uint32_t keys[KEYS];
        for (uint32_t k = 0; k < KEYS; k++) keys[k] = (i + k * 7) % 1000;
        shape[i] = shape_intern(keys, KEYS, NULL);
    }
    for (int n = 0; n < 100000; n++) {
        uint32_t i = random_below(&r, SHAPES), key = random_below(&r, 1000);
        int expected = -1;
        for (uint32_t k = 0; k < KEYS; k++) {
            if ((i + k * 7) % 1000 == key) expected = (int)k;
        }
        assert_int_equal(shape_slot(shape[i], key), expected);
    }
}

static void test_what_can_be_no_shape(void **state)
{
    uint32_t keys[SHAPE_KEYS_MAX + 1];
    for (uint32_t i = 0; i <= SHAPE_KEYS_MAX; i++) keys[i] = 1000 + i;
    assert_int_equal(shape_intern(keys, SHAPE_KEYS_MAX + 1, NULL), SHAPE_NONE);
    assert_int_equal(shape_intern(keys, 0, NULL), SHAPE_NONE);
    assert_true(shape_intern(keys, SHAPE_KEYS_MAX, NULL) != SHAPE_NONE);
    const uint32_t twice[] = {KEY_NAME, KEY_UID, KEY_NAME};
    assert_int_equal(shape_intern(twice, 3, NULL), SHAPE_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_list_of_keys_has_one_number),
        cmocka_unit_test(test_slots),
        cmocka_unit_test(test_slots_of_many_shapes_in_any_order),
        cmocka_unit_test(test_what_can_be_no_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
