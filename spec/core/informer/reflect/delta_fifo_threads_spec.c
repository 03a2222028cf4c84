/* core/informer/reflect/delta_fifo.c between two threads that do not wait for each other: nothing is lost,
 * nothing comes twice, order stays, the consumer is always woken. Meant to run under ThreadSanitizer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/time/backoff.h"
#include "core/informer/support/objects.h"
#include "informer/reflect/delta_fifo.h"
#include "object/value/value.h"

enum { DELTAS = 300000, OBJECTS = 64 };

struct wake {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    bool ready;
    size_t count;
};

struct test {
    struct delta_fifo *fifo;
    struct wake wake;
    struct root *objects[OBJECTS];
    uint64_t seed;
};

static uint64_t choose_seed(void)
{
    const char *text = getenv("SEED");
    uint64_t seed = text ? strtoull(text, NULL, 10) : 20260101;
    print_message("SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

static void on_ready(void *ctx)
{
    struct wake *wake = ctx;
    pthread_mutex_lock(&wake->lock);
    wake->ready = true;
    wake->count++;
    pthread_cond_signal(&wake->cond);
    pthread_mutex_unlock(&wake->lock);
}

static void wait_until_ready(struct wake *wake)
{
    pthread_mutex_lock(&wake->lock);
    while (!wake->ready) pthread_cond_wait(&wake->cond, &wake->lock);
    wake->ready = false;
    pthread_mutex_unlock(&wake->lock);
}

static void renew(struct root **slot, int number, int64_t version)
{
    char text[32];
    snprintf(text, sizeof text, "ns/o%d@%lld", number, (long long)version);
    root_unref(*slot);
    *slot = object(text);
    objects_drain();
}

/* Numbers the deltas in received_us. */
static void *produce(void *ctx)
{
    struct test *t = ctx;
    struct jitter jitter = {t->seed};
    objects_adopt(); /* as on the I/O thread: the consumer's last references go through the release queue */
    for (int64_t i = 0; i < DELTAS; i++) {
        uint64_t dice = jitter_next(&jitter);
        if (dice % 1000 == 0) {
            size_t count = dice / 1000 % OBJECTS;
            struct root **list = xcalloc(count + 1, sizeof *list);
            for (size_t j = 0; j < count; j++) list[j] = root_ref(t->objects[j]);
            delta_fifo_replace(t->fifo, "1", list, count, NULL, i);
        } else {
            delta_fifo_add(t->fifo, DELTA_UPDATED, root_ref(t->objects[dice % OBJECTS]), i);
        }
        if (dice % 512 == 2) renew(&t->objects[dice % OBJECTS], (int)(dice % OBJECTS), i);
        if (dice % 4096 == 1) sched_yield();
    }
    return NULL;
}

/* Takes in batches of any size, stops early now and then, and sleeps only when the queue is empty. */
static void consume(struct test *t)
{
    struct jitter jitter = {t->seed + 1};
    int64_t seen = 0;
    while (seen < DELTAS) {
        struct delta *batch;
        size_t count = delta_fifo_take(t->fifo, 1 + jitter_next(&jitter) % 500, &batch);
        for (size_t i = 0; i < count; i++) assert_int_equal(batch[i].received_us, seen++);
        delta_fifo_release(t->fifo, batch, count);
        if (seen < DELTAS && delta_fifo_len(t->fifo) == 0) wait_until_ready(&t->wake);
    }
    assert_int_equal(delta_fifo_len(t->fifo), 0);
}

static size_t number_of(const struct root *object)
{
    struct text text;
    struct str name = root_name(object, &text);
    uint64_t number = OBJECTS;
    str_to_u64((struct str){name.p + 1, name.n - 1}, &number);
    assert_in_range(number, 0, OBJECTS - 1);
    return number;
}

