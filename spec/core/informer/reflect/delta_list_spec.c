/* core/informer/reflect/delta_list.c through the queue: what becomes of deltas above the mark (better than
 * Texts as in support/deltas.h: * stands for several, ^ a delete that swallowed its put. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/metrics.h"
#include "core/informer/support/deltas.h"
#include "core/informer/support/objects.h"

static struct delta_fifo *fifo;

static void on_ready(void *ctx) {}

/* A mark of one: two deltas are too many. */
static int setup(void **state)
{
    objects_open();
    fifo = delta_fifo_new(on_ready, NULL);
    delta_fifo_set_mark(fifo, 1);
    return 0;
}

static int teardown(void **state)
{
    delta_fifo_free(fifo);
    objects_close();
    return 0;
}

/* "+a@1 =a@2 -a@3": added, updated, deleted. */
static void put(const char *texts)
{
    struct str rest = str_of(texts), part;
    while (rest.p && str_cut(&rest, ' ', &part)) {
        char name[40];
        snprintf(name, sizeof name, "%.*s", (int)part.n - 1, part.p + 1);
        enum delta_type type = *part.p == '+' ? DELTA_ADDED : *part.p == '=' ? DELTA_UPDATED : DELTA_DELETED;
        delta_fifo_add(fifo, type, object(name), 7);
    }
}

static void replace(const char *texts, const char *version)
{
    size_t count;
    struct root **list = object_list(texts, &count);
    delta_fifo_replace(fifo, version, list, count, NULL, 7);
}

static void assert_popped(const char *expected)
{
    assert_string_equal(deltas_pop(fifo, 1000), expected);
    assert_int_equal(delta_fifo_len(fifo), 0);
}

