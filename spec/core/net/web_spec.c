/* core/net/web.c, web_io.c, web_allow.c: requests of scripts to servers that the operator allows. One loop
 * plays both threads. */
#include "core/net/support/http_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/web.h"

static struct web *web;
static struct web_call *call;
static int ended, status;
static struct buf head, body;
static struct err err;

static void on_done(void *ctx, const struct web_reply *reply, const struct err *error)
{
    ended++;
    err = error ? *error : (struct err){0};
    status = reply ? reply->status : 0;
    head.len = body.len = 0;
    if (!reply) return;
    buf_str(&head, reply->headers);
    buf_str(&body, reply->body);
}

static char *url_of(const struct bench *bench, const char *path)
{
    return xasprintf("http://127.0.0.1:%d%s", tiny_server_port(bench->server), path);
}

static int setup(void **state)
{
    if (http_bench_setup(state) != 0) return -1;
    struct bench *bench = *state;
    char *allowed = xasprintf("127.0.0.1:%d", tiny_server_port(bench->server));
    char *other = xasprintf("localhost:%d", tiny_server_port(bench->server));
    struct web_allow *allow = web_allow_new((const char *const[]){allowed, other, "*.example.com"}, 3, &err);
    assert_non_null(allow);
    free(allowed);
    free(other);
    web = web_new(&(struct web_options){
        .engine_loop = bench->loop, .io_loop = bench->loop, .allow = allow, .user_agent = "kubelua/1"});
    ended = 0;
    call = NULL;
    return 0;
}

static void settle(struct bench *bench)
{
    for (int i = 0; i < 20; i++) loop_once(bench->loop, false);
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    if (call) web_close(call);
    settle(bench);
    web_free(web);
    buf_clear(&head);
    buf_clear(&body);
    return http_bench_teardown(state);
}

/* Runs it to its end. */
static void ask(struct bench *bench, struct web_call_request request)
{
    char *url = url_of(bench, request.url);
    request.url = url;
    if (!request.method) request.method = "GET";
    if (!request.timeout_ms) request.timeout_ms = 20000;
    if (!request.body_max) request.body_max = 1 << 20;
    if (call) web_close(call);
    ended = 0;
    call = web_start(web, &request, on_done, NULL);
    free(url);
    bench_until(bench, &ended, 1);
}

static void answer_hello(struct bench *bench, struct tiny_conn *conn)
{
    tiny_answer(conn, 200, "X-One: 1\r\nX-Two: a\r\nx-two: b\r\n", "hello");
}

static void test_sends_the_request_and_returns_the_response(void **state)
{
    struct bench *bench = *state;
    bench->answer = answer_hello;
    const char *headers[] = {"Authorization", "Bearer secret", "X-A", "b"};
    ask(bench,
        (struct web_call_request){
            .method = "PUT", .url = "/x?y=z", .headers = headers, .header_count = 2, .body = STR("text")});
    assert_int_equal(status, 200);
    assert_string_equal(buf_text(&body), "hello");
    assert_non_null(strstr(buf_text(&head), "x-one: 1\nx-two: a\nx-two: b\n"));
    assert_true(bench_request_has(bench, "PUT /x?y=z HTTP/1.1"));
    assert_true(bench_request_has(bench, "Authorization: Bearer secret"));
    assert_true(bench_request_has(bench, "User-Agent: kubelua/1"));
    assert_true(str_is(buf_slice(&bench->request_body), "text"));
}

static const char *target;
static int redirect_status;

static void answer_redirect(struct bench *bench, struct tiny_conn *conn)
{
    char line[300];
    if (bench_request_has(bench, "/end")) {
        tiny_answer(conn, 200, "", "end");
        return;
    }
    snprintf(line, sizeof line, "Location: %s\r\n", target);
    tiny_answer(conn, redirect_status, line, "gone elsewhere");
}

