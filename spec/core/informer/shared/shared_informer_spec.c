/* core/informer/shared/shared_informer.c: from deltas to the store and the calls. Histories are written as
 * support/history.h says: + initial, ? final state unknown, ~ resync. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/informer/support/informer_fixture.h"
#include "core/informer/support/objects.h"

/* --- V7: a replace against a store */

static void test_v7_a_list_into_an_empty_store(void **state)
{
    history.store = shared_informer_indexer(informer);
    replace("p1@1", "1");
    assert_history("add+ p1@1 (store 1)");
}

static void test_v7_an_empty_list_deletes_all_sorted_by_key(void **state)
{
    start_with("p3@2 p1@1", "1");
    history.store = shared_informer_indexer(informer);
    replace("", "2");
    assert_history("delete? p1@1 (store absent); delete? p3@2 (store absent)");
    assert_store("", "2");
}

static void test_v7_deletes_come_first_then_the_items_in_list_order(void **state)
{
    start_with("p1@1 p2@2 p3@3", "3");
    history.store = shared_informer_indexer(informer);
    replace("p1@4 p2@5 p4@6", "6");
    assert_history("delete? p3@3 (store absent); update p1@1 p1@4 (store 4); update p2@2 p2@5 (store 5); "
                   "add p4@6 (store 6)");
    assert_store("p1@4 p2@5 p4@6", "6");
}

/* A list without `refused` and, of the rest, `texts`. */
static void replace_refusing(const char *texts, const char *keys, size_t keys_len, bool unknown)
{
    size_t count;
    struct root **list = object_list(texts, &count);
    struct delta_refused *refused = NEW(struct delta_refused);
    buf_append(&refused->keys, keys, keys_len);
    refused->unknown = unknown;
    delta_fifo_replace(shared_informer_fifo(informer), "9", list, count, refused, 7);
    while (shared_informer_process(informer, 10)) continue;
}

static void test_what_a_list_has_but_was_refused_is_not_deleted(void **state)
{
    start_with("a@1 b@2 shop/c@3", "3");
    replace_refusing("a@1", "\0b\0shop\0c", sizeof "\0b\0shop\0c", false);
    assert_history("");
    assert_store("a@1 b@2 shop/c@3", "9");
}

static void test_nothing_is_deleted_when_the_key_of_what_was_refused_is_not_known(void **state)
{
    start_with("a@1 b@2", "3");
    replace_refusing("a@1", NULL, 0, true);
    assert_history("");
    assert_store("a@1 b@2", "9");
    replace("a@1", "10");
    assert_history("delete? b@2");
}

/* Q-9 */
static void test_b9_deletes_are_sorted_by_the_text_of_the_key(void **state)
{
    start_with("b/1@1 a/2@2 a-b/3@3 a/10@4", "4");
    replace("", "5");
    assert_history("delete? a-b/3@3; delete? a/10@4; delete? a/2@2; delete? b/1@1");
}

static void seen_by_lister(struct history *h, void *ctx)
{
    const struct indexer *store = ctx;
    assert_int_equal(indexer_count(store), 2);
    assert_non_null(indexer_get(store, STR(""), STR("b")));
    assert_non_null(indexer_get(store, STR(""), STR("c")));
    assert_string_equal(indexer_resource_version(store), "9");
}

static void test_q7_the_complete_store_is_swapped_before_the_first_call(void **state)
{
    start_with("a@1 b@2", "2");
    history.before = seen_by_lister;
    history.ctx = shared_informer_indexer(informer);
    replace("b@8 c@9", "9");
    assert_history("delete? a@1; update b@2 b@8; add c@9");
}

static void test_q7_a_key_named_twice_gives_two_adds_and_the_last_is_stored(void **state)
{
    start_with("", "1");
    replace("a@2 b@3 a@4", "4");
    assert_history("add a@2; add b@3; add a@4");
    assert_store("a@4 b@3", "4");
}

static void test_q7_a_known_key_named_twice_is_compared_with_the_old_store(void **state)
{
    start_with("a@1", "1");
    replace("a@2 a@1 a@3", "4");
    assert_history("update a@1 a@2; update a@1 a@3");
    assert_store("a@3", "4");
}

static void test_b4_unchanged_objects_of_a_list_call_nobody(void **state)
{
    start_with("a@1 b@2 c@3", "3");
    replace("a@1 b@2 c@4", "9");
    assert_history("update c@3 c@4");
    replace("a@1 b@2 c@4", "12");
    assert_history("");
    assert_store("a@1 b@2 c@4", "12");
}

static void test_b4_the_same_version_and_uid_are_unchanged_without_the_same_pointer(void **state)
{
    start_with("a@1", "1");
    struct root **list = malloc(sizeof *list);
    list[0] = object_with_labels("a@1", "{\"x\":\"y\"}");
    delta_fifo_replace(shared_informer_fifo(informer), "2", list, 1, NULL, 7);
    assert_history("");
}

static void test_q22_the_same_version_with_another_uid_is_an_update(void **state)
{
    start_with("a@1#u1", "1");
    replace("a@1#u2", "2");
    assert_history("update a@1 a@1");
}

