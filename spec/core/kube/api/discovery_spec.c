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

static void test_discovery_of_an_old_server_requests_group_by_group(void **state)
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

static void test_discovery_fails_when_nothing_responds(void **state)
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

static int closed_with;

static void closed(struct bench *bench, struct tiny_conn *conn, const char *path)
{
    tiny_answer(conn, closed_with, "", "closed");
}

static void assert_resolves(const struct catalogue *catalogue, const char *name, const char *path)
{
    struct resource resource;
    struct buf out = {0};
    struct err err;
    if (!catalogue_resolve(catalogue, str_of(name), &resource, &err)) fail_msg("%s", err.text);
    resource_path(&resource, STR(""), &out);
    assert_string_equal(buf_text(&out), path);
    resource_clear(&resource);
    buf_clear(&out);
}

/* F-4 */
static void test_closed_discovery_leaves_built_in_kinds_and_full_names(void **state)
{
    static const int codes[] = {403, 404};
    static const char *const unknown[] = {"widgets",
                                          "widgets.example.com",
                                          "example.com/v1/widgets",
                                          "example.com/v1/",
                                          "example.com/../Widget",
                                          "../v1/Widget",
                                          "example.com/v1/A/B",
                                          "example.com/v 1/Widget"};
    struct bench *bench = *state;
    bench_new_client(bench, false);
    bench->answer = closed;
    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        struct resource resource;
        struct err err;
        closed_with = codes[i];
        discover(bench);
        assert_int_equal(bench->err.code, ERR_NONE);
        assert_resolves(bench->catalogue, "pods", "/api/v1/pods");
        assert_resolves(bench->catalogue, "deploy", "/apis/apps/v1/deployments");
        assert_resolves(bench->catalogue, "v2/Thing", "/api/v2/things");
        assert_resolves(bench->catalogue, "example.com/v1/Policy", "/apis/example.com/v1/policies");
        for (size_t u = 0; u < ARRAY_LEN(unknown); u++)
            assert_false(catalogue_resolve(bench->catalogue, str_of(unknown[u]), &resource, &err));
        assert_non_null(strstr(catalogue_failures(bench->catalogue), "/apis: "));
    }
}

static void test_an_open_root_believes_no_full_name(void **state)
{
    struct bench *bench = *state;
    struct resource resource;
    struct err err;
    bench_new_client(bench, false);
    bench->answer = answer_aggregated;
    discover(bench);
    assert_resolves(bench->catalogue, "deployments", "/apis/apps/v1/deployments");
    assert_resolves(bench->catalogue, "example.com/v1/Widget", "/apis/example.com/v1/widgets");
    assert_false(catalogue_resolve(bench->catalogue, STR("v1/Thing"), &resource, &err));
}

static struct catalogue *known;
static int partials;

static bool on_partial(void *ctx, struct catalogue *catalogue)
{
    if (++partials == 1) return false; /* the next one comes all the same */
    catalogue_free(known);
    known = catalogue;
    return true;
}

static int hanging;

/* An old server, of whose groups the first ones never respond. */
static void answer_some(struct bench *bench, struct tiny_conn *conn, const char *path)
{
    static const char list[] =
        "{\"resources\":[{\"name\":\"things\",\"namespaced\":true,\"kind\":\"Thing\"}]}";
    struct buf groups = {0};
    static const char group[] = "/base/apis/g";
    if (strcmp(path, "/base/apis") == 0) {
        buf_puts(&groups, "{\"kind\":\"APIGroupList\",\"groups\":[");
        for (int i = 0; i < 14; i++)
            buf_printf(&groups,
                       "%s{\"name\":\"g%d.io\",\"versions\":[{\"version\":\"v1\"},{\"version\":\"v2\"}]}",
                       i ? "," : "", i);
        buf_puts(&groups, "]}");
        tiny_answer(conn, 200, "", buf_text(&groups));
        buf_clear(&groups);
    } else if (strncmp(path, group, strlen(group)) == 0) {
        if (strtol(path + strlen(group), NULL, 10) >= hanging || strstr(path, "/v2"))
            tiny_answer(conn, 200, "", list);
    } else if (strcmp(path, "/base/api") != 0 || hanging) {
        answer_legacy(bench, conn, path);
    }
}

static void until_known(struct bench *bench, const char *name)
{
    struct resource resource;
    struct err err;
    while (!known || !catalogue_resolve(known, str_of(name), &resource, &err)) loop_once(bench->loop, true);
    resource_clear(&resource);
}

/* F-4 */
static void test_groups_that_hang_delay_no_others(void **state)
{
    struct bench *bench = *state;
    struct resource resource;
    struct err err;
    bench_new_client(bench, false);
    bench->answer = answer_some;
    hanging = 12;
    struct discovery *discovery = discovery_start(bench->client, on_catalogue, bench);
    discovery_on_partial(discovery, on_partial);
    until_known(bench, "things.g13.io");
    assert_true(catalogue_is_partial(known));
    assert_resolves(known, "pods", "/api/v1/pods");
    assert_false(catalogue_resolve(known, STR("things.g0.io"), &resource, &err)); /* though it told of v2 */
    assert_non_null(strstr(catalogue_failures(known), "g0.io/v1: no response yet; "));
    assert_null(strstr(catalogue_failures(known), "g13.io"));
    discovery_cancel(discovery);
    catalogue_free(known);
    known = NULL;
    hanging = 0; /* now it is /api */
    discovery = discovery_start(bench->client, on_catalogue, bench);
    discovery_on_partial(discovery, on_partial);
    until_known(bench, "g0.io/v1/Thing");
    assert_string_equal(catalogue_failures(known), "/api: no response yet");
    assert_int_equal(bench->dones, 0);
    discovery_cancel(discovery);
    catalogue_free(known);
    known = NULL;
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, kube_bench_setup, kube_bench_teardown)
    const struct CMUnitTest tests[] = {
        T(test_discovery_of_an_old_server_requests_group_by_group),
        T(test_discovery_lives_with_a_root_that_is_forbidden),
        T(test_discovery_fails_when_nothing_responds),
        T(test_closed_discovery_leaves_built_in_kinds_and_full_names),
        T(test_an_open_root_believes_no_full_name),
        T(test_groups_that_hang_delay_no_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
