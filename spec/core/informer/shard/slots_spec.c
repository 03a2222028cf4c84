/* Slots: the server's hash, sets, their texts and selectors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/time/backoff.h"
#include "informer/shard/slots.h"

static void assert_text(const struct slot_set *set, const char *expected)
{
    struct buf out = {0};
    slot_set_write(set, &out);
    assert_string_equal(buf_text(&out), expected);
    buf_clear(&out);
}

static void assert_selector(const struct slot_set *set, size_t most, const char *expected)
{
    struct buf out = {0};
    slot_set_selector(set, "uid", most, &out);
    assert_string_equal(buf_text(&out), expected);
    buf_clear(&out);
}

static void test_the_hash_is_fnv_1a_of_64_bits(void **state)
{
    /* From the reference: "" cbf29ce484222325, "a" af63dc4c8601ec8c, "foobar" 85944171f73967e8. */
    assert_int_equal(shard_slot(STR("")), 0xcbf);
    assert_int_equal(shard_slot(STR("a")), 0xaf6);
    assert_int_equal(shard_slot(STR("foobar")), 0x859);
}

static void test_sets_have_texts(void **state)
{
    struct slot_set set = {0};
    assert_text(&set, "");
    slot_set_add(&set, 0);
    slot_set_add_run(&set, 62, 66);
    slot_set_add(&set, SHARD_SLOTS - 1);
    assert_text(&set, "0,62-65,4095");
    assert_int_equal(slot_set_count(&set), 6);
    assert_int_equal(slot_set_runs(&set), 3);
}

static void test_random_sets_are_read_as_they_were_written(void **state)
{
    struct jitter chance = {7};
    for (int round = 0; round < 200; round++) {
        struct slot_set set = {0}, back = {0}, none = {0};
        struct buf out = {0};
        for (int i = 0; i < round; i++) slot_set_add(&set, jitter_next(&chance) % SHARD_SLOTS);
        slot_set_write(&set, &out);
        assert_true(slot_set_read(buf_slice(&out), &back));
        assert_true(slot_set_equal(&set, &back));
        assert_true(slot_set_meets(&set, &back) == (round > 0));
        back = slot_set_minus(&set, &back);
        assert_true(slot_set_is_empty(&back) && slot_set_equal(&back, &none));
        buf_clear(&out);
    }
}

static void test_malformed_texts_are_refused(void **state)
{
    static const char *const texts[] = {"x",   "1-",  "-1",    "4096", "0-4096",
                                        "3-2", "1,1", "0-5,3", "1,,2", "1 "};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct slot_set set = {0};
        if (slot_set_read(str_of(texts[i]), &set)) fail_msg("\"%s\" was read", texts[i]);
    }
}

static void test_selectors_are_ranges_of_the_hash(void **state)
{
    struct slot_set set = {0};
    assert_selector(&set, 8, "");
    slot_set_add_run(&set, 0, SHARD_SLOTS);
    assert_selector(&set, 8, "shardRange(object.metadata.uid, '0x0000000000000000', '0x10000000000000000')");
    set = (struct slot_set){0};
    slot_set_add(&set, 1);
    slot_set_add_run(&set, 0x800, SHARD_SLOTS);
    assert_selector(&set, 8,
                    "shardRange(object.metadata.uid, '0x0010000000000000', '0x0020000000000000') || "
                    "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')");
}

static size_t ranges_in(const char *selector)
{
    size_t count = 0;
    for (; (selector = strstr(selector, "shardRange(")); selector++) count++;
    return count;
}

static void test_too_many_ranges_are_joined_over_the_smallest_gaps(void **state)
{
    struct slot_set set = {0};
    struct buf out = {0};
    slot_set_add(&set, 10);
    slot_set_add(&set, 12);
    slot_set_add(&set, 100);
    assert_selector(&set, 2,
                    "shardRange(object.metadata.uid, '0x00a0000000000000', '0x00d0000000000000') || "
                    "shardRange(object.metadata.uid, '0x0640000000000000', '0x0650000000000000')");
    for (size_t slot = 0; slot < SHARD_SLOTS; slot += 2) slot_set_add(&set, slot);
    slot_set_selector(&set, "namespace", 16, &out);
    assert_in_range(ranges_in(buf_text(&out)), 1, 16);
    assert_non_null(strstr(buf_text(&out), "object.metadata.namespace"));
    buf_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_hash_is_fnv_1a_of_64_bits),
        cmocka_unit_test(test_sets_have_texts),
        cmocka_unit_test(test_random_sets_are_read_as_they_were_written),
        cmocka_unit_test(test_malformed_texts_are_refused),
        cmocka_unit_test(test_selectors_are_ranges_of_the_hash),
        cmocka_unit_test(test_too_many_ranges_are_joined_over_the_smallest_gaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
