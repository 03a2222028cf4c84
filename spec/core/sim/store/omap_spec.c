/* The ordered map: against a sorted array, with all its older states kept. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/store/omap.h"
#include "sim/text/random.h"

enum { KEYS = 200, ROUNDS = 3000, STATES = 40 };

static struct sim_object *object(unsigned key, unsigned value)
{
    char text[80];
    snprintf(text, sizeof text, "{\"metadata\":{\"name\":\"k%03u\"},\"v\":%u}", key, value);
    return sim_object_from_text(str_of(text));
}

/* What the map should be: the value of each key, 0 where there is none. */
struct model {
    unsigned values[KEYS];
    struct omap *map;
};

static void expect_same(const struct model *model)
{
    struct omap_cursor cursor;
    size_t rank = 0;
    omap_seek(&cursor, model->map, "");
    for (unsigned key = 0; key < KEYS; key++) {
        char name[8], text[80];
        snprintf(name, sizeof name, "k%03u", key);
        const struct sim_object *found = omap_get(model->map, name);
        assert_int_equal(omap_rank(model->map, name), rank);
        assert_int_equal(found != NULL, model->values[key] != 0);
        if (!found) continue;
        snprintf(text, sizeof text, "{\"metadata\":{\"name\":\"k%03u\"},\"v\":%u}", key, model->values[key]);
        assert_string_equal(found->text, text);
        assert_ptr_equal(omap_next(&cursor), found);
        assert_ptr_equal(omap_at(model->map, rank), found);
        rank++;
    }
    assert_null(omap_next(&cursor));
    assert_null(omap_at(model->map, rank));
    assert_int_equal(omap_count(model->map), rank);
}

static void change(struct model *model, struct sim_random *random, unsigned value)
{
    unsigned key = sim_random_below(random, KEYS);
    struct omap *next;
    char name[8];
    snprintf(name, sizeof name, "k%03u", key);
    if (sim_random_below(random, 5) < 3) {
        next = omap_put(model->map, object(key, value));
        model->values[key] = value;
    } else {
        next = omap_remove(model->map, name);
        model->values[key] = 0;
    }
    omap_unref(model->map);
    model->map = next;
}

static void test_random_changes_match_a_plain_array_and_leave_older_maps_alone(void **state)
{
    const char *given = getenv("SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : 20240607;
    struct sim_random random = sim_random_seed(9, seed);
    struct model now = {0}, old[STATES] = {0};
    print_message("SEED=%llu\n", (unsigned long long)seed);
    for (unsigned i = 1; i <= ROUNDS; i++) {
        change(&now, &random, i);
        if (i % 50) continue;
        struct model *kept = &old[sim_random_below(&random, STATES)];
        omap_unref(kept->map);
        *kept = now;
        omap_ref(kept->map);
        expect_same(&now);
        expect_same(&old[sim_random_below(&random, STATES)]);
    }
    for (size_t i = 0; i < STATES; i++) {
        expect_same(&old[i]);
        omap_unref(old[i].map);
    }
    expect_same(&now);
    omap_unref(now.map);
}

static void test_ascending_keys_do_not_make_it_deep(void **state)
{
    enum { MANY = 20000 };
    struct omap *map = NULL;
    for (unsigned i = 0; i < MANY; i++) {
        struct omap *next = omap_put(map, object(i, 1));
        omap_unref(map);
        map = next;
    }
    for (unsigned i = 0; i < MANY; i += 2) { /* and neither do removals on one side */
        char name[16];
        snprintf(name, sizeof name, "k%03u", i);
        struct omap *next = omap_remove(map, name);
        omap_unref(map);
        map = next;
    }
    struct omap_cursor cursor;
    size_t n = 0;
    int deepest = 0;
    for (omap_seek(&cursor, map, ""); omap_next(&cursor); n++)
        if (cursor.depth > deepest) deepest = cursor.depth;
    assert_int_equal(n, MANY / 2);
    assert_true(deepest < 32); /* 2.4 times the logarithm of 10,000 */
    omap_unref(map);
}

static void test_a_sorted_array_becomes_a_map_in_one_go(void **state)
{
    for (unsigned n = 0; n < 20; n++) {
        struct sim_object *objects[20];
        struct model model = {0};
        for (unsigned i = 0; i < n; i++) {
            objects[i] = object(2 * i, 7);
            model.values[2 * i] = 7;
        }
        model.map = omap_build(objects, n);
        expect_same(&model);
        omap_unref(model.map);
    }
}

static void test_a_walk_may_begin_anywhere(void **state)
{
    struct sim_object *objects[] = {object(1, 1), object(3, 1), object(5, 1)};
    struct omap *map = omap_build(objects, 3);
    struct omap_cursor cursor;
    static const char *const starts[] = {"", "k001", "k002", "k003", "k003\1", "k005", "k006"};
    static const char *const expected[] = {"k001", "k001", "k003", "k003", "k005", "k005", NULL};
    for (size_t i = 0; i < ARRAY_LEN(starts); i++) {
        omap_seek(&cursor, map, starts[i]);
        const struct sim_object *first = omap_next(&cursor);
        assert_int_equal(first == NULL, expected[i] == NULL);
        if (first) assert_string_equal(first->key, expected[i]);
    }
    omap_unref(map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_changes_match_a_plain_array_and_leave_older_maps_alone),
        cmocka_unit_test(test_ascending_keys_do_not_make_it_deep),
        cmocka_unit_test(test_a_sorted_array_becomes_a_map_in_one_go),
        cmocka_unit_test(test_a_walk_may_begin_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
