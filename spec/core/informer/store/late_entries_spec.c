/* Entries that an index has yet to look at, against a plain list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "informer/store/index.h"
#include "informer/store/late_entries.h"

enum { ENTRIES = 12, STEPS = 4000 };

static size_t take_all(struct late_entries *late, uint32_t *out)
{
    size_t n = 0;
    for (uint32_t entry; late_first(late, &entry); n++) {
        out[n] = entry;
        late_drop(late, entry);
    }
    return n;
}

static void test_each_entry_is_there_once_in_its_order(void **state)
{
    struct late_entries late = {0};
    uint32_t out[8];
    late_add(&late, 3);
    late_add(&late, 1);
    late_add(&late, 3);
    late_add(&late, 2);
    late_drop(&late, 1);
    assert_int_equal(late.left, 2);
    assert_int_equal(take_all(&late, out), 2);
    assert_int_equal(out[0], 3);
    assert_int_equal(out[1], 2);
    late_clear(&late);
}

/* It was processed, changed again, and then the store moved its entries. */
static void test_one_that_came_back_counts_once_after_a_renumbering(void **state)
{
    struct late_entries late = {0};
    static const uint32_t same[] = {0, 1};
    uint32_t entry, out[8];
    late_add(&late, 0);
    late_add(&late, 1);
    assert_true(late_first(&late, &entry));
    late_drop(&late, entry);
    late_add(&late, 0);
    late_renumber(&late, same, 2);
    assert_int_equal(late.left, 2);
    assert_int_equal(take_all(&late, out), 2);
    assert_int_equal(late.left, 0);
    late_clear(&late);
}

/* --- any order of calls */

struct model {
    struct late_entries late;
    bool waits[ENTRIES];
};

static void renumber(struct model *m)
{
    uint32_t numbers[ENTRIES];
    bool waits[ENTRIES] = {false};
    uint32_t next = 0;
    for (uint32_t i = 0; i < ENTRIES; i++) numbers[i] = rand() % 4 ? next++ : INDEX_GONE;
    for (uint32_t i = 0; i < ENTRIES; i++)
        if (numbers[i] != INDEX_GONE) waits[numbers[i]] = m->waits[i];
    late_renumber(&m->late, numbers, ENTRIES);
    memcpy(m->waits, waits, sizeof waits);
}

static void step(struct model *m)
{
    uint32_t entry = (uint32_t)rand() % ENTRIES;
    switch (rand() % 8) {
    case 0: renumber(m); break;
    case 1:
    case 2:
        late_drop(&m->late, entry);
        m->waits[entry] = false;
        break;
    case 3:
    case 4:
        if (!late_first(&m->late, &entry)) break;
        assert_true(m->waits[entry]);
        late_drop(&m->late, entry);
        m->waits[entry] = false;
        break;
    default: late_add(&m->late, entry); m->waits[entry] = true;
    }
}

static void test_any_order_of_calls_agrees_with_a_set(void **state)
{
    struct model m = {0};
    const char *given = getenv("SEED");
    unsigned seed = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)time(NULL);
    print_message("SEED=%u\n", seed);
    srand(seed);
    for (int i = 0; i < STEPS; i++) {
        size_t count = 0;
        step(&m);
        for (int j = 0; j < ENTRIES; j++) count += m.waits[j];
        assert_int_equal(m.late.left, count);
        uint32_t entry;
        assert_int_equal(late_first(&m.late, &entry), count > 0);
    }
    late_clear(&m.late);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_entry_is_there_once_in_its_order),
        cmocka_unit_test(test_one_that_came_back_counts_once_after_a_renumbering),
        cmocka_unit_test(test_any_order_of_calls_agrees_with_a_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
