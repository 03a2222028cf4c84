/* core/object/move: what is left after most objects have gone moves together, and stays what it is. That
 * every node counts what refers to it then is in loan_random_spec.c. */
#include "core/object/support/objects.h"

#include <stdlib.h>

#include "base/mem.h"
#include "object/pack/intern.h"

enum { OBJECTS = 16000, LEFT_ONE_OF = 3 };

static struct fixture *fixture(void **state)
{
    return *state;
}

/* Has parts of its own, one that ten share, and one that all share; sections, and a node in a node. */
static void write_object(struct buf *text, uint32_t i, uint32_t version)
{
    text->len = 0;
    buf_printf(
        text,
        "{\"metadata\":{\"name\":\"o%u\",\"namespace\":\"n\",\"uid\":\"u%u\",\"resourceVersion\":\"%u\","
        "\"labels\":{\"own\":\"label-of-%u\",\"of\":\"a-text-that-is-long-%u\",\"t\":\"%u\"}},\"spec\":{",
        i, i, version, i, i / 10, i);
    for (uint32_t k = 0; k < 6; k++)
        buf_printf(
            text,
            "%s\"p%u\":{\"a\":\"some-text-of-its-own-%u-%u\",\"b\":[%u,\"this-is-of-ten-%u-and-long\"],"
            "\"c\":{\"d\":\"this-text-is-the-same-everywhere\",\"e\":{\"f\":[1,2,3,4,5,6,7,8,9]}}}",
            k ? "," : "", k, i, k, k, i / 10);
    buf_puts(text, "},\"status\":{\"list\":[");
    for (uint32_t k = 0; k < 20; k++) buf_printf(text, "%s\"%u-and-%u\"", k ? "," : "", k, i * 31 + k);
    buf_puts(text, "]}}");
}

static struct root *pack(struct fixture *f, uint32_t i, uint32_t version)
{
    struct buf text = {0};
    write_object(&text, i, version);
    struct root *root = straight(f->packer, buf_slice(&text));
    assert_non_null(root);
    buf_clear(&text);
    return root;
}

/* Releases two thirds of many. */
static struct root **thin_out(struct fixture *f, struct random *r)
{
    struct root **objects = xcalloc(OBJECTS, sizeof *objects);
    for (uint32_t i = 0; i < OBJECTS; i++) objects[i] = pack(f, i, 1);
    for (uint32_t i = 0; i < OBJECTS; i++) {
        if (random_below(r, LEFT_ONE_OF) == 0) continue;
        root_unref(objects[i]);
        objects[i] = NULL;
    }
    return objects;
}

static void release_all(struct root **objects)
{
    for (uint32_t i = 0; i < OBJECTS; i++) root_unref(objects[i]);
    free(objects);
}

static size_t move_all(struct root **objects)
{
    size_t moved = 0;
    for (uint32_t i = 0; i < OBJECTS; i++) {
        struct root *before = objects[i];
        if (before) objects[i] = root_move(before);
        moved += objects[i] != before;
    }
    return moved;
}

static void assert_is(struct fixture *f, uint32_t i, uint32_t version, const struct root *root)
{
    struct buf text = {0};
    write_object(&text, i, version);
    struct root *same = by_tape(f->packer, buf_slice(&text));
    assert_ptr_equal(same, root);
    root_unref(same);
    buf_clear(&text);
}

static void test_what_is_left_takes_no_more_than_it_needs(void **state)
{
    struct fixture *f = fixture(state);
    struct random r = random_start("moves");
    struct root **objects = thin_out(f, &r);
    size_t used = pool_used_bytes(f->pool), nodes = pool_stats(f->pool).nodes;
    assert_true(pool_unused_bytes(f->pool) > used / 2);
    assert_true(pool_begin_moves(f->pool));
    size_t top = pool_slabs(f->pool)->top;
    assert_true(move_all(objects) > OBJECTS / LEFT_ONE_OF / 2);
    pool_end_moves(f->pool);
    assert_int_equal(pool_used_bytes(f->pool), used);
    assert_int_equal(pool_stats(f->pool).nodes, nodes);
    assert_int_equal(pool_slabs(f->pool)->top, top); /* nothing was taken for that */
    assert_in_range(pool_unused_bytes(f->pool), 0, used / 8);
    assert_int_equal(pool_slabs(f->pool)->dirty_count, 0);
    assert_false(pool_begin_moves(f->pool));
    for (uint32_t i = 0; i < OBJECTS; i++)
        if (objects[i]) assert_is(f, i, 1, objects[i]);
    release_all(objects);
}

static void test_a_moved_object_is_the_last_state_of_the_next(void **state)
{
    struct fixture *f = fixture(state);
    struct random r = random_start("updates of moved objects");
    struct root **objects = thin_out(f, &r);
    assert_true(pool_begin_moves(f->pool));
    move_all(objects);
    size_t lent = 0;
    for (uint32_t i = 0; i < OBJECTS; i++) { /* also before the end of the moves */
        if (i == OBJECTS / 2) pool_end_moves(f->pool);
        if (!objects[i]) continue;
        struct root *next = pack(f, i, 2);
        for (uint32_t k = 0; k < next->section_count; k++) lent += root_sections(next)[k].borrowed;
        assert_is(f, i, 2, next);
        root_unref(objects[i]);
        objects[i] = next;
    }
    assert_true(lent > OBJECTS / LEFT_ONE_OF / 2);
    release_all(objects);
}

static void test_an_object_that_others_hold_stays(void **state)
{
    struct fixture *f = fixture(state);
    struct random r = random_start("held objects");
    struct root **objects = thin_out(f, &r), **held = xcalloc(OBJECTS, sizeof *held);
    for (uint32_t i = 0; i < OBJECTS; i++)
        if (objects[i] && i % 2) held[i] = root_ref(objects[i]);
    assert_true(pool_begin_moves(f->pool));
    assert_true(move_all(objects) > 0);
    for (uint32_t i = 0; i < OBJECTS; i++)
        if (held[i]) assert_ptr_equal(objects[i], held[i]);
    pool_end_moves(f->pool);
    release_all(held);
    assert_true(pool_begin_moves(f->pool));
    assert_true(move_all(objects) > 0);
    pool_end_moves(f->pool);
    for (uint32_t i = 0; i < OBJECTS; i++)
        if (objects[i]) assert_is(f, i, 1, objects[i]);
    release_all(objects);
}

static void test_little_is_not_worth_it(void **state)
{
    struct fixture *f = fixture(state);
    struct root *root = pack(f, 1, 1);
    assert_false(pool_begin_moves(f->pool));
    assert_ptr_equal(root_move(root), root);
    root_unref(root);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_what_is_left_takes_no_more_than_it_needs),
        TEST(test_a_moved_object_is_the_last_state_of_the_next),
        TEST(test_an_object_that_others_hold_stays),
        TEST(test_little_is_not_worth_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
