/* core/informer/store/indexer_replace.c: a relist takes effect in place (S-4, B-3). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/informer/support/indexing.h"
#include "core/informer/support/store.h"

static struct replacement replaced;

static int teardown(void **state)
{
    replacement_clear(&replaced);
    return store_close(state);
}

static void replace_keeping(const char *texts, const char *kept_name, bool keep_all)
{
    size_t count;
    struct root **list = object_list(texts, &count);
    replacement_clear(&replaced);
    replacement_begin(&replaced, indexer, count);
    for (size_t i = 0; i < count; i++) replacement_put(&replaced, indexer, list[i]);
    if (kept_name) replacement_keep(&replaced, indexer, STR("a"), str_of(kept_name));
    replacement_end(&replaced, indexer, keep_all);
    free(list);
}

static void replace(const char *texts)
{
    replace_keeping(texts, NULL, false);
}

static void assert_replaced(const char *store, const char *before, const char *vanished)
{
    struct buf out = {0};
    indexer_each(indexer, describe_each, &out);
    assert_row(&out, store);
    for (size_t i = 0; i < replaced.count; i++) describe_next(replaced.before[i], &out);
    assert_row(&out, before);
    for (size_t i = 0; i < replaced.vanished_count; i++) describe_next(replaced.vanished[i], &out);
    assert_row(&out, vanished);
}

static void test_v7_what_was_there_before_is_delivered(void **state)
{
    replace("p1@1 p2@2 p3@3");
    assert_replaced("p1@1 p2@2 p3@3", "- - -", "");
    replace("p1@4 p2@5 p4@6");
    assert_replaced("p1@4 p2@5 p4@6", "p1@1 p2@2 -", "p3@3");
    replace("");
    assert_replaced("", "", "p1@4 p2@5 p4@6");
}

static void test_b9_keys_keep_their_places_and_vanished_ones_are_sorted(void **state)
{
    replace("b/1@1 a/9@1 a/10@1 c/2@1 a/3@1");
    replace("a/3@1 d/0@1 c/2@1");
    assert_replaced("c/2@1 a/3@1 d/0@1", "a/3@1 - c/2@1", "a/10@1 a/9@1 b/1@1");
}

static void test_q7_a_key_named_twice_is_compared_with_the_old_store_twice(void **state)
{
    replace("a/1@1");
    replace("a/1@2 a/2@1 a/1@3 a/2@2");
    assert_replaced("a/1@3 a/2@2", "a/1@1 - a/1@1 -", "");
}

static void test_what_was_refused_is_kept(void **state)
{
    replace("a/1@1 a/2@1 a/3@1");
    replace_keeping("a/3@2", "2", false);
    assert_replaced("a/2@1 a/3@2", "a/3@1", "a/1@1");
    replace_keeping("a/4@2", NULL, true);
    assert_replaced("a/2@1 a/3@2 a/4@2", "-", "");
    replace_keeping("a/4@2", "nobody", false);
    assert_replaced("a/4@2", "a/4@2", "a/2@1 a/3@2");
}

/* Whatever is listed is of the namespace. */
static void replace_in(const char *ns, const char *texts, bool keep_all)
{
    size_t count;
    struct root **list = object_list(texts, &count);
    replacement_clear(&replaced);
    replacement_begin(&replaced, indexer, count);
    for (size_t i = 0; i < count; i++) replacement_put(&replaced, indexer, list[i]);
    replacement_end_in(&replaced, indexer, str_of(ns), keep_all);
    free(list);
}

static void test_a_list_of_one_namespace_leaves_the_others_alone(void **state)
{
    replace("a/1@1 b/1@1 a/2@1 c/1@1 a/3@1");
    replace_in("a", "a/2@2 a/4@2", false);
    assert_replaced("b/1@1 a/2@2 c/1@1 a/4@2", "a/2@1 -", "a/1@1 a/3@1");
    replace_in("a", "", true);
    assert_replaced("b/1@1 a/2@2 c/1@1 a/4@2", "", "");
    replace_in("a", "", false);
    assert_replaced("b/1@1 c/1@1", "", "a/2@2 a/4@2");
    replace_in("z", "", false);
    assert_replaced("b/1@1 c/1@1", "", "");
}

static int asked;

static bool count_asked(void *ctx, struct root *object, struct index_values *out, struct err *err)
{
    struct text text;
    asked++;
    index_values_add(out, root_resource_version(object, &text));
    return true;
}

static void test_b3_an_unchanged_object_costs_its_indexes_nothing(void **state)
{
    struct index_source source = {.values = count_asked};
    struct err err;
    struct index *index = indexer_add_index(indexer, &source, &err);
    replace("a/1@1 a/2@2 a/3@3");
    asked = 0;
    replace("a/3@3 a/2@2 a/1@1");
    assert_int_equal(asked, 0);
    assert_index(indexer, index, "1{a/1} 2{a/2} 3{a/3}");
    replace("a/3@9 a/2@2");
    assert_int_equal(asked, 1); /* a/1 left without the source being asked */
    assert_index(indexer, index, "2{a/2} 9{a/3}");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, store_open, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_v7_what_was_there_before_is_delivered),
        TEST(test_b9_keys_keep_their_places_and_vanished_ones_are_sorted),
        TEST(test_q7_a_key_named_twice_is_compared_with_the_old_store_twice),
        TEST(test_what_was_refused_is_kept),
        TEST(test_a_list_of_one_namespace_leaves_the_others_alone),
        TEST(test_b3_an_unchanged_object_costs_its_indexes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
