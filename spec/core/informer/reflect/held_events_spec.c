/* core/informer/reflect/held_events.c: what is held of a watch while a list is under way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/informer/support/objects.h"
#include "informer/reflect/held_events.h"
#include "object/value/value.h"

static struct held_events held;

static int open(void **state)
{
    objects_open();
    return 0;
}

static int close(void **state)
{
    held_events_clear(&held);
    objects_close();
    return 0;
}

static bool all(const void *ctx, const struct root *one)
{
    return true;
}

static bool none_of_b(const void *ctx, const struct root *one)
{
    struct text text;
    return !str_is(root_namespace(one, &text), "b");
}

/* Objects of a list of that version, with what is held. */
static void assert_merged(const char *listed, const char *version,
                          bool (*wanted)(const void *ctx, const struct root *one), const char *expected)
{
    struct collection out = {0};
    struct buf said = {0};
    size_t count;
    struct root **objects = object_list(listed, &count);
    for (size_t i = 0; i < count; i++) collection_put(&out, objects[i]);
    free(objects);
    held_events_merge(&held, str_of(version), wanted, NULL, &out);
    for (size_t i = 0; i < out.used; i++) {
        if (!out.objects[i]) continue;
        if (said.len) buf_putc(&said, ' ');
        object_describe(out.objects[i], &said);
    }
    assert_string_equal(buf_text(&said), expected);
    buf_clear(&said);
    collection_clear(&out);
}

static void test_newer_events_are_done_to_the_list(void **state)
{
    held_events_add(&held, LW_MODIFIED, object("a/x@4"));
    held_events_add(&held, LW_MODIFIED, object("a/y@6"));
    held_events_add(&held, LW_DELETED, object("a/z@7"));
    held_events_add(&held, LW_ADDED, object("b/v@8"));
    assert_merged("a/x@5 a/y@3 a/z@2", "5", all, "a/x@5 a/y@6 b/v@8");
    assert_merged("a/x@5 a/y@3 a/z@2", "5", none_of_b, "a/x@5 a/y@6");
}

/* A list that takes long, or never ends, costs no more than the objects. */
static void test_the_last_event_of_an_object_is_held(void **state)
{
    for (int i = 0; i < 100; i++) {
        held_events_add(&held, LW_MODIFIED, object("a/x@6"));
        held_events_add(&held, LW_MODIFIED, object("a/y@7"));
    }
    held_events_add(&held, LW_DELETED, object("a/x@8"));
    assert_int_equal(held_events_count(&held), 2);
    assert_merged("a/x@5", "5", all, "a/y@7");
}

static void test_another_object_of_the_name_comes_after_the_one_before(void **state)
{
    held_events_add(&held, LW_MODIFIED, object("a/x@6#1"));
    held_events_add(&held, LW_DELETED, object("a/x@7#1"));
    held_events_add(&held, LW_ADDED, object("a/x@8#2"));
    assert_merged("a/x@5#1", "5", all, "a/x@8");
}

static void test_objects_without_a_uid_are_held_with_all_their_events(void **state)
{
    static const char text[] = "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"%s\","
                               "\"namespace\":\"a\",\"resourceVersion\":\"%d\"}}";
    char json[256];
    for (int i = 0; i < 2; i++) {
        snprintf(json, sizeof json, text, i ? "y" : "x", 6 + i);
        held_events_add(&held, LW_ADDED, object_from_json(json));
    }
    assert_int_equal(held_events_count(&held), 2);
    assert_merged("", "5", all, "a/x@6 a/y@7");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open, close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_newer_events_are_done_to_the_list),
        TEST(test_the_last_event_of_an_object_is_held),
        TEST(test_another_object_of_the_name_comes_after_the_one_before),
        TEST(test_objects_without_a_uid_are_held_with_all_their_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
