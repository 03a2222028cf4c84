/* core/object/pool and root: one of each, counted, released, found again. */
#include "core/object/support/objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/pack/intern.h"
#include "object/value/dict.h"

#define POD(name, rv, more)                                                       \
    "{\"metadata\":{\"name\":\"" name                                             \
    "\",\"namespace\":\"shop\",\"uid\":\"0f8fad5b-d9cb-469f-a165-70867728950e\"," \
    "\"resourceVersion\":\"" rv                                                   \
    "\",\"labels\":{\"app\":\"a-web-shop\",\"tier\":\"frontend\",\"zone\":\"eu-west-1a\"}}," more "}"
#define SPEC                                                                                              \
    "\"spec\":{\"containers\":[{\"name\":\"web\",\"image\":\"registry.example.com/platform/web:v1.2.3\"," \
    "\"env\":[{\"name\":\"A_VARIABLE\",\"value\":\"with some "                                            \
    "value\"},{\"name\":\"ANOTHER\",\"value\":\"with another\"}]}]}"

static void test_the_same_text_is_the_same_object(void **state)
{
    struct fixture *f = *state;
    struct root *a = pack_ok(f->packer, POD("a", "1000", SPEC));
    size_t used = pool_stats(f->pool).used_bytes;
    struct root *b = pack_ok(f->packer, POD("a", "1000", SPEC));
    struct root *spaced = pack_ok(f->packer, " " POD("a", "1000", SPEC) " ");
    assert_ptr_equal(a, b);
    assert_ptr_equal(a, spaced);
    assert_int_equal(pool_stats(f->pool).used_bytes, used);
    assert_int_equal(pool_stats(f->pool).roots, 1);
    root_unref(a);
    root_unref(b);
    root_unref(spaced);
}

static void test_what_two_objects_have_in_common_is_stored_once(void **state)
{
    struct fixture *f = *state;
    struct root *a = pack_ok(f->packer, POD("a", "1000", SPEC));
    struct pool_stats one = pool_stats(f->pool);
    struct root *b = pack_ok(f->packer, POD("b", "1001", SPEC));
    struct pool_stats two = pool_stats(f->pool);
    assert_ptr_not_equal(a, b);
    assert_true(one.nodes > 0);
    assert_int_equal(two.nodes, one.nodes);
    assert_int_equal(two.roots, 2);
    assert_ptr_equal(at_path(root_value(a), "spec.containers[0]").at,
                     at_path(root_value(b), "spec.containers[0]").at);
    assert_ptr_equal(root_labels(a).at, root_labels(b).at);
    root_unref(a);
    assert_int_equal(pool_stats(f->pool).nodes, one.nodes);
    assert_string_equal(json_of(at_path(root_value(b), "spec.containers[0].name")), "\"web\"");
    root_unref(b);
    assert_int_equal(pool_stats(f->pool).nodes, 0);
}

/* A time makes a map one of a kind; an annotation comes from a template. */
static void test_maps_with_times_are_no_nodes(void **state)
{
    struct fixture *f = *state;
    struct root *a = pack_ok(f->packer, "{\"metadata\":{\"name\":\"a\"},\"status\":{\"conditions\":[{"
                                        "\"type\":\"Ready\",\"status\":\"True\",\"message\":\"all is well\","
                                        "\"lastTransitionTime\":\"2026-11-01T10:00:00Z\"},{\"type\":"
                                        "\"Other\",\"message\":\"and here too\"}]}}");
    assert_int_equal(pool_stats(f->pool).nodes, 0);
    struct root *b = pack_ok(
        f->packer, "{\"metadata\":{\"name\":\"b\",\"annotations\":{\"kubectl.kubernetes.io/restartedAt\":"
                   "\"2026-11-01T10:00:00Z\",\"note\":\"a text of some length, no node\"}}}");
    assert_int_equal(pool_stats(f->pool).nodes, 1);
    assert_ptr_not_equal(root_annotations(b).at, NULL);
    root_unref(a);
    root_unref(b);
}

static void test_an_object_of_another_type_is_another_object(void **state)
{
    struct fixture *f = *state;
    struct root *a = pack_ok(f->packer, "{\"kind\":\"Deployment\",\"metadata\":{\"name\":\"a\"}}");
    struct root *b = pack_ok(f->packer, "{\"kind\":\"Service\",\"metadata\":{\"name\":\"a\"}}");
    struct root *c = pack_ok(f->packer, "{\"metadata\":{\"name\":\"a\"}}");
    assert_ptr_not_equal(a, b);
    assert_ptr_not_equal(a, c);
    assert_true(root_key_equal(a, b));
    root_unref(a);
    root_unref(b);
    root_unref(c);
}

