/* core/kube/client.c and what stands on it (kube_get, list_watch, discovery) against a server on the same
 * loop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "kube/client.h"
#include "kube/list_watch.h"
#include "kube/resource.h"
#include "object/value.h"
#include "support/tiny_server.h"
#include "support/tls_files.h"

struct bench {
    struct loop *loop;
    struct pool *pool;
    struct tls_pair ca, leaf;
    struct ssl_ctx_st *tls;
    struct tiny_server *server;
    struct kube_client *client;
    struct cluster_config config;
    struct list_watch *source;
    struct timer guard;
    struct buf requests; /* first lines */
    struct buf head;     /* of the last one */
    struct tiny_conn *conn;
    void (*answer)(struct bench *bench, struct tiny_conn *conn, const char *path);
    /* What came out: */
    struct buf log;
    struct err err;
    int dones;
    struct lw_call *call, *cancel_at_item;
    struct catalogue *catalogue;
};

static void on_request(void *ctx, struct tiny_conn *conn, struct str head, struct str body)
{
    struct bench *bench = ctx;
    char path[512] = "";
    bench->conn = conn;
    bench->head.len = 0;
    buf_str(&bench->head, head);
    sscanf(buf_text(&bench->head), "GET %511s", path);
    buf_printf(&bench->requests, "%s\n", path);
    if (bench->answer) bench->answer(bench, conn, path);
}

static void on_guard(struct timer *timer)
{
    fail_msg("nothing happened for 20 s");
}

static void new_client(struct bench *bench, bool tls)
{
    struct kube_client_options options = {.config = &bench->config};
    const struct tiny_handler handler = {.request = on_request, .ctx = bench};
    bench->tls = tls ? tls_server_context(&bench->leaf, NULL) : NULL;
    bench->server = tiny_server_new(bench->loop, bench->tls, &handler);
    bench->config.server =
        xasprintf("%s://127.0.0.1:%d/base", tls ? "https" : "http", tiny_server_port(bench->server));
    bench->config.ca_pem = tls ? xstrdup(bench->ca.cert_pem) : NULL;
    bench->client = kube_client_new(bench->loop, bench->pool, &options, &bench->err);
    assert_non_null(bench->client);
}

static int setup(void **state)
{
    struct bench *bench = NEW(struct bench);
    bench->loop = loop_new();
    bench->pool = pool_new(NULL);
    bench->ca = tls_new_ca("unit CA");
    bench->leaf = tls_new_leaf(&bench->ca, "server", "IP:127.0.0.1");
    bench->guard.fn = on_guard;
    timer_start(&bench->guard, loop_clock(bench->loop), 20000);
    *state = bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    if (bench->source) bench->source->ops->free(bench->source);
    kube_client_free(bench->client);
    if (bench->server) tiny_server_free(bench->server);
    tls_server_context_free(bench->tls);
    tls_pair_clear(&bench->ca);
    tls_pair_clear(&bench->leaf);
    cluster_config_clear(&bench->config);
    catalogue_free(bench->catalogue);
    pool_free(bench->pool);
    loop_free(bench->loop);
    buf_clear(&bench->requests);
    buf_clear(&bench->head);
    buf_clear(&bench->log);
    free(bench);
    return 0;
}

static void until_done(struct bench *bench)
{
    int before = bench->dones;
    while (bench->dones == before) loop_once(bench->loop, true);
}

static void settle(struct bench *bench)
{
    for (int i = 0; i < 20; i++) loop_once(bench->loop, false);
}

static bool head_has(struct bench *bench, const char *line)
{
    return strstr(buf_text(&bench->head), line) != NULL;
}

static void note_end(struct bench *bench, const struct err *err)
{
    bench->dones++;
    if (err)
        bench->err = *err;
    else
        err_clear(&bench->err);
}

/* --- single answers --- */

static void on_got(void *ctx, const char *body, size_t len, const struct err *err)
{
    struct bench *bench = ctx;
    buf_printf(&bench->log, "%.*s\n", (int)len, body ? body : "");
    note_end(bench, err);
}

static void get(struct bench *bench, const char *path, size_t limit)
{
    kube_get_start(bench->client, path, NULL, limit, on_got, bench);
    until_done(bench);
}

static void say_hello(struct bench *bench, struct tiny_conn *conn, const char *path)
{
    tiny_answer(conn, 200,
                "Content-Type: application/json\r\nWarning: 299 - \"old \\\"api\\\"\", 299 k \"b\"\r\n",
                "{\"hello\":1}");
}

