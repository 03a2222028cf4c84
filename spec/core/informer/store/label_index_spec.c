/* core/informer/store/label_index.c: indexes of labels that come when they pay and go when nobody asks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/time/backoff.h"
#include "core/informer/support/store.h"
#include "informer/store/label_index.h"
#include "informer/store/lister.h"
#include "informer/store/query.h"

enum { OBJECTS = 2000, APPS = 100 };

static void put(int number, int version, int app)
{
    char key[32], labels[64];
    snprintf(key, sizeof key, "n%d/k%d@%d", number % 5, number, version);
    snprintf(labels, sizeof labels, "{\"app\":\"a%d\",\"tier\":\"t%d\"}", app, number % 2);
    store_put_labels(key, labels);
}

static int setup(void **state)
{
    store_open(state);
    for (int i = 0; i < OBJECTS; i++) put(i, 1, i % APPS);
    return 0;
}

static size_t count(const char *ns, const char *selector_text)
{
    struct err err;
    struct selector *selector = selector_parse(str_of(selector_text), &err);
    if (!selector) fail_msg("%s", err.text);
    size_t found = lister_count(indexer, str_of(ns), selector, NULL);
    selector_free(selector);
    return found;
}

static bool has_index(const char *label)
{
    char path[64];
    snprintf(path, sizeof path, "metadata.labels['%s']", label);
    return indexer_path_index(indexer, str_of(path)) != NULL;
}

static void test_an_index_comes_with_the_list_that_makes_it_pay(void **state)
{
    for (int i = 1; i < LABEL_INDEX_PAYS; i++) {
        assert_int_equal(count("", "app=a7"), OBJECTS / APPS);
        assert_false(has_index("app"));
    }
    assert_int_equal(count("", "app=a7"), OBJECTS / APPS);
    assert_true(has_index("app"));
    assert_int_equal(count("", "app=a7"), OBJECTS / APPS);
    assert_int_equal(count("n2", "app=a7"), OBJECTS / APPS);
    assert_int_equal(count("n1", "app=a7"), 0);
    assert_int_equal(count("", "app in (a7),tier=t1"), OBJECTS / APPS);
    assert_int_equal(count("", "app=nobody"), 0);
}

static void test_other_selectors_and_small_lists_owe_nothing(void **state)
{
    for (int i = 0; i < 10 * LABEL_INDEX_PAYS; i++) {
        count("", "app!=a7");
        count("", "app");
        count("", "app in (a1,a2)");
        count("", "app=");
        count("n1", "app=a7"); /* 400 objects */
    }
    assert_false(has_index("app"));
}

static void test_what_a_script_named_serves_too(void **state)
{
    struct err err;
    struct index *named = indexer_add_path_index(indexer, STR("metadata.labels.app"), &err);
    struct str value;
    struct selector *selector = selector_parse(STR("app==a7"), &err);
    assert_ptr_equal(label_index_serve(indexer, selector, OBJECTS, true, &value), named);
    assert_true(str_is(value, "a7"));
    assert_null(
        label_index_serve(indexer, selector, 3, true, &value)); /* fewer are to be looked at without it */
    selector_free(selector);
    for (int i = 0; i < 2 * LABEL_INDEX_PAYS; i++) count("", "app=a7");
    assert_false(has_index("app"));
}

static void test_it_goes_when_the_cache_changes_and_nobody_uses_it(void **state)
{
    for (int i = 0; i < LABEL_INDEX_PAYS; i++) count("", "app=a7");
    for (int i = 0; i < LABEL_INDEX_IDLE * OBJECTS; i++) {
        if (i % OBJECTS == 0) count("", "app=a7");
        put(i % OBJECTS, i + 2, i % APPS);
    }
    assert_true(has_index("app"));
    for (int i = 0; i < (LABEL_INDEX_IDLE + 1) * OBJECTS; i++) put(i % OBJECTS, i + 90000, i % APPS);
    assert_false(has_index("app"));
    assert_int_equal(count("", "app=a7"), OBJECTS / APPS);
}

static void test_there_are_four_at_most(void **state)
{
    char selector[32];
    for (int label = 0; label < 40; label++) {
        snprintf(selector, sizeof selector, "l%d=x", label);
        for (int i = 0; i < LABEL_INDEX_PAYS; i++) assert_int_equal(count("", selector), 0);
    }
    assert_true(has_index("l0"));
    assert_true(has_index("l3"));
    assert_false(has_index("l4"));
}

static void test_queries_use_it_too(void **state)
{
    struct err err;
    struct query *query = query_new();
    assert_true(query_label(query, selector_parse(STR("app=a7"), &err), &err));
    for (int i = 0; i <= LABEL_INDEX_PAYS; i++) assert_int_equal(query_count(query, indexer), OBJECTS / APPS);
    assert_true(has_index("app"));
    query_namespace(query, STR("n2"));
    assert_int_equal(query_count(query, indexer), OBJECTS / APPS);
    query_free(query);
}

/* --- with or without: the same objects in the same order */

struct expecting {
    const struct selector *selector;
    struct lister_list *list;
    size_t at;
};

static bool expect_next(void *ctx, struct root *object)
{
    struct expecting *e = ctx;
    if (!selector_matches(e->selector, root_labels(object))) return true;
    assert_true(e->at < e->list->count);
    assert_ptr_equal(e->list->objects[e->at++], object);
    return true;
}

static void test_it_makes_no_difference_but_in_time(void **state)
{
    const char *seed = getenv("SEED");
    struct jitter random = {seed ? strtoull(seed, NULL, 10) : 9};
    print_message("SEED=%llu\n", (unsigned long long)random.state);
    for (int step = 0; step < 600; step++) {
        char text[64];
        struct err err;
        struct lister_list list;
        for (int i = 0; i < 30; i++)
            put((int)jitter_between(&random, 0, OBJECTS), step + 2, (int)jitter_between(&random, 0, APPS));
        if (step % 100 > 50) continue;
        snprintf(text, sizeof text, jitter_between(&random, 0, 2) ? "app=a%d" : "tier=t1,app=a%d",
                 (int)jitter_between(&random, 0, APPS));
        struct selector *selector = selector_parse(str_of(text), &err);
        lister_list(indexer, STR(""), selector, NULL, &list);
        struct expecting e = {selector, &list, 0};
        indexer_each(indexer, expect_next, &e);
        assert_int_equal(e.at, list.count);
        lister_free_list(&list);
        selector_free(selector);
    }
    assert_true(has_index("app"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, store_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_an_index_comes_with_the_list_that_makes_it_pay),
        TEST(test_other_selectors_and_small_lists_owe_nothing),
        TEST(test_what_a_script_named_serves_too),
        TEST(test_it_goes_when_the_cache_changes_and_nobody_uses_it),
        TEST(test_there_are_four_at_most),
        TEST(test_queries_use_it_too),
        TEST(test_it_makes_no_difference_but_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
