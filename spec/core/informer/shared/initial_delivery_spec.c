/* core/informer/shared/shared_informer.c, handler_list.c: when handlers that come late are shown the store,
 * and what goes on meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/informer/support/informer_fixture.h"
#include "core/informer/support/objects.h"

static void count(void *ctx)
{
    ++*(int *)ctx;
}

/* As one that moves to another informer must have heard what the old one's store has. Who waits has heard
 * nothing, and can be shown any store. */
static void test_an_initial_delivery_in_progress_can_be_completed_at_once(void **state)
{
    struct history late = {0}, later = {0};
    start_with("a@1 b@2", "2");
    replace("b@3 c@4", "4");
    assert_int_equal(shared_informer_process(informer, 1), 1);
    struct registration *r = add_history(&late);
    assert_int_equal(shared_informer_process(informer, 1), 1);
    struct registration *s = add_history(&later);
    delta(DELTA_ADDED, "d@5");
    shared_informer_finish_delta(informer);
    assert_string_equal(history_take(&late), "add+ b@3; add+ c@4");
    assert_string_equal(history_take(&history), "delete? a@1; update b@2 b@3; add c@4");
    assert_string_equal(history_take(&later), "");
    assert_true(registration_has_synced(r));
    assert_false(registration_has_synced(s));
    process();
    assert_string_equal(history_take(&later), "add+ b@3; add+ c@4; add d@5");
    history_clear(&late);
    history_clear(&later);
}

/* A handler that goes at its first call and leaves another in its place. */
struct churn {
    struct history history;
    struct registration *registration;
    size_t count;
};

static void replace_self(struct history *h, void *ctx)
{
    struct churn *churn = ctx;
    shared_informer_remove_handler(informer, churn->registration);
    churn->registration = add_history(h);
    churn->count++;
}

static void start_churn(struct churn *churn)
{
    *churn = (struct churn){.history = {.before = replace_self, .ctx = churn}};
    churn->registration = add_history(&churn->history);
}

static void test_handlers_that_replace_themselves_delay_no_delta(void **state)
{
    struct churn churn;
    start_with("a@1 b@2", "2");
    start_churn(&churn);
    delta(DELTA_ADDED, "c@3");
    delta(DELTA_DELETED, "a@4");
    assert_int_equal(shared_informer_process(informer, 4), 4);
    assert_string_equal(history_take(&history), "add c@3; delete a@4");
    assert_int_equal(churn.count, 2);
    assert_true(shared_informer_has_work(informer));
    history_clear(&churn.history);
}

static void test_handlers_that_replace_themselves_delay_no_list(void **state)
{
    struct churn churn;
    start_churn(&churn);
    replace("a@1 b@2 c@3", "3");
    assert_int_equal(shared_informer_process(informer, 6), 6);
    assert_string_equal(history_take(&history), "add+ a@1; add+ b@2; add+ c@3");
    assert_int_equal(synced_calls, 1);
    history_clear(&churn.history);
}

static void test_handlers_that_replace_themselves_let_a_delta_be_finished(void **state)
{
    struct churn churn;
    start_churn(&churn);
    replace("a@1 b@2 c@3", "3");
    assert_int_equal(shared_informer_process(informer, 1), 1);
    shared_informer_finish_delta(informer);
    assert_string_equal(history_take(&history), "add+ a@1; add+ b@2; add+ c@3");
    history_clear(&churn.history);
}

/* Adds `ctx`, a history, at the first call. */
static void add_once(struct history *h, void *ctx)
{
    h->before = NULL;
    add_history(ctx);
}

/* Whoever was added by a showing is shown the store when deltas had as much time as that showing had. */
static void test_i5_a_handler_added_by_an_initial_delivery_waits_until_deltas_had_their_share(void **state)
{
    struct history late = {.before = add_once}, later = {0};
    int shown = 0;
    late.ctx = &later;
    start_with("a@1 b@2 c@3", "3");
    shared_informer_set_initial_done(informer, count, &shown);
    add_history(&late);
    for (int i = 4; i < 9; i++) {
        char text[8];
        snprintf(text, sizeof text, "d@%d", i);
        delta(i == 4 ? DELTA_ADDED : DELTA_UPDATED, text);
    }
    delta(DELTA_DELETED, "a@9");
    assert_int_equal(shared_informer_process(informer, 3), 3);
    assert_string_equal(history_take(&late), "add+ a@1; add+ b@2; add+ c@3");
    assert_int_equal(shown, 1);
    assert_int_equal(shared_informer_process(informer, 3), 3);
    assert_string_equal(history_take(&late), "add d@4; update d@4 d@5; update d@5 d@6");
    assert_string_equal(history_take(&later), "");
    process();
    assert_string_equal(history_take(&later),
                        "add+ a@1; add+ b@2; add+ c@3; add+ d@6; update d@6 d@7; update d@7 d@8; delete a@9");
    assert_string_equal(history_take(&late), "update d@6 d@7; update d@7 d@8; delete a@9");
    assert_int_equal(shown, 2);
    history_clear(&late);
    history_clear(&later);
}

/* A showing that ends while others wait is said: its handlers are synced. */
static void test_i6_who_waits_does_not_keep_others_from_being_synced(void **state)
{
    struct churn churn;
    struct history late = {0};
    int shown = 0;
    start_with("a@1 b@2", "2");
    shared_informer_set_initial_done(informer, count, &shown);
    start_churn(&churn);
    struct registration *r = add_history(&late);
    assert_int_equal(shared_informer_process(informer, 3), 3);
    assert_true(registration_has_synced(r));
    assert_int_equal(shown, 1);
    history_clear(&late);
    history_clear(&churn.history);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, informer_open, informer_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_an_initial_delivery_in_progress_can_be_completed_at_once),
        TEST(test_handlers_that_replace_themselves_delay_no_delta),
        TEST(test_handlers_that_replace_themselves_delay_no_list),
        TEST(test_handlers_that_replace_themselves_let_a_delta_be_finished),
        TEST(test_i5_a_handler_added_by_an_initial_delivery_waits_until_deltas_had_their_share),
        TEST(test_i6_who_waits_does_not_keep_others_from_being_synced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
