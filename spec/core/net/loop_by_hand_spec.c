/* A loop that nobody runs: its clock stands still, and all it does is done when it settles. */
#include "net/loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"

struct world {
    struct loop *loop;
    struct waker *waker;
    struct timer timer;
    struct mail mail;
    int woken, fired, delivered;
    bool again; /* each call asks for the next one */
    pthread_mutex_t lock;
    pthread_cond_t told;
};

static void on_wake(void *ctx)
{
    struct world *w = ctx;
    w->woken++;
    if (w->again) waker_wake(w->waker);
}

static void on_timer(struct timer *timer)
{
    struct world *w = container_of(timer, struct world, timer);
    w->fired++;
    mailbox_post(loop_mailbox(w->loop), &w->mail);
}

static void on_mail(struct mail *mail)
{
    struct world *w = container_of(mail, struct world, mail);
    w->delivered++;
    waker_wake(w->waker);
}

static int set_up(void **state)
{
    static struct world w;
    w = (struct world){.timer.fn = on_timer, .mail.deliver = on_mail};
    w.loop = loop_new_by_hand(5000000);
    w.waker = waker_new(w.loop, on_wake, &w);
    pthread_mutex_init(&w.lock, NULL);
    pthread_cond_init(&w.told, NULL);
    *state = &w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    timer_cancel(&w->timer);
    waker_free(w->waker);
    loop_free(w->loop);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->told);
    return 0;
}

static void one_thing_leads_to_the_next_at_one_instant(void **state)
{
    struct world *w = *state;
    struct clock *clock = loop_clock(w->loop);
    timer_start(&w->timer, clock, 100);
    assert_true(loop_settle(w->loop, 100));
    assert_int_equal(w->fired, 0);
    loop_set_clock(w->loop, clock_now_ms(clock) + 100);
    assert_int_equal(w->fired, 0);
    assert_true(loop_settle(w->loop, 100));
    assert_int_equal(w->fired, 1);
    assert_int_equal(w->delivered, 1);
    assert_int_equal(w->woken, 1);
}

static void the_clock_stands_still_until_it_is_moved(void **state)
{
    struct world *w = *state;
    struct clock *clock = loop_clock(w->loop);
    int64_t now_ms = clock_now_ms(clock);
    assert_true(now_ms > 0);
    assert_int_equal(clock_wall_us(clock), 5000000);
    assert_true(loop_settle(w->loop, 100));
    assert_int_equal(clock_now_ms(clock), now_ms);
    loop_set_clock(w->loop, now_ms + 1500);
    assert_int_equal(clock_wall_us(clock), 6500000);
}

static void what_never_ends_is_told(void **state)
{
    struct world *w = *state;
    w->again = true;
    waker_wake(w->waker);
    assert_false(loop_settle(w->loop, 50));
    assert_int_equal(w->woken, 50);
    w->again = false;
    assert_true(loop_settle(w->loop, 50));
}

static void who_waits_for_it_has_it_run(void **state)
{
    struct world *w = *state;
    struct clock *clock = loop_clock(w->loop);
    int64_t now_ms = clock_now_ms(clock);
    timer_start(&w->timer, clock, 3000);
    pthread_mutex_lock(&w->lock);
    while (w->woken == 0) loop_wait(w->loop, &w->told, &w->lock);
    pthread_mutex_unlock(&w->lock);
    assert_int_equal(w->fired, 1);
    assert_int_equal(clock_now_ms(clock), now_ms + 3000);
}

static void a_mail_that_is_taken_back_is_not_delivered(void **state)
{
    struct world *w = *state, other = {.waker = w->waker, .mail.deliver = on_mail};
    struct mailbox *mailbox = loop_mailbox(w->loop);
    mailbox_post(mailbox, &other.mail);
    mailbox_post(mailbox, &w->mail);
    mailbox_withdraw(mailbox, &other.mail);
    mailbox_withdraw(mailbox, &other.mail); /* is not there any more */
    assert_true(loop_settle(w->loop, 50));
    mailbox_post(mailbox, &w->mail);
    mailbox_withdraw(mailbox, &w->mail);
    mailbox_post(mailbox, &other.mail); /* behind one that was the last */
    assert_true(loop_settle(w->loop, 50));
    assert_int_equal(w->delivered, 1);
    assert_int_equal(other.delivered, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(one_thing_leads_to_the_next_at_one_instant),
        TEST(the_clock_stands_still_until_it_is_moved),
        TEST(what_never_ends_is_told),
        TEST(who_waits_for_it_has_it_run),
        TEST(a_mail_that_is_taken_back_is_not_delivered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
