/* core/kube/api/client.c and kube_call.c: what requests carry, and whole answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/kube/support/kube_bench.h"
#include "kube/api/kube_call.h"

static void on_got(void *ctx, const struct kube_response *answer, const struct err *err)
{
    struct bench *bench = ctx;
    buf_printf(&bench->log, "%.*s\n", answer ? (int)answer->len : 0, answer ? answer->body : "");
    bench_note_end(bench, err);
}

static void get(struct bench *bench, const char *path, size_t limit)
{
    kube_call_start(bench->client, &(struct kube_request){.path = path, .limit = limit}, on_got, bench);
    bench_until_done(bench);
}

static void say_hello(struct bench *bench, struct tiny_conn *conn, const char *path)
{
    tiny_answer(conn, 200,
                "Content-Type: application/json\r\nWarning: 299 - \"old \\\"api\\\"\", 299 k \"b\"\r\n",
                "{\"hello\":1}");
}

/* H-13, H-14 */
static void test_requests_carry_who_and_what(void **state)
{
    struct bench *bench = *state;
    bench->config.token = xstrdup("secret");
    bench->config.impersonate = xcalloc(1, sizeof *bench->config.impersonate);
    bench->config.impersonate[0] = (struct cluster_header){xstrdup("Impersonate-User"), xstrdup("jane")};
    bench->config.impersonate_count = 1;
    bench_new_client(bench, true);
    bench->answer = say_hello;
    get(bench, "/api/v1/x", 100);
    assert_int_equal(bench->err.code, ERR_NONE);
    assert_string_equal(buf_text(&bench->log), "{\"hello\":1}\n");
    assert_true(bench_head_has(bench, "GET /base/api/v1/x HTTP/1.1\r\n"));
    assert_true(bench_head_has(bench, "\r\nAuthorization: Bearer secret\r\n"));
    assert_true(bench_head_has(bench, "\r\nAccept: application/json, */*\r\n"));
    assert_true(bench_head_has(bench, "\r\nImpersonate-User: jane\r\n"));
    assert_true(bench_head_has(bench, "\r\nUser-Agent: kubelua/v" KUBELUA_VERSION " (linux/"));
    assert_true(bench_head_has(bench, ") kubernetes/unknown\r\n"));
}

static void test_credentials_do_not_travel_in_the_clear(void **state)
{
    struct bench *bench = *state;
    bench->config.token = xstrdup("secret");
    bench->config.username = xstrdup("u");
    bench_new_client(bench, false);
    bench->answer = say_hello;
    get(bench, "/x", 100);
    assert_int_equal(bench->err.code, ERR_NONE);
    assert_false(bench_head_has(bench, "Authorization"));
}

/* T-8 */
static void test_basic_auth_and_a_header_of_its_own(void **state)
{
    struct bench *bench = *state;
    const struct http_header headers[] = {{"authorization", "Bearer own"}, {"Impersonate-User", "me"}, {0}};
    bench->config.username = xstrdup("user");
    bench->config.password = xstrdup("pass:word");
    bench_new_client(bench, true);
    bench->answer = say_hello;
    get(bench, "/x", 100);
    assert_true(bench_head_has(bench, "\r\nAuthorization: Basic dXNlcjpwYXNzOndvcmQ=\r\n"));
    bench->head.len = 0;
    assert_non_null(kube_client_start(bench->client, &(struct http_request){.url = "/y", .headers = headers},
                                      "text/x", &(struct http_callbacks){0}, &bench->err));
    while (!bench->head.len) loop_once(bench->loop, true);
    assert_true(bench_head_has(bench, "\r\nauthorization: Bearer own\r\n"));
    assert_false(bench_head_has(bench, "Basic"));
    assert_true(bench_head_has(bench, "\r\nAccept: text/x\r\n"));
}

static void test_error_responses_and_limits(void **state)
{
    struct bench *bench = *state;
    bench_new_client(bench, false);
    bench->answer = say_hello;
    get(bench, "/x", 5);
    assert_int_equal(bench->err.code, ERR_LIMIT);
    assert_string_equal(bench->err.text, "the response exceeds 5 bytes");
    tiny_server_stop_listening(bench->server);
    bench_settle(bench);
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
    bench_new_client(bench, true);
    kube_call_start(bench->client, &(struct kube_request){.path = "/x", .limit = 100}, on_got, bench);
    assert_int_equal(bench->dones, 0);
    bench_until_done(bench);
    assert_int_equal(bench->err.code, ERR_IO); /* not "not found", as that would be said of /x */
    assert_string_equal(bench->err.text, "/nonexistent/token: No such file or directory");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, kube_bench_setup, kube_bench_teardown)
    const struct CMUnitTest tests[] = {
        T(test_requests_carry_who_and_what),
        T(test_credentials_do_not_travel_in_the_clear),
        T(test_basic_auth_and_a_header_of_its_own),
        T(test_error_responses_and_limits),
        T(test_a_token_file_that_is_gone_fails_late_and_clearly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
