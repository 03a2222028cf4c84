/* core/informer/shared/handler_list.c: lists and resyncs that are told in slices; and what takes long.
 * Histories are written as support/history.h says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/informer/support/informer_fixture.h"
#include "core/informer/support/log_double.h"

static void test_v7_a_list_is_delivered_in_slices_and_takes_effect_in_the_store_at_once(void **state)
{
    struct history late = {0};
    start_with("a@1 b@2 c@3 d@4", "4");
    replace("c@5 d@4 e@6 f@7", "7");
    delta(DELTA_UPDATED, "f@8");
    assert_int_equal(shared_informer_process(informer, 3), 3);
    assert_string_equal(history_take(&history), "delete? a@1; delete? b@2; update c@3 c@5");
    assert_true(shared_informer_has_work(informer));
    const struct indexer *store = shared_informer_indexer(informer);
    assert_int_equal(indexer_count(store), 4);
    assert_string_equal(indexer_resource_version(store), "7");
    struct registration *r = add_history(&late); /* between two slices: the cache, and nothing of the rest */
    assert_int_equal(shared_informer_process(informer, 4), 4);
    assert_string_equal(history_take(&late), "add+ c@5; add+ d@4; add+ e@6; add+ f@7");
    assert_int_equal(shared_informer_process(informer, 2), 2);
    assert_string_equal(history_take(&history), "add e@6");
    assert_history("add f@7; update f@7 f@8");
    assert_string_equal(history_take(&late), "update f@7 f@8");
    assert_false(shared_informer_has_work(informer));
    shared_informer_remove_handler(informer, r);
    history_clear(&late);
}

static void test_v3_it_is_synced_after_the_last_slice_of_the_first_list(void **state)
{
    replace("a@1 b@2 c@3", "3");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(shared_informer_process(informer, 1), 1);
        assert_false(shared_informer_has_synced(informer));
        assert_false(registration_has_synced(registration));
    }
    assert_int_equal(shared_informer_process(informer, 1), 1);
    assert_true(registration_has_synced(registration));
    assert_int_equal(synced_calls, 1);
    assert_history("add+ a@1; add+ b@2; add+ c@3");
}

static void test_v3_a_first_list_that_names_a_key_twice(void **state)
{
    replace("a@1 a@2", "2");
    assert_int_equal(shared_informer_process(informer, 1), 1);
    assert_false(shared_informer_has_synced(informer));
    assert_history("add+ a@1; add+ a@2");
    assert_true(shared_informer_has_synced(informer));
}

static void test_an_informer_may_end_in_the_middle_of_a_list(void **state)
{
    start_with("a@1 b@2", "2");
    replace("c@5 d@4", "7");
    delta(DELTA_UPDATED, "c@8");
    shared_informer_process(informer, 3); /* teardown counts the references */
}

static void take_long(struct history *h, void *ctx)
{
    if (h->calls % 4 == 0) virtual_clock_advance(ctx, 100);
}

/* I-12 */
static void test_q21_what_takes_long_while_others_wait_is_traced(void **state)
{
    struct virtual_clock now;
    virtual_clock_init(&now);
    shared_informer_set_clock(informer, &now.clock);
    start_with("", "1");
    history.before = take_long;
    history.ctx = &now;
    log_take();
    log_set_verbosity(2);
    for (int i = 0; i < 10; i++) delta(DELTA_ADDED, i % 2 ? "a@2" : "b@2");
    process();
    assert_int_equal(log_lines(), 0); /* not so many wait */
    for (int i = 0; i < 11; i++) delta(DELTA_UPDATED, i % 2 ? "shop/a@3" : "shop/a@4");
    for (int i = 0; i < 5; i++) delta(DELTA_UPDATED, "b@3");
    process();
    log_set_verbosity(0);
    /* The 3rd and the 7th took long, but when that one began there were ten left. */
    assert_string_equal(
        log_take(),
        "I Slow processing informer=pods delta=Updated key=shop/a objects=0 tookMs=100 queued=13\n");
    virtual_clock_clear(&now);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, informer_open, informer_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_v7_a_list_is_delivered_in_slices_and_takes_effect_in_the_store_at_once),
        TEST(test_v3_it_is_synced_after_the_last_slice_of_the_first_list),
        TEST(test_v3_a_first_list_that_names_a_key_twice),
        TEST(test_an_informer_may_end_in_the_middle_of_a_list),
        TEST(test_q21_what_takes_long_while_others_wait_is_traced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
