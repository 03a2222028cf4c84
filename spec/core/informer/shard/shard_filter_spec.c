/* core/informer/shard/shard_filter.c: which objects pass, and the selector of requests; the uid in the
 * text of an object (core/kube/api/object_head.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/informer/support/objects.h"
#include "informer/shard/shard_filter.h"
#include "kube/api/object_head.h"

static int open(void **state)
{
    objects_open();
    return 0;
}

static int close(void **state)
{
    objects_close();
    return 0;
}

/* A server that selects nothing, or too much, changes nothing. */
static void test_a7_objects_of_other_slots_do_not_pass_and_are_counted(void **state)
{
    struct shard_filter filter;
    struct root *mine = object("shop/a@1#orange"), *other = object("shop/b@1#lemon");
    shard_filter_init(&filter, SHARD_BY_UID);
    assert_false(shard_filter_wants(&filter, mine));
    slot_set_add(&filter.slots, shard_slot(STR("orange")));
    assert_true(shard_filter_wants(&filter, mine));
    assert_false(shard_filter_wants(&filter, other));
    assert_true(filter.shard.admits(filter.shard.ctx, STR("orange")));
    assert_false(filter.shard.admits(filter.shard.ctx, STR("lemon")));
    assert_int_equal(shard_filter_counts(&filter).skipped, 3);
    shard_filter_init(&filter, SHARD_BY_NAMESPACE);
    slot_set_add(&filter.slots, shard_slot(STR("shop")));
    assert_true(shard_filter_wants(&filter, mine));
    assert_true(shard_filter_wants(&filter, other));
    root_unref(mine);
    root_unref(other);
}

static void test_a7_requests_have_the_slots_as_ranges(void **state)
{
    struct shard_filter filter;
    struct buf text = {0};
    shard_filter_init(&filter, SHARD_BY_NAMESPACE);
    filter.shard.selector(filter.shard.ctx, &text);
    assert_int_equal(text.len, 0);
    slot_set_add_run(&filter.slots, 1, 3);
    filter.shard.selector(filter.shard.ctx, &text);
    assert_string_equal(buf_text(&text),
                        "shardRange(object.metadata.namespace, '0x0010000000000000', '0x0030000000000000')");
    buf_clear(&text);
}

static void assert_uid(const char *text, bool event, const char *expected)
{
    struct str uid;
    bool found = object_head_uid(str_of(text), event, &uid);
    assert_int_equal(found, expected != NULL);
    if (expected) assert_true(str_is(uid, expected));
}

static void test_the_uid_is_that_of_the_metadata(void **state)
{
    assert_uid("{\"metadata\":{\"name\":\"a\",\"uid\":\"orange\",\"x\":", false, "orange");
    assert_uid("{\"kind\":\"Pod\",\"metadata\":{\"ownerReferences\":[{\"uid\":\"no\"}],\"uid\":\"orange\"}}",
               false, "orange");
    assert_uid("{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"uid\":\"lemon\",\"name\":\"a\"}}}", true,
               "lemon");
    assert_uid("{\"spec\":{\"uid\":\"no\"},\"metadata\":{\"name\":\"a\"},\"uid\":\"no\"}", false, NULL);
    assert_uid("{\"metadata\":{\"name\":\"a\",\"uid\":\"u\\u0031\"}}", false, NULL);
    assert_uid("{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"7\"}}}", true, NULL);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open, close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a7_objects_of_other_slots_do_not_pass_and_are_counted),
        TEST(test_a7_requests_have_the_slots_as_ranges),
        TEST(test_the_uid_is_that_of_the_metadata),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
