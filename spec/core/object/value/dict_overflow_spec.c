/* The dictionary and the shape table when they fill up: objects stay whole, their encoding changes. In a
 * process of its own, as nothing makes the tables smaller again. */
#include "core/object/support/objects.h"

#include <stdio.h>
#include <string.h>

#include "object/value/dict.h"
#include "object/value/word.h"

/* The kind of what is packed, and so of what uses up its share. */
static struct admission_kind thing = {.name = {"Thing", 5}};

static uint32_t intern(const char *prefix, int n)
{
    char key[32];
    snprintf(key, sizeof key, "%s%d", prefix, n);
    return dict_intern(str_of(key), &thing);
}

static uint32_t intern_shape(const uint32_t *keys, size_t count)
{
    return shape_intern(keys, count, &thing);
}

/* The number that a packer gives to the kind. */
static void find_number(void)
{
    uint32_t id = dict_intern(thing.name, NULL);
    assert_true(id != DICT_NONE);
    thing.number = word_make(TAG_KEY, id) * 0x9e3779b1u >> ADMISSION_SHIFT;
}

static void test_new_keys_and_shapes_are_admitted_up_to_the_share_of_their_kind(void **state)
{
    find_number();
    int i = 0;
    while (intern("key", i) != DICT_NONE) i++;
    assert_in_range(i, DICT_KEYS_MAX / 18, DICT_KEYS_MAX / 16);
    uint32_t keys[2] = {0, 2000}, shapes = 0;
    for (; intern_shape(keys, 2) != SHAPE_NONE; shapes++) {
        keys[0] = shapes / 1000;
        keys[1] = 2000 + shapes % 1000;
    }
    assert_in_range(shapes, SHAPES_MAX / 18, SHAPES_MAX / 16);
}

static void test_beyond_its_share_a_key_must_come_again(void **state)
{
    assert_int_equal(intern("late", 1), DICT_NONE);
    uint32_t id = intern("late", 1);
    assert_true(id != DICT_NONE);
    assert_int_equal(intern("late", 1), id);
    size_t count = dict_count();
    for (int i = 0; i < 20000; i++) intern("flood", i);
    assert_in_range(dict_count(), count, count + 10); /* two of them may have the same hash */
    const uint32_t keys[] = {KEY_NAME, id};
    assert_int_equal(intern_shape(keys, 2), SHAPE_NONE);
    assert_true(intern_shape(keys, 2) != SHAPE_NONE);
}

static void test_another_kind_has_a_share_of_its_own(void **state)
{
    const struct admission_kind other = {.number = thing.number ^ 1, .name = STR("Other")};
    const uint32_t keys[] = {KEY_NAME, KEY_UID, KEY_KIND};
    assert_true(dict_intern(STR("of another kind"), &other) != DICT_NONE);
    assert_true(shape_intern(keys, 3, &other) != SHAPE_NONE);
}

struct late {
    char first[32], second[32]; /* keys */
};

static struct root *pack_late(struct fixture *f, const char *format, const struct late *keys)
{
    char json[300];
    snprintf(json, sizeof json, format, keys->first, keys->second);
    return pack_ok(f->packer, json);
}

#define OBJECT(name, first, second)                                                               \
    "{\"metadata\":{\"name\":\"" name "\",\"uid\":\"u\",\"resourceVersion\":\"5\"},\"%s\":" first \
    ",\"%s\":" second "}"

static struct root *pack_often(struct fixture *f, const char *format, const struct late *keys)
{
    struct root *root = NULL;
    for (int i = 0; i < 3; i++) {
        root_unref(root);
        root = pack_late(f, format, keys);
    }
    return root;
}

/* An object with two new keys, which are admitted afterwards; `*elsewhere` is another object with them. */
static struct root *pack_unseen(struct fixture *f, const char *format, const struct late *keys,
                                struct root **elsewhere)
{
    struct root *root = pack_late(f, format, keys);
    assert_int_equal(blob_kind(root_value(root).word), BLOB_MAP_OWN);
    assert_int_equal(dict_find(str_of(keys->first)), DICT_NONE);
    *elsewhere = pack_often(f, OBJECT("y", "1", "2"), keys);
    assert_int_equal(blob_kind(root_value(*elsewhere).word), BLOB_MAP_SHAPED);
    return root;
}