static void test_requests_carry_who_and_what(void **state)
{
    struct bench *bench = *state;
    bench->config.token = xstrdup("secret");
    bench->config.impersonate = xcalloc(1, sizeof *bench->config.impersonate);
    bench->config.impersonate[0] = (struct cluster_header){xstrdup("Impersonate-User"), xstrdup("jane")};
    bench->config.impersonate_count = 1;
    new_client(bench, true);
    bench->answer = say_hello;
    get(bench, "/api/v1/x", 100);
    assert_int_equal(bench->err.code, ERR_NONE);
    assert_string_equal(buf_text(&bench->log), "{\"hello\":1}\n");
    assert_true(head_has(bench, "GET /base/api/v1/x HTTP/1.1\r\n"));
    assert_true(head_has(bench, "\r\nAuthorization: Bearer secret\r\n"));
    assert_true(head_has(bench, "\r\nAccept: application/json, */*\r\n"));
    assert_true(head_has(bench, "\r\nImpersonate-User: jane\r\n"));
    assert_true(head_has(bench, "\r\nUser-Agent: kubelua/v" KUBELUA_VERSION " (linux/"));
    assert_true(head_has(bench, ") kubernetes/unknown\r\n"));
}

static void test_credentials_do_not_travel_in_the_clear(void **state)
{
    struct bench *bench = *state;
    bench->config.token = xstrdup("secret");
    bench->config.username = xstrdup("u");
    new_client(bench, false);
    bench->answer = say_hello;
    get(bench, "/x", 100);
    assert_int_equal(bench->err.code, ERR_NONE);
    assert_false(head_has(bench, "Authorization"));
}

static void test_basic_auth_and_a_header_of_its_own(void **state)
{
    struct bench *bench = *state;
    const struct http_header headers[] = {{"authorization", "Bearer own"}, {"Impersonate-User", "me"}, {0}};
    bench->config.username = xstrdup("user");
    bench->config.password = xstrdup("pass:word");
    new_client(bench, true);
    bench->answer = say_hello;
    get(bench, "/x", 100);
    assert_true(head_has(bench, "\r\nAuthorization: Basic dXNlcjpwYXNzOndvcmQ=\r\n"));
    bench->head.len = 0;
    assert_non_null(kube_client_start(bench->client, &(struct http_request){.url = "/y", .headers = headers},
                                      "text/x", &(struct http_callbacks){0}, &bench->err));
    while (!bench->head.len) loop_once(bench->loop, true);
    assert_true(head_has(bench, "\r\nauthorization: Bearer own\r\n"));
    assert_false(head_has(bench, "Basic"));
    assert_true(head_has(bench, "\r\nAccept: text/x\r\n"));
}

static void test_error_answers_and_limits(void **state)
{
    struct bench *bench = *state;
    new_client(bench, false);
    bench->answer = say_hello;
    get(bench, "/x", 5);
    assert_int_equal(bench->err.code, ERR_LIMIT);
    assert_string_equal(bench->err.text, "the answer is larger than 5 bytes");
    tiny_server_stop_listening(bench->server);
    settle(bench);
    kube_client_free(bench->client);
    bench->client = kube_client_new(bench->loop, bench->pool,
                                    &(struct kube_client_options){.config = &bench->config}, &bench->err);
    get(bench, "/x", 5);
    assert_int_equal(bench->err.code, ERR_CONNECT);
    assert_true(kube_err_is_connection_refused(&bench->err));
}

static void test_a_token_file_that_is_gone_fails_late_and_clearly(void **state)
{
    struct bench *bench = *state;
    bench->config.token_file = xstrdup("/nonexistent/token");
    new_client(bench, true);
    kube_get_start(bench->client, "/x", NULL, 100, on_got, bench);
    assert_int_equal(bench->dones, 0);
    until_done(bench);
    assert_int_equal(bench->err.code, ERR_NOT_FOUND);
    assert_string_equal(bench->err.text, "/nonexistent/token: No such file or directory");
}

/* --- lists and watches --- */

static void on_item(void *ctx, struct root *object)
{
    struct bench *bench = ctx;
    buf_puts(&bench->log, "item ");
    root_key(object, &bench->log);
    buf_putc(&bench->log, '\n');
    root_unref(object);
    if (!bench->cancel_at_item) return;
    bench->source->ops->cancel(bench->cancel_at_item);
    bench->cancel_at_item = NULL;
}

static void on_event(void *ctx, enum lw_event_type type, struct root *object, int64_t received_us)
{
    struct bench *bench = ctx;
    int64_t age_us = clock_wall_us(loop_clock(bench->loop)) - received_us;
    assert_in_range(age_us, 0, 5000000);
    buf_printf(&bench->log, "%s ", type == LW_ADDED ? "added" : type == LW_MODIFIED ? "modified" : "deleted");
    root_key(object, &bench->log);
    buf_putc(&bench->log, '\n');
    root_unref(object);
}

