/* core/kube/event/event_correlator.c and event.c: what becomes of an event, and what is sent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "kube/event/event_correlator.h"

static const int64_t second_us = 1000000;
static const int64_t start_us = 1767225600000000; /* 2026-01-01T00:00:00Z */

struct world {
    struct event_correlator *correlator;
    int64_t now_us;
    struct event_correlation plan; /* of the last event */
};

static int set_up(void **state)
{
    struct world *world = NEW(struct world);
    world->correlator = event_correlator_new();
    world->now_us = start_us;
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;
    event_correlation_clear(&world->plan);
    event_correlator_free(world->correlator);
    free(world);
    return 0;
}

static struct kube_event *event_of(const char *ns, const char *name, const char *reason, const char *message,
                                   int64_t now_us)
{
    struct kube_event *event = event_new(str_of(message));
    event->about = (struct event_object){
        .api_version = xstrdup("v1"),
        .kind = xstrdup("Pod"),
        .ns = xstrdup(ns),
        .name = xstrdup(name),
        .uid = xstrdup("u-1"),
        .resource_version = xstrdup(""),
    };
    event->component = xstrdup("kubelua/a");
    event->instance = xstrdup("host-1");
    event->type = xstrdup("Normal");
    event->reason = xstrdup(reason);
    event->time_us = now_us;
    return event;
}

static bool tell(struct world *world, const char *name, const char *reason, const char *message)
{
    struct kube_event *event = event_of("shop", name, reason, message, world->now_us);
    event_correlation_clear(&world->plan);
    bool sent = event_correlate(world->correlator, event, world->now_us, &world->plan);
    event_free(event);
    return sent;
}

/* --- equal ones */

static void test_ev2_the_same_event_again_is_a_larger_count_of_the_first(void **state)
{
    struct world *world = *state;
    assert_true(tell(world, "web", "Seen", "hello"));
    assert_false(world->plan.is_patch);
    assert_int_equal(world->plan.count, 1);
    char *name = xstrdup(world->plan.name);
    world->now_us += 5 * second_us;
    for (unsigned count = 2; count <= 4; count++) {
        assert_true(tell(world, "web", "Seen", "hello"));
        assert_true(world->plan.is_patch);
        assert_int_equal(world->plan.count, count);
        assert_string_equal(world->plan.name, name);
        assert_int_equal(world->plan.first_us, start_us);
    }
    free(name);
}

static void test_ev2_another_message_reason_or_object_is_another_event(void **state)
{
    struct world *world = *state;
    const char *const events[][3] = {
        {"web", "Seen", "a"}, {"web", "Seen", "b"}, {"web", "Lost", "a"}, {"db", "Seen", "a"}};
    for (size_t i = 0; i < ARRAY_LEN(events); i++) {
        assert_true(tell(world, events[i][0], events[i][1], events[i][2]));
        assert_false(world->plan.is_patch);
        assert_int_equal(world->plan.count, 1);
    }
}

/* --- similar ones */

static bool tell_number(struct world *world, const char *object, unsigned i)
{
    char message[32];
    snprintf(message, sizeof message, "message %u", i);
    return tell(world, object, "Seen", message);
}

static void test_ev2_the_tenth_message_of_a_reason_is_combined_and_so_are_those_after_it(void **state)
{
    struct world *world = *state;
    for (unsigned i = 1; i <= 9; i++) {
        assert_true(tell_number(world, "web", i));
        assert_false(world->plan.is_combined);
        assert_false(world->plan.is_patch);
        world->now_us += second_us;
    }
    assert_true(tell_number(world, "web", 10));
    assert_true(world->plan.is_combined);
    assert_false(world->plan.is_patch);
    assert_int_equal(world->plan.count, 1);
    char *name = xstrdup(world->plan.name);
    for (unsigned i = 11; i <= 14; i++) {
        assert_true(tell_number(world, "web", i));
        assert_true(world->plan.is_combined && world->plan.is_patch);
        assert_int_equal(world->plan.count, i - 9);
        assert_string_equal(world->plan.name, name);
    }
    free(name);
}

static void test_ev2_similar_ones_are_forgotten_after_600_seconds_without_one(void **state)
{
    struct world *world = *state;
    for (unsigned i = 1; i <= 9; i++) tell_number(world, "web", i);
    world->now_us += 600 * second_us;
    tell_number(world, "web", 10);
    assert_true(world->plan.is_combined);
    world->now_us += 600 * second_us; /* since the last, not the first */
    tell_number(world, "web", 11);
    assert_true(world->plan.is_combined);
    world->now_us += 600 * second_us + 1;
    tell_number(world, "web", 12);
    assert_false(world->plan.is_combined);
}

static void test_ev2_the_same_message_often_is_never_combined(void **state)
{
    struct world *world = *state;
    for (unsigned i = 1; i <= 20; i++) {
        assert_true(tell(world, "web", "Seen", "hello"));
        assert_false(world->plan.is_combined);
    }
    assert_int_equal(world->plan.count, 20);
}

/* --- too many */

static void test_ev2_an_object_has_25_events_and_one_more_each_300_seconds(void **state)
{
    struct world *world = *state;
    for (unsigned i = 1; i <= 25; i++) assert_true(tell(world, "web", "Seen", "hello"));
    assert_false(tell(world, "web", "Seen", "hello"));
    assert_false(tell(world, "web", "Lost", "another reason"));
    assert_true(tell(world, "db", "Seen", "hello"));
    world->now_us += 299 * second_us;
    assert_false(tell(world, "web", "Seen", "hello"));
    world->now_us += second_us;
    assert_true(tell(world, "web", "Seen", "hello"));
    assert_int_equal(world->plan.count, 28); /* those that were held back count */
    assert_false(tell(world, "web", "Seen", "hello"));
    world->now_us += 86400 * second_us;
    for (unsigned i = 1; i <= 25; i++) assert_true(tell(world, "web", "Seen", "hello"));
    assert_false(tell(world, "web", "Seen", "hello"));
}

