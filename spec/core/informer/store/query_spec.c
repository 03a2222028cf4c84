/* core/informer/store/query.c and query_group.c: the same answers with an index as without. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/time/backoff.h"
#include "core/informer/support/store.h"
#include "informer/store/query.h"
#include "informer/store/query_internal.h"

static struct query *query;

static int setup(void **state)
{
    store_open(state);
    query = query_new();
    store_put_labels("a/1@1", "{\"app\":\"web\",\"cpu\":\"500m\",\"n\":3}");
    store_put_labels("b/2@1", "{\"app\":\"db\",\"cpu\":\"1\",\"n\":10}");
    store_put_labels("a/3@1", "{\"cpu\":\"lots\",\"both\":[\"x\",\"y\",\"x\"]}");
    store_put_labels("a/4@1", "{\"app\":\"web\",\"n\":3,\"both\":[\"y\"]}");
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

static void where(struct query *q, const char *path_text, enum condition_op op, struct scalar value)
{
    struct err err;
    struct condition *c = condition_new(str_of(path_text), op, &value, 1, &err);
    if (!c || !query_where(q, c, &err)) fail_msg("%s", err.text);
}

static void order(const char *text, bool descending)
{
    struct err err;
    assert_true(query_order(query, path(text), descending, &err));
}

static void describe(const struct query *q, struct buf *out)
{
    struct lister_list list;
    query_select(q, indexer, &list);
    for (size_t i = 0; i < list.count; i++) {
        if (i) buf_putc(out, ' ');
        root_key(list.objects[i], out);
    }
    assert_int_equal(query_count(q, indexer), list.count);
    lister_free_list(&list);
}

static void assert_rows(const char *expected)
{
    struct buf out = {0};
    describe(query, &out);
    assert_row(&out, expected);
}

static void test_all_conditions_must_be_true(void **state)
{
    struct err err;
    assert_rows("a/1 b/2 a/3 a/4");
    query_namespace(query, STR("a"));
    assert_rows("a/1 a/3 a/4");
    query_label(query, selector_parse(STR("app=web"), &err), &err);
    assert_rows("a/1 a/4");
    where(query, "metadata.labels.cpu", CONDITION_EQUAL, scalar_text(STR("500m")));
    assert_rows("a/1");
    where(query, "metadata.labels.n", CONDITION_GREATER, scalar_int(3));
    assert_rows("");
}

static void test_a_name_is_looked_up_in_each_namespace(void **state)
{
    store_put_labels("c/1@1", "{\"app\":\"web\"}");
    store_put_labels("b/1@1", "{\"app\":\"db\"}");
    for (int i = 0; i < 20; i++) {
        char key[16];
        snprintf(key, sizeof key, "d/%d@1", 100 + i);
        store_put_labels(key, "{}");
    }
    where(query, "metadata.name", CONDITION_EQUAL, scalar_text(STR("1")));
    assert_int_equal(query_candidates(query, indexer), 4); /* of 26 objects */
    assert_rows("a/1 c/1 b/1");
    where(query, "metadata.labels.app", CONDITION_EQUAL, scalar_text(STR("web")));
    assert_rows("a/1 c/1");
    query_limit(query, 1);
    assert_rows("a/1");
    query_namespace(query, STR("c"));
    assert_int_equal(query_candidates(query, indexer), 1);
    assert_rows("c/1");
}

static void test_the_order_is_stable_and_what_has_no_value_comes_last(void **state)
{
    order("metadata.labels.app", false);
    assert_rows("b/2 a/1 a/4 a/3");
    order("metadata.name", true);
    assert_rows("b/2 a/4 a/1 a/3");
}

static void test_descending_keeps_the_absent_last_and_equals_in_place(void **state)
{
    order("metadata.labels.app", true);
    assert_rows("a/1 a/4 b/2 a/3");
}

static void test_amounts_come_before_texts(void **state)
{
    order("metadata.labels.cpu", false);
    assert_rows("a/1 b/2 a/3 a/4");
}

static void test_a_limit_cuts_after_ordering(void **state)
{
    query_limit(query, 2);
    assert_rows("a/1 b/2");
    order("metadata.name", true);
    assert_rows("a/4 a/3");
    query_limit(query, 0);
    assert_rows("");
}

