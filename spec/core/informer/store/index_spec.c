/* core/informer/store/index.c: from values to entries, by the vectors V17 and V21 of the contract. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/informer/support/indexing.h"
#include "core/informer/support/store.h"

static struct index *users;

static struct index *add_index(struct index_source source)
{
    struct err err;
    struct index *index = indexer_add_index(indexer, &source, &err);
    if (!index) fail_msg("%s", err.text);
    return index;
}

static int setup(void **state)
{
    store_open(state);
    users = add_index(by_users());
    return 0;
}

static void put(const char *key, const char *names)
{
    char labels[128];
    snprintf(labels, sizeof labels, "{\"users\":\"%s\"}", names);
    store_put_labels(key, labels);
}

static void test_v17_an_object_is_under_all_its_values(void **state)
{
    put("one", "ernie,bert");
    put("two", "bert,oscar");
    put("tre", "ernie,elmo");
    assert_index(indexer, users, "bert{one,two} elmo{tre} ernie{one,tre} oscar{two}");
    assert_int_equal(index_count(users, STR("elmo1")), 0);
    store_drop("tre");
    assert_index(indexer, users, "bert{one,two} ernie{one} oscar{two}");
    put("two", "oscar");
    assert_index(indexer, users, "bert{one} ernie{one} oscar{two}");
}

static void test_v17_an_index_that_comes_later_is_filled_at_once(void **state)
{
    store_put_labels("p1", "{\"a\":\"1\",\"b\":\"1\"}");
    store_put_labels("p2", "{\"b\":\"1\"}");
    struct index *keys = add_index(by_label_keys());
    assert_index(indexer, keys, "a{p1} b{p1,p2}");
    store_put_labels("p3", "{\"a\":\"1\"}");
    assert_index(indexer, keys, "a{p1,p3} b{p1,p2}");
}

struct step {
    const char *key, *names; /* put, or NULL: dropped */
    const char *expected;
};

static void assert_steps(const struct step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (steps[i].names)
            put(steps[i].key, steps[i].names);
        else
            store_drop(steps[i].key);
        assert_index(indexer, users, steps[i].expected);
    }
}

static void test_v21_values_come_and_go_one_by_one(void **state)
{
    static const struct step steps[] = {
        {"key2", "bar", "bar{key2} foo{key1}"},
        {"key2", "foo,bar", "bar{key2} foo{key1,key2}"},
        {"key1", "foo,bar", "bar{key1,key2} foo{key1,key2}"},
        {"key3", "foo,bar,baz", "bar{key1,key2,key3} baz{key3} foo{key1,key2,key3}"},
        {"key1", "foo", "bar{key2,key3} baz{key3} foo{key1,key2,key3}"},
        {"key2", "bar", "bar{key2,key3} baz{key3} foo{key1,key3}"},
        {"key1", NULL, "bar{key2,key3} baz{key3} foo{key3}"},
        {"key3", NULL, "bar{key2}"},
    };
    put("key1", "foo");
    assert_steps(steps, sizeof steps / sizeof *steps);
}

static void test_s5_a_value_given_twice_counts_once(void **state)
{
    static const struct step steps[] = {
        {"one", "ernie,ernie,bert,ernie", "bert{one} ernie{one}"},
        {"one", "bert,bert", "bert{one}"},
    };
    assert_steps(steps, sizeof steps / sizeof *steps);
    store_put_labels("one", "{}");
    assert_index(indexer, users, "");
}

static void test_s6_a_failing_source_is_counted_and_the_object_stays(void **state)
{
    put("one", "ernie");
    put("two", "oscar,bad");
    put("one", "bad");
    assert_int_equal(indexer_count(indexer), 2);
    assert_index(indexer, users, "");
    put("two", "oscar");
    assert_index(indexer, users, "oscar{two}");
}

static int fickle_calls;

static bool give_another(void *ctx, struct root *object, struct index_values *out, struct err *err)
{
    char value[16];
    snprintf(value, sizeof value, "v%d", ++fickle_calls);
    index_values_add(out, str_of(value));
    return true;
}

static void test_a_source_that_changes_its_mind_leaves_nothing_behind(void **state)
{
    struct index *fickle = add_index((struct index_source){.values = give_another});
    fickle_calls = 0;
    put("one", "a");
    put("two", "a");
    put("one", "b");
    assert_index(indexer, fickle, "v2{two} v3{one}");
    store_drop("one");
    store_drop("two");
    assert_index(indexer, fickle, "");
}

static void test_the_order_under_a_value_is_that_of_the_store(void **state)
{
    put("one", "bert");
    put("two", "ernie");
    put("tre", "ernie");
    put("one", "ernie"); /* last under ernie, first in the store */
    assert_index(indexer, users, "ernie{one,two,tre}");
}

static void test_entries_keep_their_values_when_holes_are_squeezed_out(void **state)
{
    char key[32];
    for (int i = 0; i < 500; i++) {
        snprintf(key, sizeof key, "k%d", i);
        put(key, i % 50 == 3 ? "ernie,bert" : "bert");
    }
    for (int i = 0; i < 500; i++) {
        if (i % 50 == 3 && i > 200) continue;
        snprintf(key, sizeof key, "k%d", i);
        store_drop(key);
    }
    assert_index(indexer, users, "bert{k203,k253,k303,k353,k403,k453} ernie{k203,k253,k303,k353,k403,k453}");
    put("k303", "oscar");
    assert_index(indexer, users,
                 "bert{k203,k253,k353,k403,k453} ernie{k203,k253,k353,k403,k453} oscar{k303}");
}

static void test_an_empty_value_is_a_value(void **state)
{
    assert_int_equal(index_count(users, STR("")), 0);
    put("one", "x,,y"); /* give_users gives the empty text between the commas */
    assert_int_equal(index_count(users, STR("")), 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, store_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_v17_an_object_is_under_all_its_values),
        TEST(test_v17_an_index_that_comes_later_is_filled_at_once),
        TEST(test_v21_values_come_and_go_one_by_one),
        TEST(test_s5_a_value_given_twice_counts_once),
        TEST(test_s6_a_failing_source_is_counted_and_the_object_stays),
        TEST(test_a_source_that_changes_its_mind_leaves_nothing_behind),
        TEST(test_the_order_under_a_value_is_that_of_the_store),
        TEST(test_entries_keep_their_values_when_holes_are_squeezed_out),
        TEST(test_an_empty_value_is_a_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
