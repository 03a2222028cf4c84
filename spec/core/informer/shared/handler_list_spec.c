/* core/informer/shared/handler_list.c: handlers that come and go, also from inside calls, through an
 * informer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/informer/support/informer_fixture.h"
#include "core/informer/support/objects.h"

static void test_two_handlers_receive_the_same_in_the_order_of_their_registration(void **state)
{
    struct history second = {0};
    add_history(&second);
    replace("a@1", "1");
    delta(DELTA_UPDATED, "a@2");
    delta(DELTA_DELETED, "a@3");
    process();
    assert_string_equal(history_take(&second), "add+ a@1; update a@1 a@2; delete a@3");
    assert_history("add+ a@1; update a@1 a@2; delete a@3");
    history_clear(&second);
}

static struct buf order;

static void note_order(struct history *h, void *ctx)
{
    buf_puts(&order, ctx);
}

static void test_each_change_goes_to_all_handlers_before_the_next(void **state)
{
    struct history second = {.before = note_order};
    second.ctx = (void *)"2";
    history.before = note_order;
    history.ctx = (void *)"1";
    add_history(&second);
    replace("a@1 b@1", "1");
    delta(DELTA_DELETED, "a@3");
    process();
    assert_string_equal(buf_text(&order), "121212");
    buf_clear(&order);
    history_clear(&second);
}

static void test_i5_a_late_handler_is_sent_the_cache_then_receives_what_follows(void **state)
{
    struct history late = {0};
    start_with("b@1 a@2", "2");
    struct registration *r = add_history(&late);
    assert_false(registration_has_synced(r));
    process();
    assert_true(registration_has_synced(r));
    assert_string_equal(history_take(&late), "add+ b@1; add+ a@2");
    delta(DELTA_UPDATED, "a@3");
    assert_history("update a@2 a@3");
    assert_string_equal(history_take(&late), "update a@2 a@3");
    history_clear(&late);
}

static void test_i6_a_handler_added_before_the_list_is_synced_with_it(void **state)
{
    struct history second = {0};
    struct registration *r = add_history(&second);
    assert_false(registration_has_synced(r));
    replace("a@1", "1");
    assert_false(registration_has_synced(r));
    process();
    assert_true(registration_has_synced(r));
    history_clear(&second);
}

static void expect_not_synced(struct history *h, void *ctx)
{
    struct registration **r = ctx;
    assert_false(registration_has_synced(*r));
}

static void test_i6_a_late_handler_is_synced_after_its_initial_delivery(void **state)
{
    struct registration *r = NULL;
    struct history late = {.before = expect_not_synced, .ctx = &r};
    start_with("a@1 b@2", "2");
    struct event_handler handler = history_handler(&late);
    shared_informer_add_handler(informer, &handler, &r);
    process();
    assert_int_equal(late.calls, 2);
    assert_true(registration_has_synced(r));
    history_clear(&late);
}

static void test_a_handler_added_with_deltas_waiting_receives_them_after_the_cache(void **state)
{
    struct history late = {0};
    start_with("a@1", "1");
    delta(DELTA_ADDED, "b@2");
    add_history(&late);
    process();
    assert_string_equal(history_take(&late), "add+ a@1; add b@2");
    history_clear(&late);
}

static void count(void *ctx)
{
    ++*(int *)ctx;
}

static void test_i5_a_late_handler_is_sent_the_cache_in_slices_before_anything_changes_it(void **state)
{
    struct history late = {0}, later = {0};
    int ready = 0, shown = 0;
    start_with("a@1 b@2 c@3 d@4", "4");
    shared_informer_set_ready(informer, count, &ready);
    shared_informer_set_initial_done(informer, count, &shown);
    struct registration *r = add_history(&late), *s = add_history(&later);
    assert_int_equal(ready, 1);
    assert_true(shared_informer_has_work(informer));
    delta(DELTA_DELETED, "b@5");
    replace("a@6 e@7", "7");
    assert_int_equal(shared_informer_process(informer, 3), 3);
    assert_string_equal(history_take(&late), "add+ a@1; add+ b@2; add+ c@3");
    assert_false(registration_has_synced(r));
    assert_int_equal(shared_informer_process(informer, 1), 1);
    assert_true(registration_has_synced(r));
    assert_int_equal(indexer_count(shared_informer_indexer(informer)), 4);
    assert_string_equal(history_take(&later), "");
    assert_int_equal(shared_informer_process(informer, 4), 4);
    assert_true(registration_has_synced(s));
    assert_int_equal(shown, 1);
    assert_string_equal(history_take(&later), "add+ a@1; add+ b@2; add+ c@3; add+ d@4");
    assert_history("delete b@5; delete? c@3; delete? d@4; update a@1 a@6; add e@7");
    assert_string_equal(history_take(&late), "add+ d@4; delete b@5; delete? c@3; delete? d@4; "
                                             "update a@1 a@6; add e@7");
    assert_string_equal(history_take(&later),
                        "delete b@5; delete? c@3; delete? d@4; update a@1 a@6; add e@7");
    assert_false(shared_informer_has_work(informer));
    history_clear(&late);
    history_clear(&later);
}

static void test_a_late_handler_may_go_between_two_slices(void **state)
{
    struct history late = {0}, later = {0};
    int shown = 0;
    start_with("a@1 b@2 c@3", "3");
    shared_informer_set_initial_done(informer, count, &shown);
    struct registration *r = add_history(&late);
    assert_int_equal(shared_informer_process(informer, 2), 2);
    shared_informer_remove_handler(informer, r);
    assert_true(shared_informer_has_work(informer)); /* somebody may wait to hear that nobody does any more */
    process();
    assert_int_equal(shown, 1);
    assert_string_equal(history_take(&late), "add+ a@1; add+ b@2");
    r = add_history(&late);
    add_history(&later);
    assert_int_equal(shared_informer_process(informer, 1), 1);
    shared_informer_remove_handler(informer, r);
    delta(DELTA_ADDED, "d@4");
    assert_history("add d@4");
    assert_string_equal(history_take(&late), "add+ a@1");
    assert_string_equal(history_take(&later), "add+ a@1; add+ b@2; add+ c@3; add d@4");
    history_clear(&late);
    history_clear(&later);
}

