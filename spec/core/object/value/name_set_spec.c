/* Sets of names, and what a projection by names keeps. */
#include "object/value/name_set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "object/pack/pack.h"
#include "object/pack/projection.h"
#include "object/value/json.h"

static void test_names_are_found_however_many_there_are(void **state)
{
    struct name_set *set = name_set_new();
    char name[16];
    for (int i = 0; i < 1000; i++)
        name_set_add(set, (struct str){name, (size_t)snprintf(name, sizeof name, "n%d", i)}, i % 2 == 0);
    name_set_add(set, STR("n1"), true);
    name_set_add(set, STR("n2"), false);
    struct name_set *copy = name_set_copy(set);
    name_set_free(set);
    assert_int_equal(name_set_find(copy, STR("n1")), NAME_KEPT_WHOLE);
    assert_int_equal(name_set_find(copy, STR("n2")), NAME_KEPT_WHOLE);
    assert_int_equal(name_set_find(copy, STR("n3")), NAME_KEPT);
    assert_int_equal(name_set_find(copy, STR("n1000")), NAME_DROPPED);
    name_set_free(copy);
}

static void test_names_with_the_same_beginning_are_kept(void **state)
{
    struct name_set *set = name_set_new();
    name_set_add(set, STR("own/b.whole"), true);
    assert_int_equal(name_set_find(set, STR("own/b.x")), NAME_DROPPED);
    name_set_add_beginning(set, STR("own/a."));
    name_set_add_beginning(set, STR("own/b."));
    struct name_set *copy = name_set_copy(set);
    name_set_free(set);
    assert_int_equal(name_set_find(copy, STR("own/b.x")), NAME_KEPT);
    assert_int_equal(name_set_find(copy, STR("own/b.")), NAME_KEPT);
    assert_int_equal(name_set_find(copy, STR("own/b.whole")), NAME_KEPT_WHOLE);
    assert_int_equal(name_set_find(copy, STR("own/a.x")), NAME_DROPPED);
    assert_int_equal(name_set_find(copy, STR("own/b")), NAME_DROPPED);
    assert_int_equal(name_set_find(copy, STR("")), NAME_DROPPED);
    name_set_free(copy);
}

static void expect_packed(struct projection *projection, const char *text, const char *kept)
{
    struct pool *pool = pool_new(NULL);
    struct packer *packer = packer_new(pool);
    const struct pack_type type = {.projection = projection};
    struct root *object;
    struct err err;
    struct buf padded = {0}, json = {0};
    buf_puts(&padded, text);
    memset(buf_reserve(&padded, TAPE_PADDING), 0, TAPE_PADDING);
    assert_true(pack_text(packer, padded.data, padded.len, &type, &object, &err));
    json_write(&json, root_value(object));
    assert_string_equal(buf_text(&json), kept);
    root_unref(object);
    buf_clear(&padded);
    buf_clear(&json);
    packer_free(packer);
    pool_free(pool);
}

static void test_a_projection_keeps_the_names_and_what_identifies(void **state)
{
    struct name_set *names = name_set_new();
    name_set_add(names, STR("spec"), false);
    name_set_add(names, STR("list"), false);
    name_set_add(names, STR("image"), false);
    name_set_add(names, STR("all"), true);
    struct projection *projection = projection_of_names(names);
    expect_packed(
        projection,
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"uid\":\"u\",\"labels\":{"
        "\"image\":\"x\"}},\"spec\":{\"list\":[{\"image\":\"i\",\"name\":\"n\"},3],\"all\":{\"b\":{\"c\":1}"
        "},\"name\":\"n\"},\"status\":{\"image\":\"s\"}}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"uid\":\"u\"},\"spec\":{"
        "\"list\":[{\"image\":\"i\"},3],\"all\":{\"b\":{\"c\":1}}}}");
    projection_unref(projection);
}

/* Who kept one of them has to know whether an absent field says anything. */
static void test_a_partial_object_is_never_a_complete_one(void **state)
{
    static const char text[512] = "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}";
    struct name_set *names = name_set_new();
    struct projection *projection = projection_of_names(names);
    struct pool *pool = pool_new(NULL);
    struct packer *packer = packer_new(pool);
    const struct pack_type types[] = {{.projection = projection}, {.projection = NULL}};
    struct root *roots[4];
    struct err err;
    for (int i = 0; i < 4; i++)
        assert_true(pack_text(packer, text, strlen(text), &types[i % 2], &roots[i], &err));
    assert_true(root_is_partial(roots[0]) && !root_is_partial(roots[1]));
    assert_ptr_equal(roots[2], roots[0]);
    assert_ptr_equal(roots[3], roots[1]);
    for (int i = 0; i < 4; i++) root_unref(roots[i]);
    packer_free(packer);
    pool_free(pool);
    projection_unref(projection);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_are_found_however_many_there_are),
        cmocka_unit_test(test_names_with_the_same_beginning_are_kept),
        cmocka_unit_test(test_a_projection_keeps_the_names_and_what_identifies),
        cmocka_unit_test(test_a_partial_object_is_never_a_complete_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
