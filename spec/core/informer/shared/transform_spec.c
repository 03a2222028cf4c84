/* core/informer/shared/transform.c: what objects become before they are stored. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/informer/support/informer_fixture.h"
#include "core/informer/support/objects.h"
#include "object/value/value.h"

static int calls;
static bool drop_y, fail_y; /* what happens to objects called y */

/* The same object with a label, so that it is another one. */
static enum transform_result mark(void *ctx, struct root *given, struct root **out)
{
    struct text text;
    struct buf words = {0};
    bool is_y = str_is(root_name(given, &text), "y");
    calls++;
    *out = NULL;
    if (is_y && (drop_y || fail_y)) return drop_y ? TRANSFORM_DROPPED : TRANSFORM_FAILED;
    object_describe(given, &words);
    *out = object_with_labels(buf_text(&words), "{\"marked\":\"yes\"}");
    buf_clear(&words);
    return TRANSFORM_KEPT;
}

static int setup(void **state)
{
    calls = 0;
    drop_y = fail_y = false;
    informer_open(state);
    shared_informer_set_transform(informer, &(struct transform){.fn = mark});
    return 0;
}

static bool count_marked(void *ctx, struct root *root)
{
    *(size_t *)ctx += value_type(value_field(root_labels(root), STR("marked"))) == VALUE_STRING;
    return true;
}

/* All of the store, and all of it transformed. */
static void assert_marked(const char *expected, const char *version)
{
    size_t marked = 0;
    assert_store(expected, version);
    indexer_each(shared_informer_indexer(informer), count_marked, &marked);
    assert_int_equal(marked, indexer_count(shared_informer_indexer(informer)));
}

static void test_q4_lists_and_events_are_transformed_before_they_are_stored(void **state)
{
    replace("a/x@1 a/y@2", "3");
    delta(DELTA_ADDED, "a/z@4");
    delta(DELTA_UPDATED, "a/x@5");
    assert_history("add+ a/x@1; add+ a/y@2; add a/z@4; update a/x@1 a/x@5");
    assert_marked("a/x@5 a/y@2 a/z@4", "5");
    delta(DELTA_DELETED, "a/x@6");
    assert_history("delete a/x@6");
    assert_int_equal(calls, 5);
}

static void test_r35_a_version_is_transformed_once(void **state)
{
    replace("a/x@1 a/y@2", "3");
    process();
    assert_int_equal(calls, 2);
    delta(DELTA_UPDATED, "a/x@1");
    replace("a/x@1 a/y@4", "5"); /* a relist */
    delta_fifo_resync(shared_informer_fifo(informer), 1);
    assert_history("add+ a/x@1; add+ a/y@2; update a/y@2 a/y@4");
    assert_int_equal(calls, 3);
    assert_marked("a/x@1 a/y@4", "5");
}

static void test_q4_a_failure_costs_that_object_only(void **state)
{
    fail_y = true;
    replace("a/x@1 a/y@2 a/z@3", "3");
    assert_history("add+ a/x@1; add+ a/z@3");
    delta(DELTA_UPDATED, "a/y@4");
    assert_history("");
    assert_marked("a/x@1 a/z@3", "4");
}

static void test_q4_what_is_known_of_an_object_that_fails_stays(void **state)
{
    replace("a/x@1 a/y@2", "3");
    process();
    fail_y = true;
    delta(DELTA_UPDATED, "a/y@4");
    replace("a/x@1 a/y@5", "6");
    assert_history("add+ a/x@1; add+ a/y@2");
    assert_marked("a/x@1 a/y@2", "6");
    fail_y = false;
    delta(DELTA_UPDATED, "a/y@7");
    assert_history("update a/y@2 a/y@7");
}

static void test_what_is_not_wanted_is_as_if_it_were_not_there(void **state)
{
    drop_y = true;
    replace("a/x@1 a/y@2", "3");
    delta(DELTA_UPDATED, "a/y@4");
    assert_history("add+ a/x@1");
    drop_y = false;
    delta(DELTA_UPDATED, "a/y@5");
    assert_history("add a/y@5");
    drop_y = true;
    delta(DELTA_UPDATED, "a/y@6");
    delta(DELTA_DELETED, "a/y@7");
    assert_history("delete a/y@5");
    assert_marked("a/x@1", "7"); /* the version moves on whatever becomes of the object */
    assert_int_equal(shared_informer_transform_counts(informer)->dropped, 4);
}

static void test_what_a_relist_no_longer_wants_leaves_the_store(void **state)
{
    replace("a/x@1 a/y@2", "3");
    process();
    drop_y = true;
    replace("a/x@1 a/y@4", "5");
    assert_history("add+ a/x@1; add+ a/y@2; delete? a/y@2");
    assert_marked("a/x@1", "5");
}

static void test_a_delete_is_delivered_also_when_its_last_state_fails(void **state)
{
    replace("a/y@2", "3");
    process();
    fail_y = true;
    delta(DELTA_DELETED, "a/y@4");
    assert_history("add+ a/y@2; delete a/y@2");
    assert_int_equal(shared_informer_transform_counts(informer)->failed, 1);
    delta(DELTA_DELETED, "a/y@5"); /* of one that nobody was told of */
    assert_history("");
    assert_store("", "5");
}

/* --- in slices */

