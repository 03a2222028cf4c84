/* A pair of loops of which one lends its turns; see lent_pair.h. */
#include "core/net/support/lent_pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "base/mem.h"

enum { TICK_MS = 2, LONG_MS = 20000 };

static void enter(void *ctx)
{
    assert_int_equal(atomic_fetch_add(&((struct lent_pair *)ctx)->inside, 1), 0);
}

static void leave(void *ctx)
{
    assert_int_equal(atomic_fetch_sub(&((struct lent_pair *)ctx)->inside, 1), 1);
}

void lent_pair_note(struct lent_pair *pair)
{
    pair->owned++;
    atomic_fetch_add(&pair->ticks, 1);
    if (pthread_equal(pthread_self(), pair->borrowers)) atomic_fetch_add(&pair->borrowed, 1);
}

static void on_tick(struct timer *timer)
{
    struct lent_pair *pair = container_of(timer, struct lent_pair, tick);
    lent_pair_note(pair);
    if (!atomic_load(&pair->is_quiet)) timer_start(&pair->tick, loop_clock(pair->lender), TICK_MS);
}

static void *lend(void *arg)
{
    struct lent_pair *pair = arg;
    lending_run(pair->lending);
    atomic_store(&pair->ended, 1);
    return NULL;
}

static void *borrow(void *arg)
{
    struct lent_pair *pair = arg;
    lending_let_go(pair->lending);
    loop_run(pair->borrower);
    lending_hold(pair->lending);
    return NULL;
}

void lent_pair_begin(struct lent_pair *pair)
{
    *pair = (struct lent_pair){.lender = loop_new(), .borrower = loop_new(), .tick.fn = on_tick};
    pair->lending = lending_new(&(const struct lending_options){
        .lender = pair->lender, .borrower = pair->borrower, .enter = enter, .leave = leave, .ctx = pair});
    timer_start(&pair->tick, loop_clock(pair->lender), TICK_MS);
    pthread_create(&pair->borrowers, NULL, borrow, pair);
    pthread_create(&pair->lenders, NULL, lend, pair);
}

void lent_pair_end(struct lent_pair *pair)
{
    loop_stop(pair->borrower);
    pthread_join(pair->borrowers, NULL);
    loop_stop(pair->lender);
    pthread_join(pair->lenders, NULL);
    assert_int_equal(atomic_load(&pair->inside), 0);
    lending_free(pair->lending);
    timer_cancel(&pair->tick);
    loop_free(pair->lender);
    loop_free(pair->borrower);
}

int64_t lent_pair_now_ms(void)
{
    return clock_measure_ns() / 1000000;
}

void lent_pair_pause(void)
{
    nanosleep(&(const struct timespec){.tv_nsec = 200000}, NULL);
}

void lent_pair_until(const _Atomic unsigned *count, unsigned more)
{
    int64_t end_ms = lent_pair_now_ms() + LONG_MS;
    unsigned before = atomic_load(count);
    while (atomic_load(count) - before < more) {
        if (lent_pair_now_ms() > end_ms) fail_msg("nothing comes any more after %u", atomic_load(count));
        lent_pair_pause();
    }
}

void lent_pair_until_end(const struct lent_pair *pair)
{
    int64_t end_ms = lent_pair_now_ms() + LONG_MS;
    while (!atomic_load(&pair->ended)) {
        if (lent_pair_now_ms() > end_ms) fail_msg("the loop does not end");
        lent_pair_pause();
    }
}

/* --- calls on a loop's thread */

struct call {
    struct mail mail;
    void (*fn)(void *ctx);
    void *ctx;
    _Atomic unsigned done;
};

static void on_call(struct mail *mail)
{
    struct call *call = container_of(mail, struct call, mail);
    call->fn(call->ctx);
    atomic_store(&call->done, 1);
}

void lent_pair_call(struct loop *loop, void (*fn)(void *ctx), void *ctx)
{
    struct call call = {.mail.deliver = on_call, .fn = fn, .ctx = ctx};
    mailbox_post(loop_mailbox(loop), &call.mail);
    int64_t end_ms = lent_pair_now_ms() + LONG_MS;
    while (!atomic_load(&call.done)) {
        if (lent_pair_now_ms() > end_ms) fail_msg("a mail is not delivered");
        lent_pair_pause();
    }
}

/* The last tick is one that the borrower ran: nothing wakes the lender's thread afterwards. */
void lent_pair_quieten(struct lent_pair *pair)
{
    unsigned ticks;
    lent_pair_until(&pair->borrowed, 5);
    atomic_store(&pair->is_quiet, true);
    do {
        ticks = atomic_load(&pair->ticks);
        nanosleep(&(const struct timespec){.tv_nsec = 5 * TICK_MS * 1000000}, NULL);
    } while (atomic_load(&pair->ticks) != ticks);
}

static void tick_again(void *ctx)
{
    struct lent_pair *pair = ctx;
    timer_start(&pair->tick, loop_clock(pair->lender), TICK_MS);
}

void lent_pair_resume(struct lent_pair *pair)
{
    atomic_store(&pair->is_quiet, false);
    lent_pair_call(pair->lender, tick_again, pair);
}