static void assert_sum(const char *text, const char *expected, bool any_quantity)
{
    struct path *p = path(text);
    struct query_sum sum;
    struct err err;
    struct buf out = {0};
    assert_true(query_sum(query, indexer, p, &sum, &err));
    quantity_text(&sum.exact, &out);
    assert_string_equal(buf_text(&out), expected);
    assert_int_equal(sum.any_quantity, any_quantity);
    path_free(p);
    buf_clear(&out);
}

static void test_sums_take_numbers_and_quantities_and_skip_the_rest(void **state)
{
    assert_sum("metadata.labels.cpu", "1500m", true);
    assert_sum("metadata.labels.n", "16", false);
    assert_sum("metadata.labels.app", "0", false);
    assert_sum("metadata.labels[*]", "17500m", true);
    query_limit(query, 1);
    assert_sum("metadata.labels.n", "3", false);
}

static void test_a_sum_beyond_all_range_is_an_error(void **state)
{
    struct path *p = path("metadata.labels.big[*]");
    struct query_sum sum;
    struct err err;
    store_put_labels("z@1",
                     "{\"big\":[\"100000000000000000000000000000\",1,\"100000000000000000000000000000\"]}");
    assert_false(query_sum(query, indexer, p, &sum, &err));
    assert_string_equal(err.text, "result out of the range of quantities");
    path_free(p);
}

static void assert_groups(const char *by, const char *sum_path, const char *expected)
{
    struct path *sum = sum_path ? path(sum_path) : NULL;
    struct query_groups groups;
    struct buf out = {0};
    struct err err;
    query_group(query, path(by));
    assert_true(query_groups(query, indexer, sum, &groups, &err));
    for (size_t i = 0; i < groups.count; i++) {
        struct text text;
        struct str key = value_str(groups.rows[i].key, &text);
        if (i) buf_putc(&out, ' ');
        if (value_type(groups.rows[i].key) == VALUE_INT)
            buf_printf(&out, "#%d", (int)value_int(groups.rows[i].key));
        else
            buf_str(&out, key.p ? key : STR("-"));
        buf_printf(&out, ":%zu", groups.rows[i].count);
        if (!sum) continue;
        buf_putc(&out, '=');
        quantity_text(&groups.rows[i].sum.exact, &out);
    }
    assert_string_equal(buf_text(&out), expected);
    query_free_groups(&groups);
    path_free(sum);
    buf_clear(&out);
}

static void test_groups_are_sorted_by_key_with_the_absent_last(void **state)
{
    assert_groups("metadata.labels.app", NULL, "db:1 web:2 -:1");
    assert_groups("metadata.labels.app", "metadata.labels.n", "db:1=10 web:2=6 -:1=0");
    assert_groups("metadata.labels.n", NULL, "#3:2 #10:1 -:1");
    assert_groups("metadata.labels", NULL, "-:4"); /* maps are no keys */
}

static void test_an_object_is_once_in_the_group_of_each_value(void **state)
{
    assert_groups("metadata.labels.both[*]", "metadata.labels.n", "x:1=0 y:2=3 -:2=13");
}

static void test_groups_may_be_ordered_by_count_and_sum(void **state)
{
    order("count", true);
    query_limit(query, 2);
    assert_groups("metadata.labels.app", NULL, "web:2 db:1");
    order("sum", true);
    assert_groups("metadata.labels.app", "metadata.labels.n", "web:2=6 db:1=10");
    assert_null(query_bad_group_order(query).p);
    order("metadata.name", false);
    assert_true(str_is(query_bad_group_order(query), "metadata.name"));
}

static void test_groups_are_exact_about_kinds(void **state)
{
    store_put_labels("c/1@1", "{\"v\":1}");
    store_put_labels("c/2@1", "{\"v\":\"1\"}");
    store_put_labels("c/3@1", "{\"v\":1.0}");
    store_put_labels("c/4@1", "{\"v\":\"1000m\"}");
    store_put_labels("c/5@1", "{\"v\":\"1\"}");
    query_namespace(query, STR("c"));
    assert_groups("metadata.labels.v", NULL, "#1:2 1:2 1000m:1");
}

static void test_too_many_parts_are_an_error(void **state)
{
    struct err err;
    for (int i = 0; i < QUERY_PARTS_MAX; i++) order("a", false);
    assert_false(query_order(query, path("a"), false, &err));
    assert_string_equal(err.text, "a query has at most 32 orders");
}

/* --- an index makes no difference */