static void test_an_informer_may_end_while_a_late_handler_is_sent_the_cache(void **state)
{
    struct history late = {0};
    start_with("a@1 b@2 c@3", "3");
    add_history(&late);
    delta(DELTA_ADDED, "d@4");
    assert_int_equal(shared_informer_process(informer, 2), 2); /* teardown counts the references */
    history_clear(&late);
}

/* Adds `ctx`, a history, at the first call. */
static void add_once(struct history *h, void *ctx)
{
    h->before = NULL;
    add_history(ctx);
}

static void test_i5_a_handler_added_by_a_call_gets_the_cache_and_no_duplicate(void **state)
{
    struct history late = {0};
    start_with("a@1", "1");
    history.before = add_once;
    history.ctx = &late;
    delta(DELTA_ADDED, "b@2");
    delta(DELTA_ADDED, "c@3");
    assert_history("add b@2; add c@3");
    assert_string_equal(history_take(&late), "add+ a@1; add+ b@2; add c@3");
    history_clear(&late);
}

static void test_i5_a_handler_added_inside_the_first_list_gets_all_of_it_once(void **state)
{
    struct history late = {0};
    history.before = add_once;
    history.ctx = &late;
    replace("a@1 b@2 c@3", "3");
    delta(DELTA_UPDATED, "a@4");
    assert_history("add+ a@1; add+ b@2; add+ c@3; update a@1 a@4");
    assert_string_equal(history_take(&late), "add+ a@1; add+ b@2; add+ c@3; update a@1 a@4");
    history_clear(&late);
}

static void test_i5_a_handler_added_inside_a_relist_sees_its_result_only(void **state)
{
    struct history late = {0};
    start_with("a@1 b@2", "2");
    history.before = add_once;
    history.ctx = &late;
    replace("b@3 c@4", "4");
    delta(DELTA_DELETED, "c@5");
    assert_history("delete? a@1; update b@2 b@3; add c@4; delete c@5");
    assert_string_equal(history_take(&late), "add+ b@3; add+ c@4; delete c@5");
    history_clear(&late);
}

static void test_a_handler_added_by_a_delete_does_not_receive_it(void **state)
{
    struct history late = {0};
    start_with("a@1 b@2", "2");
    history.before = add_once;
    history.ctx = &late;
    delta(DELTA_DELETED, "a@3");
    process();
    assert_string_equal(history_take(&late), "add+ b@2");
    history_clear(&late);
}

static void test_many_handlers_added_by_calls_are_each_notified_once(void **state)
{
    enum { N = 20 };
    static struct history late[N];
    start_with("a@1", "1");
    for (int i = 0; i < N; i++) late[i] = (struct history){0};
    for (int i = 0; i + 1 < N; i++) {
        late[i].before = add_once;
        late[i].ctx = &late[i + 1];
    }
    history.before = add_once;
    history.ctx = &late[0];
    delta(DELTA_ADDED, "b@2");
    process();
    for (int i = 0; i < N; i++) {
        assert_string_equal(history_take(&late[i]), "add+ a@1; add+ b@2");
        history_clear(&late[i]);
    }
}

static void test_i9_after_removal_no_call_comes(void **state)
{
    struct history second = {0};
    struct registration *r = add_history(&second);
    replace("a@1", "1");
    process();
    shared_informer_remove_handler(informer, r);
    delta(DELTA_UPDATED, "a@2");
    process();
    assert_string_equal(history_take(&second), "add+ a@1");
    history_clear(&second);
}

static void remove_self(struct history *h, void *ctx)
{
    h->before = NULL;
    shared_informer_remove_handler(informer, registration);
}

static void test_a_handler_may_remove_itself_and_the_others_receive_all(void **state)
{
    struct history second = {0};
    start_with("a@1", "1");
    add_history(&second);
    process();
    history_take(&second);
    history.before = remove_self;
    delta(DELTA_ADDED, "b@2");
    delta(DELTA_ADDED, "c@3");
    assert_history("add b@2");
    assert_string_equal(history_take(&second), "add b@2; add c@3");
    history_clear(&second);
}

