/* Lists as streams: the same bytes whatever the blocks are, and what faults make of them. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/sim/support/cluster.h"
#include "core/sim/support/kube.h"
#include "sim/store/fault.h"
#include "sim/text/tree.h"

static struct sim_cluster cluster;

static int set_up(void **state)
{
    sim_cluster_init(&cluster, 0);
    sim_cluster_make(&cluster, "a");
    sim_cluster_make(&cluster, "b");
    sim_cluster_make(&cluster, "c");
    return 0;
}

static int tear_down(void **state)
{
    sim_cluster_clear(&cluster);
    return 0;
}

#define LIST "GET /api/v1/namespaces/default/configmaps"

static char *read_list(const char *request, size_t room, ssize_t *end)
{
    struct sim_reply reply;
    sim_cluster_call(&cluster, request, "", NULL, &reply);
    assert_int_equal(reply.code, 200);
    assert_false(reply.live);
    char *text = sim_cluster_read(reply.stream, room, SIZE_MAX, end);
    sim_reply_clear(&reply);
    return text;
}

static void test_the_bytes_do_not_depend_on_the_size_of_the_blocks(void **state)
{
    ssize_t end;
    char *whole = read_list(LIST, 1 << 20, &end);
    assert_int_equal(end, SIM_STREAM_END);
    for (size_t room = 1; room < 300; room += 7) {
        char *pieces = read_list(LIST, room, &end);
        assert_int_equal(end, SIM_STREAM_END);
        assert_string_equal(pieces, whole);
        free(pieces);
    }
    json_t *list = json_loads(whole, 0, NULL);
    assert_int_equal(json_array_size(json_object_get(list, "items")), 3);
    json_decref(list);
    free(whole);
}

static void test_a_list_shows_the_state_of_its_beginning(void **state)
{
    struct sim_reply reply;
    ssize_t end;
    sim_cluster_call(&cluster, LIST, "", NULL, &reply);
    sim_cluster_make(&cluster, "a2");
    json_decref(sim_cluster_json(&cluster, "DELETE /api/v1/namespaces/default/configmaps/c", NULL, 200));
    char *text = sim_cluster_read(reply.stream, 50, SIZE_MAX, &end);
    assert_null(strstr(text, "\"a2\""));
    assert_non_null(strstr(text, "\"c\""));
    free(text);
    sim_reply_clear(&reply);
}

static void test_namespaces_do_not_mix(void **state)
{
    json_decref(sim_cluster_json(
        &cluster, "POST /api/v1/namespaces",
        "{\"kind\":\"Namespace\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"default-2\"}}", 201));
    json_decref(sim_cluster_json(
        &cluster, "POST /api/v1/namespaces/default-2/configmaps",
        "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"x\"}}", 201));
    json_t *list = sim_cluster_json(&cluster, LIST "?limit=2", NULL, 200);
    assert_int_equal(json_array_size(json_object_get(list, "items")), 2);
    assert_json_at(list, "metadata.remainingItemCount", "1");
    json_decref(list);
    list = sim_cluster_json(&cluster, "GET /api/v1/configmaps?limit=1", NULL, 200);
    assert_text_at(json_array_get(json_object_get(list, "items"), 0), "metadata.namespace", "default-2");
    assert_json_at(list, "metadata.remainingItemCount", "3");
    json_decref(list);
    list = sim_cluster_json(&cluster, "GET /api/v1/namespaces/default-2/configmaps", NULL, 200);
    assert_int_equal(json_array_size(json_object_get(list, "items")), 1);
    json_decref(list);
}

static void test_a_list_that_breaks_off_has_sent_what_came_before(void **state)
{
    struct sim_fault fault = {.times = 1, .wrong = {.kind = SIM_WRONG_CUT, .in_stream = true, .after = 2}};
    ssize_t end;
    sim_faults_add(cluster.api.faults, &fault);
    char *text = read_list(LIST, 64, &end);
    assert_int_equal(end, SIM_STREAM_BROKEN);
    assert_non_null(strstr(text, "\"b\""));
    assert_null(strstr(text, "\"c\""));
    json_t *list = json_loads(text, 0, NULL);
    assert_null(list);
    free(text);
    text = read_list(LIST, 64, &end); /* the next one is whole again */
    assert_int_equal(end, SIM_STREAM_END);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_bytes_do_not_depend_on_the_size_of_the_blocks, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_list_shows_the_state_of_its_beginning, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_namespaces_do_not_mix, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_list_that_breaks_off_has_sent_what_came_before, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
