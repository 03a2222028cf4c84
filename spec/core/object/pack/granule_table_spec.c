/* core/object/granule_table: a set by hash, against a plain list. */
#include "core/object/support/objects.h"

#include <stdbool.h>

#include "object/pack/granule_table.h"

enum { THINGS = 3000 };

struct thing {
    uint32_t hash, granule;
    bool in;
};

static bool found(const struct granule_table *t, const struct thing *thing)
{
    uint32_t at = thing->hash, granule;
    while ((granule = granule_table_next(t, thing->hash, &at)) != 0) {
        if (granule == thing->granule) return true;
    }
    return false;
}

/* Few hashes, so that runs are long, wrap around and break up. */
static void test_what_is_in_is_found_and_nothing_else(void **state)
{
    struct random r = random_start("granule table");
    struct granule_table table = {0};
    static struct thing things[THINGS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < THINGS; i++) {
        uint32_t spread = random_below(&r, 2) ? 7 : UINT32_MAX;
        things[i] = (struct thing){random_below(&r, spread) - 3, i + 1, false};
    }
    for (int step = 0; step < 300000; step++) {
        /* Phases of growing and shrinking. */
        bool want = random_below(&r, 100) < (step / 30000 % 2 ? 10 : 90);
        struct thing *thing = &things[random_below(&r, THINGS)];
        assert_int_equal(found(&table, thing), thing->in);
        if (want == thing->in) continue;
        if (want) {
            granule_table_insert(&table, thing->hash, thing->granule);
        } else {
            granule_table_remove(&table, thing->hash, thing->granule);
        }
        thing->in = want;
        count += want ? 1 : -1u;
        assert_int_equal(table.count, count);
    }
    for (uint32_t i = 0; i < THINGS; i++) assert_int_equal(found(&table, &things[i]), things[i].in);
    granule_table_clear(&table);
    assert_int_equal(granule_table_bytes(&table), 0);
}

static void test_it_grows_and_shrinks(void **state)
{
    struct granule_table table = {0};
    for (uint32_t i = 1; i <= 100000; i++) granule_table_insert(&table, i * 2654435761u, i);
    assert_in_range(granule_table_bytes(&table), 100000 * 8, 100000 * 8 * 3);
    for (uint32_t i = 1; i <= 100000; i++) granule_table_remove(&table, i * 2654435761u, i);
    assert_true(granule_table_bytes(&table) < 10000);
    granule_table_clear(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_in_is_found_and_nothing_else),
        cmocka_unit_test(test_it_grows_and_shrinks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