static struct registration *victim;

static void remove_victim(struct history *h, void *ctx)
{
    h->before = NULL;
    shared_informer_remove_handler(informer, victim);
}

static void test_a_handler_may_remove_a_later_one_which_receives_nothing_more(void **state)
{
    struct history second = {0}, third = {0};
    start_with("a@1", "1");
    victim = add_history(&second);
    add_history(&third);
    process();
    history_take(&second);
    history_take(&third);
    history.before = remove_victim;
    delta(DELTA_ADDED, "b@2");
    assert_history("add b@2");
    assert_string_equal(history_take(&second), "");
    assert_string_equal(history_take(&third), "add b@2");
    history_clear(&second);
    history_clear(&third);
}

static void test_a_handler_may_remove_an_earlier_one_and_none_is_skipped(void **state)
{
    struct history second = {0}, third = {0};
    start_with("a@1", "1");
    add_history(&second);
    add_history(&third);
    process();
    history_take(&second);
    history_take(&third);
    victim = registration;
    second.before = remove_victim;
    delta(DELTA_ADDED, "b@2");
    delta(DELTA_ADDED, "c@3");
    assert_history("add b@2");
    assert_string_equal(history_take(&second), "add b@2; add c@3");
    assert_string_equal(history_take(&third), "add b@2; add c@3");
    history_clear(&second);
    history_clear(&third);
}

static void remove_late(struct history *h, void *ctx)
{
    struct registration **r = ctx;
    if (h->calls == 1) shared_informer_remove_handler(informer, *r);
}

static void test_a_late_handler_may_remove_itself_while_it_is_sent_the_cache(void **state)
{
    struct registration *r = NULL;
    struct history late = {.before = remove_late, .ctx = &r};
    start_with("a@1 b@2 c@3", "3");
    struct event_handler handler = history_handler(&late);
    shared_informer_add_handler(informer, &handler, &r);
    delta(DELTA_ADDED, "d@4");
    assert_history("add d@4");
    assert_string_equal(history_take(&late), "add+ a@1; add+ b@2");
    history_clear(&late);
}

static void test_removal_inside_a_relist_ends_its_calls(void **state)
{
    start_with("a@1 b@2", "2");
    history.before = remove_self;
    replace("b@3 c@4", "4");
    assert_history("delete? a@1");
}

static void test_a_handler_need_not_have_every_function(void **state)
{
    struct event_handler none = {0};
    struct registration *r;
    shared_informer_add_handler(informer, &none, &r);
    replace("a@1", "1");
    delta(DELTA_UPDATED, "a@2");
    delta(DELTA_DELETED, "a@3");
    assert_history("add+ a@1; update a@1 a@2; delete a@3");
}

static void note_time(void *ctx, struct root *object, const struct event_info *info)
{
    *(int64_t *)ctx = info->received_us;
}

static void test_the_time_of_arrival_reaches_the_handler(void **state)
{
    int64_t received_us = 0;
    struct registration *r;
    struct event_handler handler = {.on_add = note_time, .ctx = &received_us};
    shared_informer_add_handler(informer, &handler, &r);
    delta_fifo_add(shared_informer_fifo(informer), DELTA_ADDED, object("a@1"), 123456789);
    process();
    assert_int_equal(received_us, 123456789);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, informer_open, informer_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_two_handlers_receive_the_same_in_the_order_of_their_registration),
        TEST(test_each_change_goes_to_all_handlers_before_the_next),
        TEST(test_i5_a_late_handler_is_sent_the_cache_then_receives_what_follows),
        TEST(test_i5_a_late_handler_is_sent_the_cache_in_slices_before_anything_changes_it),
        TEST(test_a_late_handler_may_go_between_two_slices),
        TEST(test_an_informer_may_end_while_a_late_handler_is_sent_the_cache),
        TEST(test_i6_a_handler_added_before_the_list_is_synced_with_it),
        TEST(test_i6_a_late_handler_is_synced_after_its_initial_delivery),
        TEST(test_a_handler_added_with_deltas_waiting_receives_them_after_the_cache),
        TEST(test_i5_a_handler_added_by_a_call_gets_the_cache_and_no_duplicate),
        TEST(test_i5_a_handler_added_inside_the_first_list_gets_all_of_it_once),
        TEST(test_i5_a_handler_added_inside_a_relist_sees_its_result_only),
        TEST(test_a_handler_added_by_a_delete_does_not_receive_it),
        TEST(test_many_handlers_added_by_calls_are_each_notified_once),
        TEST(test_i9_after_removal_no_call_comes),
        TEST(test_a_handler_may_remove_itself_and_the_others_receive_all),
        TEST(test_a_handler_may_remove_a_later_one_which_receives_nothing_more),
        TEST(test_a_handler_may_remove_an_earlier_one_and_none_is_skipped),
        TEST(test_a_late_handler_may_remove_itself_while_it_is_sent_the_cache),
        TEST(test_removal_inside_a_relist_ends_its_calls),
        TEST(test_a_handler_need_not_have_every_function),
        TEST(test_the_time_of_arrival_reaches_the_handler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
