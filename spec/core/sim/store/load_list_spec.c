/* Lists of a cluster's objects that are loaded by their text: the same is stored as by load.c, or nothing. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/sim/support/cluster.h"
#include "core/sim/support/kube.h"
#include "sim/store/load.h"
#include "sim/text/text.h"
#include "sim/text/tree.h"

#define ONE                                                                                              \
    "{\"metadata\":{\"creationTimestamp\":\"2026-01-01T00:00:00Z\",\"uid\":\"u-1\",\"namespace\":\"n\"," \
    "\"resourceVersion\":"                                                                               \
    "\"7\",\"labels\":{\"a\":\"b\"},\"name\":\"one\"},\"data\":{\"k\":\"\\u003cv\\\"}\"},\"immutable\":" \
    "true}"
#define TWO \
    "{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"two\",\"uid\":\"u-2\"},\"spec\":{}}"

/* Of a List that is compact, with its items last. */
static bool parts_of(struct str text, bool (*part)(void *ctx, struct str text), void *ctx)
{
    struct sim_members members, items;
    struct str key, value = {0};
    struct buf head = {0};
    bool good = text.p[0] == '{' && sim_members_open(text, &members);
    while (good && sim_members_next(&members, &key, &value)) {}
    if (!good || !str_is(key, "items") || value.p[0] != '[' || !sim_members_open(value, &items)) return false;
    buf_append(&head, text.p, (size_t)(value.p - text.p));
    buf_puts(&head, "[]}");
    good = part(ctx, buf_slice(&head));
    buf_clear(&head);
    while (good && sim_members_next(&items, &key, &value)) good = part(ctx, value);
    return good;
}

/* The object that is served at a path, without its version. */
static json_t *served(struct sim_cluster *cluster, const char *path, int code)
{
    char *request = xasprintf("GET %s", path);
    json_t *object = sim_cluster_json(cluster, request, NULL, code);
    json_object_del(json_object_get(object, "metadata"), "resourceVersion");
    free(request);
    return object;
}

static void test_what_is_stored_is_what_the_slow_way_stores(void **state)
{
    static const char list[] =
        "{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"metadata\":{},\"items\":[" ONE "," TWO "]}";
    static const char *const paths[] = {"/api/v1/namespaces/n/configmaps/one", "/api/v1/nodes/two",
                                        "/api/v1/namespaces/n"};
    struct sim_cluster fast, slow;
    sim_cluster_init(&fast, 0);
    sim_cluster_init(&slow, 0);
    fast.api.list_parts = parts_of;
    assert_true(sim_load_list(&fast.api, STR(list)));
    assert_true(sim_load_text(&slow.api, STR(list), NULL));
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        json_t *one = served(&fast, paths[i], 200), *other = served(&slow, paths[i], 200);
        if (i == 2) { /* the namespace is a new one */
            json_object_del(one, "metadata");
            json_object_del(other, "metadata");
        }
        assert_true(json_equal(one, other));
        json_decref(one);
        json_decref(other);
    }
    sim_cluster_clear(&fast);
    sim_cluster_clear(&slow);
}

static void test_nothing_is_stored_where_one_needs_a_second_look(void **state)
{
    static const char *const odd[] = {
        "{\"metadata\":{\"name\":\"x\",\"namespace\":\"n\"}}",                              /* no uid */
        "{\"metadata\":{\"namespace\":\"n\",\"uid\":\"u\"}}",                               /* no name */
        "{\"metadata\":{\"name\":\"x\",\"uid\":\"u\"}}",                                    /* no namespace */
        "{\"metadata\":{\"name\":\"x\\u0041\",\"namespace\":\"n\",\"uid\":\"u\"}}",         /* an escape */
        "{\"metadata\":{\"name\":\"x\",\"name\":\"y\",\"namespace\":\"n\",\"uid\":\"u\"}}", /* twice */
        "{\"kind\":\"Odd\",\"metadata\":{\"name\":\"x\",\"namespace\":\"n\",\"uid\":\"u\"}}",  /* no kind */
        "{\"kind\":\"Node\",\"metadata\":{\"name\":\"x\",\"namespace\":\"n\",\"uid\":\"u\"}}", /* is in none
                                                                                                */
        "{\"kind\":\"CustomResourceDefinition\",\"apiVersion\":\"apiextensions.k8s.io/v1\",\"metadata\":{"
        "\"name\":\"x\",\"uid\":\"u\"}}",
        "{\"kind\":\"HorizontalPodAutoscaler\",\"apiVersion\":\"autoscaling/"
        "v1\",\"metadata\":{\"name\":\"x\","
        "\"namespace\":\"n\",\"uid\":\"u\"}}", /* is stored in another version */
        "{\"metadata\":1}",
        "1",
        "[]",
        "{}",
    };
    struct sim_cluster cluster;
    sim_cluster_init(&cluster, 0);
    cluster.api.list_parts = parts_of;
    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        char *list =
            xasprintf("{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"items\":[" ONE ",%s]}", odd[i]);
        if (sim_load_list(&cluster.api, str_of(list))) fail_msg("%s", list);
        free(list);
    }
    static const char *const no_list[] = {
        ONE, "[" ONE "]", "{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"items\":1}", "1"};
    for (size_t i = 0; i < ARRAY_LEN(no_list); i++)
        if (sim_load_list(&cluster.api, str_of(no_list[i]))) fail_msg("%s", no_list[i]);
    json_decref(served(&cluster, "/api/v1/namespaces/n/configmaps/one", 404));
    json_decref(served(&cluster, "/api/v1/namespaces/n", 404));
    sim_cluster_clear(&cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_stored_is_what_the_slow_way_stores),
        cmocka_unit_test(test_nothing_is_stored_where_one_needs_a_second_look),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
