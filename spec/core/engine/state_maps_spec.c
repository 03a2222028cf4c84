/* core/engine/state_maps.c, state_map.c: writes of states of one ConfigMap, between the requests of others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "core/engine/support/map_bench.h"

/* --- what others have changed */

static void test_a_write_of_another_state_makes_no_change_known(void **state)
{
    struct map_bench *b = *state;
    take_both(b);
    change_from_outside(b, b->server.b, "bWluZQ==");
    start(b, STATE_WRITE, b->a, "new a", NULL);
    serve(b, OBJECT_PATCH);
    serve(b, OBJECT_GET);
    serve(b, OBJECT_PATCH);
    assert_ok(b);
    start(b, STATE_WRITE, b->b, "new b", NULL);
    serve(b, OBJECT_GET);
    assert_refused(b, "Conflict");
    assert_string_equal(b->server.a, "bmV3IGE=");
    assert_string_equal(b->server.b, "bWluZQ==");
}

static void test_a_read_of_another_state_makes_no_change_known(void **state)
{
    struct map_bench *b = *state;
    take_both(b);
    change_from_outside(b, b->server.b, "bWluZQ==");
    start(b, STATE_TAKE, b->a, NULL, NULL);
    serve(b, OBJECT_GET);
    serve(b, OBJECT_PATCH);
    assert_ok(b);
    start(b, STATE_WRITE, b->b, "new b", NULL);
    serve(b, OBJECT_GET);
    assert_refused(b, "Conflict");
    assert_string_equal(b->server.b, "bWluZQ==");
}

static void test_a_state_that_others_removed_is_not_written(void **state)
{
    struct map_bench *b = *state;
    take_both(b);
    change_from_outside(b, b->server.b, "");
    start(b, STATE_READ, b->a, NULL, NULL);
    serve(b, OBJECT_GET);
    start(b, STATE_WRITE, b->b, "new b", NULL);
    serve(b, OBJECT_GET);
    assert_refused(b, "Conflict");
}

static void test_writes_between_which_nobody_changes_anything_are_one_request_each(void **state)
{
    struct map_bench *b = *state;
    take_both(b);
    for (int i = 0; i < 2; i++) {
        start(b, STATE_WRITE, b->a, i ? "one" : "two", NULL);
        serve(b, OBJECT_PATCH);
        assert_ok(b);
        start(b, STATE_WRITE, b->b, i ? "one" : "two", NULL);
        serve(b, OBJECT_PATCH);
        assert_ok(b);
    }
    assert_int_equal(b->server.version, 6);
}

/* --- requests that come late */

static void test_a_first_write_that_comes_late_is_refused(void **state)
{
    static const char late[] = "{\"binaryData\":{\"a\":\"bGF0ZQ==\"}}";
    const struct object_request request = {.verb = OBJECT_CREATE, .body = STR(late)};
    struct map_bench *b = *state;
    start(b, STATE_TAKE, b->a, NULL, NULL);
    serve(b, OBJECT_GET);
    serve(b, OBJECT_CREATE);
    assert_ok(b);
    assert_false(b->found);
    assert_int_equal(execute(&b->server, &request), 409);
    start(b, STATE_WRITE, b->a, "first", NULL);
    serve(b, OBJECT_PATCH);
    assert_ok(b);
    assert_string_equal(b->server.a, "Zmlyc3Q=");
}

static void test_a_first_write_that_comes_between_is_read(void **state)
{
    struct map_bench *b = *state;
    start(b, STATE_TAKE, b->a, NULL, NULL);
    serve(b, OBJECT_GET);
    change_from_outside(b, b->server.a, "bGF0ZQ==");
    serve(b, OBJECT_CREATE);
    serve(b, OBJECT_GET);
    serve(b, OBJECT_PATCH);
    assert_ok(b);
    assert_true(b->found);
    assert_string_equal(b->text, "late");
}

/* One without a namespace, for instance. */
static void test_what_cannot_be_made_is_told_by_a_write(void **state)
{
    struct map_bench *b = *state;
    start(b, STATE_TAKE, b->a, NULL, NULL);
    serve(b, OBJECT_GET);
    refuse(b, OBJECT_CREATE, 404);
    assert_ok(b);
    assert_false(b->found);
    start(b, STATE_WRITE, b->a, "first", NULL);
    refuse(b, OBJECT_CREATE, 404);
    assert_false(b->ok);
    assert_string_equal(b->err.text, "refused: 404");
}

/* Two tries were sent, and the server takes the first one after it has answered a read before the second. */
static void test_a_try_of_our_own_that_comes_late_is_known(void **state)
{
    struct map_bench *b = *state;
    take_both(b);
    start(b, STATE_WRITE, b->a, "one", NULL);
    struct object_request *late = object_request_copy(under_way());
    refuse(b, OBJECT_PATCH, 0);
    start(b, STATE_WRITE, b->a, "two", NULL);
    serve(b, OBJECT_GET);
    assert_int_equal(execute(&b->server, late), 200);
    serve(b, OBJECT_PATCH);
    serve(b, OBJECT_GET);
    serve(b, OBJECT_PATCH);
    assert_ok(b);
    assert_string_equal(b->server.a, "dHdv");
    object_request_free(late);
}

