/* core/kube/event/event_recorder.c: the queue of events, tries, and the end. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/series/series.h"
#include "kube/event/event_recorder.h"

/* A server that notes what it is asked, and answers when it is told to. The recorder's two threads are one
 * here: whoever waits for its end has told it to stop before. */
struct world {
    struct loop *loop;
    struct virtual_clock clock;
    struct event_recorder *recorder;
    struct buf log; /* "POST shop/ " and "PATCH shop/web.1 " of each request */
    unsigned requests;
    bool is_evaluated;
    object_done *done;
    void *done_ctx;
    struct buf body; /* of the last request */
};

static struct object_call *call(void *ctx, const struct object_request *request, object_done *done,
                                void *done_ctx)
{
    struct world *world = ctx;
    const char *name = request->place.name ? request->place.name : "";
    assert_false(world->is_evaluated); /* one at a time */
    world->is_evaluated = true;
    world->requests++;
    world->done = done;
    world->done_ctx = done_ctx;
    world->body.len = 0;
    buf_str(&world->body, request->body);
    buf_printf(&world->log, "%s %s/%.*s", object_request_method(request), request->place.namespace_,
               (int)strcspn(name, "."), name);
    object_request_query(request, &world->log);
    buf_putc(&world->log, '\n');
    return (struct object_call *)world;
}

static void cancel_call(struct object_call *asked)
{
    ((struct world *)asked)->is_evaluated = false;
}

static void turn(struct world *world)
{
    for (int i = 0; i < 3; i++) loop_once(world->loop, false);
}

static void answer(struct world *world, enum err_code code, int http_status, const char *reason)
{
    struct err err;
    assert_true(world->is_evaluated);
    world->is_evaluated = false;
    if (code != ERR_NONE) {
        err_set(&err, code, "the cause");
        err.http_status = http_status;
        snprintf(err.reason, sizeof err.reason, "%s", reason);
    }
    world->done(world->done_ctx, &(struct object_response){.err = code == ERR_NONE ? NULL : &err});
}

static void take(struct world *world)
{
    answer(world, ERR_NONE, 0, "");
}

static struct kube_event *event_of(const char *name, const char *message)
{
    struct kube_event *event = event_new(str_of(message));
    event->about = (struct event_object){
        .api_version = xstrdup("v1"),
        .kind = xstrdup("Pod"),
        .ns = xstrdup("shop"),
        .name = xstrdup(name),
        .uid = xstrdup("u-1"),
        .resource_version = xstrdup(""),
    };
    event->component = xstrdup("kubelua/a");
    event->type = xstrdup("Normal");
    event->reason = xstrdup("Seen");
    return event;
}

static bool put(struct world *world, const char *name, const char *message)
{
    bool taken = event_recorder_put(world->recorder, event_of(name, message));
    return taken;
}

static int set_up(void **state)
{
    struct world *world = NEW(struct world);
    world->loop = loop_new();
    virtual_clock_init(&world->clock);
    world->recorder =
        event_recorder_new(&(struct event_recorder_options){.io_loop = world->loop,
                                                            .clock = &world->clock.clock,
                                                            .caller = {call, cancel_call, world},
                                                            .instance = "host-1",
                                                            .seed = 7});
    *state = world;
    return 0;
}

static long long count_of(const char *result)
{
    struct buf page = {0};
    char name[64];
    snprintf(name, sizeof name, "kubelua_events_total{result=\"%s\"} ", result);
    series_render(&page);
    const char *at = strstr(buf_text(&page), name);
    long long count = at ? strtoll(at + strlen(name), NULL, 10) : -1;
    buf_clear(&page);
    return count;
}

/* Ends the recorder from another thread, as the engine does, while the loop goes on. */
static void *free_recorder(void *arg)
{
    struct world *world = arg;
    event_recorder_free(world->recorder, 2000);
    world->recorder = NULL;
    loop_stop(world->loop);
    return NULL;
}

static void end(struct world *world)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, free_recorder, world), 0);
    loop_run(world->loop);
    pthread_join(thread, NULL);
}

static int tear_down(void **state)
{
    struct world *world = *state;
    if (world->recorder) {
        if (world->is_evaluated) take(world);
        while (world->is_evaluated) take(world);
        end(world);
    }
    buf_clear(&world->log);
    buf_clear(&world->body);
    virtual_clock_clear(&world->clock);
    loop_free(world->loop);
    free(world);
    return 0;
}

static void test_ev1_events_are_sent_one_after_the_other(void **state)
{
    struct world *world = *state;
    put(world, "web", "a");
    put(world, "db", "b");
    put(world, "web", "a");
    assert_int_equal(world->requests, 0); /* not on this thread */
    turn(world);
    assert_int_equal(world->requests, 1);
    take(world);
    take(world);
    assert_string_equal(buf_text(&world->log), "POST shop/\nPOST shop/\nPATCH shop/web\n");
    assert_non_null(strstr(buf_text(&world->body), "\"count\":2"));
    take(world);
    assert_false(world->is_evaluated);
    assert_int_equal(count_of("created"), 2);
    assert_int_equal(count_of("patched"), 1);
}

