/* core/net/loop.c, core/net/quiesce.c: a loop's thread is kept where it holds nothing. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/loop.h"

enum { HOLDS = 2000, HOLD_MS = 20000, SHORT_MS = 20 };

/* Its thread takes a lock in each turn, as a library would, and has the next turn begin at once. */
struct busy {
    struct loop *loop;
    struct waker *waker;
    pthread_mutex_t lock;
    _Atomic bool is_slow; /* a turn lasts until that is false */
    _Atomic bool over;
    _Atomic unsigned turns;
};

static void on_turn(void *ctx)
{
    struct busy *busy = ctx;
    const struct timespec moment = {.tv_nsec = 10000};
    pthread_mutex_lock(&busy->lock);
    atomic_fetch_add(&busy->turns, 1);
    do nanosleep(&moment, NULL);
    while (atomic_load(&busy->is_slow));
    pthread_mutex_unlock(&busy->lock);
    if (atomic_load(&busy->over))
        loop_stop(busy->loop);
    else
        waker_wake(busy->waker);
}

static void *run(void *arg)
{
    struct busy *busy = arg;
    loop_run(busy->loop);
    return NULL;
}

static void begin(struct busy *busy, bool is_slow, pthread_t *thread)
{
    *busy = (struct busy){.loop = loop_new(), .lock = PTHREAD_MUTEX_INITIALIZER, .is_slow = is_slow};
    busy->waker = waker_new(busy->loop, on_turn, busy);
    waker_wake(busy->waker);
    pthread_create(thread, NULL, run, busy);
}

static void end(struct busy *busy, pthread_t thread)
{
    atomic_store(&busy->over, true);
    pthread_join(thread, NULL);
    waker_free(busy->waker);
    loop_free(busy->loop);
}

static void until_turn(struct busy *busy, unsigned turn)
{
    const struct timespec moment = {.tv_nsec = 100000};
    while (atomic_load(&busy->turns) < turn) nanosleep(&moment, NULL);
}

/* However busy it is: it does not starve who waits for it, and goes on afterwards. */
static void test_a_quiesced_thread_has_no_lock(void **state)
{
    struct busy busy;
    pthread_t thread;
    begin(&busy, false, &thread);
    for (int i = 0; i < HOLDS; i++) {
        assert_true(loop_quiesce(busy.loop, HOLD_MS));
        assert_int_equal(pthread_mutex_trylock(&busy.lock), 0);
        unsigned turns = atomic_load(&busy.turns);
        pthread_mutex_unlock(&busy.lock);
        assert_int_equal(atomic_load(&busy.turns), turns);
        loop_let_go(busy.loop);
        if (i % 100 == 0) until_turn(&busy, turns + 1);
    }
    end(&busy, thread);
}

static void test_a_turn_that_does_not_end_is_not_waited_for(void **state)
{
    struct busy busy;
    pthread_t thread;
    begin(&busy, true, &thread);
    until_turn(&busy, 1);
    assert_false(loop_quiesce(busy.loop, SHORT_MS));
    atomic_store(&busy.is_slow, false);
    until_turn(&busy, atomic_load(&busy.turns) + 2);
    assert_true(loop_quiesce(busy.loop, HOLD_MS));
    loop_let_go(busy.loop);
    end(&busy, thread);
}

static void test_a_loop_that_nobody_runs_is_at_rest(void **state)
{
    struct busy busy;
    pthread_t thread;
    struct loop *loop = loop_new();
    assert_true(loop_quiesce(loop, SHORT_MS));
    loop_let_go(loop);
    loop_free(loop);
    begin(&busy, false, &thread);
    until_turn(&busy, 1);
    atomic_store(&busy.over, true);
    pthread_join(thread, NULL);
    assert_true(loop_quiesce(busy.loop, SHORT_MS));
    loop_let_go(busy.loop);
    waker_free(busy.waker);
    loop_free(busy.loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_quiesced_thread_has_no_lock),
        cmocka_unit_test(test_a_turn_that_does_not_end_is_not_waited_for),
        cmocka_unit_test(test_a_loop_that_nobody_runs_is_at_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
