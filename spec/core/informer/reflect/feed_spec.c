/* core/informer/reflect/feed.c: the engine thread is woken once for what a turn of the loop brings, and
 * nothing waits without a wake-up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/time/backoff.h"
#include "core/informer/support/log_double.h"
#include "core/informer/support/objects.h"
#include "core/informer/support/scripted_source.h"
#include "informer/reflect/feed.h"
#include "informer/reflect/watch_list_memory.h"

static struct loop *loop;
static struct feed *feed;
static struct delta_fifo *fifo;
static struct scripted_source source;
static struct watch_list_memory *memory;
static const struct resource pods = {(char *)"", (char *)"v1", (char *)"pods", (char *)"Pod", true};
static size_t wakes, ends, taken;

static struct list_watch *new_source(void *ctx, const struct resource *resource, const struct lw_scope *scope)
{
    return scripted_source_init(&source);
}

static void on_ready(void *ctx)
{
    wakes++;
}

static void on_changed(void *ctx) {}

static void on_ended(void *ctx)
{
    ends++;
}

static void settle(void)
{
    for (int i = 0; i < 10; i++) loop_once(loop, false);
}

/* What the engine thread does when it is woken. */
static size_t take(void)
{
    struct delta *batch;
    size_t count, all = 0;
    while ((count = delta_fifo_take(fifo, 1000, &batch)) > 0) {
        delta_fifo_release(fifo, batch, count);
        all += count;
    }
    taken += all;
    return all;
}

/* Watching, with an empty queue. */
static int open_feed(void **state)
{
    objects_open();
    log_take();
    loop = loop_new();
    fifo = delta_fifo_new(NULL, NULL);
    memory = watch_list_memory_new();
    wakes = ends = taken = 0;
    feed = feed_start(&(struct feed_options){
        .name = "pods",
        .io_loop = loop,
        .resource = &pods,
        .scope = {.namespace_ = "", .label_selector = "", .field_selector = ""},
        .new_source = new_source,
        .fifo = fifo,
        .memory = memory,
        .seed = 1,
        .ready = on_ready,
        .changed = on_changed,
        .ended = on_ended,
    });
    settle();
    source_list(&source, "a@1 b@1", "1");
    assert_int_equal(wakes, 0); /* not inside the turn that brought it */
    settle();
    assert_int_equal(wakes, 1);
    assert_int_equal(take(), 1);
    wakes = taken = 0;
    return 0;
}

static void end_feed(void)
{
    feed_stop(feed);
    settle();
    assert_true(feed_has_ended(feed));
    assert_int_equal(ends, 1);
}

static int close_feed(void **state)
{
    if (!feed_has_ended(feed)) end_feed();
    feed_free(feed);
    delta_fifo_free(fifo);
    scripted_source_clear(&source);
    watch_list_memory_free(memory);
    loop_free(loop);
    objects_close();
    return 0;
}

static void update(size_t version)
{
    char text[32];
    snprintf(text, sizeof text, "a@%zu", version);
    source_event(&source, LW_MODIFIED, text);
}

static void test_all_deltas_of_a_turn_are_one_wake_up_at_its_end(void **state)
{
    for (size_t i = 0; i < DELTA_FIFO_MANY; i++) update(2 + i);
    assert_int_equal(wakes, 0);
    loop_once(loop, false);
    assert_int_equal(wakes, 1);
    assert_int_equal(take(), DELTA_FIFO_MANY);
    settle();
    assert_int_equal(wakes, 1); /* and none for nothing */
}

/* The engine thread took them while the turn went on. */
static void test_a_queue_that_was_emptied_within_the_turn_is_one_wake_up_too(void **state)
{
    for (size_t i = 0; i < 10; i++) {
        update(2 + i);
        assert_int_equal(take(), 1);
    }
    assert_int_equal(wakes, 0);
    loop_once(loop, false);
    assert_int_equal(wakes, 1);
}

static void test_many_deltas_do_not_wait_for_the_end_of_the_turn(void **state)
{
    for (size_t i = 0; i <= DELTA_FIFO_MANY; i++) update(2 + i);
    assert_int_equal(wakes, 1);
    for (size_t i = 0; i < DELTA_FIFO_MANY; i++) update(1000 + i);
    assert_int_equal(wakes, 1);
    assert_int_equal(take(), 2 * DELTA_FIFO_MANY + 1);
}

/* Whoever empties the queue when he is woken, and only then, misses nothing. */
static void test_no_delta_is_left_without_a_wake_up(void **state)
{
    struct jitter jitter = {.state = 7};
    size_t sent = 0, turns = 500;
    for (size_t turn = 0; turn < turns; turn++) {
        size_t count = (size_t)jitter_between(&jitter, 0, 5);
        if (turn % 50 == 0) count = DELTA_FIFO_MANY + 20;
        for (size_t i = 0; i < count; i++) {
            update(2 + sent++);
            if (wakes > 0 || jitter_between(&jitter, 0, 4) == 0) take();
            wakes = 0;
        }
        loop_once(loop, false);
        if (wakes > 0) take();
        wakes = 0;
        assert_int_equal(delta_fifo_len(fifo), 0);
    }
    assert_int_equal(taken, sent);
    assert_true(sent > turns);
}

static void deliver(struct mail *mail)
{
    update(2);
}

/* An event and the stop in one turn: nobody is called any more once the feed has ended. */
static void test_a_wake_up_that_is_due_is_dropped_at_the_stop(void **state)
{
    struct mail mail = {.deliver = deliver};
    mailbox_post(loop_mailbox(loop), &mail);
    feed_stop(feed);
    loop_once(loop, false);
    assert_int_equal(delta_fifo_len(fifo), 1); /* the event came */
    assert_int_equal(ends, 1);
    settle();
    assert_int_equal(wakes, 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_feed, close_feed)
    const struct CMUnitTest tests[] = {
        T(test_all_deltas_of_a_turn_are_one_wake_up_at_its_end),
        T(test_a_queue_that_was_emptied_within_the_turn_is_one_wake_up_too),
        T(test_many_deltas_do_not_wait_for_the_end_of_the_turn),
        T(test_no_delta_is_left_without_a_wake_up),
        T(test_a_wake_up_that_is_due_is_dropped_at_the_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