static void test_q1_the_rules_for_two_deltas_of_a_key(void **state)
{
    static const struct {
        const char *in, *out;
    } rules[] = {
        {"+a@1 =a@2", "Added* a@2; Bookmark(2)"},           {"=a@1 =a@2", "Updated* a@2; Bookmark(2)"},
        {"+a@1 -a@2", "Deleted*^ a@2; Bookmark(2)"},        {"=a@1 -a@2", "Deleted*^ a@2; Bookmark(2)"},
        {"-a@1 +a@2", "Updated* a@2; Bookmark(2)"},         {"-a@1 -a@2", "Deleted* a@2; Bookmark(2)"},
        {"+a@1 +a@2", "Added* a@2; Bookmark(2)"},           {"-a@1 =a@2", "Updated* a@2; Bookmark(2)"},
        {"=a@1 +a@2", "Updated* a@2; Bookmark(2)"},         {"+a@1 -a@2 +a@3", "Updated* a@3; Bookmark(3)"},
        {"-a@1 +a@2 -a@3", "Deleted*^ a@3; Bookmark(3)"},   {"+a@1 -a@2 -a@3", "Deleted*^ a@3; Bookmark(3)"},
        {"+a@1 =a@2 =a@3 =a@4", "Added* a@4; Bookmark(4)"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        put(rules[i].in);
        assert_popped(rules[i].out);
    }
}

static void test_below_the_mark_nothing_is_merged(void **state)
{
    delta_fifo_set_mark(fifo, 3);
    put("+a@1 =a@2 =a@3");
    assert_popped("Added a@1; Updated a@2; Updated a@3");
    put("+a@1 =a@2 =a@3 =a@4");
    assert_popped("Added* a@4; Bookmark(4)");
}

static void
test_a_delta_that_others_go_into_keeps_its_place_and_the_last_version_is_told_at_the_end(void **state)
{
    put("+a@1 +b@2 =a@3 +c@4 =b@5");
    assert_popped("Added* a@3; Added* b@5; Added c@4; Bookmark(5)");
    put("+a@1 +b@2 =a@3 +c@4");
    assert_popped("Added* a@3; Added b@2; Added c@4");
}

static void test_memory_is_bounded_by_the_number_of_keys(void **state)
{
    char text[40];
    delta_fifo_set_mark(fifo, 100);
    for (int i = 0; i < 20000; i++) {
        snprintf(text, sizeof text, "=k%d@%d", i % 3000, i + 1);
        put(text);
        if (i % 7 == 0) delta_fifo_bookmark(fifo, text + 1);
        if (i % 11 == 0) delta_fifo_resync(fifo, i);
    }
    assert_true(delta_fifo_len(fifo) <= 2 * 3000 + 2);
    struct delta *batch;
    size_t count = delta_fifo_take(fifo, SIZE_MAX, &batch), of_objects = 0;
    for (size_t i = 0; i < count; i++) of_objects += batch[i].object != NULL;
    assert_int_equal(of_objects, 3000);
    delta_fifo_release(fifo, batch, count);
}

static void test_what_the_consumer_began_with_is_left_alone(void **state)
{
    put("+a@1");
    struct delta *batch;
    assert_int_equal(delta_fifo_take(fifo, 1, &batch), 1);
    put("=a@2 =a@3");
    assert_false(batch[0].coalesced);
    delta_fifo_release(fifo, batch, 1);
    assert_popped("Updated* a@3; Bookmark(3)");
    put("=a@4");
    assert_popped("Updated a@4");
}

static void test_bookmarks_take_each_others_place_when_nothing_came_between(void **state)
{
    put("+a@1 +b@2");
    delta_fifo_bookmark(fifo, "10");
    delta_fifo_bookmark(fifo, "11");
    put("=a@12");
    delta_fifo_bookmark(fifo, "13");
    assert_popped("Added* a@12; Added b@2; Bookmark(13)");
    put("+a@1 +b@2");
    delta_fifo_bookmark(fifo, "10");
    put("+c@11");
    delta_fifo_bookmark(fifo, "12");
    assert_popped("Added a@1; Added b@2; Bookmark(10); Added c@11; Bookmark(12)");
}

static void test_resyncs_that_wait_become_one_of_the_last_instant(void **state)
{
    put("+a@1 +b@2");
    delta_fifo_resync(fifo, 1000);
    delta_fifo_resync(fifo, 2000);
    struct delta *batch;
    assert_int_equal(delta_fifo_take(fifo, 10, &batch), 3);
    assert_int_equal(batch[2].tick_ms, 2000);
    delta_fifo_release(fifo, batch, 3);
}

static void test_a_list_replaces_everything_before_it(void **state)
{
    put("+a@1 +b@2 =a@3");
    delta_fifo_bookmark(fifo, "3");
    replace("a@3 c@4", "4");
    assert_int_equal(delta_fifo_len(fifo), 1);
    put("=a@5");
    assert_popped("ReplacedAll*(4, a@3 c@4); Updated a@5");
}

static void test_a_list_that_waits_drops_what_came_before_it_when_the_mark_is_passed(void **state)
{
    delta_fifo_set_mark(fifo, 4);
    put("+a@1 +b@2");
    replace("a@1", "3");
    put("+c@4 =c@5");
    assert_popped("ReplacedAll*(3, a@1); Added* c@5; Bookmark(5)");
}

static void replace_part(const char *texts, const char *ns)
{
    size_t count;
    struct root **list = object_list(texts, &count);
    delta_fifo_replace_part(fifo, ns, list, count, NULL, 7);
}

static void test_nothing_is_merged_across_the_list_of_a_namespace(void **state)
{
    put("+n/a@1 +b@2 =n/a@3");
    replace_part("", "n");
    put("+n/a@4 =b@5 =n/a@6");
    assert_popped(
        "Added* n/a@3; Added b@2; Bookmark(3); ReplacedAll(n); Added* n/a@6; Updated b@5; Bookmark(6)");
    put("+n/a@1");
    replace_part("n/c@2 n/d@3", "n");
    put("=n/c@4 =n/c@5");
    replace("e@6", "6");
    assert_popped("ReplacedAll*(6, e@6)");
}

static void test_the_list_of_a_namespace_drops_nothing_when_the_mark_is_passed(void **state)
{
    delta_fifo_set_mark(fifo, 3);
    put("+n/a@1 =n/a@2");
    replace_part("n/c@2", "n");
    put("=n/c@3");
    assert_popped("Added* n/a@2; Bookmark(2); ReplacedAll(n, n/c@2); Updated n/c@3");
}

static void test_v5_lists_below_the_mark_stay_and_above_it_only_the_last_does(void **state)
{
    delta_fifo_set_mark(fifo, 10);
    replace("a@1 b@1", "1");
    replace("a@2", "2");
    assert_string_equal(deltas_pop(fifo, 1000), "ReplacedAll+(1, a@1 b@1)");
    assert_popped("ReplacedAll(2, a@2)");
}

static void test_q13_a_list_that_replaces_the_first_one_is_the_first_one(void **state)
{
    replace("a@1 b@1", "1");
    replace("a@2", "2");
    assert_false(delta_fifo_has_synced(fifo));
    assert_popped("ReplacedAll+*(2, a@2)");
    assert_true(delta_fifo_has_synced(fifo));
    replace("a@3", "3");
    assert_popped("ReplacedAll(3, a@3)");
}

static void test_q13_the_first_list_stays_the_first_when_the_mark_is_passed_behind_it(void **state)
{
    delta_fifo_bookmark(fifo, "1");
    replace("a@2", "2");
    put("=a@3 =a@4");
    assert_false(delta_fifo_has_synced(fifo));
    assert_string_equal(deltas_pop(fifo, 1000), "ReplacedAll+(2, a@2)");
    assert_true(delta_fifo_has_synced(fifo));
    assert_popped("Updated* a@4; Bookmark(4)");
}

static void test_what_was_merged_is_counted(void **state)
{
    uint64_t before = metric_get(&metric_deltas_coalesced);
    put("+a@1 =a@2 =a@3 +b@4");
    replace("a@3", "4");
    assert_int_equal(metric_get(&metric_deltas_coalesced) - before, 4);
    deltas_pop(fifo, 10);
}

static void test_the_queue_frees_what_is_left_of_a_run_that_compresses(void **state)
{
    put("+a@1 =a@2 +b@3 =b@4"); /* teardown counts the references */
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_q1_the_rules_for_two_deltas_of_a_key),
        TEST(test_below_the_mark_nothing_is_merged),
        TEST(test_a_delta_that_others_go_into_keeps_its_place_and_the_last_version_is_told_at_the_end),
        TEST(test_memory_is_bounded_by_the_number_of_keys),
        TEST(test_what_the_consumer_began_with_is_left_alone),
        TEST(test_bookmarks_take_each_others_place_when_nothing_came_between),
        TEST(test_resyncs_that_wait_become_one_of_the_last_instant),
        TEST(test_a_list_replaces_everything_before_it),
        TEST(test_a_list_that_waits_drops_what_came_before_it_when_the_mark_is_passed),
        TEST(test_nothing_is_merged_across_the_list_of_a_namespace),
        TEST(test_the_list_of_a_namespace_drops_nothing_when_the_mark_is_passed),
        TEST(test_v5_lists_below_the_mark_stay_and_above_it_only_the_last_does),
        TEST(test_q13_a_list_that_replaces_the_first_one_is_the_first_one),
        TEST(test_q13_the_first_list_stays_the_first_when_the_mark_is_passed_behind_it),
        TEST(test_what_was_merged_is_counted),
        TEST(test_the_queue_frees_what_is_left_of_a_run_that_compresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
