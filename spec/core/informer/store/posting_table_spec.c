/* core/informer/store/posting_table.c: values come and go, and those that are there are found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "base/time/backoff.h"
#include "informer/store/posting_table.h"

static struct posting_table table;

static int setup(void **state)
{
    posting_table_init(&table);
    return 0;
}

static int teardown(void **state)
{
    posting_table_clear(&table);
    return 0;
}

static void test_a_value_has_one_posting_for_as_long_as_it_is_there(void **state)
{
    assert_null(posting_table_find(&table, STR("a")));
    struct posting *a = posting_table_get(&table, STR("a")), *empty = posting_table_get(&table, STR(""));
    assert_ptr_not_equal(a, empty);
    assert_ptr_equal(posting_table_get(&table, STR("a")), a);
    assert_ptr_equal(posting_table_find(&table, STR("a")), a);
    assert_ptr_equal(posting_table_find(&table, STR("")), empty);
    assert_true(str_is(posting_value(a), "a"));
    assert_int_equal(a->count, 0);
    assert_int_equal(a->first, POSTING_NONE);
    assert_int_equal(table.count, 2);
    posting_table_forget(&table, a);
    assert_null(posting_table_find(&table, STR("a")));
    assert_ptr_equal(posting_table_find(&table, STR("")), empty);
    assert_int_equal(table.count, 1);
}

static void test_a_byte_of_zero_is_part_of_a_value(void **state)
{
    struct posting *shorter = posting_table_get(&table, STR("a"));
    struct posting *longer = posting_table_get(&table, STR("a\0b"));
    assert_ptr_not_equal(shorter, longer);
    assert_int_equal(posting_value(longer).n, 3);
}

static void test_what_it_takes_follows_what_it_has(void **state)
{
    size_t empty = posting_table_bytes(&table);
    struct posting *p = posting_table_get(&table, STR("worker-7"));
    assert_int_equal(posting_table_bytes(&table), empty + sizeof *p + 8);
    posting_table_forget(&table, p);
    assert_int_equal(posting_table_bytes(&table), empty);
}

enum { VALUES = 200, ROUNDS = 200, STEPS = 100 };

static struct str value_of(size_t i, char *text, size_t size)
{
    return (struct str){text, (size_t)snprintf(text, size, "v%zu", i)};
}

static void assert_knows(struct posting *const *known)
{
    size_t count = 0, at = 0;
    char text[32];
    for (size_t i = 0; i < VALUES; i++) {
        assert_ptr_equal(posting_table_find(&table, value_of(i, text, sizeof text)), known[i]);
        count += known[i] != NULL;
    }
    assert_int_equal(table.count, count);
    while (posting_table_next(&table, &at)) count--;
    assert_int_equal(count, 0);
}

/* Values that share slots move when one before them goes. */
static void test_any_values_come_and_go(void **state)
{
    const char *given = getenv("SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) * 1000003;
    print_message("posting_table: SEED=%llu\n", (unsigned long long)seed);
    struct jitter random = {seed};
    struct posting *known[VALUES] = {0};
    char text[32];
    for (int round = 0; round < ROUNDS; round++) {
        for (int step = 0; step < STEPS; step++) {
            size_t i = (size_t)jitter_between(&random, 0, VALUES);
            if (known[i]) {
                posting_table_forget(&table, known[i]);
                known[i] = NULL;
            } else {
                known[i] = posting_table_get(&table, value_of(i, text, sizeof text));
            }
        }
        assert_knows(known);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_value_has_one_posting_for_as_long_as_it_is_there, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_byte_of_zero_is_part_of_a_value, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_it_takes_follows_what_it_has, setup, teardown),
        cmocka_unit_test_setup_teardown(test_any_values_come_and_go, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
