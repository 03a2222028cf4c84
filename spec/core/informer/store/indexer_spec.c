/* core/informer/store/indexer.c: the store, its order and its namespace index. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <stdio.h>

#include "base/mem.h"
#include "base/time/backoff.h"
#include "core/informer/support/store.h"

static void assert_all(const char *expected)
{
    struct buf out = {0};
    indexer_each(indexer, describe_each, &out);
    assert_row(&out, expected);
}

static void assert_in_namespace(const char *ns, const char *expected)
{
    struct buf out = {0};
    indexer_each_in(indexer, str_of(ns), describe_each, &out);
    assert_row(&out, expected);
}

static void test_s3_add_and_update_are_the_same_and_return_what_was_there(void **state)
{
    struct root *first = object("a/x@1"), *second = object("a/x@2");
    assert_null(indexer_put(indexer, root_ref(first)));
    assert_ptr_equal(indexer_put(indexer, root_ref(second)), first);
    assert_ptr_equal(indexer_get(indexer, STR("a"), STR("x")), second);
    assert_int_equal(indexer_count(indexer), 1);
    root_unref(first);
    root_unref(first);
    root_unref(second);
}

static void test_s3_removing_an_absent_key_is_silent(void **state)
{
    store_put("a/x@1");
    store_drop("a/y@1");
    store_drop("b/x@1");
    store_drop("x@1");
    assert_all("a/x@1");
}

static void test_s1_keys_with_and_without_namespace_are_different(void **state)
{
    store_put("x@1");
    store_put("a/x@2");
    assert_int_equal(indexer_count(indexer), 2);
    struct root *cluster = indexer_get(indexer, STR(""), STR("x")), *spaced;
    spaced = indexer_get(indexer, STR("a"), STR("x"));
    assert_non_null(cluster);
    assert_non_null(spaced);
    assert_ptr_not_equal(cluster, spaced);
    assert_null(indexer_get(indexer, STR("a"), STR("")));
    assert_in_namespace("", "x@1");
}

static void test_b9_the_order_is_that_in_which_keys_came(void **state)
{
    store_put("b/1@1");
    store_put("a/2@1");
    store_put("b/3@1");
    store_put("a/4@1");
    assert_all("b/1@1 a/2@1 b/3@1 a/4@1");
    store_put("a/2@9");
    assert_all("b/1@1 a/2@9 b/3@1 a/4@1");
    store_drop("b/1@1");
    store_put("b/1@5");
    assert_all("a/2@9 b/3@1 a/4@1 b/1@5");
    assert_in_namespace("b", "b/3@1 b/1@5");
    assert_in_namespace("a", "a/2@9 a/4@1");
}

static void test_s9_the_namespace_index_counts_and_forgets(void **state)
{
    store_put("a/1@1");
    store_put("a/2@1");
    store_put("b/3@1");
    assert_int_equal(indexer_namespace_count(indexer, STR("a")), 2);
    store_drop("a/1@1");
    store_drop("a/2@1");
    assert_int_equal(indexer_namespace_count(indexer, STR("a")), 0);
    assert_in_namespace("a", "");
    assert_int_equal(indexer_namespace_count(indexer, STR("nowhere")), 0);
    assert_in_namespace("nowhere", "");
    store_put("a/3@1");
    assert_in_namespace("a", "a/3@1");
}

static void test_holes_are_squeezed_out_and_the_order_stays(void **state)
{
    char text[32];
    for (int i = 0; i < 1000; i++) {
        snprintf(text, sizeof text, "n%d/o%d@1", i % 3, i);
        store_put(text);
    }
    for (int i = 0; i < 1000; i++) {
        if (i % 100 == 7) continue;
        snprintf(text, sizeof text, "n%d/o%d@1", i % 3, i);
        store_drop(text);
    }
    assert_all("n1/o7@1 n2/o107@1 n0/o207@1 n1/o307@1 n2/o407@1 n0/o507@1 n1/o607@1 n2/o707@1 n0/o807@1 "
               "n1/o907@1");
    assert_in_namespace("n1", "n1/o7@1 n1/o307@1 n1/o607@1 n1/o907@1");
}

static bool stop_at_second(void *ctx, struct root *object)
{
    return ++*(int *)ctx < 2;
}

static void test_a_walk_may_be_stopped(void **state)
{
    int seen = 0;
    store_put("a/1@1");
    store_put("a/2@1");
    store_put("a/3@1");
    indexer_each(indexer, stop_at_second, &seen);
    assert_int_equal(seen, 2);
    seen = 0;
    indexer_each_in(indexer, STR("a"), stop_at_second, &seen);
    assert_int_equal(seen, 2);
}

static void test_s10_the_version_is_what_was_set(void **state)
{
    assert_string_equal(indexer_resource_version(indexer), "");
    indexer_set_resource_version(indexer, STR("123"));
    indexer_set_resource_version(indexer, STR("45"));
    assert_string_equal(indexer_resource_version(indexer), "45");
}

/* --- against a model: an array of what should be there, in order */

