/* core/informer/store/indexer_indexes.c: indexes that come, are shared and go, against a naive model
 * (S-5..S-8). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/time/backoff.h"
#include "core/informer/support/indexing.h"
#include "core/informer/support/store.h"
#include "informer/store/index.h"

static struct index *by_path(const char *path)
{
    struct err err;
    struct index *index = indexer_add_path_index(indexer, str_of(path), &err);
    if (!index) fail_msg("%s", err.text);
    return index;
}

static void test_a_path_returns_strings_numbers_and_booleans(void **state)
{
    store_put_labels("a@1", "{\"l\":[\"x\",\"x\",7,true,null,{},1.5,-3,\"\"],\"m\":{\"p\":\"q\"}}");
    store_put_labels("b@1", "{\"l\":\"x\"}");
    assert_index(indexer, by_path("metadata.labels.l[*]"), "{a} -3{a} 1.5{a} 7{a} true{a} x{a}");
    assert_index(indexer, by_path("metadata.labels.l"), "x{b}");
    assert_index(indexer, by_path("metadata.labels.m.p"), "q{a}");
    assert_index(indexer, by_path("no.such[*].path"), "");
}

static void test_equal_paths_are_one_index_until_the_last_user_goes(void **state)
{
    struct index *first = by_path("metadata.labels.app");
    store_put_labels("a@1", "{\"app\":\"web\"}");
    assert_ptr_equal(by_path("metadata.labels.app"), first);
    indexer_release_index(indexer, first);
    assert_ptr_equal(indexer_path_index(indexer, STR("metadata.labels.app")), first);
    assert_index(indexer, first, "web{a}");
    indexer_release_index(indexer, first);
    assert_null(indexer_path_index(indexer, STR("metadata.labels.app")));
}

static void test_s8_a_bad_path_adds_nothing(void **state)
{
    struct err err;
    assert_null(indexer_add_path_index(indexer, STR("a..b"), &err));
    assert_string_equal(err.text, "path \"a..b\": empty name at 3");
    assert_null(indexer_path_index(indexer, STR("a..b")));
}

static void test_the_number_of_indexes_is_limited(void **state)
{
    char path[32];
    struct err err;
    for (int i = 0; i < INDEXES_MAX; i++) {
        snprintf(path, sizeof path, "spec.f%d", i);
        by_path(path);
    }
    assert_null(indexer_add_path_index(indexer, STR("spec.more"), &err));
    assert_string_equal(err.text, "the cache already has the maximum of 64 indexes");
    by_path("spec.f7"); /* shared: not one more */
}

static bool add_another(void *ctx, struct root *root, struct index_values *out, struct err *err)
{
    return indexer_add_path_index(indexer, STR("kind"), err) != NULL;
}

static void test_a_source_may_not_add_an_index(void **state)
{
    struct index_source source = {.values = add_another};
    struct err err;
    indexer_add_index(indexer, &source, &err);
    store_put_labels("a@1", "{}");
    assert_null(indexer_path_index(indexer, STR("kind")));
}

/* --- against a model: each source asked anew for every object of the store */

enum { KEYS = 60, STEPS = 4000, KINDS = 3 };
static const char *const names[] = {"ernie", "bert", "elmo", "oscar", "grobi", "bad"};

static char *random_object(struct jitter *random, char *labels, size_t size)
{
    static char key[64];
    int at = snprintf(labels, size, "{\"users\":\"");
    for (int64_t i = jitter_between(random, 0, 4); i > 0; i--)
        at += snprintf(labels + at, size - (size_t)at, "%s%s", names[jitter_between(random, 0, 6)],
                       i > 1 ? "," : "");
    snprintf(labels + at, size - (size_t)at, "\",\"l%d\":\"%d\"}", (int)jitter_between(random, 0, 3),
             (int)jitter_between(random, 0, 4));
    int number = (int)jitter_between(random, 0, KEYS);
    snprintf(key, sizeof key, "n%d/k%d@%d", number % 3, number, (int)jitter_between(random, 0, 5));
    return key;
}

static struct root *random_root(struct jitter *random)
{
    char labels[256];
    const char *key = random_object(random, labels, sizeof labels);
    return object_with_labels(key, labels);
}

static void random_replace(struct jitter *random)
{
    struct replacement r;
    size_t count = (size_t)jitter_between(random, 0, KEYS);
    replacement_begin(&r, indexer, count);
    for (size_t i = 0; i < count; i++) replacement_put(&r, indexer, random_root(random));
    replacement_keep(&r, indexer, STR("n1"), STR("k1"));
    replacement_end(&r, indexer, jitter_between(random, 0, 4) == 0);
    replacement_clear(&r);
}

static void random_step(struct jitter *random)
{
    int64_t what = jitter_between(random, 0, 100);
    struct root *root = random_root(random);
    if (what < 60) {
        root_unref(indexer_put(indexer, root));
        return;
    }
    if (what < 95)
        root_unref(indexer_remove(indexer, root));
    else
        random_replace(random);
    root_unref(root);
}

struct model_entry {
    char *value, *key;
    size_t at;
};

