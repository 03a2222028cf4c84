/* core/informer/store/query_work.c, query_rank.c and indexer_walk.c: steps give what one evaluation gives,
 * and meet once what stays while the store changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/informer/support/store.h"
#include "informer/store/indexer_walk.h"
#include "informer/store/query_work.h"

enum { OBJECTS = 3000 };

static struct query *query;

static void put(int number)
{
    char key[32], labels[96];
    snprintf(key, sizeof key, "ns-%d/o-%d@1", number % 7, number);
    snprintf(labels, sizeof labels, "{\"app\":\"a%d\",\"n\":%d,\"cpu\":\"%dm\"}", number % 10,
             number * 7919 % 1000, number % 300);
    store_put_labels(key, labels);
}

static void drop(int number)
{
    char key[32];
    snprintf(key, sizeof key, "ns-%d/o-%d@1", number % 7, number);
    store_drop(key);
}

static int setup(void **state)
{
    store_open(state);
    query = query_new();
    for (int i = 0; i < OBJECTS; i++) put(i);
    return 0;
}

static int teardown(void **state)
{
    query_free(query);
    return store_close(state);
}

static struct path *path(const char *text)
{
    struct err err;
    struct path *compiled = path_compile(str_of(text), &err);
    if (!compiled) fail_msg("%s", err.text);
    return compiled;
}

static void where(const char *path_text, enum condition_op op, struct scalar value)
{
    struct err err;
    struct condition *condition = condition_new(str_of(path_text), op, &value, 1, &err);
    assert_true(condition && query_where(query, condition, &err));
}

static void order(const char *text, bool descending)
{
    struct err err;
    assert_true(query_order(query, path(text), descending, &err));
}

static struct query_work *done(enum query_aim aim, const struct path *sum, size_t steps_at_least)
{
    struct query_work *work = query_work_new(query, indexer, aim, sum);
    size_t steps = 1;
    while (!query_work_step(work)) steps++;
    assert_in_range(steps, steps_at_least, 10 * OBJECTS);
    return work;
}

static void assert_same_objects(size_t steps_at_least)
{
    struct lister_list at_once, in_steps;
    struct query_work *work = done(QUERY_OBJECTS, NULL, steps_at_least);
    query_select(query, indexer, &at_once);
    query_work_take_objects(work, &in_steps);
    assert_int_equal(in_steps.count, at_once.count);
    for (size_t i = 0; i < at_once.count; i++) assert_ptr_equal(in_steps.objects[i], at_once.objects[i]);
    lister_free_list(&at_once);
    lister_free_list(&in_steps);
    query_work_free(work);
}

static void test_objects_are_the_same_in_the_same_order(void **state)
{
    assert_same_objects(3);
    where("metadata.labels.n", CONDITION_LESS, scalar_int(800));
    assert_same_objects(3);
    order("metadata.labels.n", true);
    assert_same_objects(10);
    order("metadata.name", false);
    query_limit(query, 1000);
    assert_same_objects(10);
}

static const char *describe(const struct lister_list *list, struct buf *out)
{
    for (size_t i = 0; i < list->count; i++) {
        buf_putc(out, ' ');
        root_key(list->objects[i], out);
    }
    return buf_text(out);
}

/* A small limit: the first of all that are ordered, whoever finds them. */
static void test_the_first_few_are_those_of_the_whole_order(void **state)
{
    static const char *const paths[] = {"metadata.labels.n", "metadata.labels.app", "metadata.labels.cpu",
                                        "metadata.labels.none"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct lister_list all, few;
        struct buf expected = {0}, found = {0};
        query_free(query);
        query = query_new();
        order(paths[i], i % 2);
        query_select(query, indexer, &all);
        query_limit(query, 50);
        query_select(query, indexer, &few);
        assert_int_equal(few.count, 50);
        struct lister_list first = {all.objects, 50};
        assert_string_equal(describe(&few, &found), describe(&first, &expected));
        assert_same_objects(3);
        query_limit(query, 0);
        assert_same_objects(1);
        lister_free_list(&all);
        lister_free_list(&few);
        buf_clear(&expected);
        buf_clear(&found);
    }
}

