/* core/kube/api/discovery.c: which documents are asked for, and what a missing one does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/kube/support/kube_bench.h"

static void on_catalogue(void *ctx, struct catalogue *catalogue, const struct err *err)
{
    struct bench *bench = ctx;
    bench->catalogue = catalogue;
    bench_note_end(bench, err);
}

static void discover(struct bench *bench)
{
    catalogue_free(bench->catalogue);
    bench->catalogue = NULL;
    bench->requests.len = 0;
    assert_non_null(discovery_start(bench->client, on_catalogue, bench));
    bench_until_done(bench);
}

static void answer_legacy(struct bench *bench, struct tiny_conn *conn, const char *path)
{
    static const struct {
        const char *path, *body;
    } documents[] = {
        {"/base/api", "{\"kind\":\"APIVersions\",\"versions\":[\"v1\"]}"},
        {"/base/apis", "{\"kind\":\"APIGroupList\",\"groups\":[{\"name\":\"apps\",\"versions\":[{\"version\":"
                       "\"v1beta1\"},{\"version\":"
                       "\"v1\"}],\"preferredVersion\":{\"version\":\"v1\"}},{\"name\":\"down.io\","
                       "\"versions\":[{\"version\":\"v1\"}]}]}"},
        {"/base/api/v1", "{\"resources\":[{\"name\":\"pods\",\"namespaced\":true,\"kind\":\"Pod\"}]}"},
        {"/base/apis/apps/v1",
         "{\"resources\":[{\"name\":\"deployments\",\"namespaced\":true,\"kind\":\"Deployment\"}]}"},
        {"/base/apis/apps/v1beta1",
         "{\"resources\":[{\"name\":\"deployments\",\"namespaced\":true,\"kind\":\"Deployment\"}]}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(documents); i++) {
        if (strcmp(documents[i].path, path) != 0) continue;
        tiny_answer(conn, 200, "Content-Type: application/json\r\n", documents[i].body);
        return;
    }
    tiny_answer(conn, 503, "", "no endpoints");
}

static void test_discovery_of_an_old_server_asks_group_by_group(void **state)
{
    struct bench *bench = *state;
    struct resource resource;
    bench_new_client(bench, false);
    bench->answer = answer_legacy;
    discover(bench);
    assert_int_equal(bench->err.code, ERR_NONE);
    assert_string_equal(catalogue_failures(bench->catalogue),
                        "down.io/v1: the server is currently unable to handle the request");
    assert_true(catalogue_resolve(bench->catalogue, STR("deployments"), &resource, NULL));
    assert_string_equal(resource.version, "v1");
    resource_clear(&resource);
    assert_true(catalogue_resolve(bench->catalogue, STR("Pod"), &resource, NULL));
    resource_clear(&resource);
}

static void answer_aggregated(struct bench *bench, struct tiny_conn *conn, const char *path)
{
    const char *body = "{\"kind\":\"APIGroupDiscoveryList\",\"items\":[{\"metadata\":{\"name\":\"\"},"
                       "\"versions\":[{\"version\":\"v1\","
                       "\"resources\":[{\"resource\":\"pods\",\"scope\":\"Namespaced\",\"responseKind\":{"
                       "\"kind\":\"Pod\"}}]}]}]}";
    if (strcmp(path, "/base/api") == 0)
        tiny_answer(conn, 200,
                    "Content-Type: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList\r\n",
                    body);
    else
        tiny_answer(conn, 403, "", "no");
}

static void test_discovery_lives_with_a_root_that_is_forbidden(void **state)
{
    struct bench *bench = *state;
    struct resource resource;
    bench_new_client(bench, false);
    bench->answer = answer_aggregated;
    discover(bench);
    assert_int_equal(bench->err.code, ERR_NONE);
    assert_true(
        bench_head_has(bench, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"));
    assert_string_equal(catalogue_failures(bench->catalogue), "/apis: no");
    assert_true(catalogue_resolve(bench->catalogue, STR("pods"), &resource, NULL));
    resource_clear(&resource);
}

static void unauthorized(struct bench *bench, struct tiny_conn *conn, const char *path)
{
    tiny_answer(conn, 401, "", "");
}

static void test_discovery_fails_when_nothing_answers(void **state)
{
    struct bench *bench = *state;
    bench_new_client(bench, false);
    bench->answer = unauthorized;
    discover(bench);
    assert_null(bench->catalogue);
    assert_int_equal(bench->err.http_status, 401);
    assert_string_equal(bench->err.text,
                        "GET /api: the server has asked for the client to provide credentials");
    struct discovery *discovery = discovery_start(bench->client, on_catalogue, bench);
    discovery_cancel(discovery);
    bench_settle(bench);
    assert_int_equal(bench->dones, 1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, kube_bench_setup, kube_bench_teardown)
    const struct CMUnitTest tests[] = {
        T(test_discovery_of_an_old_server_asks_group_by_group),
        T(test_discovery_lives_with_a_root_that_is_forbidden),
        T(test_discovery_fails_when_nothing_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
