/* core/informer/reflect/delta_fifo.c: order, batches, the first list, closing. Written as V5 of the contract.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/informer/support/deltas.h"
#include "core/informer/support/objects.h"
#include "informer/reflect/delta_fifo.h"

static struct delta_fifo *fifo;
static int woken;

static void on_ready(void *ctx)
{
    woken++;
}

static int setup(void **state)
{
    objects_open();
    woken = 0;
    fifo = delta_fifo_new(on_ready, NULL);
    return 0;
}

static int teardown(void **state)
{
    delta_fifo_free(fifo);
    objects_close();
    return 0;
}

static void add(const char *text)
{
    delta_fifo_add(fifo, DELTA_ADDED, object(text), 7);
}

static void replace(const char *texts, const char *version)
{
    size_t count;
    struct root **list = object_list(texts, &count);
    delta_fifo_replace(fifo, version, list, count, NULL, 7);
}

/* Takes at most `max` and releases them. */
static const char *pop(size_t max)
{
    return deltas_pop(fifo, max);
}

/* All that waits, batch by batch. */
static void assert_popped(const char *expected)
{
    struct buf all = {0};
    while (delta_fifo_len(fifo) > 0) buf_printf(&all, "%s%s", all.len ? "; " : "", pop(1000));
    assert_string_equal(buf_text(&all), expected);
    buf_clear(&all);
}

/* */
static void test_v5_an_empty_replace_is_one_delta(void **state)
{
    replace("", "123");
    assert_popped("ReplacedAll+(123)");
}

static void test_v5_a_replace_comes_behind_what_was_added(void **state)
{
    add("foo@2");
    replace("", "123");
    assert_popped("Added foo@2; ReplacedAll(123)");
}

static void test_v5_replaces_are_not_merged(void **state)
{
    add("foo@1");
    replace("foo@1", "10");
    replace("foo@1", "20");
    replace("", "56");
    assert_popped("Added foo@1; ReplacedAll(10, foo@1); ReplacedAll(20, foo@1); ReplacedAll(56)");
}

static void test_v5_a_bookmark_is_a_delta_of_its_own(void **state)
{
    delta_fifo_bookmark(fifo, "123");
    replace("", "1234");
    assert_popped("Bookmark(123); ReplacedAll+(1234)");
}

static void test_v5_a_resync_is_one_delta(void **state)
{
    delta_fifo_resync(fifo, 0);
    assert_popped("SyncAll");
    add("foo@1");
    delta_fifo_resync(fifo, 0);
    assert_popped("Added foo@1; SyncAll");
}

/* A consumer for which one takes longer than its period would never see anything else. */
static void test_a_resync_that_waits_is_that_of_the_last_instant(void **state)
{
    struct delta *batch;
    add("foo@1");
    delta_fifo_resync(fifo, 1000);
    add("foo@2");
    delta_fifo_resync(fifo, 2000);
    assert_int_equal(delta_fifo_take(fifo, 10, &batch), 3);
    assert_int_equal(batch[1].type, DELTA_SYNC_ALL);
    assert_int_equal(batch[1].tick_ms, 2000);
    delta_fifo_resync(fifo, 3000); /* that one is being processed */
    delta_fifo_release(fifo, batch, 3);
    add("foo@4");
    delta_fifo_resync(fifo, 4000);
    assert_popped("SyncAll; Added foo@4");
    delta_fifo_resync(fifo, 5000);
    assert_popped("SyncAll");
}

static void test_q1_order_is_kept_across_keys_and_nothing_is_merged(void **state)
{
    const char *const texts[] = {"foo@10", "bar@1", "foo@11", "foo@13", "zab@30"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) add(texts[i]);
    assert_string_equal(pop(1), "Added foo@10");
    add("foo@14");
    assert_popped("Added bar@1; Added foo@11; Added foo@13; Added zab@30; Added foo@14");
}

static void test_q3_a_delete_of_a_key_never_seen_is_queued(void **state)
{
    add("foo@10");
    delta_fifo_add(fifo, DELTA_UPDATED, object("bar@15"), 1);
    delta_fifo_add(fifo, DELTA_DELETED, object("baz@20"), 1);
    assert_popped("Added foo@10; Updated bar@15; Deleted baz@20");
}

static void test_a_batch_has_at_most_as_many_as_requested(void **state)
{
    add("a@1");
    add("b@1");
    add("c@1");
    assert_string_equal(pop(2), "Added a@1; Added b@1");
    assert_int_equal(delta_fifo_len(fifo), 1);
    assert_string_equal(pop(2), "Added c@1");
    assert_string_equal(pop(2), "");
}

static void test_q14_a_batch_ends_with_the_first_list(void **state)
{
    delta_fifo_bookmark(fifo, "1");
    replace("a@1", "5");
    add("b@6");
    assert_string_equal(pop(1000), "Bookmark(1); ReplacedAll+(5, a@1)");
    assert_string_equal(pop(1000), "Added b@6");
    replace("a@1", "9");
    add("b@10");
    assert_string_equal(pop(1000), "ReplacedAll(9, a@1); Added b@10");
}

static void test_v3_nothing_is_not_synced(void **state)
{
    assert_false(delta_fifo_has_synced(fifo));
    delta_fifo_bookmark(fifo, "5");
    delta_fifo_resync(fifo, 0);
    assert_false(delta_fifo_has_synced(fifo));
    assert_popped("Bookmark(5); SyncAll");
    assert_false(delta_fifo_has_synced(fifo));
}

