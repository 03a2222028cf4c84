/* core/informer/shared/ranges.c: a cache that holds objects of some slots, as they are gained and lost,
 * whatever the reflector sends meanwhile. In histories "^" marks a gained object, "-" a lost one, and "<" a
 * change of one whose slot was lost since. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/informer/support/informer_fixture.h"
#include "informer/shared/ranges.h"

/* The slots of the namespaces that begin with these letters; the hash of "b" alone is in the slot of "a". */
static struct slot_set slots_of(const char *letters)
{
    static const char *const namespaces[] = {"apple", "banana", "cherry"};
    struct slot_set slots = {0};
    for (; *letters; letters++) slot_set_add(&slots, shard_slot(str_of(namespaces[*letters - 'a'])));
    return slots;
}

/* A list that was requested after the last gain, or `ago` gains before. */
static void list(const char *texts, int ago)
{
    delta_fifo_set_generation(shared_informer_fifo(informer),
                              shared_informer_ranges(informer)->generation - ago);
    replace(texts, "9");
}

static bool own(const char *letters)
{
    const struct slot_set slots = slots_of(letters);
    return ranges_set(shared_informer_ranges(informer), &slots);
}

static int open(void **state)
{
    informer_open(state);
    shared_informer_share(informer, SHARD_BY_NAMESPACE);
    assert_true(own("ab"));
    list("apple/x@1 banana/x@1 cherry/x@1", 0);
    assert_history("add+ apple/x@1; add+ banana/x@1");
    return 0;
}

static void test_objects_of_other_slots_are_dropped(void **state)
{
    delta(DELTA_ADDED, "cherry/y@2");
    delta(DELTA_UPDATED, "apple/x@3");
    delta(DELTA_DELETED, "cherry/x@4");
    assert_history("update apple/x@1 apple/x@3");
    assert_store("apple/x@3 banana/x@1", "4");
}

static void test_what_is_lost_goes_at_once_and_is_no_delete(void **state)
{
    delta(DELTA_UPDATED, "banana/x@2"); /* on its way */
    assert_false(own("a"));
    assert_true(ranges_are_losing(shared_informer_ranges(informer)));
    assert_true(shared_informer_has_work(informer));
    assert_history("delete- banana/x@1");
    assert_false(ranges_are_losing(shared_informer_ranges(informer)));
    assert_store("apple/x@1", "2");
}

static void test_what_is_gained_comes_with_a_list_that_began_later(void **state)
{
    assert_true(own("abc"));
    list("apple/x@1 banana/x@1 cherry/x@1", 1); /* began before */
    delta(DELTA_UPDATED, "cherry/x@2");
    assert_history("");
    list("apple/x@1 banana/x@1 cherry/x@3 cherry/y@3", 0);
    delta(DELTA_UPDATED, "cherry/y@4");
    assert_history("add^ cherry/x@3; add^ cherry/y@3; update cherry/y@3 cherry/y@4");
    delta(DELTA_ADDED, "cherry/z@5");
    assert_history("add cherry/z@5");
}

static void test_what_is_lost_and_gained_again_is_listed_anew(void **state)
{
    assert_false(own("a"));
    assert_true(own("ab"));
    delta(DELTA_UPDATED, "banana/x@2");
    list("apple/x@1 banana/x@2", 1);
    list("apple/x@1 banana/x@3", 0);
    assert_history("delete- banana/x@1; add^ banana/x@3");
}

static void test_slots_may_be_lost_in_the_middle_of_a_list(void **state)
{
    assert_true(own("abc"));
    list("apple/x@1 banana/x@1 cherry/x@2 cherry/y@2", 0);
    while (!history.text.len) shared_informer_process(informer, 1);
    assert_string_equal(history_take(&history), "add^ cherry/x@2");
    assert_false(own("a"));
    assert_history("add<^ cherry/y@2; delete- banana/x@1; delete- cherry/x@2; delete- cherry/y@2");
    assert_store("apple/x@1", "9");
}

static void test_what_the_server_no_longer_has_is_deleted(void **state)
{
    list("banana/x@1", 0);
    assert_history("delete? apple/x@1");
}

/* The watch is behind the list of gained slots, and the uid of a name that was used again has another slot.
 */
static void test_events_older_than_what_the_cache_has_are_dropped(void **state)
{
    assert_true(own("abc"));
    list("apple/x@6#new banana/x@1", 0);
    assert_history("update apple/x@1 apple/x@6");
    delta(DELTA_UPDATED, "apple/x@4#old");
    delta(DELTA_DELETED, "apple/x@5#old");
    assert_history("");
    delta(DELTA_DELETED, "apple/x@7#new");
    assert_history("delete apple/x@7");
}

static void doubt(void)
{
    ranges_doubt(shared_informer_ranges(informer));
}