static void on_list_end(void *ctx, const struct lw_list_meta *meta)
{
    buf_printf(&((struct bench *)ctx)->log, "end %.*s\n", STR_ARG(meta->resource_version));
}

static void on_bookmark(void *ctx, const struct lw_bookmark *bookmark)
{
    buf_printf(&((struct bench *)ctx)->log, "bookmark %.*s\n", STR_ARG(bookmark->resource_version));
}

static void on_refused(void *ctx, const struct err *err)
{
    buf_printf(&((struct bench *)ctx)->log, "refused %s\n", err->text);
}

static void on_done(void *ctx, const struct err *err)
{
    note_end(ctx, err);
}

static const struct lw_sink sink = {on_item, on_list_end, on_event, on_bookmark, on_refused, on_done};

static void start(struct bench *bench, struct lw_options options)
{
    const struct resource pods = {(char *)"", (char *)"v1", (char *)"pods", (char *)"Pod", true};
    if (!bench->source)
        bench->source = list_watch_new(bench->client, &pods,
                                       &(struct lw_scope){.namespace_ = "shop", .label_selector = "a=b"});
    bench->call = lw_start(bench->source, &options, &sink, bench);
}

static void run(struct bench *bench, struct lw_options options)
{
    bench->log.len = bench->requests.len = 0;
    start(bench, options);
    until_done(bench);
}

static const struct lw_options list = {.verb = LW_LIST, .limit = 2};
static const struct lw_options watch = {.verb = LW_WATCH, .resource_version = "5"};

#define POD(name) \
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"" name "\",\"namespace\":\"shop\"}}"
#define ADDED(name) "{\"type\":\"ADDED\",\"object\":" POD(name) "}\n"
#define LIST_OF(items)                                                                                       \
    "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[" items \
    "]}"
#define STREAM_HEAD "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"

static void answer_list(struct bench *bench, struct tiny_conn *conn, const char *path)
{
    tiny_answer(conn, 200, "Content-Type: application/json\r\n", LIST_OF(POD("a") "," POD("b")));
}

static void test_a_list_arrives_item_by_item(void **state)
{
    struct bench *bench = *state;
    new_client(bench, false);
    bench->answer = answer_list;
    run(bench, list);
    assert_int_equal(bench->err.code, ERR_NONE);
    assert_string_equal(buf_text(&bench->log), "item shop/a\nitem shop/b\nend 7\n");
    assert_string_equal(buf_text(&bench->requests),
                        "/base/api/v1/namespaces/shop/pods?labelSelector=a%3Db&limit=2\n");
    assert_true(head_has(bench, "Accept-Encoding: gzip"));
}

static void test_a_list_can_be_cancelled_from_inside(void **state)
{
    struct bench *bench = *state;
    new_client(bench, false);
    bench->answer = answer_list;
    start(bench, list);
    bench->cancel_at_item = bench->call;
    while (!bench->log.len) loop_once(bench->loop, true);
    settle(bench);
    assert_string_equal(buf_text(&bench->log), "item shop/a\n");
    assert_int_equal(bench->dones, 0);
}

static void forbid(struct bench *bench, struct tiny_conn *conn, const char *path)
{
    tiny_answer(conn, 429, "Retry-After: 3\r\nContent-Type: application/json\r\n",
                "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":\"slow "
                "down\",\"reason\":"
                "\"TooManyRequests\",\"code\":429}");
}

static void test_an_error_answer_is_its_status(void **state)
{
    struct bench *bench = *state;
    new_client(bench, false);
    bench->answer = forbid;
    run(bench, watch);
    assert_int_equal(bench->err.code, ERR_HTTP);
    assert_int_equal(bench->err.http_status, 429);
    assert_int_equal(bench->err.retry_after_ms, 3000);
    assert_string_equal(bench->err.text, "slow down");
    assert_true(kube_err_is_too_many_requests(&bench->err));
}

static void html(struct bench *bench, struct tiny_conn *conn, const char *path)
{
    tiny_answer(conn, 200, "Content-Type: text/html\r\n", "<html>log in first</html>");
}

static void test_a_page_instead_of_json_is_an_error(void **state)
{
    struct bench *bench = *state;
    new_client(bench, false);
    bench->answer = html;
    run(bench, list);
    assert_int_equal(bench->err.code, ERR_PARSE);
    assert_string_equal(bench->err.text,
                        "the server answered with content type \"text/html\", not with JSON");
}

/* A watch that has given one event and stays open. */
static void open_watch(struct bench *bench)
{
    bench->answer = NULL;
    bench->requests.len = bench->log.len = 0;
    start(bench, watch);
    while (!bench->requests.len) loop_once(bench->loop, true);
    tiny_puts(bench->conn, STREAM_HEAD);
    tiny_chunk(bench->conn, ADDED("a"), strlen(ADDED("a")));
    while (!bench->log.len) loop_once(bench->loop, true);
    assert_string_equal(buf_text(&bench->log), "added shop/a\n");
}