struct model {
    const struct index_source *source;
    struct model_entry entries[KEYS * 8];
    size_t count, at;
};

static bool model_add(void *ctx, struct root *object)
{
    struct model *m = ctx;
    struct index_values values = {0};
    struct err err;
    bool good = m->source->values(m->source->ctx, object, &values, &err);
    const char *at = values.bytes.data;
    for (size_t i = 0; good && i < values.count; i++) {
        struct str value;
        memcpy(&value.n, at, sizeof value.n);
        value.p = at + sizeof value.n;
        at = value.p + value.n;
        bool known = false;
        for (size_t j = 0; j < m->count; j++)
            known |= m->entries[j].at == m->at && str_is(value, m->entries[j].value);
        if (known) continue;
        struct buf key = {0};
        root_key(object, &key);
        m->entries[m->count++] =
            (struct model_entry){strndup(value.p ? value.p : "", value.n), buf_take(&key), m->at};
    }
    m->at++;
    buf_clear(&values.bytes);
    return true;
}

static int by_value(const void *a, const void *b)
{
    const struct model_entry *x = a, *y = b;
    int order = strcmp(x->value, y->value);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

static void compare_with_model(const struct index *index, const struct index_source *source)
{
    struct model m = {.source = source};
    struct buf expected = {0};
    indexer_each(indexer, model_add, &m);
    if (m.count) qsort(m.entries, m.count, sizeof *m.entries, by_value);
    for (size_t i = 0; i < m.count; i++) {
        bool first = i == 0 || strcmp(m.entries[i].value, m.entries[i - 1].value) != 0;
        if (first) buf_printf(&expected, "%s%s{", i ? "} " : "", m.entries[i].value);
        buf_printf(&expected, "%s%s", first ? "" : ",", m.entries[i].key);
    }
    if (m.count) buf_putc(&expected, '}');
    assert_index(indexer, index, buf_text(&expected));
    for (size_t i = 0; i < m.count; i++) free(m.entries[i].value), free(m.entries[i].key);
    buf_clear(&expected);
}

/* Of an index that is being built. */
static bool is_there(void *ctx, struct root *object)
{
    assert_ptr_equal(indexer_get_like(indexer, object), object);
    return true;
}

static struct jitter whims = {.state = 5};

static bool puts_off(void *ctx)
{
    return jitter_between(&whims, 0, 8) == 0;
}

/* Of what was put off a little is computed, or all. */
static void catch_up(struct index *index, struct jitter *random)
{
    volatile bool stop = true;
    bool all = jitter_between(random, 0, 4) == 0;
    size_t before = indexer_late_count(indexer, index);
    indexer_catch_up_all(indexer, index, &stop);
    assert_int_equal(indexer_late_count(indexer, index), before);
    for (int i = 0; i < 3 && indexer_catch_up(indexer, index); i++) continue;
    assert_int_equal(indexer_late_count(indexer, index), before < 3 ? 0 : before - 3);
    if (all) indexer_catch_up_all(indexer, index, NULL);
    assert_true(!all || indexer_late_count(indexer, index) == 0);
}

static void test_random_changes_agree_with_a_naive_model(void **state)
{
    const char *seed = getenv("SEED");
    struct jitter random = {.state = seed ? strtoull(seed, NULL, 10) : 23};
    struct index *index[KINDS] = {NULL};
    struct index_source source[KINDS] = {by_users(), by_label_keys()};
    struct err err;
    printf("SEED=%llu\n", (unsigned long long)random.state);
    assert_true(index_source_of_path(STR("metadata.labels[*]"), &source[2], &err));
    source[1].later = puts_off;
    for (int step = 0; step < STEPS; step++) {
        int64_t which = jitter_between(&random, 0, 40);
        if (which < KINDS && index[which]) {
            indexer_release_index(indexer, index[which]);
            index[which] = NULL;
        } else if (which < KINDS) {
            index[which] =
                which == 2 ? by_path("metadata.labels[*]") : indexer_add_index(indexer, &source[which], &err);
        }
        if (which >= KINDS && which < KINDS + 2 && index[which - KINDS])
            indexer_rebuild_index(indexer, index[which - KINDS]);
        random_step(&random);
        if (index[1] && step % 7 == 0) catch_up(index[1], &random);
        for (int i = 0; i < KINDS && step % 5 == 0; i++)
            if (index[i] && indexer_build_index(indexer, index[i], 20) &&
                indexer_late_count(indexer, index[i]) == 0)
                compare_with_model(index[i], &source[i]);
            else if (index[i])
                indexer_each_under(indexer, index[i], STR("bert"), is_there, NULL);
    }
    source[2].free(source[2].ctx);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, store_open, store_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_path_returns_strings_numbers_and_booleans),
        TEST(test_equal_paths_are_one_index_until_the_last_user_goes),
        TEST(test_s8_a_bad_path_adds_nothing),
        TEST(test_the_number_of_indexes_is_limited),
        TEST(test_a_source_may_not_add_an_index),
        TEST(test_random_changes_agree_with_a_naive_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
