/* Watches as streams, read without a socket: only where something is there to be read. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/sim/support/cluster.h"
#include "core/sim/support/kube.h"

#define WATCH   "GET /api/v1/namespaces/default/configmaps?watch=true"
#define INITIAL "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"

static struct sim_cluster cluster;

static int set_up_with(size_t history_events)
{
    sim_cluster_init(&cluster, history_events);
    sim_cluster_make(&cluster, "a");
    return 0;
}

static int set_up(void **state)
{
    return set_up_with(0);
}

static int set_up_short(void **state)
{
    return set_up_with(4);
}

static int tear_down(void **state)
{
    sim_cluster_clear(&cluster);
    return 0;
}

static struct sim_reply open_watch(const char *request)
{
    struct sim_reply reply;
    sim_cluster_call(&cluster, request, "", NULL, &reply);
    assert_int_equal(reply.code, 200);
    assert_true(reply.live);
    return reply;
}

static char *watch_now(void)
{
    return xasprintf(WATCH "&resourceVersion=%llu", (unsigned long long)cluster.api.store->version);
}

static void close_watch(struct sim_reply *reply)
{
    sim_reply_clear(reply);
    assert_int_equal(atomic_load(&cluster.api.stats.open_watches), 0);
}

/* What is there now: ends all watches, so that the stream ends behind it. */
static char *rest_of(struct sim_reply *reply, size_t room)
{
    ssize_t end;
    sim_store_lock(cluster.api.store);
    sim_store_end_watches(cluster.api.store, NULL);
    sim_store_unlock(cluster.api.store);
    char *text = sim_cluster_read(reply->stream, room, SIZE_MAX, &end);
    assert_int_equal(end, SIM_STREAM_END);
    return text;
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *at = strstr(text, what); at; at = strstr(at + 1, what)) n++;
    return n;
}

static void test_the_bytes_do_not_depend_on_the_size_of_the_blocks(void **state)
{
    struct sim_reply replies[60], whole = open_watch(WATCH INITIAL);
    for (size_t i = 0; i < ARRAY_LEN(replies); i++) replies[i] = open_watch(WATCH INITIAL);
    for (char name[] = "b"; name[0] < 'z'; name[0]++) sim_cluster_make(&cluster, name);
    char *expected = rest_of(&whole, 1 << 20);
    assert_int_equal(count(expected, "{\"type\":\"ADDED\""), 25);
    assert_int_equal(count(expected, "\n"), 26);
    for (size_t i = 0; i < ARRAY_LEN(replies); i++) {
        char *text = rest_of(&replies[i], 1 + 11 * i);
        assert_string_equal(text, expected);
        free(text);
        sim_reply_clear(&replies[i]);
    }
    free(expected);
    close_watch(&whole);
}

static void test_a_watch_that_is_too_slow_ends_and_cannot_go_on(void **state)
{
    char *request = watch_now();
    struct sim_reply slow = open_watch(request);
    for (char name[] = "b"; name[0] < 'j'; name[0]++) sim_cluster_make(&cluster, name);
    ssize_t end;
    char *text = sim_cluster_read(slow.stream, 4096, SIZE_MAX, &end);
    assert_int_equal(end, SIM_STREAM_END);
    assert_string_equal(text, ""); /* nothing rather than something with a gap */
    free(text);
    close_watch(&slow);
    struct sim_reply again = open_watch(request);
    text = sim_cluster_read(again.stream, 4096, SIZE_MAX, &end);
    assert_non_null(strstr(text, "\"type\":\"ERROR\""));
    assert_non_null(strstr(text, "\"code\":410"));
    free(text);
    free(request);
    close_watch(&again);
}

static void test_a_watch_from_a_version_to_come_leaves_out_what_is_older(void **state)
{
    char *request =
        xasprintf(WATCH "&resourceVersion=%llu", (unsigned long long)cluster.api.store->version + 2);
    struct sim_reply reply = open_watch(request);
    sim_cluster_make(&cluster, "b");
    sim_cluster_make(&cluster, "c");
    sim_cluster_make(&cluster, "d");
    char *text = rest_of(&reply, 4096);
    assert_int_equal(count(text, "{\"type\":\"ADDED\""), 1);
    assert_non_null(strstr(text, "\"name\":\"d\""));
    free(text);
    free(request);
    close_watch(&reply);
}

static void test_changes_during_the_initial_events_come_behind_them(void **state)
{
    sim_cluster_make(&cluster, "b");
    struct sim_reply reply = open_watch(WATCH INITIAL);
    ssize_t end;
    char *first = sim_cluster_read(reply.stream, 100, 100, &end); /* half an event */
    sim_cluster_make(&cluster, "aa");
    json_decref(sim_cluster_json(&cluster, "DELETE /api/v1/namespaces/default/configmaps/b", NULL, 200));
    char *rest = rest_of(&reply, 4096), *all = xasprintf("%s%s", first, rest);
    const char *b = strstr(all, "{\"type\":\"ADDED\",\"object\":{\"kind\":\"ConfigMap\",\"apiVersion\":"
                                "\"v1\",\"metadata\":{\"name\":\"b\"");
    const char *mark = strstr(all, "\"BOOKMARK\""), *aa = strstr(all, "\"name\":\"aa\""),
               *gone = strstr(all, "\"DELETED\"");
    assert_true(b && b < mark && mark < aa && aa < gone);
    free(first);
    free(rest);
    free(all);
    close_watch(&reply);
}

static void test_the_watch_of_a_kind_that_goes_ends_behind_the_deletions(void **state)
{
    static const char crd[] = "{\"kind\":\"CustomResourceDefinition\",\"apiVersion\":\"apiextensions.k8s.io/"
                              "v1\",\"metadata\":{\"name\":\"ws.e.io\"},\"spec\":{"
                              "\"group\":\"e.io\",\"scope\":\"Namespaced\",\"names\":{\"kind\":\"W\","
                              "\"plural\":\"ws\",\"singular\":\"w\",\"listKind\":\"WList\"},"
                              "\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{"
                              "\"openAPIV3Schema\":{\"type\":\"object\"}}}]}}";
    json_decref(
        sim_cluster_json(&cluster, "POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd, 201));
    json_decref(sim_cluster_json(&cluster, "POST /apis/e.io/v1/namespaces/default/ws",
                                 "{\"kind\":\"W\",\"apiVersion\":\"e.io/v1\",\"metadata\":{\"name\":\"x\"}}",
                                 201));
    struct sim_reply reply = open_watch("GET /apis/e.io/v1/ws?watch=1" INITIAL);
    json_decref(sim_cluster_json(
        &cluster, "DELETE /apis/apiextensions.k8s.io/v1/customresourcedefinitions/ws.e.io", NULL, 200));
    ssize_t end;
    char *text = sim_cluster_read(reply.stream, 4096, SIZE_MAX, &end);
    assert_int_equal(end, SIM_STREAM_END);
    assert_int_equal(count(text, "\"DELETED\""), 1);
    assert_non_null(strstr(
        text, "{\"type\":\"ADDED\",\"object\":{\"apiVersion\":\"e.io/v1\",\"kind\":\"W\",\"metadata\":"));
    free(text);
    close_watch(&reply);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_bytes_do_not_depend_on_the_size_of_the_blocks, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_watch_that_is_too_slow_ends_and_cannot_go_on, set_up_short,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_watch_from_a_version_to_come_leaves_out_what_is_older, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_changes_during_the_initial_events_come_behind_them, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_the_watch_of_a_kind_that_goes_ends_behind_the_deletions, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
