/* core/informer/shared/applier.c: where many owners have handlers, changes that came together are applied
 * together, and then told owner by owner. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "core/informer/support/informer_fixture.h"

/* With that of the fixture, as many as make changes come in runs. */
enum { OTHERS = 7 };

static struct history others[OTHERS];
static struct buf order;

static void add_owned(struct history *h, const void *owner)
{
    struct registration *r;
    struct event_handler handler = history_handler(h);
    handler.owner = owner;
    shared_informer_add_handler(informer, &handler, &r);
}

static int open_many(void **state)
{
    informer_open(state);
    for (int i = 0; i < OTHERS; i++) {
        others[i] = (struct history){0};
        add_owned(&others[i], &others[i]);
    }
    return 0;
}

static int close_many(void **state)
{
    for (int i = 0; i < OTHERS; i++) history_clear(&others[i]);
    buf_clear(&order);
    return informer_close(state);
}

static void assert_all(const char *expected)
{
    assert_history(expected);
    for (int i = 0; i < OTHERS; i++) assert_string_equal(history_take(&others[i]), expected);
}

static void note_order(struct history *h, void *ctx)
{
    buf_printf(&order, "%s%d ", (const char *)ctx, (int)indexer_count(shared_informer_indexer(informer)));
}

static void deltas(void)
{
    delta(DELTA_ADDED, "a@1");
    delta(DELTA_UPDATED, "a@2");
    delta(DELTA_ADDED, "b@3");
    delta(DELTA_DELETED, "a@4");
}

static void test_each_handler_is_told_every_change_with_the_states_before_and_after(void **state)
{
    deltas();
    assert_all("add a@1; update a@1 a@2; add b@3; delete a@4");
    assert_store("b@3", "4");
}

static void test_q15_all_is_in_the_store_before_the_first_owner_is_told_and_owners_take_turns(void **state)
{
    history.before = others[0].before = note_order;
    history.ctx = (void *)"x";
    others[0].ctx = (void *)"y";
    deltas();
    process();
    assert_string_equal(buf_text(&order), "x1 x1 x1 x1 y1 y1 y1 y1 ");
}

static void test_handlers_of_one_owner_are_told_change_by_change(void **state)
{
    struct history one = {.before = note_order, .ctx = (void *)"1 "},
                   two = {.before = note_order, .ctx = (void *)"2 "};
    static const char owner;
    add_owned(&one, &owner);
    add_owned(&two, &owner);
    deltas();
    process();
    assert_string_equal(buf_text(&order), "1 1 2 1 1 1 2 1 1 1 2 1 1 1 2 1 ");
    history_clear(&one);
    history_clear(&two);
}

static void test_a_list_or_a_bookmark_ends_a_run(void **state)
{
    deltas();
    replace("c@5", "5");
    delta(DELTA_ADDED, "d@6");
    delta(DELTA_DELETED, "c@7");
    assert_all("add a@1; update a@1 a@2; add b@3; delete a@4; delete? b@3; add c@5; add d@6; delete c@7");
    assert_store("d@6", "7");
}

static struct history late;

static void add_once(struct history *h, void *ctx)
{
    h->before = NULL;
    add_history(ctx);
}

static void test_a_handler_added_in_a_run_gets_the_cache_and_no_change_of_the_run(void **state)
{
    others[3].before = add_once;
    others[3].ctx = &late;
    deltas();
    process();
    delta(DELTA_UPDATED, "b@5");
    process();
    assert_string_equal(history_take(&late), "add+ b@3; update b@3 b@5");
    history_clear(&late);
}

static void take_long(struct history *h, void *ctx)
{
    int64_t until_ns = clock_measure_ns() + 400000;
    while (clock_measure_ns() < until_ns) continue;
    if (h == &history) note_order(h, ctx);
}

/* Eight handlers of 0.4 ms: no second change fits into 2 ms, and two are the least of a run. */
static void test_runs_are_short_where_handlers_take_long(void **state)
{
    struct buf expected = {0};
    history.before = take_long;
    history.ctx = (void *)"";
    for (int i = 0; i < OTHERS; i++) others[i].before = take_long;
    deltas();
    process();
    order.len = 0;
    for (int i = 0; i < 6; i++) {
        char object[16];
        snprintf(object, sizeof object, "n%d@%d", i, 10 + i);
        delta(DELTA_ADDED, object);
        buf_printf(&expected, "%d ",
                   3 + i / 2 * 2); /* beside b, the store has this pair of changes and those before */
    }
    process();
    assert_string_equal(buf_text(&order), buf_text(&expected));
    buf_clear(&expected);
}

static struct registration *victim;

static void remove_victim(struct history *h, void *ctx)
{
    if (victim) shared_informer_remove_handler(informer, victim);
    victim = NULL;
}

static void test_a_handler_removed_in_a_run_is_told_nothing_more(void **state)
{
    victim = add_history(&late);
    history.before = remove_victim;
    deltas();
    assert_all("add a@1; update a@1 a@2; add b@3; delete a@4");
    assert_string_equal(history_take(&late), "");
    history_clear(&late);
}

static void test_a_handler_may_remove_itself_in_its_run(void **state)
{
    late.before = remove_victim;
    victim = add_history(&late);
    deltas();
    process();
    assert_string_equal(history_take(&late), "add a@1");
    history_clear(&late);
}

/* Each handler's calls, replayed, make the same cache, whatever came together. */
static void test_random_changes_in_random_turns_are_told_whole_and_in_order(void **state)
{
    unsigned seed = (unsigned)time(NULL) ^ (unsigned)getpid();
    char object[32];
    int known[8] = {0};
    struct buf expected = {0};
    print_message("seed %u\n", seed);
    srand(seed);
    for (int version = 1; version < 3000; version++) {
        int key = rand() % 8;
        bool gone = known[key] && rand() % 4 == 0;
        snprintf(object, sizeof object, "%c@%d", 'a' + key, version);
        delta(gone ? DELTA_DELETED : known[key] ? DELTA_UPDATED : DELTA_ADDED, object);
        if (expected.len) buf_puts(&expected, "; ");
        if (gone)
            buf_printf(&expected, "delete %s", object);
        else if (known[key])
            buf_printf(&expected, "update %c@%d %s", 'a' + key, known[key], object);
        else
            buf_printf(&expected, "add %s", object);
        known[key] = gone ? 0 : version;
        if (rand() % 20) continue;
        assert_all(buf_text(&expected));
        expected.len = 0;
    }
    buf_clear(&expected);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_many, close_many)
    const struct CMUnitTest tests[] = {
        T(test_each_handler_is_told_every_change_with_the_states_before_and_after),
        T(test_q15_all_is_in_the_store_before_the_first_owner_is_told_and_owners_take_turns),
        T(test_handlers_of_one_owner_are_told_change_by_change),
        T(test_a_list_or_a_bookmark_ends_a_run),
        T(test_a_handler_added_in_a_run_gets_the_cache_and_no_change_of_the_run),
        T(test_runs_are_short_where_handlers_take_long),
        T(test_a_handler_removed_in_a_run_is_told_nothing_more),
        T(test_a_handler_may_remove_itself_in_its_run),
        T(test_random_changes_in_random_turns_are_told_whole_and_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