/* First packed with its own keys, then with a shape: the object is still the same one. */
static void test_an_object_packed_before_and_after_its_keys_were_admitted(void **state)
{
    struct fixture *f = *state;
    static const char format[] = OBJECT("x", "\"some text\"", "[1.5]");
    const struct late keys = {"late1key", "late2key"};
    struct root *elsewhere, *before = pack_unseen(f, format, &keys, &elsewhere);
    assert_true(dict_find(str_of(keys.first)) != DICT_NONE);
    struct root *after = pack_late(f, " " OBJECT("x", "\"some text\"", "[1.5]"), &keys);
    assert_ptr_equal(before, after);
    assert_int_equal(value_type(value_field(root_value(before), str_of(keys.first))),
                     VALUE_STRING); /* by the text, though it has a number now */
    root_unref(elsewhere);
    root_unref(after);
    root_unref(before);
    struct root *shaped = pack_late(f, format, &keys);
    assert_int_equal(blob_kind(root_value(shaped).word), BLOB_MAP_SHAPED);
    root_unref(shaped);
}

static void test_a_duplicate_that_is_admitted_between_its_two_places(void **state)
{
    struct fixture *f = *state;
    struct value it;
    struct root *root = pack_it(
        f->packer, "{\"twiceseen\":\"the first text\",\"other\":1.5,\"twiceseen\":\"the second text\"}", &it);
    assert_string_equal(json_of(it), "{\"other\":1.5,\"twiceseen\":\"the second text\"}");
    root_unref(root);
}

/* Each kind in turn takes what it may. */
static void fill_tables(void)
{
    uint32_t keys[3] = {KEY_NAME, KEY_UID, 0};
    int n = 0;
    for (uint32_t kind = 0; kind < ADMISSION_KINDS; kind++) {
        thing.number = kind;
        for (int refused = 0; refused < 10; n++) {
            char key[32];
            snprintf(key, sizeof key, "more%d", n);
            dict_intern(str_of(key), &thing);
            refused += dict_intern(str_of(key), &thing) == DICT_NONE;
        }
        for (int refused = 0; refused < 10; keys[2]++) {
            intern_shape(keys, 3);
            refused += intern_shape(keys, 3) == SHAPE_NONE;
        }
    }
    find_number();
}

static void test_full_tables_do_not_matter(void **state)
{
    struct fixture *f = *state;
    fill_tables();
    assert_in_range(dict_count(), DICT_KEYS_MAX - ADMISSION_AGAIN, DICT_KEYS_MAX);
    assert_in_range(shape_count(), SHAPES_MAX - ADMISSION_AGAIN, SHAPES_MAX);
    assert_int_equal(intern("never", 1), DICT_NONE);
    assert_int_equal(intern("never", 1), DICT_NONE);
    assert_int_equal(dict_find(STR("name")), KEY_NAME);
    struct random r = random_start("full tables");
    for (int i = 0; i < 1000; i++) {
        struct buf text = {0}, expected = {0};
        struct value it;
        random_value(&r, 4, &text, &expected);
        struct root *root = pack_it(f->packer, buf_text(&text), &it);
        assert_string_equal(json_of(it), buf_text(&expected));
        root_unref(root);
        buf_clear(&text);
        buf_clear(&expected);
    }
    struct value it;
    struct root *root = pack_it(f->packer, "{\"reason\":\"NeverSeenBefore\",\"neverseen\":{\"a\":1}}", &it);
    assert_string_equal(json_of(it), "{\"reason\":\"NeverSeenBefore\",\"neverseen\":{\"a\":1}}");
    assert_int_equal(value_int(at_path(it, "neverseen.a")), 1);
    root_unref(root);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_new_keys_and_shapes_are_admitted_up_to_the_share_of_their_kind),
        TEST(test_beyond_its_share_a_key_must_come_again),
        TEST(test_another_kind_has_a_share_of_its_own),
        TEST(test_an_object_packed_before_and_after_its_keys_were_admitted),
        TEST(test_a_duplicate_that_is_admitted_between_its_two_places),
        TEST(test_full_tables_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
