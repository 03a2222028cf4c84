/* core/informer/workqueue/workqueue.c: 10,000 keys through a queue with 4 workers and random failures, on a
 * virtual clock. What the delays must be is computed by other means than the engine's: tokens as times at
 * which they come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/time/backoff.h"
#include "core/informer/support/queue_fixture.h"

enum { KEYS = 10000, WORKERS = 4, BASE_MS = 5, CAP_MS = 1000000, TOKEN_MS = 100, BURST = 100 };

struct key {
    uint64_t failures, handled;
    bool added, busy;
    int64_t due_ms;  /* INT64_MAX: not to come */
    int64_t done_ms; /* when it was worked on last */
};

struct worker {
    struct workqueue_waiter waiter;
    struct timer timer;
    struct str key;
    bool idle, handed;
};

static struct key keys[KEYS];
static struct worker workers[WORKERS];
static struct jitter random_;
static int64_t last_token_ms;
static uint64_t retries, handed_late, in_time;

static struct key *key_of(struct str text)
{
    uint64_t i;
    assert_true(str_to_u64(text, &i) && i < KEYS);
    return &keys[i];
}

static void name(size_t i, char *out)
{
    sprintf(out, "%zu", i);
}

static void put(size_t i)
{
    char text[24];
    name(i, text);
    keys[i].added = true;
    queue_add(text);
}

/* W-8: the longer one of 5 ms x 2^n and the time until a token comes. */
static int64_t expected_delay_ms(struct key *key)
{
    int64_t own = BASE_MS, oldest = queue_clock.now - BURST * TOKEN_MS;
    for (uint64_t i = 0; i < key->failures && own < CAP_MS; i++) own *= 2;
    if (own > CAP_MS) own = CAP_MS;
    last_token_ms = (last_token_ms > oldest ? last_token_ms : oldest) + TOKEN_MS;
    int64_t token = last_token_ms - queue_clock.now;
    return own > token ? own : token;
}

/* The worker has got its key. */
static void begin(struct worker *w)
{
    struct key *key = key_of(w->key);
    assert_false(key->busy);
    key->busy = true;
    if (!key->added) {
        int64_t ready_ms = key->due_ms > key->done_ms ? key->due_ms : key->done_ms;
        assert_true(key->due_ms <= queue_clock.now);
        if (w->handed) assert_int_equal(queue_clock.now, ready_ms); /* somebody was waiting for it */
        in_time += w->handed;
        handed_late += !w->handed;
    }
    if (key->due_ms <= queue_clock.now) key->due_ms = INT64_MAX;
    key->added = false;
    timer_start(&w->timer, &queue_clock.clock, jitter_between(&random_, 0, 20));
}

static void on_key(struct workqueue_waiter *waiter)
{
    struct worker *w = container_of(waiter, struct worker, waiter);
    w->key = waiter->key;
    w->handed = true;
    begin(w);
}

static void next(struct worker *w)
{
    w->handed = false;
    if (workqueue_get(queue, &w->key))
        begin(w);
    else
        workqueue_wait(queue, &w->waiter);
}

static void try_again(struct worker *w, struct key *key)
{
    struct err err;
    int64_t due_ms = queue_clock.now + expected_delay_ms(key);
    if (key->due_ms <= queue_clock.now) { /* it came due while it was worked on, and waits to be done */
        key->added = true;
        key->due_ms = INT64_MAX;
    }
    key->failures++;
    retries++;
    if (due_ms < key->due_ms) key->due_ms = due_ms; /* W-7 */
    assert_true(workqueue_add_rate_limited(queue, w->key, &err));
    assert_int_equal(workqueue_num_requeues(queue, w->key), key->failures);
}

static void on_worked(struct timer *timer)
{
    struct worker *w = container_of(timer, struct worker, timer);
    struct key *key = key_of(w->key);
    if (jitter_between(&random_, 0, 20) == 0) put((size_t)jitter_between(&random_, 0, KEYS));
    if (jitter_between(&random_, 0, 10) == 0) put((size_t)(key - keys)); /* while it is worked on */
    if (jitter_between(&random_, 0, 10) < 3) {
        try_again(w, key);
    } else {
        key->failures = 0;
        key->handled++;
        workqueue_forget(queue, w->key);
    }
    key->busy = false;
    key->done_ms = queue_clock.now;
    workqueue_done(queue, w->key);
    next(w);
}

static int setup(void **state)
{
    assert_int_equal(queue_setup(state), 0);
    workqueue_free(queue);
    queue = workqueue_new(&(struct workqueue_options){
        .clock = &queue_clock.clock,
        .limiter = {.exponential = {.on = true, .base_ms = BASE_MS, .max_ms = CAP_MS},
                    .bucket = {.on = true, .per_second = 1000.0 / TOKEN_MS, .burst = BURST}},
        .quota = &quota,
        .ready = queue_on_ready,
    });
    return 0;
}

static void test_w8_each_key_is_handled_never_twice_at_once_and_in_its_time(void **state)
{
    const char *given = getenv("SEED");
    random_.state = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
    print_message("SEED=%llu\n", (unsigned long long)random_.state);
    last_token_ms = -BURST * TOKEN_MS;
    for (size_t i = 0; i < KEYS; i++) {
        keys[i].due_ms = INT64_MAX;
        put(i);
    }
    for (size_t i = 0; i < WORKERS; i++) {
        workers[i].waiter.wake = on_key;
        workers[i].timer.fn = on_worked;
        next(&workers[i]);
    }
    while (quota.keys > 0 && queue_clock.now < 7200000) virtual_clock_advance(&queue_clock, 1000);
    assert_int_equal(quota.keys, 0);
    for (size_t i = 0; i < KEYS; i++) {
        assert_true(keys[i].handled > 0);
        assert_false(keys[i].busy || keys[i].added || keys[i].due_ms != INT64_MAX);
    }
    print_message("%llu retries, %llu begun to the millisecond, %llu when a worker was free, %.1f s\n",
                  (unsigned long long)retries, (unsigned long long)in_time, (unsigned long long)handed_late,
                  (double)queue_clock.now / 1000);
    assert_true(in_time > 1000);
    for (size_t i = 0; i < WORKERS; i++) workqueue_stop_waiting(queue, &workers[i].waiter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_w8_each_key_is_handled_never_twice_at_once_and_in_its_time,
                                        setup, queue_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