static void test_q11_v3_an_object_without_a_list_is_synced_at_once(void **state)
{
    add("a@1");
    assert_true(delta_fifo_has_synced(fifo));
}

static void test_q12_v3_an_empty_first_list_is_synced_when_it_was_processed(void **state)
{
    struct delta *batch;
    replace("", "123");
    assert_false(delta_fifo_has_synced(fifo));
    assert_int_equal(delta_fifo_take(fifo, 10, &batch), 1);
    assert_false(delta_fifo_has_synced(fifo));
    delta_fifo_release(fifo, batch, 1);
    assert_true(delta_fifo_has_synced(fifo));
}

static void test_q12_what_was_queued_before_the_first_list_counts(void **state)
{
    delta_fifo_bookmark(fifo, "1");
    replace("a@1 b@1", "5");
    assert_string_equal(pop(1), "Bookmark(1)");
    assert_false(delta_fifo_has_synced(fifo));
    assert_string_equal(pop(1), "ReplacedAll+(5, a@1 b@1)");
    assert_true(delta_fifo_has_synced(fifo));
}

static void test_q13_only_the_first_list_is_initial(void **state)
{
    replace("a@1", "5");
    replace("a@1", "6");
    assert_popped("ReplacedAll+(5, a@1); ReplacedAll(6, a@1)");
}

static void test_the_consumer_is_woken_only_when_the_queue_was_empty(void **state)
{
    add("a@1");
    add("b@1");
    assert_int_equal(woken, 1);
    pop(1);
    add("c@1");
    assert_int_equal(woken, 1);
    pop(10);
    assert_int_equal(delta_fifo_len(fifo), 1);
    pop(10);
    assert_int_equal(delta_fifo_len(fifo), 0);
    add("d@1");
    assert_int_equal(woken, 2);
}

static int many;

static void on_many(void *ctx)
{
    many++;
}

static void test_the_consumer_is_notified_once_of_many_deltas(void **state)
{
    many = 0;
    delta_fifo_set_ready(fifo, on_ready, on_many, NULL);
    for (int i = 0; i < DELTA_FIFO_MANY; i++) add("a@1");
    assert_int_equal(many, 0);
    for (int i = 0; i < DELTA_FIFO_MANY; i++) add("a@1");
    assert_int_equal(many, 1);
    assert_int_equal(woken, 1);
    pop(DELTA_FIFO_MANY * 2);
    for (int i = 0; i <= DELTA_FIFO_MANY; i++) add("a@1");
    assert_int_equal(many, 2);
    assert_int_equal(woken, 2);
}

static void test_the_length_counts_what_was_not_taken_on_both_sides(void **state)
{
    for (int i = 0; i < 5; i++) add("a@1");
    pop(2);
    for (int i = 0; i < 4; i++) add("b@1");
    assert_int_equal(delta_fifo_len(fifo), 7);
}

static void test_q17_after_closing_what_is_queued_can_be_taken_and_nothing_comes_in(void **state)
{
    add("a@1");
    delta_fifo_close(fifo);
    add("b@1");
    replace("c@1 d@1", "9");
    delta_fifo_bookmark(fifo, "10");
    assert_popped("Added a@1");
}

static void test_what_is_left_is_released_with_the_queue(void **state)
{
    add("a@1");
    add("b@1");
    add("c@1");
    pop(1);
    replace("d@1 e@1", "9"); /* teardown counts the references */
}

static void test_a_long_burst_comes_out_completely(void **state)
{
    enum { N = 20000 };
    delta_fifo_set_mark(fifo, N);
    struct root *one = object("a@1");
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++)
            delta_fifo_add(fifo, i % 2 ? DELTA_UPDATED : DELTA_ADDED, root_ref(one), i);
        struct delta *batch;
        int64_t seen = 0;
        size_t count;
        while ((count = delta_fifo_take(fifo, 777, &batch)) > 0) {
            for (size_t i = 0; i < count; i++) assert_int_equal(batch[i].received_us, seen++);
            delta_fifo_release(fifo, batch, count);
        }
        assert_int_equal(seen, N);
    }
    root_unref(one);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_v5_an_empty_replace_is_one_delta),
        TEST(test_v5_a_replace_comes_behind_what_was_added),
        TEST(test_v5_replaces_are_not_merged),
        TEST(test_v5_a_bookmark_is_a_delta_of_its_own),
        TEST(test_v5_a_resync_is_one_delta),
        TEST(test_a_resync_that_waits_is_that_of_the_last_instant),
        TEST(test_q1_order_is_kept_across_keys_and_nothing_is_merged),
        TEST(test_q3_a_delete_of_a_key_never_seen_is_queued),
        TEST(test_a_batch_has_at_most_as_many_as_requested),
        TEST(test_q14_a_batch_ends_with_the_first_list),
        TEST(test_v3_nothing_is_not_synced),
        TEST(test_q11_v3_an_object_without_a_list_is_synced_at_once),
        TEST(test_q12_v3_an_empty_first_list_is_synced_when_it_was_processed),
        TEST(test_q12_what_was_queued_before_the_first_list_counts),
        TEST(test_q13_only_the_first_list_is_initial),
        TEST(test_the_consumer_is_notified_once_of_many_deltas),
        TEST(test_the_consumer_is_woken_only_when_the_queue_was_empty),
        TEST(test_the_length_counts_what_was_not_taken_on_both_sides),
        TEST(test_q17_after_closing_what_is_queued_can_be_taken_and_nothing_comes_in),
        TEST(test_what_is_left_is_released_with_the_queue),
        TEST(test_a_long_burst_comes_out_completely),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