static void redirected(struct bench *bench, int with_status, const char *to)
{
    static const char *const headers[] = {"Authorization", "Bearer secret", "Content-Type", "text/plain"};
    bench->answer = answer_redirect;
    redirect_status = with_status;
    target = to;
    ask(bench,
        (struct web_call_request){
            .method = "POST", .url = "/a/b", .headers = headers, .header_count = 2, .body = STR("text")});
}

static void test_follows_redirects(void **state)
{
    struct bench *bench = *state;
    redirected(bench, 302, "end");
    assert_int_equal(status, 200);
    assert_string_equal(buf_text(&body), "end");
    assert_true(bench_request_has(bench, "GET /a/end HTTP/1.1"));
    assert_false(bench_request_has(bench, "Content-Type"));
    assert_true(bench_request_has(bench, "Authorization: Bearer secret"));
    redirected(bench, 307, "/end");
    assert_true(bench_request_has(bench, "POST /end HTTP/1.1"));
    assert_true(str_is(buf_slice(&bench->request_body), "text"));
    redirected(bench, 302, "/again");
    assert_int_equal(err.code, ERR_LIMIT);
    assert_string_equal(err.text, "more than 5 redirects");
}

static void test_credentials_do_not_follow_a_redirect_to_another_server(void **state)
{
    static const char *const secret[] = {"authorization",
                                         "Cookie",
                                         "PRIVATE-TOKEN",
                                         "X-Auth-Token",
                                         "x-api-key",
                                         "X-Vault-Token",
                                         "Ocp-Apim-Subscription-Key",
                                         "X-Client-Secret",
                                         "X-Session-Id",
                                         "X-Hub-Signature-256",
                                         "X-Password"};
    struct bench *bench = *state;
    const char *headers[2 * ARRAY_LEN(secret) + 4] = {"Accept", "text/plain", "X-Trace", "1"};
    char *to = xasprintf("http://localhost:%d/end", tiny_server_port(bench->server));
    for (size_t i = 0; i < ARRAY_LEN(secret); i++) {
        headers[2 * i + 4] = secret[i];
        headers[2 * i + 5] = "sesame";
    }
    bench->answer = answer_redirect;
    redirect_status = 307;
    target = to;
    ask(bench,
        (struct web_call_request){.url = "/a", .headers = headers, .header_count = ARRAY_LEN(secret) + 2});
    assert_int_equal(status, 200);
    assert_true(bench_request_has(bench, "X-Trace: 1"));
    assert_true(bench_request_has(bench, "Accept: text/plain"));
    assert_false(bench_request_has(bench, "sesame"));
    target = "/end";
    ask(bench,
        (struct web_call_request){.url = "/a", .headers = headers, .header_count = ARRAY_LEN(secret) + 2});
    assert_true(bench_request_has(bench, "X-Auth-Token: sesame"));
    free(to);
}

static void answer_to_nowhere(struct bench *bench, struct tiny_conn *conn)
{
    (void)bench;
    tiny_answer(conn, 302, "", "gone elsewhere");
}

static void test_a_redirect_that_leads_nowhere_is_a_response(void **state)
{
    struct bench *bench = *state;
    bench->answer = answer_to_nowhere;
    ask(bench, (struct web_call_request){.method = "GET", .url = "/a"});
    assert_int_equal(status, 302);
    assert_string_equal(buf_text(&body), "gone elsewhere");
}

static void test_a_redirect_leads_to_allowed_servers_only(void **state)
{
    struct bench *bench = *state;
    redirected(bench, 302, "http://localhost/end?token=secret");
    assert_string_equal(err.reason, "Forbidden");
    assert_string_equal(err.text, "a redirect: the operator does not allow http://localhost:80: kubelua run "
                                  "--allow-http localhost:80");
    redirected(bench, 302, "file:///etc/passwd");
    assert_int_equal(err.code, ERR_INVALID);
    assert_int_equal(bench->requests, 2);
}

static void answer_long(struct bench *bench, struct tiny_conn *conn)
{
    struct buf text = {0};
    for (int i = 0; i < 2000; i++) buf_putc(&text, 'x');
    tiny_answer(conn, 200, "", buf_text(&text));
    buf_clear(&text);
}