enum { KEYS = 40, STEPS = 3000 };

struct model {
    int keys[KEYS], versions[KEYS];
    size_t count;
};

static void key_text(char *text, size_t size, int key, int version)
{
    snprintf(text, size, "n%d/k%d@%d", key % 4, key, version);
}

static void model_put(struct model *m, int key, int version)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->keys[i] == key) {
            m->versions[i] = version;
            return;
        }
    m->keys[m->count] = key;
    m->versions[m->count++] = version;
}

static void model_drop(struct model *m, int key)
{
    size_t kept = 0;
    for (size_t i = 0; i < m->count; i++) {
        if (m->keys[i] == key) continue;
        m->keys[kept] = m->keys[i];
        m->versions[kept++] = m->versions[i];
    }
    m->count = kept;
}

/* All of them, or those of namespace `ns`. */
static void model_describe(const struct model *m, int ns, struct buf *out)
{
    char text[32];
    out->len = 0;
    for (size_t i = 0; i < m->count; i++) {
        if (ns >= 0 && m->keys[i] % 4 != ns) continue;
        key_text(text, sizeof text, m->keys[i], m->versions[i]);
        buf_printf(out, "%s%s", out->len ? " " : "", text);
    }
}

static void compare(const struct model *m, struct buf *expected)
{
    model_describe(m, -1, expected);
    assert_all(buf_text(expected));
    assert_int_equal(indexer_count(indexer), m->count);
    for (int ns = 0; ns < 4; ns++) {
        char name[4];
        snprintf(name, sizeof name, "n%d", ns);
        model_describe(m, ns, expected);
        assert_in_namespace(name, buf_text(expected));
    }
}

static void test_random_changes_agree_with_a_model(void **state)
{
    const char *seed_text = getenv("SEED");
    struct jitter jitter = {seed_text ? strtoull(seed_text, NULL, 10) : 11};
    struct model model = {0};
    struct buf expected = {0};
    print_message("SEED=%llu\n", (unsigned long long)jitter.state);
    for (int step = 0; step < STEPS; step++) {
        char text[32];
        int key = (int)jitter_between(&jitter, 0, KEYS);
        bool dropping = jitter_next(&jitter) % 100 < (step / 200 % 2 ? 70u : 30u);
        key_text(text, sizeof text, key, step);
        if (dropping) {
            store_drop(text);
            model_drop(&model, key);
        } else {
            store_put(text);
            model_put(&model, key, step);
        }
        if (step % 7 == 0) compare(&model, &expected);
    }
    compare(&model, &expected);
    buf_clear(&expected);
}

/* That objects are moved is in core/object/pack/move_spec.c. */
static void test_moves_walk_all_entries_with_their_holes(void **state)
{
    char text[32];
    size_t at = 0, steps = 1;
    assert_false(indexer_move_objects(indexer, &at, 10));
    for (int i = 0; i < 50; i++) {
        key_text(text, sizeof text, i, 1);
        store_put(text);
    }
    key_text(text, sizeof text, 3, 1);
    store_drop(text);
    for (; indexer_move_objects(indexer, &at, 12); steps++) {}
    assert_int_equal(steps, 5);
    assert_int_equal(at, 50);
    assert_int_equal(indexer_count(indexer), 49);
    for (at = 49; at > 0; at--) {
        key_text(text, sizeof text, (int)at, 1);
        if (at != 3) store_drop(text);
    }
    at = 50; /* the store has fewer entries by now */
    assert_false(indexer_move_objects(indexer, &at, 12));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, store_open, store_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_s3_add_and_update_are_the_same_and_return_what_was_there),
        TEST(test_s3_removing_an_absent_key_is_silent),
        TEST(test_s1_keys_with_and_without_namespace_are_different),
        TEST(test_b9_the_order_is_that_in_which_keys_came),
        TEST(test_s9_the_namespace_index_counts_and_forgets),
        TEST(test_holes_are_squeezed_out_and_the_order_stays),
        TEST(test_a_walk_may_be_stopped),
        TEST(test_moves_walk_all_entries_with_their_holes),
        TEST(test_s10_the_version_is_what_was_set),
        TEST(test_random_changes_agree_with_a_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
