/* core/informer/store/lister.c: reading a cache. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/informer/support/store.h"
#include "informer/store/lister.h"

static int setup(void **state)
{
    store_open(state);
    store_put_labels("a/1@1", "{\"app\":\"web\"}");
    store_put_labels("b/2@1", "{\"app\":\"db\"}");
    store_put_labels("a/3@1", "{}");
    store_put_labels("a/4@1", "{\"app\":\"web\",\"tier\":\"front\"}");
    return 0;
}

static struct selector *select_by(const char *text)
{
    struct err err;
    struct selector *selector = selector_parse(str_of(text), &err);
    if (!selector) fail_msg("%s", err.text);
    return selector;
}

static void assert_listed(const char *ns, const char *selector_text, const char *expected)
{
    struct selector *selector = selector_text ? select_by(selector_text) : NULL;
    struct lister_list list;
    struct buf out = {0};
    lister_list(indexer, str_of(ns), selector, NULL, &list);
    for (size_t i = 0; i < list.count; i++) describe_next(list.objects[i], &out);
    assert_row(&out, expected);
    assert_int_equal(lister_count(indexer, str_of(ns), selector, NULL), list.count);
    lister_free_list(&list);
    selector_free(selector);
}

static void test_f11_an_empty_selector_lists_all_in_the_order_of_arrival(void **state)
{
    assert_listed("", NULL, "a/1@1 b/2@1 a/3@1 a/4@1");
    assert_listed("", "", "a/1@1 b/2@1 a/3@1 a/4@1");
}

static void test_f11_a_namespace_lists_by_its_index(void **state)
{
    assert_listed("a", NULL, "a/1@1 a/3@1 a/4@1");
    assert_listed("b", "", "b/2@1");
    assert_listed("c", NULL, "");
}

/* F-13: labels only */
static void test_f11_a_selector_selects_with_and_without_namespace(void **state)
{
    assert_listed("", "app", "a/1@1 b/2@1 a/4@1");
    assert_listed("", "app=web", "a/1@1 a/4@1");
    assert_listed("a", "app!=web", "a/3@1");
    assert_listed("a", "app in (web),tier", "a/4@1");
    assert_listed("", "app,!app", "");
}

static void test_a_list_keeps_its_objects_when_the_cache_changes(void **state)
{
    struct lister_list list;
    struct buf out = {0};
    lister_list(indexer, STR("b"), NULL, NULL, &list);
    struct root *like = object("b/2@1");
    root_unref(indexer_remove(indexer, like));
    root_unref(like);
    assert_int_equal(list.count, 1);
    object_describe(list.objects[0], &out);
    assert_string_equal(buf_text(&out), "b/2@1");
    lister_free_list(&list);
    buf_clear(&out);
}

static void test_no_cache_yet_is_an_empty_one(void **state)
{
    struct lister_list list;
    lister_list(NULL, STR(""), NULL, NULL, &list);
    assert_int_equal(list.count, 0);
    assert_int_equal(lister_count(NULL, STR("a"), NULL, NULL), 0);
    lister_free_list(&list);
}

static void test_a_walk_ends_when_it_is_to_stop(void **state)
{
    const volatile bool stop = true, go_on = false;
    struct selector *selector = select_by("app");
    struct lister_list list;
    lister_list(indexer, STR(""), NULL, &stop, &list);
    assert_int_equal(list.count, 0);
    lister_by_index(indexer, NULL, STR(""), STR("a"), &stop, &list);
    assert_int_equal(list.count, 0);
    assert_int_equal(lister_count(indexer, STR(""), selector, &stop), 0);
    assert_int_equal(lister_count(indexer, STR(""), selector, &go_on), 3);
    selector_free(selector);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, store_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_f11_an_empty_selector_lists_all_in_the_order_of_arrival),
        TEST(test_f11_a_namespace_lists_by_its_index),
        TEST(test_f11_a_selector_selects_with_and_without_namespace),
        TEST(test_a_list_keeps_its_objects_when_the_cache_changes),
        TEST(test_no_cache_yet_is_an_empty_one),
        TEST(test_a_walk_ends_when_it_is_to_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