/* With a small mark: in order for each object, and what came last is there at the end. */
static void consume_compressed(struct test *t)
{
    struct jitter jitter = {t->seed + 2};
    int64_t last = 0, seen[OBJECTS] = {0};
    size_t taken = 0, coalesced = 0;
    while (last < DELTAS - 1) {
        struct delta *batch;
        size_t count = delta_fifo_take(t->fifo, 1 + jitter_next(&jitter) % 50, &batch);
        for (size_t i = 0; i < count; i++) {
            coalesced += batch[i].coalesced;
            if (batch[i].type == DELTA_BOOKMARK) continue;
            if (batch[i].received_us > last) last = batch[i].received_us;
            if (!batch[i].object) continue;
            int64_t *of_object = &seen[number_of(batch[i].object)];
            assert_true(batch[i].received_us >= *of_object);
            *of_object = batch[i].received_us;
        }
        taken += count;
        delta_fifo_release(t->fifo, batch, count);
        if (jitter_next(&jitter) % 64 == 0) sched_yield();
        if (last < DELTAS - 1 && delta_fifo_len(t->fifo) == 0) wait_until_ready(&t->wake);
    }
    print_message("%zu deltas taken, %zu of them for several\n", taken, coalesced);
}

static void run_threads(size_t mark, void (*consumer)(struct test *t))
{
    struct test t = {.seed = choose_seed()};
    pthread_t producer;
    objects_open();
    pthread_mutex_init(&t.wake.lock, NULL);
    pthread_cond_init(&t.wake.cond, NULL);
    t.fifo = delta_fifo_new(on_ready, &t.wake);
    delta_fifo_set_mark(t.fifo, mark);
    for (int i = 0; i < OBJECTS; i++) {
        char text[32];
        snprintf(text, sizeof text, "ns/o%d@1", i);
        t.objects[i] = object(text);
    }
    pthread_create(&producer, NULL, produce, &t);
    consumer(&t);
    pthread_join(producer, NULL);
    objects_adopt();
    print_message("%zu wakes\n", t.wake.count);
    for (int i = 0; i < OBJECTS; i++) root_unref(t.objects[i]);
    delta_fifo_free(t.fifo);
    pthread_mutex_destroy(&t.wake.lock);
    pthread_cond_destroy(&t.wake.cond);
    objects_close();
}

static void test_all_deltas_arrive_in_order_and_no_wake_is_lost(void **state)
{
    run_threads(SIZE_MAX, consume);
}

static void test_above_the_mark_the_order_of_each_object_stays_and_no_wake_is_lost(void **state)
{
    run_threads(16, consume_compressed);
}

static void test_the_queue_may_be_closed_while_the_producer_goes_on(void **state)
{
    struct test t = {.seed = choose_seed()};
    pthread_t producer;
    struct delta *batch;
    size_t count;
    objects_open();
    pthread_mutex_init(&t.wake.lock, NULL);
    pthread_cond_init(&t.wake.cond, NULL);
    t.fifo = delta_fifo_new(on_ready, &t.wake);
    for (int i = 0; i < OBJECTS; i++) t.objects[i] = object("ns/one@1");
    pthread_create(&producer, NULL, produce, &t);
    wait_until_ready(&t.wake);
    delta_fifo_close(t.fifo);
    while ((count = delta_fifo_take(t.fifo, 1000, &batch)) > 0) delta_fifo_release(t.fifo, batch, count);
    assert_int_equal(delta_fifo_len(t.fifo), 0);
    pthread_join(producer, NULL);
    objects_adopt();
    assert_int_equal(delta_fifo_len(t.fifo), 0);
    for (int i = 0; i < OBJECTS; i++) root_unref(t.objects[i]);
    delta_fifo_free(t.fifo);
    pthread_mutex_destroy(&t.wake.lock);
    pthread_cond_destroy(&t.wake.cond);
    objects_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_deltas_arrive_in_order_and_no_wake_is_lost),
        cmocka_unit_test(test_above_the_mark_the_order_of_each_object_stays_and_no_wake_is_lost),
        cmocka_unit_test(test_the_queue_may_be_closed_while_the_producer_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