static void test_a_limit_without_an_order_ends_the_walk(void **state)
{
    query_limit(query, 3);
    assert_same_objects(1);
}

static void test_counts_are_the_same(void **state)
{
    struct query_work *work = done(QUERY_COUNT, NULL, 3);
    assert_int_equal(query_work_count(work), OBJECTS);
    query_work_free(work);
    where("metadata.labels.app", CONDITION_EQUAL, scalar_text(STR("a3")));
    work = done(QUERY_COUNT, NULL, 3);
    assert_int_equal(query_work_count(work), OBJECTS / 10);
    query_work_free(work);
    query_limit(query, 5);
    work = done(QUERY_COUNT, NULL, 1);
    assert_int_equal(query_work_count(work), 5);
    query_work_free(work);
}

static void assert_same_sum(size_t steps_at_least)
{
    struct path *cpu = path("metadata.labels.cpu");
    struct query_sum at_once, in_steps;
    struct err err;
    struct query_work *work = done(QUERY_SUM, cpu, steps_at_least);
    assert_true(query_sum(query, indexer, cpu, &at_once, &err));
    assert_true(query_work_take_sum(work, &in_steps, &err));
    assert_true(at_once.any_quantity && in_steps.any_quantity);
    struct scalar x = query_total(&at_once), y = query_total(&in_steps);
    assert_int_equal(scalar_compare_amounts(&x, &y), 0);
    query_work_free(work);
    path_free(cpu);
}

static void test_sums_are_the_same_with_an_order_and_a_limit_too(void **state)
{
    assert_same_sum(3);
    query_limit(query, 1000);
    assert_same_sum(3);
    order("metadata.name", true);
    assert_same_sum(10);
}

static void test_groups_are_the_same(void **state)
{
    struct query_groups at_once, in_steps;
    struct err err;
    query_group(query, path("metadata.labels.app"));
    order("count", true);
    struct query_work *work = done(QUERY_GROUPS, NULL, 3);
    assert_true(query_groups(query, indexer, NULL, &at_once, &err));
    assert_true(query_work_take_groups(work, &in_steps, &err));
    assert_int_equal(at_once.count, 10);
    assert_int_equal(in_steps.count, 10);
    for (size_t i = 0; i < 10; i++) assert_int_equal(in_steps.rows[i].count, at_once.rows[i].count);
    query_free_groups(&at_once);
    query_free_groups(&in_steps);
    query_work_free(work);
}

/* Of as many groups as objects: gathered, sorted in runs, merged and moved, each in steps. */
static void assert_same_groups(size_t count, size_t steps_at_least)
{
    struct query_groups at_once, in_steps;
    struct err err;
    struct text x, y;
    struct query_work *work = done(QUERY_GROUPS, NULL, steps_at_least);
    assert_true(query_groups(query, indexer, NULL, &at_once, &err));
    assert_true(query_work_take_groups(work, &in_steps, &err));
    assert_int_equal(at_once.count, count);
    assert_int_equal(in_steps.count, count);
    for (size_t i = 0; i < count; i++) {
        struct str key = value_str(in_steps.rows[i].key, &x), before = {0};
        assert_true(str_eq(key, value_str(at_once.rows[i].key, &y)));
        if (i > 0) before = value_str(in_steps.rows[i - 1].key, &y);
        assert_true(i == 0 || str_cmp(before, key) < 0);
    }
    query_free_groups(&at_once);
    query_free_groups(&in_steps);
    query_work_free(work);
}

static void test_many_groups_are_ordered_in_steps(void **state)
{
    query_group(query, path("metadata.name"));
    order("count", true);
    assert_same_groups(OBJECTS, 80);
    query_limit(query, 700);
    assert_same_groups(700, 80);
    query_limit(query, 0);
    assert_same_groups(0, 80);
}

static void test_groups_that_are_half_ordered_are_released(void **state)
{
    query_group(query, path("metadata.name"));
    for (int most = 1; most < 100; most++) {
        struct query_work *work = query_work_new(query, indexer, QUERY_GROUPS, NULL);
        for (int step = 0; step < most; step++) query_work_step(work);
        query_work_free(work);
    }
}