enum { RUNS = 400 };
static const char *const paths[] = {"metadata.labels.a", "metadata.labels.b[*]", "metadata.namespace"};

static void random_object(struct jitter *random)
{
    char key[32], labels[128];
    int n = (int)jitter_between(random, 0, 60);
    snprintf(key, sizeof key, "n%d/k%d@%d", n % 3, n, (int)jitter_between(random, 0, 9));
    snprintf(labels, sizeof labels, "{\"a\":\"v%d\",\"b\":[\"v%d\",%d,\"v%d\"]}",
             (int)jitter_between(random, 0, 4), (int)jitter_between(random, 0, 4),
             (int)jitter_between(random, 0, 4), (int)jitter_between(random, 0, 4));
    root_unref(indexer_put(indexer, object_with_labels(key, labels)));
}

static struct query *random_query(struct jitter *random)
{
    struct query *q = query_new();
    for (int64_t i = jitter_between(random, 0, 3); i > 0; i--) {
        char value[8];
        snprintf(value, sizeof value, jitter_between(random, 0, 5) ? "v%d" : "n%d",
                 (int)jitter_between(random, 0, 5));
        where(q, paths[jitter_between(random, 0, 3)],
              jitter_between(random, 0, 4) ? CONDITION_EQUAL : CONDITION_NOT_EQUAL,
              scalar_text(str_of(value)));
    }
    if (jitter_between(random, 0, 3) == 0) query_namespace(q, STR("n1"));
    if (jitter_between(random, 0, 3) == 0) query_limit(q, (size_t)jitter_between(random, 0, 9));
    return q;
}

static void test_an_index_makes_no_difference_but_in_time(void **state)
{
    const char *seed = getenv("SEED");
    struct jitter random = {seed ? strtoull(seed, NULL, 10) : 5};
    print_message("SEED=%llu\n", (unsigned long long)random.state);
    for (int run = 0; run < RUNS; run++) {
        struct index *index[3];
        struct buf without = {0}, with = {0};
        struct err err;
        for (int i = 0; i < 5; i++) random_object(&random);
        struct query *q = random_query(&random);
        describe(q, &without);
        for (int i = 0; i < 3; i++) index[i] = indexer_add_path_index(indexer, str_of(paths[i]), &err);
        describe(q, &with);
        assert_string_equal(buf_text(&with), buf_text(&without));
        for (int i = 0; i < 3; i++) indexer_release_index(indexer, index[i]);
        buf_clear(&without);
        buf_clear(&with);
        query_free(q);
    }
}

static void test_results_end_when_the_callback_stops_them(void **state)
{
    volatile bool stop = false;
    size_t all = query_count(query, indexer);
    struct lister_list list;
    struct query_groups groups;
    struct query_sum sum;
    struct err err;
    struct path *p = path("metadata.name");
    order("metadata.name", false);
    query_stop_when(query, &stop);
    assert_in_range(all, 1, 1000000);
    assert_int_equal(query_count(query, indexer), all);
    stop = true;
    assert_int_equal(query_count(query, indexer), 0);
    query_select(query, indexer, &list);
    assert_int_equal(list.count, 0);
    assert_true(query_sum(query, indexer, p, &sum, &err));
    query_group(query, path("metadata.name"));
    assert_true(query_groups(query, indexer, NULL, &groups, &err));
    assert_int_equal(groups.count, 0);
    query_free_groups(&groups);
    lister_free_list(&list);
    path_free(p);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_all_conditions_must_be_true),
        TEST(test_a_name_is_looked_up_in_each_namespace),
        TEST(test_the_order_is_stable_and_what_has_no_value_comes_last),
        TEST(test_descending_keeps_the_absent_last_and_equals_in_place),
        TEST(test_amounts_come_before_texts),
        TEST(test_a_limit_cuts_after_ordering),
        TEST(test_sums_take_numbers_and_quantities_and_skip_the_rest),
        TEST(test_a_sum_beyond_all_range_is_an_error),
        TEST(test_groups_are_sorted_by_key_with_the_absent_last),
        TEST(test_an_object_is_once_in_the_group_of_each_value),
        TEST(test_groups_may_be_ordered_by_count_and_sum),
        TEST(test_groups_are_exact_about_kinds),
        TEST(test_too_many_parts_are_an_error),
        TEST(test_an_index_makes_no_difference_but_in_time),
        TEST(test_results_end_when_the_callback_stops_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