static void test_a_large_response_is_refused(void **state)
{
    struct bench *bench = *state;
    bench->answer = answer_long;
    ask(bench, (struct web_call_request){.url = "/", .body_max = 2000});
    assert_int_equal(status, 200);
    ask(bench, (struct web_call_request){.url = "/", .body_max = 1999});
    assert_int_equal(err.code, ERR_LIMIT);
    assert_string_equal(err.text, "the response exceeds the limit value-size (1999 bytes)");
}

static void answer_nothing(struct bench *bench, struct tiny_conn *conn) {}

static void test_the_timeout_is_for_everything(void **state)
{
    struct bench *bench = *state;
    bench->answer = answer_nothing;
    ask(bench, (struct web_call_request){.url = "/", .timeout_ms = 50});
    assert_int_equal(err.code, ERR_TIMEOUT);
    assert_string_equal(err.text, "no complete response within 0.05 s");
}

static void test_a_closed_one_calls_nobody(void **state)
{
    struct bench *bench = *state;
    char *url = url_of(bench, "/");
    bench->answer = answer_nothing;
    call = web_start(
        web, &(struct web_call_request){.method = "GET", .url = url, .timeout_ms = 20000, .body_max = 1},
        on_done, NULL);
    free(url);
    bench_until_size(bench, &bench->requests, 1);
    web_close(call);
    call = NULL;
    while (tiny_server_open(bench->server) > 0) loop_once(bench->loop, true);
    assert_int_equal(ended, 0);
}

static void assert_allowed(const char *host, const char *url, bool expected)
{
    struct web_allow *allow = web_allow_new(&host, 1, &err);
    assert_non_null(allow);
    if (web_allows(allow, url, &err) != expected) fail_msg("%s, %s", host, url);
    web_allow_free(allow);
}

static void test_servers_are_allowed_by_name(void **state)
{
    assert_allowed("example.com", "https://example.com/a", true);
    assert_allowed("example.com", "http://Example.com", true);
    assert_allowed("example.com", "https://user:pw@example.com/a", true);
    assert_allowed("example.com", "https://example.com:8443/a", false);
    assert_allowed("example.com", "https://a.example.com/", false);
    assert_allowed("example.com", "https://example.com.evil.org/", false);
    assert_allowed("example.com", "https://evil.org/example.com", false);
    assert_allowed("example.com", "https://evil.org#@example.com", false);
    assert_allowed("example.com", "https://example.com@evil.org/", false);
    assert_allowed("example.com:8443", "https://example.com:8443/a", true);
    assert_allowed("example.com:8443", "https://example.com/a", false);
    assert_allowed("https://example.com", "http://example.com/", false);
    assert_allowed("https://example.com", "https://example.com/", true);
    assert_allowed("*.example.com", "https://a.b.example.com/", true);
    assert_allowed("*.example.com", "https://example.com/", false);
    assert_allowed("[::1]:80", "http://[::1]/", true);
    assert_allowed("example.com", "ftp://example.com/", false);
    assert_allowed("example.com", "example.com", false);
    assert_allowed("example.com", "", false);
}

static void test_what_is_no_server_is_refused(void **state)
{
    static const char *const wrong[] = {"",        "a b",     "a/b",     "a:0",    "a:x",
                                        "ftp://a", "http://", "a:70000", "user@a", "*"};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        assert_null(web_allow_new(&wrong[i], 1, &err));
        assert_non_null(strstr(err.text, "is not a server: host, host:port, *.domain"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        T(test_sends_the_request_and_returns_the_response),
        T(test_follows_redirects),
        T(test_credentials_do_not_follow_a_redirect_to_another_server),
        T(test_a_redirect_that_leads_nowhere_is_a_response),
        T(test_a_redirect_leads_to_allowed_servers_only),
        T(test_a_large_response_is_refused),
        T(test_the_timeout_is_for_everything),
        T(test_a_closed_one_calls_nobody),
        cmocka_unit_test(test_servers_are_allowed_by_name),
        cmocka_unit_test(test_what_is_no_server_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
