/* core/net/lending.c, core/net/lending_borrow.c: one thread runs the turns of another's loop, which takes
 * them back. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "core/net/support/lent_pair.h"

enum { MAILS = 3000 };

static void test_the_borrower_runs_turns_of_a_calm_lender(void **state)
{
    struct lent_pair pair;
    lent_pair_begin(&pair);
    lent_pair_until(&pair.borrowed, 50);
    assert_true(lending_count(pair.lending) > 0);
    assert_true(lending_turns(pair.lending) >= 50);
    lent_pair_end(&pair);
}

static void wait_for_ticks(void *ctx)
{
    struct lent_pair *pair = ctx;
    unsigned before = atomic_load(&pair->borrowed);
    lent_pair_until(&pair->ticks, 20);
    assert_int_equal(atomic_load(&pair->borrowed), before);
}

/* The borrower's callback ends only when the lender's thread has run turns meanwhile. */
static void test_the_lender_takes_its_turns_back_from_a_busy_borrower(void **state)
{
    struct lent_pair pair;
    lent_pair_begin(&pair);
    lent_pair_until(&pair.borrowed, 5);
    lent_pair_call(pair.borrower, wait_for_ticks, &pair);
    lent_pair_until(&pair.borrowed, 5);
    assert_true(lending_count(pair.lending) >= 2);
    lent_pair_end(&pair);
}

static void touch(void *ctx)
{
    lent_pair_note(ctx);
}

static void test_mails_to_a_lent_loop_arrive(void **state)
{
    struct lent_pair pair;
    lent_pair_begin(&pair);
    lent_pair_quieten(&pair);
    unsigned before = atomic_load(&pair.borrowed);
    for (int i = 0; i < MAILS; i++) lent_pair_call(pair.lender, touch, &pair);
    assert_true(atomic_load(&pair.borrowed) > before);
    lent_pair_end(&pair);
}

/* Works now and then for longer than the lender waits; holds; posts. */
static void work(void *ctx)
{
    struct lent_pair *pair = ctx;
    static unsigned seed;
    if (!seed) seed = 1;
    int64_t end_ns = clock_measure_ns() + (rand_r(&seed) % 8) * 1000000;
    bool holds = rand_r(&seed) % 4 == 0;
    if (holds) lending_hold(pair->lending);
    while (clock_measure_ns() < end_ns) {}
    if (holds) lending_let_go(pair->lending);
}

struct poster {
    struct lent_pair *pair;
    unsigned seed;
};

static void *post(void *arg)
{
    struct poster *poster = arg;
    for (int i = 0; i < 200; i++) {
        unsigned what = (unsigned)rand_r(&poster->seed) % 8;
        if (what == 0) lent_pair_call(poster->pair->borrower, work, poster->pair);
        if (what > 2) lent_pair_call(poster->pair->lender, touch, poster->pair);
        if (what == 1) nanosleep(&(const struct timespec){.tv_nsec = rand_r(&poster->seed) % 30000000}, NULL);
    }
    return NULL;
}

static void test_two_threads_own_the_loop_in_turns(void **state)
{
    struct lent_pair pair;
    unsigned seed = (unsigned)time(NULL);
    pthread_t threads[2];
    struct poster posters[2];
    print_message("seed %u\n", seed);
    lent_pair_begin(&pair);
    for (unsigned i = 0; i < 2; i++) {
        posters[i] = (struct poster){&pair, seed + i};
        pthread_create(&threads[i], NULL, post, &posters[i]);
    }
    for (unsigned i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    lent_pair_end(&pair);
    assert_int_equal(pair.owned, atomic_load(&pair.ticks));
}

static void *wake_often(void *arg)
{
    for (int i = 0; i < MAILS; i++) waker_wake(arg);
    return NULL;
}

static void count(void *ctx)
{
    ++*(unsigned *)ctx;
}

/* A server for metrics wakes the loop before its turns are lent. */
static void test_others_send_while_lending_begins(void **state)
{
    struct loop *lender = loop_new(), *borrower = loop_new();
    unsigned woken = 0;
    struct waker *waker = waker_new(lender, count, &woken);
    pthread_t thread;
    pthread_create(&thread, NULL, wake_often, waker);
    struct lending *lending =
        lending_new(&(const struct lending_options){.lender = lender, .borrower = borrower});
    pthread_join(thread, NULL);
    lending_free(lending);
    loop_once(lender, false);
    assert_int_equal(woken, 1);
    waker_free(waker);
    loop_free(lender);
    loop_free(borrower);
}

/* --- end */

static void stop_soon(struct lent_pair *pair)
{
    lent_pair_until(&pair->borrowed, 5);
    loop_stop(pair->lender);
}

static void stop_and_wait(void *ctx)
{
    struct lent_pair *pair = ctx;
    unsigned before = lending_turns(pair->lending);
    loop_stop(pair->lender);
    lent_pair_until_end(pair);
    assert_int_equal(lending_turns(pair->lending), before);
}

static void stop_a_lent_loop(bool waits)
{
    struct lent_pair pair;
    lent_pair_begin(&pair);
    lent_pair_until(&pair.borrowed, 5);
    if (waits) {
        lent_pair_call(pair.borrower, stop_and_wait, &pair);
    } else {
        stop_soon(&pair);
        lent_pair_until_end(&pair);
    }
    lent_pair_end(&pair);
}

static void test_a_lent_loop_is_stopped_by_a_turn(void **state)
{
    stop_a_lent_loop(false);
}

static void test_a_lent_loop_is_stopped_while_the_borrower_waits(void **state)
{
    stop_a_lent_loop(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_borrower_runs_turns_of_a_calm_lender),
        cmocka_unit_test(test_the_lender_takes_its_turns_back_from_a_busy_borrower),
        cmocka_unit_test(test_mails_to_a_lent_loop_arrive),
        cmocka_unit_test(test_two_threads_own_the_loop_in_turns),
        cmocka_unit_test(test_others_send_while_lending_begins),
        cmocka_unit_test(test_a_lent_loop_is_stopped_by_a_turn),
        cmocka_unit_test(test_a_lent_loop_is_stopped_while_the_borrower_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