/* A new version with a text of its own: the old text is not believed for it, nor the other way round. */
static void test_versions_are_distinguished(void **state)
{
    struct fixture *f = *state;
    struct root *a = pack_ok(f->packer, POD("a", "1000", SPEC)),
                *b = pack_ok(f->packer, POD("a", "1001", SPEC));
    struct root *a2 = pack_ok(f->packer, POD("a", "1000", SPEC)),
                *b2 = pack_ok(f->packer, POD("a", "1001", SPEC));
    assert_ptr_not_equal(a, b);
    assert_ptr_equal(a, a2);
    assert_ptr_equal(b, b2);
    root_unref(a);
    root_unref(a2);
    struct root *a3 = pack_ok(f->packer, POD("a", "1000", SPEC));
    struct text text;
    assert_true(str_is(root_resource_version(a3, &text), "1000"));
    root_unref(a3);
    root_unref(b);
    root_unref(b2);
}

/* Even when the hash of a text is that of another object's text, the version decides. */
static void test_a_colliding_text_is_not_believed(void **state)
{
    struct fixture *f = *state;
    struct root *a = pack_ok(f->packer, POD("a", "1000", SPEC));
    struct pack_mark mark = {a->text_hash, a->text_head}, other = {mark.whole + 1, mark.head};
    assert_true(mark.whole != 0 && mark.head != 0);
    assert_ptr_equal(root_of_text(f->pool, &mark, STR("..\"resourceVersion\":\"1000\"..")), a);
    assert_null(root_of_text(f->pool, &mark, STR("..\"resourceVersion\":\"1001\"..")));
    assert_null(root_of_text(f->pool, &other, STR("..\"resourceVersion\":\"1000\"..")));
    root_unref(a);
    assert_null(root_of_text(f->pool, &mark, STR("..\"resourceVersion\":\"1000\"..")));
}

static void test_two_texts_of_one_object(void **state)
{
    struct fixture *f = *state;
    struct root *a = pack_ok(f->packer, POD("a", "1000", SPEC));
    for (int i = 0; i < 3; i++) {
        struct root *b = pack_ok(f->packer, POD("a", "1000", " " SPEC)),
                    *c = pack_ok(f->packer, POD("a", "1000", SPEC));
        assert_ptr_equal(a, b);
        assert_ptr_equal(a, c);
        root_unref(b);
        root_unref(c);
    }
    root_unref(a);
}

/* The version of an object is packed while its keys are not in the dictionary, then again when they are:
 * other bytes, the same pointer. */
static void test_the_same_object_in_another_encoding(void **state)
{
    struct fixture *f = *state;
    struct value it;
    struct root *own = pack_it(f->packer, "{\"k:{new}\":1,\"b\":2,\"c\":[1.5,\"some text\"]}", &it);
    assert_int_equal(blob_kind(it.word), BLOB_MAP_OWN);
    struct root *other_order = pack_it(f->packer, "{\"c\":[1.5,\"some text\"],\"b\":2,\"k:{new}\":1}", &it);
    assert_ptr_equal(own, other_order);
    assert_int_equal(pool_stats(f->pool).roots, 1);
    struct root *different = pack_it(f->packer, "{\"c\":[1.5,\"some text\"],\"b\":2,\"k:{new}\":2}", &it);
    assert_ptr_not_equal(own, different);
    assert_int_equal(pool_stats(f->pool).roots, 2);
    root_unref(own);
    root_unref(other_order);
    root_unref(different);
}

static void test_references_are_counted(void **state)
{
    struct fixture *f = *state;
    struct root *a = pack_ok(f->packer, POD("a", "1000", SPEC));
    for (int i = 0; i < 1000; i++) assert_ptr_equal(root_ref(a), a);
    for (int i = 0; i < 1000; i++) root_unref(a);
    assert_int_equal(pool_stats(f->pool).roots, 1);
    assert_ptr_equal(root_pool(a), f->pool);
    assert_true(root_bytes(a) > 40);
    root_unref(a);
    assert_int_equal(pool_stats(f->pool).roots, 0);
    root_unref(NULL);
}

