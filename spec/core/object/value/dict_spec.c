/* core/object/dict: keys and their numbers. */
#include "core/object/support/objects.h"

#include <string.h>

#include "base/mem.h"
#include "object/value/dict.h"

static int setup(void **state)
{
    dict_init();
    dict_init();
    return 0;
}

static void test_well_known_keys_have_their_numbers(void **state)
{
    static const struct {
        uint32_t id;
        const char *text;
    } keys[] = {
        {KEY_API_VERSION, "apiVersion"},
        {KEY_KIND, "kind"},
        {KEY_MANAGER, "manager"},
        {KEY_SUBRESOURCE, "subresource"},
        {KEY_SCHEDULER_NAME, "schedulerName"},
        {KEY_TYPE, "type"},
        {KEY_METADATA, "metadata"},
        {KEY_NAME, "name"},
        {KEY_NAMESPACE, "namespace"},
        {KEY_UID, "uid"},
        {KEY_RESOURCE_VERSION, "resourceVersion"},
        {KEY_LABELS, "labels"},
        {KEY_ANNOTATIONS, "annotations"},
    };
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        assert_int_equal(dict_find(str_of(keys[i].text)), keys[i].id);
        assert_true(str_is(dict_text(keys[i].id), keys[i].text));
    }
    assert_int_equal(dict_count(), ARRAY_LEN(keys));
}

static void test_a_key_keeps_its_number(void **state)
{
    uint32_t id = dict_intern(STR("aNewKey"), NULL);
    assert_true(id != DICT_NONE);
    assert_int_equal(dict_intern(STR("aNewKey"), NULL), id);
    assert_int_equal(dict_find(STR("aNewKey")), id);
    assert_true(str_is(dict_text(id), "aNewKey"));
    assert_true(dict_intern(STR("aNewKey2"), NULL) != id);
}

static void test_find_never_inserts(void **state)
{
    size_t count = dict_count();
    assert_int_equal(dict_find(STR("not there")), DICT_NONE);
    assert_int_equal(dict_count(), count);
}

static void test_keys_that_are_not_worth_a_number(void **state)
{
    char longest[DICT_KEY_LENGTH_MAX + 1];
    memset(longest, 'x', sizeof longest);
    assert_int_equal(dict_intern(STR("k:{\"name\":\"web\"}"), NULL), DICT_NONE);
    assert_int_equal(dict_intern(STR("v:\"finalizer\""), NULL), DICT_NONE);
    assert_int_equal(dict_intern((struct str){longest, sizeof longest}, NULL), DICT_NONE);
    assert_int_equal(dict_find((struct str){longest, sizeof longest}), DICT_NONE);
    assert_true(dict_intern((struct str){longest, DICT_KEY_LENGTH_MAX}, NULL) != DICT_NONE);
    assert_true(dict_intern(STR("k:x"), NULL) != DICT_NONE);
    assert_true(dict_intern(STR(""), NULL) != DICT_NONE);
}

static void test_bytes_count_not_letters(void **state)
{
    uint32_t a = dict_intern((struct str){"a\0b", 3}, NULL), b = dict_intern((struct str){"a\0c", 3}, NULL);
    assert_true(a != b);
    assert_int_equal(dict_text(a).n, 3);
    assert_memory_equal(dict_text(a).p, "a\0b", 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_well_known_keys_have_their_numbers),
        cmocka_unit_test(test_a_key_keeps_its_number),
        cmocka_unit_test(test_find_never_inserts),
        cmocka_unit_test(test_keys_that_are_not_worth_a_number),
        cmocka_unit_test(test_bytes_count_not_letters),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
