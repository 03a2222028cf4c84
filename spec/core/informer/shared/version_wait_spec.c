/* core/informer/shared/version_wait.c: told when the store has a version (B-10). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/informer/support/objects.h"
#include "informer/shared/shared_informer.h"

static struct shared_informer *informer;
static struct delta_fifo *fifo;
static int told;

static int setup(void **state)
{
    objects_open();
    informer = shared_informer_new("pods", NULL, NULL);
    fifo = shared_informer_fifo(informer);
    told = 0;
    return 0;
}

static int teardown(void **state)
{
    shared_informer_free(informer);
    objects_close();
    return 0;
}

static void tell(void *ctx)
{
    told = told * 10 + *(const int *)ctx;
}

static struct version_wait *wait_for(const char *version, int *number)
{
    struct err err;
    struct version_wait *wait =
        version_waits_add(shared_informer_waits(informer), str_of(version), NULL, tell, number, &err);
    if (!wait) fail_msg("%s", err.text);
    return wait;
}

static void process(void)
{
    shared_informer_process(informer, SIZE_MAX);
}

static int one = 1, two = 2, three = 3;

static void test_b10_a_wait_ends_with_the_first_version_that_is_new_enough(void **state)
{
    wait_for("10", &one);
    delta_fifo_add(fifo, DELTA_ADDED, object("a/1@9"), 0);
    process();
    assert_int_equal(told, 0);
    delta_fifo_add(fifo, DELTA_UPDATED, object("a/1@11"), 0);
    delta_fifo_add(fifo, DELTA_UPDATED, object("a/1@12"), 0);
    process();
    assert_int_equal(told, 1);
}

static void test_b10_bookmarks_lists_and_deletes_count(void **state)
{
    wait_for("5", &one);
    delta_fifo_bookmark(fifo, "5");
    process();
    assert_int_equal(told, 1);
    wait_for("7", &two);
    delta_fifo_replace(fifo, "70", NULL, 0, NULL, 0);
    process();
    assert_int_equal(told, 12);
    wait_for("100", &three);
    delta_fifo_add(fifo, DELTA_DELETED, object("a/1@100"), 0);
    process();
    assert_int_equal(told, 123);
}

/* The store has all of a list before the first call. */
static void test_b10_a_list_counts_when_all_of_it_was_delivered(void **state)
{
    size_t count;
    struct root **objects = object_list("a/1@1 a/2@2 a/3@3", &count);
    wait_for("7", &one);
    delta_fifo_replace(fifo, "7", objects, count, NULL, 0);
    assert_int_equal(shared_informer_process(informer, 2), 2);
    assert_string_equal(indexer_resource_version(shared_informer_indexer(informer)), "7");
    assert_true(str_is(version_waits_version(shared_informer_waits(informer)), ""));
    assert_int_equal(told, 0);
    process();
    assert_true(str_is(version_waits_version(shared_informer_waits(informer)), "7"));
    assert_int_equal(told, 1);
}

/* So that one comparison tells whether any of them ends. */
static void test_waits_end_in_the_order_of_their_versions(void **state)
{
    wait_for("30", &one);
    wait_for("20", &two);
    wait_for("9", &three);
    wait_for("20", &three);
    delta_fifo_bookmark(fifo, "20");
    process();
    assert_int_equal(told, 323);
    delta_fifo_bookmark(fifo, "30");
    process();
    assert_int_equal(told, 3231);
}

static void test_a_wait_may_outlive_its_cache(void **state)
{
    struct version_wait *wait = wait_for("10", &one);
    shared_informer_free(informer);
    informer = NULL;
    version_wait_cancel(wait);
    assert_int_equal(told, 0);
}

static void test_a_cancelled_wait_is_never_notified(void **state)
{
    struct version_wait *wait = wait_for("5", &one);
    wait_for("5", &two);
    version_wait_cancel(wait);
    delta_fifo_bookmark(fifo, "5");
    process();
    assert_int_equal(told, 2);
}

static struct version_wait *victim;

static void cancel_another(void *ctx)
{
    told = 9;
    version_wait_cancel(victim);
}

static void test_a_notified_waiter_may_cancel_and_start_waits(void **state)
{
    struct err err;
    assert_non_null(
        version_waits_add(shared_informer_waits(informer), STR("5"), NULL, cancel_another, NULL, &err));
    victim = wait_for("5", &one);
    delta_fifo_bookmark(fifo, "5");
    process();
    assert_int_equal(told, 9);
}

/* B-10: who reads another store from now on waits for that one. */
static void test_waits_of_one_reader_move_to_another_store(void **state)
{
    struct version_waits other;
    version_waits_init(&other);
    struct version_waits *here = shared_informer_waits(informer);
    assert_non_null(version_waits_add(here, STR("5"), &one, tell, &one, NULL));
    assert_non_null(version_waits_add(here, STR("5"), &two, tell, &two, NULL));
    struct version_wait *cancelled = version_waits_add(here, STR("5"), &one, tell, &three, NULL);
    version_waits_move(here, &other, &one);
    delta_fifo_bookmark(fifo, "5");
    process();
    assert_int_equal(told, 2);
    version_wait_cancel(cancelled);
    version_waits_notify(&other, STR("5"));
    assert_int_equal(told, 21);
    version_waits_clear(&other);
}

static void test_rv1_what_is_no_version_is_refused(void **state)
{
    struct err err;
    assert_null(version_waits_add(shared_informer_waits(informer), STR(""), NULL, tell, &one, &err));
    assert_string_equal(err.text, "the resource version is empty");
    assert_null(version_waits_add(shared_informer_waits(informer), STR("0"), NULL, tell, &one, &err));
    assert_null(version_waits_add(shared_informer_waits(informer), STR("12a"), NULL, tell, &one, &err));
    assert_string_equal(err.text, "invalid resource version \"12a\": must be a positive decimal number");
}

static void test_a_store_whose_version_cannot_be_compared_never_has_it(void **state)
{
    assert_false(version_reached(STR(""), STR("1")));
    assert_false(version_reached(STR("v7"), STR("1")));
    assert_true(version_reached(STR("10"), STR("9")));
    struct version_wait *wait = wait_for("5", &one);
    delta_fifo_bookmark(fifo, "x9");
    process();
    assert_int_equal(told, 0);
    version_wait_cancel(wait);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_b10_a_wait_ends_with_the_first_version_that_is_new_enough, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_b10_bookmarks_lists_and_deletes_count, setup, teardown),
        cmocka_unit_test_setup_teardown(test_b10_a_list_counts_when_all_of_it_was_delivered, setup, teardown),
        cmocka_unit_test_setup_teardown(test_waits_end_in_the_order_of_their_versions, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_wait_may_outlive_its_cache, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_cancelled_wait_is_never_notified, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_notified_waiter_may_cancel_and_start_waits, setup, teardown),
        cmocka_unit_test_setup_teardown(test_waits_of_one_reader_move_to_another_store, setup, teardown),
        cmocka_unit_test_setup_teardown(test_rv1_what_is_no_version_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_store_whose_version_cannot_be_compared_never_has_it, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
