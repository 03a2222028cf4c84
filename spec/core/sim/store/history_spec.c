/* The bounded ring of events, and the maps that it remembers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/store/history.h"

enum { START = 100 };

struct recorded {
    struct sim_history history;
    struct omap *map;
};

/* At version `version` the object `name` is put: the map grows by it or has it anew. */
static void put(struct recorded *r, const char *name, uint64_t version)
{
    char text[120];
    snprintf(text, sizeof text, "{\"metadata\":{\"name\":\"%s\",\"resourceVersion\":\"%llu\"}}", name,
             (unsigned long long)version);
    struct sim_object *object = sim_object_from_text(str_of(text)), *before = omap_get(r->map, name);
    if (before) sim_object_ref(before);
    struct omap *map = omap_put(r->map, sim_object_ref(object));
    omap_unref(r->map);
    r->map = omap_ref(map);
    sim_history_add(&r->history,
                    &(struct sim_event){version, before ? SIM_MODIFIED : SIM_ADDED, object, before, map});
}

static void start(struct recorded *r, size_t max_events, size_t max_bytes)
{
    *r = (struct recorded){0};
    sim_history_init(&r->history, max_events, max_bytes, START);
}

static void stop(struct recorded *r)
{
    sim_history_clear(&r->history);
    omap_unref(r->map);
}

static void expect_count(const struct recorded *r, uint64_t version, int count)
{
    struct omap *map = NULL;
    bool there = sim_history_map(&r->history, version, &map);
    assert_int_equal(there, count >= 0);
    if (there) assert_int_equal(omap_count(map), count);
}

static void test_a_watch_finds_its_place_by_version(void **state)
{
    struct recorded r;
    uint64_t sequence;
    start(&r, 100, 1 << 20);
    assert_true(sim_history_after(&r.history, START, &sequence));
    assert_null(sim_history_at(&r.history, sequence));
    put(&r, "a", 105);
    put(&r, "b", 110);
    assert_int_equal(sim_history_at(&r.history, sequence)->version, 105);
    assert_true(sim_history_after(&r.history, 104, &sequence));
    assert_int_equal(sim_history_at(&r.history, sequence)->version, 105);
    assert_true(sim_history_after(&r.history, 105, &sequence));
    assert_int_equal(sim_history_at(&r.history, sequence)->version, 110);
    assert_true(sim_history_after(&r.history, 500, &sequence));
    assert_null(sim_history_at(&r.history, sequence));
    assert_false(sim_history_after(&r.history, START - 1, &sequence));
    stop(&r);
}

static void test_each_version_has_its_map(void **state)
{
    struct recorded r;
    start(&r, 100, 1 << 20);
    put(&r, "a", 105);
    put(&r, "a", 107);
    put(&r, "b", 110);
    expect_count(&r, START - 1, -1);
    expect_count(&r, START, 0);
    expect_count(&r, 104, 0);
    expect_count(&r, 105, 1);
    expect_count(&r, 109, 1);
    expect_count(&r, 110, 2);
    expect_count(&r, 900, 2);
    stop(&r);
}

static void test_it_keeps_no_more_events_than_it_may(void **state)
{
    struct recorded r;
    uint64_t sequence;
    start(&r, 3, 1 << 20);
    for (uint64_t v = 101; v <= 110; v++) put(&r, "a", v);
    assert_int_equal(r.history.next - r.history.first, 3);
    assert_false(sim_history_after(&r.history, 106, &sequence));
    assert_true(sim_history_after(&r.history, 107, &sequence));
    assert_int_equal(sim_history_at(&r.history, sequence)->version, 108);
    assert_null(sim_history_at(&r.history, sequence - 1));
    expect_count(&r, 106, -1);
    expect_count(&r, 107, 1);
    stop(&r);
}

static void test_it_keeps_no_more_bytes_than_it_may(void **state)
{
    struct recorded r;
    start(&r, 1000, 500);
    for (uint64_t v = 101; v <= 200; v++) put(&r, "a", v);
    assert_true(r.history.bytes <= 500);
    assert_true(r.history.next - r.history.first > 5);
    stop(&r);
    start(&r, 1000, 1); /* the newest event stays whatever it weighs */
    put(&r, "a", 101);
    put(&r, "a", 102);
    assert_int_equal(r.history.next - r.history.first, 1);
    stop(&r);
}

static void test_a_compaction_is_for_lists_only(void **state)
{
    struct recorded r;
    uint64_t sequence;
    start(&r, 100, 1 << 20);
    put(&r, "a", 105);
    put(&r, "b", 110);
    sim_history_compact(&r.history, 110);
    expect_count(&r, 109, -1);
    expect_count(&r, 110, 2);
    assert_true(sim_history_after(&r.history, 105, &sequence));
    stop(&r);
}

static void test_nothing_older_is_left_when_it_expires(void **state)
{
    struct recorded r;
    uint64_t sequence;
    start(&r, 100, 1 << 20);
    put(&r, "a", 105);
    sim_history_expire(&r.history, 106, r.map);
    assert_false(sim_history_after(&r.history, 105, &sequence));
    assert_true(sim_history_after(&r.history, 106, &sequence));
    expect_count(&r, 105, -1);
    expect_count(&r, 106, 1);
    put(&r, "b", 107);
    assert_int_equal(sim_history_at(&r.history, sequence)->version, 107);
    expect_count(&r, 106, 1);
    expect_count(&r, 107, 2);
    stop(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_watch_finds_its_place_by_version),
        cmocka_unit_test(test_each_version_has_its_map),
        cmocka_unit_test(test_it_keeps_no_more_events_than_it_may),
        cmocka_unit_test(test_it_keeps_no_more_bytes_than_it_may),
        cmocka_unit_test(test_a_compaction_is_for_lists_only),
        cmocka_unit_test(test_nothing_older_is_left_when_it_expires),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
