/* core/net/loop.c, core/net/loop_watchers.c: mails, wakers and timers across threads. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/loop.h"

enum { MAILS = 20000 };

struct receiver {
    struct loop *loop;
    int next; /* number that must come next */
    bool disorder;
    size_t wakes;
};

struct numbered {
    struct mail mail;
    int number;
    struct receiver *receiver;
};

static void on_mail(struct mail *mail)
{
    struct numbered *m = container_of(mail, struct numbered, mail);
    if (m->number != m->receiver->next++) m->receiver->disorder = true;
    if (m->receiver->next == MAILS) loop_stop(m->receiver->loop);
    free(m);
}

static void *post_all(void *arg)
{
    struct receiver *r = arg;
    for (int i = 0; i < MAILS; i++) {
        struct numbered *m = NEW(struct numbered);
        *m = (struct numbered){.mail.deliver = on_mail, .number = i, .receiver = r};
        mailbox_post(loop_mailbox(r->loop), &m->mail);
    }
    return NULL;
}

static void test_mails_arrive_once_in_order(void **state)
{
    struct receiver r = {.loop = loop_new()};
    pthread_t thread;
    pthread_create(&thread, NULL, post_all, &r);
    loop_run(r.loop);
    pthread_join(thread, NULL);
    assert_false(r.disorder);
    assert_int_equal(r.next, MAILS);
    loop_free(r.loop);
}

static void on_wake(void *ctx)
{
    struct receiver *r = ctx;
    r->wakes++;
    loop_stop(r->loop);
}

static void count(void *ctx)
{
    ((struct receiver *)ctx)->wakes++;
}

static void test_calls_of_one_turn_become_one_before_the_loop_waits(void **state)
{
    struct receiver r = {.loop = loop_new()};
    struct prepare *prepare = prepare_new(r.loop, count, &r);
    loop_once(r.loop, false);
    assert_int_equal(r.wakes, 0);
    prepare_call(prepare);
    prepare_call(prepare);
    assert_int_equal(r.wakes, 0);
    loop_once(r.loop, false);
    loop_once(r.loop, false);
    assert_int_equal(r.wakes, 1);
    prepare_call(prepare);
    prepare_free(prepare);
    loop_once(r.loop, false);
    assert_int_equal(r.wakes, 1);
    loop_free(r.loop);
}

static void test_many_wakes_become_one_call(void **state)
{
    struct receiver r = {.loop = loop_new()};
    struct waker *waker = waker_new(r.loop, on_wake, &r);
    for (int i = 0; i < 1000; i++) waker_wake(waker);
    loop_run(r.loop);
    loop_once(r.loop, false);
    assert_int_equal(r.wakes, 1);
    waker_free(waker);
    loop_free(r.loop);
}

struct shutdown_watch {
    struct timer timer;
    struct loop *loop;
};

static void on_timer(struct timer *timer)
{
    loop_stop(container_of(timer, struct shutdown_watch, timer)->loop);
}

static void test_a_timer_of_the_loops_clock_fires_when_due(void **state)
{
    struct shutdown_watch s = {.timer.fn = on_timer, .loop = loop_new()};
    int64_t start = clock_now_ms(loop_clock(s.loop));
    timer_start(&s.timer, loop_clock(s.loop), 30);
    loop_run(s.loop);
    assert_true(clock_now_ms(loop_clock(s.loop)) - start >= 30);
    loop_free(s.loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mails_arrive_once_in_order),
        cmocka_unit_test(test_many_wakes_become_one_call),
        cmocka_unit_test(test_calls_of_one_turn_become_one_before_the_loop_waits),
        cmocka_unit_test(test_a_timer_of_the_loops_clock_fires_when_due),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
