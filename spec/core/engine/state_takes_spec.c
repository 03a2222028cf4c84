/* core/engine/state_maps.c: reads of states that are written afterwards, which give a ConfigMap another
 * version. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "core/engine/support/map_bench.h"

/* --- takes */

static void test_a_map_is_taken_once_until_others_change_it(void **state)
{
    struct map_bench *b = *state;
    take_both(b);
    assert_int_equal(b->server.takes, 1);
    assert_memory_equal(b->server.reader, "7000000-", 8);
    start(b, STATE_WRITE, b->a, "new a", NULL);
    serve(b, OBJECT_PATCH);
    start(b, STATE_TAKE, b->b, NULL, NULL);
    serve(b, OBJECT_GET);
    assert_ok(b);
    change_from_outside(b, b->server.a, "bWluZQ==");
    start(b, STATE_TAKE, b->b, NULL, NULL);
    serve(b, OBJECT_GET);
    serve(b, OBJECT_PATCH);
    assert_ok(b);
    assert_int_equal(b->server.takes, 2);
}

/* It may come after the read. */
static void test_a_map_is_taken_again_after_a_write_without_an_answer(void **state)
{
    struct map_bench *b = *state;
    take_both(b);
    start(b, STATE_WRITE, b->a, "new a", NULL);
    refuse(b, OBJECT_PATCH, 0);
    assert_false(b->ok);
    start(b, STATE_TAKE, b->a, NULL, NULL);
    serve(b, OBJECT_GET);
    serve(b, OBJECT_PATCH);
    assert_ok(b);
    assert_int_equal(b->server.takes, 2);
}

static void test_a_take_that_fails_is_no_read_and_is_made_the_next_time(void **state)
{
    static const int passing[] = {500, 503, 429, 0};
    struct map_bench *b = *state;
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++) {
        change_from_outside(b, b->server.a, "YQ==");
        start(b, STATE_TAKE, b->a, NULL, NULL);
        serve(b, OBJECT_GET);
        refuse(b, OBJECT_PATCH, passing[i]);
        assert_int_equal(b->ended, 1);
        assert_false(b->ok);
        assert_int_equal(b->err.http_status, passing[i]);
        start(b, STATE_TAKE, b->a, NULL, NULL);
        serve(b, OBJECT_GET);
        serve(b, OBJECT_PATCH);
        assert_ok(b);
        assert_string_equal(b->text, "a");
        assert_int_equal(b->server.takes, i + 1);
    }
}

/* One whose ConfigMap a webhook refuses, or has wait, is in nobody's way. */
static void test_a_take_that_fails_leaves_its_turn_to_another_script(void **state)
{
    struct map_bench *b = *state;
    struct state_slot *other = state_store_slot(b->store, "other", "a");
    start(b, STATE_TAKE, b->a, NULL, NULL);
    start(b, STATE_WRITE, other, "theirs", NULL);
    serve(b, OBJECT_GET);
    refuse(b, OBJECT_CREATE, 500);
    assert_int_equal(b->ended, 1);
    assert_false(b->ok);
    assert_string_equal(under_way()->place.name, STATE_MAP_PREFIX "other");
    b->ended = 0;
    serve(b, OBJECT_GET);
    assert_string_equal(under_way()->place.name, STATE_MAP_PREFIX "other");
    serve(b, OBJECT_CREATE);
    assert_ok(b);
    assert_string_equal(b->server.a, "dGhlaXJz");
}

static void test_a_take_that_meets_changes_all_the_time_is_no_read(void **state)
{
    struct map_bench *b = *state;
    b->server.version = 1;
    start(b, STATE_TAKE, b->a, NULL, NULL);
    for (int i = 0; i < 5; i++) {
        serve(b, OBJECT_GET);
        change_from_outside(b, b->server.b, "Yg==");
        serve(b, OBJECT_PATCH);
    }
    serve(b, OBJECT_GET);
    assert_int_equal(b->ended, 1);
    assert_false(b->ok);
    assert_string_equal(b->err.text, "the ConfigMap changes all the time");
}

/* That nothing can be written is told by a write. */
static void test_what_may_not_be_taken_is_read(void **state)
{
    static const int denied[] = {403, 400, 422};
    struct map_bench *b = *state;
    for (size_t i = 0; i < sizeof denied / sizeof *denied; i++) {
        change_from_outside(b, b->server.a, "YQ==");
        start(b, STATE_TAKE, b->a, NULL, NULL);
        serve(b, OBJECT_GET);
        refuse(b, OBJECT_PATCH, denied[i]);
        assert_ok(b);
        assert_string_equal(b->text, "a");
    }
}

static void test_nothing_is_taken_for_a_term_that_is_over(void **state)
{
    struct map_bench *b = *state;
    struct fence *fence = fence_new(loop_clock(b->loop), 1000000);
    b->server.version = 1;
    start(b, STATE_TAKE, b->a, NULL, fence);
    assert_null(under_way()->fence);
    serve(b, OBJECT_GET);
    assert_ptr_equal(under_way()->fence, fence);
    serve(b, OBJECT_PATCH);
    assert_ok(b);
    change_from_outside(b, b->server.b, "Yg==");
    start(b, STATE_TAKE, b->a, NULL, fence);
    fence_close(fence);
    serve(b, OBJECT_GET);
    assert_refused(b, "NotLeader");
    assert_int_equal(b->err.code, ERR_CANCELLED);
    assert_int_equal(b->server.takes, 1);
    fence_unref(fence);
}

#define T(name) cmocka_unit_test_setup_teardown(name, map_bench_setup, map_bench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_a_map_is_taken_once_until_others_change_it),
        T(test_a_map_is_taken_again_after_a_write_without_an_answer),
        T(test_a_take_that_fails_is_no_read_and_is_made_the_next_time),
        T(test_a_take_that_fails_leaves_its_turn_to_another_script),
        T(test_a_take_that_meets_changes_all_the_time_is_no_read),
        T(test_what_may_not_be_taken_is_read),
        T(test_nothing_is_taken_for_a_term_that_is_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