static void test_objects_without_versions_are_compared_by_content(void **state)
{
    start_with("a", "1");
    struct root **list = malloc(sizeof *list);
    list[0] = object_with_labels("a", "{\"x\":\"y\"}");
    delta_fifo_replace(shared_informer_fifo(informer), "2", list, 1, NULL, 7);
    assert_history("update a@ a@");
    replace("a", "3");
    assert_history("update a@ a@");
    replace("a", "4");
    assert_history("");
}

/* --- V1, V2: what must hold of them is the outcome */

static void test_v1_outcomes(void **state)
{
    delta(DELTA_ADDED, "foo@2");
    replace("", "3");
    assert_history("add foo@2; delete? foo@2");
    delta(DELTA_ADDED, "foo@4");
    delta(DELTA_DELETED, "foo@4");
    replace("", "5");
    assert_history("add foo@4; delete foo@4");
    delta(DELTA_ADDED, "foo@6");
    replace("foo@6", "6");
    replace("foo@6", "6");
    replace("", "7");
    assert_history("add foo@6; delete? foo@6");
    delta(DELTA_ADDED, "foo@8");
    replace("", "9");
    replace("", "9");
    assert_history("add foo@8; delete? foo@8");
    delta(DELTA_ADDED, "foo@10");
    delta(DELTA_DELETED, "foo@10");
    delta(DELTA_ADDED, "foo@11");
    replace("", "12");
    assert_history("add foo@10; delete foo@10; add foo@11; delete? foo@11");
    delta_fifo_bookmark(shared_informer_fifo(informer), "123");
    replace("", "124");
    replace("", "124");
    assert_history("");
    assert_store("", "124");
}

static void know_foo_bar_baz(void)
{
    start_with("foo@5 bar@6 baz@7", "7");
}

static void test_v2_a_delete_before_a_list_is_no_tombstone(void **state)
{
    know_foo_bar_baz();
    delta(DELTA_DELETED, "baz@10");
    replace("foo@5", "11");
    assert_history("delete baz@10; delete? bar@6");
}

static void test_v2_the_last_known_object_is_the_newest_queued(void **state)
{
    know_foo_bar_baz();
    delta(DELTA_ADDED, "baz@10");
    replace("foo@5", "11");
    assert_history("update baz@7 baz@10; delete? bar@6; delete? baz@10");
}

static void test_v2_deleted_and_added_again_before_a_list(void **state)
{
    know_foo_bar_baz();
    delta(DELTA_DELETED, "bar@6");
    delta(DELTA_ADDED, "bar@100");
    replace("foo@5", "101");
    assert_history("delete bar@6; add bar@100; delete? bar@100; delete? baz@7");
}

static void test_v2_two_lists(void **state)
{
    know_foo_bar_baz();
    replace("bar@100 foo@5", "100");
    replace("foo@5", "101");
    assert_history("delete? baz@7; update bar@6 bar@100; delete? bar@100");
}

static void test_v2_from_an_empty_store(void **state)
{
    delta(DELTA_ADDED, "baz@10");
    replace("foo@5", "11");
    assert_history("add baz@10; delete? baz@10; add foo@5");
}

static void test_v2_a_delete_and_a_list_that_has_it_again(void **state)
{
    start_with("foo@1", "1");
    delta(DELTA_DELETED, "foo@1");
    replace("foo@2", "2");
    assert_history("delete foo@1; add foo@2");
}

static void test_v2_a_mixed_sequence_keeps_its_order(void **state)
{
    delta(DELTA_ADDED, "foo@10");
    delta(DELTA_UPDATED, "bar@15");
    delta(DELTA_ADDED, "qux@17");
    delta(DELTA_DELETED, "qux@18");
    delta(DELTA_DELETED, "baz@20");
    assert_history("add foo@10; add bar@15; add qux@17; delete qux@18; delete baz@20");
}

/* --- Q-11..Q-13, Q-19, S-10 */

static void test_q19_added_of_a_known_key_is_an_update_and_modified_of_an_unknown_one_an_add(void **state)
{
    start_with("a@1", "1");
    delta(DELTA_ADDED, "a@2");
    delta(DELTA_UPDATED, "b@3");
    assert_history("update a@1 a@2; add b@3");
    assert_store("a@2 b@3", "3");
}

static void test_q3_q19_a_delete_of_an_unknown_key_calls_the_handler(void **state)
{
    start_with("a@1", "1");
    delta(DELTA_DELETED, "b@5");
    assert_history("delete b@5");
    assert_store("a@1", "5");
}

static void test_q8_a_watched_delete_is_delivered_with_the_object_of_the_event(void **state)
{
    start_with("a@1", "1");
    delta(DELTA_DELETED, "a@9");
    assert_history("delete a@9");
}

static void test_b4_a_watch_that_repeats_what_is_known_calls_nobody(void **state)
{
    start_with("a@1 b@2", "2");
    delta(DELTA_ADDED, "a@1");
    delta(DELTA_ADDED, "b@2");
    assert_history("");
}