static void test_ev2_4096_objects_are_remembered_those_used_last(void **state)
{
    struct world *world = *state;
    char name[32];
    tell(world, "first", "Seen", "hello");
    tell(world, "second", "Seen", "hello");
    for (unsigned i = 0; i < EVENT_RECORDS_MAX - 2; i++) {
        snprintf(name, sizeof name, "pod-%u", i);
        tell(world, name, "Seen", "hello");
    }
    tell(world, "first", "Seen", "hello");
    assert_int_equal(world->plan.count, 2);
    tell(world, "one-more", "Seen", "hello"); /* in place of the second */
    tell(world, "second", "Seen", "hello");
    assert_int_equal(world->plan.count, 1);
    tell(world, "first", "Seen", "hello");
    assert_int_equal(world->plan.count, 3);
}

/* --- names and bodies */

static void test_ev3_a_name_is_the_objects_with_the_nanoseconds_in_hex(void **state)
{
    struct world *world = *state;
    tell(world, "web-1", "Seen", "hello");
    assert_string_equal(world->plan.name, "web-1.18867251edfa0000");
    tell(world, "web-1", "Seen", "in the same microsecond");
    assert_string_equal(world->plan.name, "web-1.18867251edfa0001");
}

static void check_hashed_name(struct world *world, const char *object)
{
    tell(world, object, "Seen", "hello");
    assert_memory_equal(world->plan.name, "event-", 6);
    assert_int_equal(strcspn(world->plan.name, "."), 22);
}

static void test_ev3_a_name_that_an_event_may_not_have_becomes_a_hash(void **state)
{
    struct world *world = *state;
    char long_name[254] = {0};
    check_hashed_name(world, "system:node-proxier");
    check_hashed_name(world, "Capital");
    check_hashed_name(world, "a..b");
    check_hashed_name(world, "-a");
    memset(long_name, 'a', 253);
    check_hashed_name(world, long_name);
}

static void test_ev3_the_namespace_is_the_objects_or_default(void **state)
{
    struct kube_event *event = event_of("shop", "web", "Seen", "hello", start_us);
    assert_string_equal(event_namespace(event), "shop");
    event_free(event);
    event = event_of("", "node-1", "Seen", "hello", start_us);
    assert_string_equal(event_namespace(event), "default");
    event_free(event);
}

static void test_ev3_the_event_and_its_patch_as_json(void **state)
{
    struct buf out = {0};
    struct kube_event *event = event_of("shop", "web", "Seen", "say \"hi\"", start_us + 90 * second_us);
    const struct event_correlation plan = {.name = (char *)"web.1", .count = 3, .first_us = start_us};
    event_body(event, &plan, &out);
    assert_string_equal(
        buf_text(&out),
        "{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"metadata\":{\"name\":\"web.1\",\"namespace\":\"shop\"},"
        "\"involvedObject\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"namespace\":\"shop\",\"name\":\"web\","
        "\"uid\":\"u-1\"},\"type\":\"Normal\",\"reason\":\"Seen\",\"message\":\"say \\\"hi\\\"\","
        "\"source\":{\"component\":\"kubelua/a\"},\"reportingComponent\":\"kubelua/a\","
        "\"reportingInstance\":\"host-1\",\"firstTimestamp\":\"2026-01-01T00:00:00Z\","
        "\"lastTimestamp\":\"2026-01-01T00:01:30Z\",\"count\":3}");
    out.len = 0;
    event_patch(event,
                &(struct event_correlation){
                    .name = (char *)"web.1", .is_combined = true, .count = 3, .first_us = start_us},
                &out);
    assert_string_equal(buf_text(&out), "{\"count\":3,\"lastTimestamp\":\"2026-01-01T00:01:30Z\","
                                        "\"message\":\"(combined from similar events): say \\\"hi\\\"\"}");
    event_free(event);
    buf_clear(&out);
}

static void test_a_message_is_cut_behind_a_complete_character(void **state)
{
    char text[EVENT_MESSAGE_MAX + 8];
    memset(text, 'a', sizeof text);
    memcpy(text + EVENT_MESSAGE_MAX - 1, "\xc3\xa4", 2);
    struct kube_event *event = event_new((struct str){text, sizeof text});
    assert_int_equal(strlen(event->message), EVENT_MESSAGE_MAX - 1);
    free(event->message);
    event->about = (struct event_object){0};
    event->message = NULL;
    event_free(event);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_ev2_the_same_event_again_is_a_larger_count_of_the_first, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_ev2_another_message_reason_or_object_is_another_event, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            test_ev2_the_tenth_message_of_a_reason_is_combined_and_so_are_those_after_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ev2_similar_ones_are_forgotten_after_600_seconds_without_one,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ev2_the_same_message_often_is_never_combined, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ev2_an_object_has_25_events_and_one_more_each_300_seconds,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ev2_4096_objects_are_remembered_those_used_last, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_ev3_a_name_is_the_objects_with_the_nanoseconds_in_hex, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_ev3_a_name_that_an_event_may_not_have_becomes_a_hash, set_up,
                                        tear_down),
        cmocka_unit_test(test_ev3_the_namespace_is_the_objects_or_default),
        cmocka_unit_test(test_ev3_the_event_and_its_patch_as_json),
        cmocka_unit_test(test_a_message_is_cut_behind_a_complete_character),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
