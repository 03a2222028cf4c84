/* Generated pods: whole, of the right size, and the same for ever. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/scenario/pods.h"
#include "sim/store/cluster.h"
#include "sim/text/random.h"
#include "sim/text/tree.h"

static json_t *pod(struct sim_pods *pods, size_t i, size_t *size)
{
    struct buf text = {0};
    json_error_t error;
    sim_pods_text(pods, i, &text);
    if (size) *size += text.len;
    json_t *result = json_loadb(text.data, text.len, JSON_REJECT_DUPLICATES, &error);
    if (!result) print_error("pod %zu: %s\n%.*s\n", i, error.text, (int)text.len, text.data);
    assert_non_null(result);
    buf_clear(&text);
    return result;
}

static void test_they_are_complete_and_of_about_9400_bytes(void **state)
{
    enum { COUNT = 300 };
    struct sim_pods *pods = sim_pods_new(COUNT, 3);
    size_t size = 0;
    for (size_t i = 0; i < COUNT; i++) {
        json_t *object = pod(pods, i, &size);
        assert_text_at(object, "status.phase", "Running");
        assert_int_equal(strlen(sim_text_at(object, "metadata.uid")), SIM_UID_LEN);
        json_decref(object);
    }
    assert_in_range(size / COUNT, 9200, 9700);
    sim_pods_free(pods);
}

/* Whoever compares two runs of different builds relies on it. */
static void test_they_never_change(void **state)
{
    struct sim_pods *pods = sim_pods_new(1000, 3);
    json_t *object = pod(pods, 42, NULL);
    assert_text_at(object, "metadata.name", "svc-0042-6bd6c5347f-rtr2n");
    assert_text_at(object, "metadata.uid", "87ef0c77-419e-48bf-9106-904685cd0cd7");
    assert_text_at(object, "metadata.namespace", "team-042");
    assert_text_at(object, "metadata.resourceVersion", "1000000042");
    json_decref(object);
    sim_pods_free(pods);
}

static void test_pods_of_one_workload_share_it(void **state)
{
    struct sim_pods *pods = sim_pods_new(30, 3);
    json_t *one = pod(pods, 4, NULL), *two = pod(pods, 14, NULL), *other = pod(pods, 5, NULL);
    assert_true(json_equal(json_object_get(sim_at(one, "metadata"), "ownerReferences"),
                           json_object_get(sim_at(two, "metadata"), "ownerReferences")));
    assert_true(json_equal(sim_at(one, "spec.containers"), sim_at(two, "spec.containers")));
    assert_string_not_equal(sim_text_at(one, "metadata.name"), sim_text_at(two, "metadata.name"));
    assert_false(json_equal(sim_at(one, "spec.containers"), sim_at(other, "spec.containers")));
    json_decref(one);
    json_decref(two);
    json_decref(other);
    sim_pods_free(pods);
}

static void test_no_two_have_one_name(void **state)
{
    enum { COUNT = 5000 };
    struct sim_store *store = sim_store_new(&(struct sim_store_options){0});
    struct sim_pods *pods = sim_pods_new(COUNT, COUNT); /* all of one workload */
    sim_pods_load(pods, store);
    struct sim_resource *resource = sim_store_find(store, "", "v1", "pods")->resource;
    struct omap_cursor cursor;
    const struct sim_object *object;
    const char *last = "";
    size_t n = 0;
    for (omap_seek(&cursor, resource->map, ""); (object = omap_next(&cursor)); n++) {
        assert_true(strcmp(last, object->key) < 0);
        last = object->key;
    }
    assert_int_equal(n, COUNT);
    sim_pods_free(pods);
    sim_store_free(store);
}

static void test_nodes_and_namespaces_are_there(void **state)
{
    struct sim_store *store = sim_store_new(&(struct sim_store_options){0});
    sim_load_nodes(store, SIM_POD_NODES);
    sim_load_namespaces(store, SIM_POD_NAMESPACES);
    char name[64];
    sim_node_name(299, name, sizeof name);
    const struct sim_object *node = omap_get(sim_store_lookup(store, "node")->resource->map, name);
    assert_non_null(node);
    json_t *json = json_loadb(node->text, node->len, JSON_REJECT_DUPLICATES, NULL);
    assert_json_at(json, "status.capacity.cpu", "'8'");
    json_decref(json);
    assert_non_null(omap_get(sim_store_lookup(store, "ns")->resource->map, "team-199"));
    assert_non_null(omap_get(sim_store_lookup(store, "namespaces")->resource->map, "default"));
    sim_store_free(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_they_are_complete_and_of_about_9400_bytes),
        cmocka_unit_test(test_they_never_change),
        cmocka_unit_test(test_pods_of_one_workload_share_it),
        cmocka_unit_test(test_no_two_have_one_name),
        cmocka_unit_test(test_nodes_and_namespaces_are_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