static void test_a_watch_ends_cleanly_between_events(void **state)
{
    struct bench *bench = *state;
    new_client(bench, false);
    open_watch(bench);
    assert_string_equal(
        buf_text(&bench->requests),
        "/base/api/v1/namespaces/shop/pods?labelSelector=a%3Db&resourceVersion=5&watch=true\n");
    assert_false(head_has(bench, "Accept-Encoding"));
    tiny_puts(bench->conn, "0\r\n\r\n");
    until_done(bench);
    assert_int_equal(bench->err.code, ERR_NONE);
    open_watch(bench); /* an EOF without HTTP's end mark is one too (H-10) */
    tiny_close(bench->conn);
    until_done(bench);
    assert_int_equal(bench->err.code, ERR_NONE);
}

static void test_a_watch_cut_inside_an_event_or_reset_says_so(void **state)
{
    struct bench *bench = *state;
    new_client(bench, false);
    open_watch(bench);
    tiny_chunk(bench->conn, "{\"type\":", 8);
    tiny_close(bench->conn);
    until_done(bench);
    assert_int_equal(bench->err.code, ERR_CLOSED);
    assert_string_equal(bench->err.text, "unexpected EOF: the stream ended inside a line");
    open_watch(bench);
    tiny_reset(bench->conn);
    until_done(bench);
    assert_int_equal(bench->err.code, ERR_CLOSED);
    assert_non_null(strstr(bench->err.text, ": connection reset"));
    assert_string_equal(buf_text(&bench->log), "added shop/a\n");
}

static void test_an_error_event_ends_the_watch_and_its_connection(void **state)
{
    struct bench *bench = *state;
    const char *lines = ADDED("b") "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,"
                                   "\"reason\":\"Expired\"}}\n" ADDED("c");
    new_client(bench, false);
    open_watch(bench);
    tiny_chunk(bench->conn, lines, strlen(lines));
    until_done(bench);
    assert_true(kube_err_is_expired(&bench->err));
    settle(bench);
    assert_string_equal(buf_text(&bench->log), "added shop/a\nadded shop/b\n");
    assert_int_equal(tiny_server_open(bench->server), 0);
}

static void test_a_cancelled_watch_is_silent(void **state)
{
    struct bench *bench = *state;
    new_client(bench, false);
    open_watch(bench);
    bench->source->ops->cancel(bench->call);
    settle(bench);
    assert_int_equal(tiny_server_open(bench->server), 0);
    assert_int_equal(bench->dones, 0);
}

/* --- discovery --- */

static void on_catalogue(void *ctx, struct catalogue *catalogue, const struct err *err)
{
    struct bench *bench = ctx;
    bench->catalogue = catalogue;
    note_end(bench, err);
}

static void discover(struct bench *bench)
{
    catalogue_free(bench->catalogue);
    bench->catalogue = NULL;
    bench->requests.len = 0;
    assert_non_null(discovery_start(bench->client, on_catalogue, bench));
    until_done(bench);
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
    new_client(bench, false);
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
    new_client(bench, false);
    bench->answer = answer_aggregated;
    discover(bench);
    assert_int_equal(bench->err.code, ERR_NONE);
    assert_true(head_has(bench, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"));
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
    new_client(bench, false);
    bench->answer = unauthorized;
    discover(bench);
    assert_null(bench->catalogue);
    assert_int_equal(bench->err.http_status, 401);
    assert_string_equal(bench->err.text,
                        "GET /api: the server has asked for the client to provide credentials");
    struct discovery *discovery = discovery_start(bench->client, on_catalogue, bench);
    discovery_cancel(discovery);
    settle(bench);
    assert_int_equal(bench->dones, 1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_requests_carry_who_and_what),
        T(test_credentials_do_not_travel_in_the_clear),
        T(test_basic_auth_and_a_header_of_its_own),
        T(test_error_answers_and_limits),
        T(test_a_token_file_that_is_gone_fails_late_and_clearly),
        T(test_a_list_arrives_item_by_item),
        T(test_a_list_can_be_cancelled_from_inside),
        T(test_an_error_answer_is_its_status),
        T(test_a_page_instead_of_json_is_an_error),
        T(test_a_watch_ends_cleanly_between_events),
        T(test_a_watch_cut_inside_an_event_or_reset_says_so),
        T(test_an_error_event_ends_the_watch_and_its_connection),
        T(test_a_cancelled_watch_is_silent),
        T(test_discovery_of_an_old_server_asks_group_by_group),
        T(test_discovery_lives_with_a_root_that_is_forbidden),
        T(test_discovery_fails_when_nothing_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