static void test_what_is_in_doubt_is_lost_and_comes_back_without_a_list(void **state)
{
    doubt();
    delta(DELTA_UPDATED, "apple/x@2");
    delta(DELTA_DELETED, "banana/x@3");
    assert_history("delete- apple/x@1; delete- banana/x@1");
    assert_false(shared_informer_has_work(informer));
    assert_store("", "9");
    assert_false(own("ab"));
    assert_true(shared_informer_has_work(informer));
    assert_history("add^ apple/x@1; add^ banana/x@1; update apple/x@1 apple/x@2; delete banana/x@3");
    assert_store("apple/x@2", "3");
}

static void test_a_list_in_progress_counts_after_a_doubt(void **state)
{
    assert_true(own("abc"));
    doubt();
    assert_history("delete- apple/x@1; delete- banana/x@1");
    list("cherry/x@2 apple/x@1", 0);
    assert_false(own("abc"));
    assert_history("add^ apple/x@1; add^ banana/x@1; delete? banana/x@1; add^ cherry/x@2");
}

static void test_what_another_one_had_meanwhile_does_not_come_back(void **state)
{
    doubt();
    assert_history("delete- apple/x@1; delete- banana/x@1");
    delta(DELTA_UPDATED, "banana/x@2");
    assert_false(own("a"));
    assert_true(own("ab")); /* without a look in between */
    const struct slot_set missing = ranges_missing(shared_informer_ranges(informer)), banana = slots_of("b");
    assert_true(slot_set_equal(&missing, &banana));
    assert_history("add^ apple/x@1");
    list("apple/x@1 banana/x@3", 0);
    assert_history("add^ banana/x@3");
}

/* Before the objects were taken out, and while they are put back. */
static void test_doubts_may_follow_each_other_at_once(void **state)
{
    doubt();
    assert_false(own("ab"));
    doubt();
    assert_false(own("ab"));
    while (!strstr(history.text.data ? buf_text(&history.text) : "", "add^"))
        shared_informer_process(informer, 1);
    doubt();
    assert_false(own("a"));
    assert_history(
        "delete- apple/x@1; delete- banana/x@1; add^ apple/x@1; add<^ banana/x@1; delete- apple/x@1; "
        "delete- banana/x@1; add^ apple/x@1");
    assert_store("apple/x@1", "9");
}

/* Restorable objects go with it. */
static void test_a_cache_may_end_while_it_is_in_doubt(void **state)
{
    doubt();
    assert_history("delete- apple/x@1; delete- banana/x@1");
    assert_false(ranges_are_moving(shared_informer_ranges(informer)));
}

static void test_mirrors_lose_it_too(void **state)
{
    struct indexer *mirror = indexer_new();
    shared_informer_add_mirror(informer, mirror);
    assert_int_equal(indexer_count(mirror), 2);
    own("b");
    process();
    assert_int_equal(indexer_count(mirror), 1);
    shared_informer_remove_mirror(informer, mirror);
    indexer_free(mirror);
    history.text.len = 0;
}

static enum transform_result keep(void *ctx, struct root *given, struct root **out)
{
    *out = root_ref(given);
    return TRANSFORM_KEPT;
}

/* The transform takes several turns, in which the cache has no object yet. */
static void test_slots_are_there_once_their_list_is_transformed(void **state)
{
    const struct slot_set slots = slots_of("a");
    informer_open(state);
    shared_informer_set_transform(informer, &(struct transform){.fn = keep});
    shared_informer_share(informer, SHARD_BY_NAMESPACE);
    ranges_set(shared_informer_ranges(informer), &slots);
    list("apple/x@1 apple/y@1 apple/z@1", 0);
    shared_informer_process(informer, 1);
    assert_false(shared_informer_has_slot(informer, shard_slot(STR("apple"))));
    while (shared_informer_process(informer, 1) > 0) {}
    assert_true(shared_informer_has_slot(informer, shard_slot(STR("apple"))));
    assert_false(shared_informer_has_slot(informer, shard_slot(STR("cherry"))));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open, informer_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_objects_of_other_slots_are_dropped),
        TEST(test_what_is_lost_goes_at_once_and_is_no_delete),
        TEST(test_what_is_gained_comes_with_a_list_that_began_later),
        TEST(test_what_is_lost_and_gained_again_is_listed_anew),
        TEST(test_slots_may_be_lost_in_the_middle_of_a_list),
        TEST(test_what_the_server_no_longer_has_is_deleted),
        TEST(test_events_older_than_what_the_cache_has_are_dropped),
        TEST(test_what_is_in_doubt_is_lost_and_comes_back_without_a_list),
        TEST(test_a_list_in_progress_counts_after_a_doubt),
        TEST(test_what_another_one_had_meanwhile_does_not_come_back),
        TEST(test_doubts_may_follow_each_other_at_once),
        TEST(test_a_cache_may_end_while_it_is_in_doubt),
        TEST(test_mirrors_lose_it_too),
        cmocka_unit_test_teardown(test_slots_are_there_once_their_list_is_transformed, informer_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