/* It was never there, so what is there now is somebody else's. */
static void test_a_try_that_was_refused_is_not_taken_for_what_others_stored(void **state)
{
    struct map_bench *b = *state;
    take_both(b);
    start(b, STATE_WRITE, b->a, "one", NULL);
    refuse(b, OBJECT_PATCH, 403);
    assert_false(b->ok);
    change_from_outside(b, b->server.a, "b25l");
    start(b, STATE_WRITE, b->a, "two", NULL);
    serve(b, OBJECT_GET);
    assert_refused(b, "Conflict");
    assert_string_equal(b->server.a, "b25l");
}

/* Somebody else had changed another state before: it was not there either. */
static void test_a_try_that_was_outdated_is_not_taken_for_what_others_stored(void **state)
{
    struct map_bench *b = *state;
    take_both(b);
    change_from_outside(b, b->server.b, "bWluZQ==");
    start(b, STATE_WRITE, b->a, "one", NULL);
    serve(b, OBJECT_PATCH);
    serve(b, OBJECT_GET);
    refuse(b, OBJECT_PATCH, 403);
    assert_false(b->ok);
    change_from_outside(b, b->server.a, "b25l");
    start(b, STATE_WRITE, b->a, "two", NULL);
    serve(b, OBJECT_GET);
    assert_refused(b, "Conflict");
    assert_string_equal(b->server.a, "b25l");
}

/* A request whose connection ended is sent again on another one: what outdates it is itself. */
static void test_a_try_that_is_outdated_by_itself_is_known(void **state)
{
    struct map_bench *b = *state;
    take_both(b);
    start(b, STATE_WRITE, b->a, "one", NULL);
    assert_int_equal(execute(&b->server, under_way()), 200);
    serve(b, OBJECT_PATCH);
    serve(b, OBJECT_GET);
    serve(b, OBJECT_PATCH);
    assert_ok(b);
    assert_string_equal(b->server.a, "b25l");
}

/* The server may still take the one before, which says the same. */
static void test_a_try_without_an_answer_stays_known_when_the_next_one_is_refused(void **state)
{
    struct map_bench *b = *state;
    take_both(b);
    start(b, STATE_WRITE, b->a, "one", NULL);
    struct object_request *late = object_request_copy(under_way());
    refuse(b, OBJECT_PATCH, 0);
    start(b, STATE_WRITE, b->a, "one", NULL);
    serve(b, OBJECT_GET);
    refuse(b, OBJECT_PATCH, 403);
    assert_int_equal(execute(&b->server, late), 200);
    start(b, STATE_WRITE, b->a, "two", NULL);
    serve(b, OBJECT_GET);
    serve(b, OBJECT_PATCH);
    assert_ok(b);
    assert_string_equal(b->server.a, "dHdv");
    object_request_free(late);
}

/* Its copy was made, and it is gone: not because of somebody else. */
static void test_a_state_that_was_moved_without_an_answer_is_aside(void **state)
{
    struct map_bench *b = *state;
    take_both(b);
    start(b, STATE_MOVE_ASIDE, b->a, NULL, NULL);
    serve(b, OBJECT_GET);
    refuse(b, OBJECT_CREATE, 409);
    serve(b, OBJECT_CREATE);
    lose(b, OBJECT_PATCH);
    assert_false(b->ok);
    assert_string_equal(b->server.a, "");
    start(b, STATE_MOVE_ASIDE, b->a, NULL, NULL);
    serve(b, OBJECT_GET);
    assert_ok(b);
    assert_string_equal(b->where, "configmaps ops/kubelua-state-it-aside-2");
    start(b, STATE_WRITE, b->a, "new a", NULL);
    serve(b, OBJECT_PATCH);
    assert_ok(b);
}

#define T(name) cmocka_unit_test_setup_teardown(name, map_bench_setup, map_bench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_a_write_of_another_state_makes_no_change_known),
        T(test_a_read_of_another_state_makes_no_change_known),
        T(test_a_state_that_others_removed_is_not_written),
        T(test_writes_between_which_nobody_changes_anything_are_one_request_each),
        T(test_a_first_write_that_comes_late_is_refused),
        T(test_a_first_write_that_comes_between_is_read),
        T(test_what_cannot_be_made_is_told_by_a_write),
        T(test_a_try_of_our_own_that_comes_late_is_known),
        T(test_a_try_that_was_refused_is_not_taken_for_what_others_stored),
        T(test_a_try_that_was_outdated_is_not_taken_for_what_others_stored),
        T(test_a_try_that_is_outdated_by_itself_is_known),
        T(test_a_try_without_an_answer_stays_known_when_the_next_one_is_refused),
        T(test_a_state_that_was_moved_without_an_answer_is_aside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