/* As if another thread had released it: the pool's own thread is elsewhere for that moment. */
static void release_elsewhere(struct pool *pool, struct root *root)
{
    const char *owner = pool->owner;
    pool->owner = NULL;
    root_unref(root);
    pool->owner = owner;
}

static void test_what_is_released_elsewhere_waits_for_drain(void **state)
{
    struct fixture *f = *state;
    struct root *a = pack_ok(f->packer, POD("a", "1000", SPEC)),
                *b = pack_ok(f->packer, POD("b", "1001", SPEC));
    release_elsewhere(f->pool, a);
    release_elsewhere(f->pool, b);
    assert_int_equal(pool_stats(f->pool).roots, 2);
    pool_drain(f->pool);
    assert_int_equal(pool_stats(f->pool).roots, 0);
    assert_int_equal(pool_stats(f->pool).used_bytes, 0);
}

static void test_a_released_object_that_comes_again_lives_on(void **state)
{
    struct fixture *f = *state;
    struct root *a = pack_ok(f->packer, POD("a", "1000", SPEC));
    release_elsewhere(f->pool, a);
    struct root *again = pack_ok(f->packer, POD("a", "1000", SPEC));
    assert_ptr_equal(a, again);
    pool_drain(f->pool);
    assert_int_equal(pool_stats(f->pool).roots, 1);
    release_elsewhere(f->pool, again);
    again = pack_ok(f->packer, " " POD("a", "1000", SPEC));
    assert_ptr_equal(a, again);
    root_unref(again); /* here, while it is still queued */
    assert_int_equal(pool_stats(f->pool).roots, 1);
    pool_drain(f->pool);
    assert_int_equal(pool_stats(f->pool).roots, 0);
}

static void count_call(void *ctx)
{
    ++*(int *)ctx;
}

static void test_the_owner_is_notified_of_the_first_release(void **state)
{
    int calls = 0;
    struct pool_options options = {.released = count_call, .ctx = &calls};
    struct fixture f;
    f.pool = pool_new(&options);
    f.packer = packer_new(f.pool);
    struct root *a = pack_ok(f.packer, POD("a", "1", SPEC)), *b = pack_ok(f.packer, POD("b", "2", SPEC));
    release_elsewhere(f.pool, a);
    assert_int_equal(calls, 1);
    release_elsewhere(f.pool, b);
    assert_int_equal(calls, 1);
    pool_drain(f.pool);
    release_elsewhere(f.pool, pack_ok(f.packer, POD("c", "3", SPEC)));
    assert_int_equal(calls, 2);
    root_unref(pack_ok(f.packer, POD("d", "4", SPEC)));
    assert_int_equal(calls, 2);
    fixture_close(&f);
}

static void test_a_long_queue_is_drained_in_parts(void **state)
{
    enum { PODS = 10000 };
    int calls = 0, drains = 0;
    struct pool_options options = {.released = count_call, .ctx = &calls};
    struct fixture f;
    f.pool = pool_new(&options);
    f.packer = packer_new(f.pool);
    for (int i = 0; i < PODS; i++) {
        char json[64];
        snprintf(json, sizeof json, "{\"metadata\":{\"name\":\"pod-%d\"}}", i);
        release_elsewhere(f.pool, pack_ok(f.packer, json));
    }
    assert_int_equal(calls, 1);
    for (int before = 0; before < calls; drains++) {
        before = calls;
        pool_drain(f.pool);
    }
    assert_in_range(drains, 2, 10);
    assert_int_equal(calls, drains);
    /* Revived between two drains. */
    for (int i = 0; i < PODS; i++) {
        char json[64];
        snprintf(json, sizeof json, "{\"metadata\":{\"name\":\"pod-%d\"}}", i);
        release_elsewhere(f.pool, pack_ok(f.packer, json));
    }
    pool_drain(f.pool);
    struct root *first = pack_ok(f.packer, "{\"metadata\":{\"name\":\"pod-0\"}}");
    release_elsewhere(f.pool, root_ref(first));
    pool_drain(f.pool);
    pool_drain(f.pool);
    assert_int_equal(pool_stats(f.pool).roots, 1);
    root_unref(first);
    fixture_close(&f);
}