static void test_ev1_a_thousand_may_wait_and_no_more(void **state)
{
    struct world *world = *state;
    char name[32];
    for (int i = 0; i < EVENT_QUEUE_MAX; i++) {
        snprintf(name, sizeof name, "pod-%d", i);
        assert_true(put(world, name, "a"));
    }
    assert_false(put(world, "one-more", "a"));
    assert_int_equal(count_of("dropped"), 1);
    turn(world); /* one is under way */
    assert_true(put(world, "one-more", "a"));
    assert_false(put(world, "one-more", "a"));
    turn(world);
    while (world->is_evaluated) take(world);
    assert_int_equal(count_of("created"), EVENT_QUEUE_MAX + 1);
}

static void test_ev1_a_server_that_cannot_be_reached_is_tried_12_times_10_seconds_apart(void **state)
{
    struct world *world = *state;
    put(world, "web", "a");
    put(world, "db", "b");
    turn(world);
    answer(world, ERR_CONNECT, 0, "");
    assert_false(world->is_evaluated);
    virtual_clock_advance(&world->clock, 10000); /* the first delay is anything up to that */
    for (unsigned tries = 2; tries <= 12; tries++) {
        assert_int_equal(world->requests, tries);
        answer(world, tries % 2 ? ERR_CLOSED : ERR_CONNECT, 0, "");
        if (tries == 12) break;
        virtual_clock_advance(&world->clock, 9999);
        assert_false(world->is_evaluated);
        virtual_clock_advance(&world->clock, 1);
    }
    assert_int_equal(count_of("failed"), 1);
    assert_int_equal(world->requests, 13); /* the other one's turn */
    take(world);
}

static void test_ev1_the_first_delay_is_drawn(void **state)
{
    struct world *world = *state;
    bool seen[4] = {false};
    char name[32];
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "pod-%d", i);
        struct kube_event *event = event_of(name, "a");
        event->time_us = i;
        event_recorder_put(world->recorder, event);
        turn(world);
        answer(world, ERR_CONNECT, 0, "");
        int64_t before = clock_now_ms(&world->clock.clock);
        while (!world->is_evaluated) virtual_clock_advance(&world->clock, 100);
        int64_t waited = clock_now_ms(&world->clock.clock) - before;
        assert_true(waited <= 10000);
        seen[(waited - 1) / 2500] = true;
        take(world);
    }
    for (size_t i = 0; i < ARRAY_LEN(seen); i++) assert_true(seen[i]);
}

static void test_ev1_what_the_server_refuses_is_not_sent_again(void **state)
{
    struct world *world = *state;
    put(world, "web", "a");
    turn(world);
    answer(world, ERR_HTTP, 403, "Forbidden");
    virtual_clock_advance(&world->clock, 100000);
    assert_int_equal(world->requests, 1);
    assert_int_equal(count_of("failed"), 1);
}

static void test_ev1_a_patch_of_what_is_gone_becomes_a_new_event(void **state)
{
    struct world *world = *state;
    put(world, "web", "a");
    put(world, "web", "a");
    turn(world);
    take(world);
    answer(world, ERR_HTTP, 404, "NotFound");
    assert_string_equal(buf_text(&world->log), "POST shop/\nPATCH shop/web\nPOST shop/\n");
    assert_non_null(strstr(buf_text(&world->body), "\"count\":2"));
    take(world);
    assert_int_equal(count_of("created"), 2);
}

/* Whose first try finds one of its name there has not made it. */
static void test_ev1_an_event_of_another_is_not_taken_for_ours(void **state)
{
    struct world *world = *state;
    put(world, "web", "a");
    turn(world);
    answer(world, ERR_HTTP, 409, "AlreadyExists");
    assert_false(world->is_evaluated);
    assert_int_equal(count_of("created"), 0);
    assert_int_equal(count_of("failed"), 1);
}

static void test_an_event_whose_response_was_lost_is_there_already(void **state)
{
    struct world *world = *state;
    put(world, "web", "a");
    turn(world);
    answer(world, ERR_CLOSED, 0, "");
    virtual_clock_advance(&world->clock, 10000);
    answer(world, ERR_HTTP, 409, "AlreadyExists");
    assert_int_equal(count_of("created"), 1);
    assert_int_equal(count_of("failed"), 0);
}

static void test_ev2_an_event_beyond_the_limit_is_not_sent(void **state)
{
    struct world *world = *state;
    for (int i = 0; i < 30; i++) put(world, "web", "a");
    turn(world);
    while (world->is_evaluated) take(world);
    assert_int_equal(world->requests, 25);
    assert_int_equal(count_of("held back"), 5);
}

static void test_the_end_does_not_wait_for_a_server_that_is_away(void **state)
{
    struct world *world = *state;
    put(world, "web", "a");
    put(world, "db", "a");
    turn(world);
    answer(world, ERR_CONNECT, 0, "");
    end(world);
    assert_int_equal(world->requests, 1);
    assert_int_equal(count_of("failed"), -1); /* its series went with it */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_ev1_events_are_sent_one_after_the_other, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ev1_a_thousand_may_wait_and_no_more, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            test_ev1_a_server_that_cannot_be_reached_is_tried_12_times_10_seconds_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ev1_the_first_delay_is_drawn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ev1_what_the_server_refuses_is_not_sent_again, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_ev1_a_patch_of_what_is_gone_becomes_a_new_event, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_ev1_an_event_of_another_is_not_taken_for_ours, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_an_event_whose_response_was_lost_is_there_already, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_ev2_an_event_beyond_the_limit_is_not_sent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_end_does_not_wait_for_a_server_that_is_away, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