/* The store counts references at its end. */
static void test_objects_are_released_one_after_the_other(void **state)
{
    for (size_t most = 0; most <= OBJECTS; most += OBJECTS / 3) {
        struct query_work *work = done(QUERY_OBJECTS, NULL, 3);
        assert_int_equal(query_work_objects(work)->count, OBJECTS);
        query_work_forget(work, most / 2);
        query_work_forget(work, most);
        query_work_forget(work, most / 2);
        query_work_free(work);
    }
}

static void test_results_that_nobody_takes_are_released(void **state)
{
    query_group(query, path("metadata.labels.app"));
    query_work_free(done(QUERY_GROUPS, NULL, 3));
    query_work_free(done(QUERY_OBJECTS, NULL, 3));
    struct query_work *begun = query_work_new(query, indexer, QUERY_OBJECTS, NULL);
    query_work_step(begun);
    query_work_free(begun);
}

static bool note(void *ctx, struct root *object)
{
    struct buf key = {0};
    root_key(object, &key);
    const char *name = strstr(buf_text(&key), "/o-"); /* "ns-1/o-23" */
    assert_non_null(name);
    ((int *)ctx)[strtol(name + 3, NULL, 10)]++;
    buf_clear(&key);
    return true;
}

/* Of three objects one stays; so many others go that the store closes its gaps under the walk. */
static void test_what_stays_is_met_once_while_others_come_and_go(void **state)
{
    struct indexer_walk walk;
    static int met[2 * OBJECTS];
    int gone = 0, come = OBJECTS;
    memset(met, 0, sizeof met);
    indexer_walk_begin(&walk, indexer);
    while (indexer_walk_on(&walk, 100, note, met)) {
        for (int i = 0; i < 300 && gone < OBJECTS; i++, gone++)
            if (gone % 3) drop(gone);
        for (int i = 0; i < 5; i++) put(come++);
    }
    assert_in_range(gone, OBJECTS, OBJECTS);
    for (int i = 0; i < OBJECTS; i += 3) assert_int_equal(met[i], 1);
    for (int i = 0; i < come; i++) assert_in_range(met[i], 0, 1);
    assert_in_range(come, OBJECTS + 50, 2 * OBJECTS);
    indexer_walk_end(&walk);
}

static void test_a_store_that_goes_ends_its_walks(void **state)
{
    struct query_work *work = query_work_new(query, indexer, QUERY_COUNT, NULL);
    assert_false(query_work_step(work));
    indexer_free(indexer);
    indexer = indexer_new();
    assert_true(query_work_step(work));
    assert_in_range(query_work_count(work), 1, OBJECTS - 1);
    query_work_free(work);
}

static void test_a_query_that_is_stopped_ends(void **state)
{
    volatile bool stop = false;
    order("metadata.name", false);
    query_stop_when(query, &stop);
    struct query_work *work = query_work_new(query, indexer, QUERY_OBJECTS, NULL);
    for (int i = 0; i < 10; i++) query_work_step(work);
    stop = true;
    for (int i = 0; i < 10; i++) query_work_step(work);
    assert_true(query_work_step(work));
    query_work_free(work);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_objects_are_the_same_in_the_same_order),
        TEST(test_the_first_few_are_those_of_the_whole_order),
        TEST(test_a_limit_without_an_order_ends_the_walk),
        TEST(test_counts_are_the_same),
        TEST(test_sums_are_the_same_with_an_order_and_a_limit_too),
        TEST(test_groups_are_the_same),
        TEST(test_many_groups_are_ordered_in_steps),
        TEST(test_groups_that_are_half_ordered_are_released),
        TEST(test_objects_are_released_one_after_the_other),
        TEST(test_results_that_nobody_takes_are_released),
        TEST(test_what_stays_is_met_once_while_others_come_and_go),
        TEST(test_a_store_that_goes_ends_its_walks),
        TEST(test_a_query_that_is_stopped_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