static void test_s10_the_store_version_follows_objects_lists_and_bookmarks(void **state)
{
    start_with("a@1", "7");
    assert_store("a@1", "7");
    delta(DELTA_UPDATED, "a@9");
    assert_store("a@9", "9");
    delta_fifo_bookmark(shared_informer_fifo(informer), "20");
    assert_store("a@9", "20");
    delta(DELTA_DELETED, "a@21");
    assert_store("", "21");
    delta(DELTA_ADDED, "n");
    assert_store("n@", "21");
}

static void test_q12_an_empty_first_list_is_synced_when_processed(void **state)
{
    replace("", "5");
    assert_false(shared_informer_has_synced(informer));
    assert_false(registration_has_synced(registration));
    process();
    assert_true(shared_informer_has_synced(informer));
    assert_true(registration_has_synced(registration));
    assert_int_equal(synced_calls, 1);
}

static void not_synced_yet(struct history *h, void *ctx)
{
    assert_false(shared_informer_has_synced(informer));
    assert_false(registration_has_synced(registration));
    assert_int_equal(synced_calls, 0);
}

/* I-7 */
static void test_v3_synced_only_after_the_last_call_of_the_first_list(void **state)
{
    history.before = not_synced_yet;
    replace("a@1 b@2", "2");
    assert_history("add+ a@1; add+ b@2");
    assert_true(registration_has_synced(registration));
    history.before = NULL;
    replace("", "3");
    process();
    assert_int_equal(synced_calls, 1);
}

static void test_q13_initial_is_only_the_first_list(void **state)
{
    replace("a@1", "1");
    delta(DELTA_ADDED, "b@2");
    replace("a@1 b@2 c@3", "3");
    assert_history("add+ a@1; add b@2; add c@3");
}

static void test_q11_objects_before_any_list_are_not_initial(void **state)
{
    delta(DELTA_ADDED, "a@1");
    assert_true(shared_informer_has_synced(informer));
    assert_history("add a@1");
    assert_int_equal(synced_calls, 1);
    replace("b@2", "2");
    assert_history("delete? a@1; add b@2");
}

static void test_processing_stops_at_the_limit_and_goes_on_later(void **state)
{
    replace("a@1", "1");
    for (int i = 0; i < 5; i++) delta(DELTA_ADDED, "b@2");
    assert_int_equal(shared_informer_process(informer, 4), 4);
    assert_int_equal(delta_fifo_len(shared_informer_fifo(informer)), 2);
    assert_int_equal(shared_informer_process(informer, 4), 2);
    assert_int_equal(shared_informer_process(informer, 4), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, informer_open, informer_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_v7_a_list_into_an_empty_store),
        TEST(test_v7_an_empty_list_deletes_all_sorted_by_key),
        TEST(test_v7_deletes_come_first_then_the_items_in_list_order),
        TEST(test_what_a_list_has_but_was_refused_is_not_deleted),
        TEST(test_nothing_is_deleted_when_the_key_of_what_was_refused_is_not_known),
        TEST(test_b9_deletes_are_sorted_by_the_text_of_the_key),
        TEST(test_q7_the_complete_store_is_swapped_before_the_first_call),
        TEST(test_q7_a_key_named_twice_gives_two_adds_and_the_last_is_stored),
        TEST(test_q7_a_known_key_named_twice_is_compared_with_the_old_store),
        TEST(test_b4_unchanged_objects_of_a_list_call_nobody),
        TEST(test_b4_the_same_version_and_uid_are_unchanged_without_the_same_pointer),
        TEST(test_q22_the_same_version_with_another_uid_is_an_update),
        TEST(test_objects_without_versions_are_compared_by_content),
        TEST(test_v1_outcomes),
        TEST(test_v2_a_delete_before_a_list_is_no_tombstone),
        TEST(test_v2_the_last_known_object_is_the_newest_queued),
        TEST(test_v2_deleted_and_added_again_before_a_list),
        TEST(test_v2_two_lists),
        TEST(test_v2_from_an_empty_store),
        TEST(test_v2_a_delete_and_a_list_that_has_it_again),
        TEST(test_v2_a_mixed_sequence_keeps_its_order),
        TEST(test_q19_added_of_a_known_key_is_an_update_and_modified_of_an_unknown_one_an_add),
        TEST(test_q3_q19_a_delete_of_an_unknown_key_calls_the_handler),
        TEST(test_q8_a_watched_delete_is_delivered_with_the_object_of_the_event),
        TEST(test_b4_a_watch_that_repeats_what_is_known_calls_nobody),
        TEST(test_s10_the_store_version_follows_objects_lists_and_bookmarks),
        TEST(test_q12_an_empty_first_list_is_synced_when_processed),
        TEST(test_v3_synced_only_after_the_last_call_of_the_first_list),
        TEST(test_q13_initial_is_only_the_first_list),
        TEST(test_q11_objects_before_any_list_are_not_initial),
        TEST(test_processing_stops_at_the_limit_and_goes_on_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