static void test_v7_a_list_is_transformed_in_slices_and_takes_effect_in_the_store_at_once(void **state)
{
    struct history late = {0};
    start_with("a@1 b@2", "2");
    replace("b@3 c@4 d@5", "5");
    delta(DELTA_UPDATED, "d@6");
    assert_int_equal(shared_informer_process(informer, 2), 2);
    assert_int_equal(calls, 4);
    assert_true(shared_informer_has_work(informer));
    assert_int_equal(indexer_count(shared_informer_indexer(informer)), 2);
    assert_string_equal(indexer_resource_version(shared_informer_indexer(informer)), "2");
    assert_string_equal(history_take(&history), "");
    add_history(&late); /* between two slices: the cache as it was, and then all of the list */
    assert_int_equal(shared_informer_process(informer, 2), 2);
    assert_string_equal(history_take(&late), "add+ a@1; add+ b@2");
    assert_int_equal(shared_informer_process(informer, 1), 1);
    assert_int_equal(indexer_count(shared_informer_indexer(informer)), 3);
    assert_string_equal(indexer_resource_version(shared_informer_indexer(informer)), "5");
    assert_history("delete? a@1; update b@2 b@3; add c@4; add d@5; update d@5 d@6");
    assert_string_equal(history_take(&late), "delete? a@1; update b@2 b@3; add c@4; add d@5; update d@5 d@6");
    assert_marked("b@3 c@4 d@6", "6");
    history_clear(&late);
}

static int left;

static bool puts_off(void *ctx)
{
    return left-- <= 0;
}

/* Also a single change, which would be transformed when it is taken. */
static void test_what_waits_for_a_turn_goes_on_where_it_was(void **state)
{
    shared_informer_set_transform(informer, &(struct transform){.fn = mark, .later = puts_off});
    left = 3;
    replace("a@1 b@2 c@3 d@4", "5");
    delta(DELTA_UPDATED, "d@6");
    assert_int_equal(shared_informer_process(informer, 10), 3);
    assert_int_equal(calls, 3);
    assert_false(shared_informer_has_work(informer)); /* none that can be done now */
    assert_int_equal(indexer_count(shared_informer_indexer(informer)), 0);
    left = 5;
    assert_int_equal(shared_informer_process(informer, 10), 5);
    assert_history("add+ a@1; add+ b@2; add+ c@3; add+ d@4");
    left = 100;
    assert_true(shared_informer_has_work(informer));
    process();
    assert_history("update d@4 d@6");
    assert_marked("a@1 b@2 c@3 d@6", "6");
}

static void test_v3_it_is_not_synced_while_its_first_list_is_transformed(void **state)
{
    replace("a@1 b@2", "2");
    for (int i = 0; i < 3; i++) {
        assert_false(shared_informer_has_synced(informer));
        assert_int_equal(shared_informer_process(informer, 1), 1);
    }
    assert_int_equal(synced_calls, 0);
    assert_history("add+ a@1; add+ b@2");
    assert_int_equal(synced_calls, 1);
}

static void test_a_list_that_comes_while_another_is_transformed_follows_it(void **state)
{
    replace("a@1 y@2 c@3", "3");
    assert_int_equal(shared_informer_process(informer, 2), 2);
    replace("c@3 d@4", "4");
    assert_history("add+ a@1; add+ y@2; add+ c@3; delete? a@1; delete? y@2; add d@4");
    assert_int_equal(calls, 4); /* of c, which did not change, once */
    assert_marked("c@3 d@4", "4");
}

static void test_slices_of_a_list_of_which_some_objects_fail_or_are_not_wanted(void **state)
{
    start_with("y@1", "1");
    fail_y = true;
    replace("a@2 y@3 b@4", "4");
    while (shared_informer_process(informer, 1) > 0) continue;
    assert_history("add a@2; add b@4");
    assert_marked("y@1 a@2 b@4", "4");
    fail_y = false;
    drop_y = true;
    replace("a@2 y@5 b@6", "6");
    while (shared_informer_process(informer, 1) > 0) continue;
    assert_history("delete? y@1; update b@4 b@6");
    replace("y@7", "7");
    while (shared_informer_process(informer, 1) > 0) continue;
    assert_history("delete? a@2; delete? b@6");
    assert_store("", "7");
}

static void test_an_informer_may_end_while_a_list_is_transformed(void **state)
{
    drop_y = true;
    start_with("a@1", "1");
    replace("y@2 b@3 c@4", "4");
    delta(DELTA_ADDED, "d@5");
    assert_int_equal(shared_informer_process(informer, 2), 2); /* teardown counts the references */
    assert_int_equal(calls, 3);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, informer_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_q4_lists_and_events_are_transformed_before_they_are_stored),
        TEST(test_r35_a_version_is_transformed_once),
        TEST(test_q4_a_failure_costs_that_object_only),
        TEST(test_q4_what_is_known_of_an_object_that_fails_stays),
        TEST(test_what_is_not_wanted_is_as_if_it_were_not_there),
        TEST(test_what_a_relist_no_longer_wants_leaves_the_store),
        TEST(test_a_delete_is_delivered_also_when_its_last_state_fails),
        TEST(test_v7_a_list_is_transformed_in_slices_and_takes_effect_in_the_store_at_once),
        TEST(test_what_waits_for_a_turn_goes_on_where_it_was),
        TEST(test_v3_it_is_not_synced_while_its_first_list_is_transformed),
        TEST(test_a_list_that_comes_while_another_is_transformed_follows_it),
        TEST(test_slices_of_a_list_of_which_some_objects_fail_or_are_not_wanted),
        TEST(test_an_informer_may_end_while_a_list_is_transformed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