/* {"next":{"next":...}} with a text at each level: a chain of nodes as deep as can be. */
static void test_freeing_a_deep_chain_needs_no_deep_stack(void **state)
{
    struct fixture *f = *state;
    struct buf text = {0};
    for (int i = 0; i < PACK_DEPTH_MAX - 1; i++) {
        buf_printf(&text, "{\"text\":\"a text that is long enough for a node, number %d\",\"next\":", i);
    }
    buf_puts(&text, "1");
    for (int i = 0; i < PACK_DEPTH_MAX - 1; i++) buf_putc(&text, '}');
    struct value it;
    struct root *root = pack_it(f->packer, buf_text(&text), &it);
    assert_true(pool_stats(f->pool).nodes >= PACK_DEPTH_MAX - 2);
    root_unref(root);
    assert_int_equal(pool_stats(f->pool).nodes, 0);
    buf_clear(&text);
}

static char *unique_pod(int i, int texts)
{
    struct buf json = {0};
    buf_printf(&json, "{\"metadata\":{\"name\":\"pod-%d\"},\"texts\":[", i);
    for (int k = 0; k < texts; k++)
        buf_printf(&json, "%s\"a text of its own, number %d of pod %d, and long enough\"", k ? "," : "", k,
                   i);
    buf_puts(&json, "]}");
    return buf_take(&json);
}

static void test_a_full_pool_refuses_and_leaks_nothing(void **state)
{
    struct pool_options options = {.limit_bytes = 4 << 20};
    struct fixture f;
    f.pool = pool_new(&options);
    f.packer = packer_new(f.pool);
    struct root *roots[4096];
    size_t count = 0;
    struct err err = {0};
    for (; count < ARRAY_LEN(roots); count++) {
        char *json = unique_pod((int)count, 60);
        char padded[8192] = {0};
        struct pack_type type = {.api_version = STR("v1"), .kind = STR("Pod")};
        strcpy(padded, json);
        free(json);
        if (!pack_text(f.packer, padded, strlen(padded), &type, &roots[count], &err)) break;
    }
    assert_in_range(count, 100, ARRAY_LEN(roots) - 1);
    assert_int_equal(err.code, ERR_LIMIT);
    assert_non_null(strstr(err.text, "the object pool is full"));
    assert_non_null(strstr(err.text, "Pod pod-"));
    struct pool_stats full = pool_stats(f.pool);
    assert_int_equal(full.roots, count);
    assert_int_equal(full.nodes, 60 * count + count); /* the texts, and the array of them */
    assert_true(full.used_bytes <= 4 << 20);
    for (size_t keep = count - 32; count > keep;) root_unref(roots[--count]); /* more than a slab */
    root_unref(pack_ok(f.packer, "{\"metadata\":{\"name\":\"small\"}}"));
    while (count > 0) root_unref(roots[--count]);
    fixture_close(&f);
}

static void test_memory_is_given_back(void **state)
{
    enum { PODS = 4000 };
    struct fixture *f = *state;
    struct root **roots = xcalloc(PODS, sizeof(struct root *));
    size_t empty = pool_stats(f->pool).resident_bytes;
    for (int i = 0; i < PODS; i++) {
        char *json = unique_pod(i, 40);
        roots[i] = pack_ok(f->packer, json);
        free(json);
    }
    size_t full = pool_stats(f->pool).resident_bytes;
    assert_true(full > 10 << 20);
    for (int i = 0; i < PODS; i++) root_unref(roots[i]);
    size_t after = pool_stats(f->pool).resident_bytes;
    assert_true(after < empty + (3 << 20));
    free(roots);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_the_same_text_is_the_same_object),
        TEST(test_what_two_objects_have_in_common_is_stored_once),
        TEST(test_maps_with_times_are_no_nodes),
        TEST(test_an_object_of_another_type_is_another_object),
        TEST(test_versions_are_distinguished),
        TEST(test_a_colliding_text_is_not_believed),
        TEST(test_two_texts_of_one_object),
        TEST(test_the_same_object_in_another_encoding),
        TEST(test_references_are_counted),
        TEST(test_what_is_released_elsewhere_waits_for_drain),
        TEST(test_a_released_object_that_comes_again_lives_on),
        TEST(test_the_owner_is_notified_of_the_first_release),
        TEST(test_a_long_queue_is_drained_in_parts),
        TEST(test_freeing_a_deep_chain_needs_no_deep_stack),
        TEST(test_a_full_pool_refuses_and_leaks_nothing),
        TEST(test_memory_is_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
