/* Redirects of requests that follow them (core/net/redirect.c): methods, credentials, and how many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <openssl/ssl.h>

#include "base/mem.h"
#include "core/net/support/http_bench.h"
#include "support/tls_bench.h"

static const char *target; /* NULL: no Location */
static int code;

static void answer(struct bench *bench, struct tiny_conn *conn)
{
    char line[300] = "";
    if (bench_request_has(bench, "GET /end")) {
        bench_hello(bench, conn);
        return;
    }
    if (target) snprintf(line, sizeof line, "Location: %s\r\n", target);
    tiny_answer(conn, code, line, "gone elsewhere");
}

static void get(struct bench *bench, struct call *call, bool follow)
{
    static const struct http_header headers[] = {{"Authorization", "Bearer sesame"},
                                                 {"Cookie", "sesame"},
                                                 {"Impersonate-User", "sesame"},
                                                 {"Accept", "text/plain"},
                                                 {0}};
    int before = call->dones;
    bench->answer = answer;
    bench_request(bench, call, &(struct http_request){.url = "/a/b", .headers = headers, .follow = follow});
    bench_until(bench, &call->dones, before + 1);
}

/* H-20 */
static void test_h20_redirects_to_the_same_server_are_followed(void **state)
{
    static const int codes[] = {301, 302, 303, 307, 308};
    struct bench *bench = *state;
    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        struct call call = {0};
        code = codes[i];
        target = i % 2 ? "/end" : "../end";
        get(bench, &call, true);
        assert_int_equal(call.err.code, ERR_NONE);
        assert_int_equal(call.heads, 1);
        assert_int_equal(call.response.status, 200);
        assert_string_equal(buf_text(&call.body), "hello");
        assert_true(bench_request_has(bench, "\r\nAuthorization: Bearer sesame\r\n"));
        assert_true(bench_request_has(bench, "\r\nImpersonate-User: sesame\r\n"));
        call_clear(&call);
        get(bench, &call, false);
        assert_int_equal(call.response.status, code);
        call_clear(&call);
    }
}

/* H-20 */
static void test_h20_another_server_gets_no_credentials(void **state)
{
    struct bench *bench = *state;
    struct call call = {0};
    char *elsewhere = xasprintf("http://localhost:%d/end", tiny_server_port(bench->server));
    code = 307;
    target = elsewhere;
    get(bench, &call, true);
    assert_int_equal(call.response.status, 200);
    assert_true(bench_request_has(bench, "\r\nHost: localhost:"));
    assert_true(bench_request_has(bench, "\r\nAccept: text/plain\r\n"));
    assert_false(bench_request_has(bench, "sesame"));
    free(elsewhere);
    call_clear(&call);
}

/* H-20 */
static void test_h20_ten_requests_and_no_more(void **state)
{
    struct bench *bench = *state;
    struct call call = {0};
    code = 308;
    target = "/again";
    get(bench, &call, true);
    assert_int_equal(call.heads, 0);
    assert_int_equal(call.err.code, ERR_LIMIT);
    assert_non_null(strstr(call.err.text, ": stopped after 10 redirects"));
    assert_int_equal(bench->requests, 10);
    call_clear(&call);
}

static void test_a_redirect_to_nowhere_is_a_response(void **state)
{
    struct bench *bench = *state;
    struct call call = {0}, other = {0};
    code = 307;
    target = NULL;
    get(bench, &call, true);
    assert_int_equal(call.response.status, 307);
    assert_string_equal(buf_text(&call.body), "gone elsewhere");
    call_clear(&call);
    target = "file:///etc/passwd";
    get(bench, &other, true);
    assert_int_equal(other.err.code, ERR_INVALID);
    call_clear(&other);
}

static void answer_and_cancel(struct bench *bench, struct tiny_conn *conn)
{
    answer(bench, conn);
    target = NULL;
}

static void test_a_redirected_request_can_be_cancelled(void **state)
{
    struct bench *bench = *state;
    struct call call = {0};
    code = 307;
    target = "/b";
    bench->answer = answer_and_cancel;
    bench_request(bench, &call, &(struct http_request){.url = "/a", .follow = true});
    bench_until_size(bench, &bench->requests, 1);
    for (int i = 0; i < 3; i++) {
        loop_once(bench->loop, false);
        if (i == 1) http_cancel(call.exchange);
    }
    assert_int_equal(call.dones, 0);
    call_clear(&call);
}

/* --- TLS */

static struct tls_bench *tls;
static char peer[100];

static void on_tls_request(void *ctx, struct tiny_conn *conn, struct str head, struct str body)
{
    char line[300];
    bool ends = memmem(head.p, head.n, "/end", 4);
    snprintf(line, sizeof line, "Location: %s\r\n", target);
    snprintf(peer, sizeof peer, "%s", tiny_peer_name(conn));
    tiny_answer(conn, ends ? 200 : 307, ends ? "" : line, "");
}

static void get_by_tls(void)
{
    tls_bench_get(tls,
                  &(struct transport_options){
                      .tls = {str_of(tls->ca.cert_pem), str_of(tls->one.cert_pem), str_of(tls->one.key_pem)}},
                  &(struct http_request){.url = tls->url, .follow = true});
}

/* H-20 */
static void test_h20_no_certificate_for_another_server_and_no_way_out_of_tls(void **state)
{
    tls = NEW(struct tls_bench);
    tls_bench_init(tls, "DNS:localhost,IP:127.0.0.1");
    X509_STORE_add_cert(SSL_CTX_get_cert_store(tls->tls), tls->ca.cert);
    SSL_CTX_set_verify(tls->tls, SSL_VERIFY_PEER, NULL); /* it asks, and goes on without */
    tls_bench_serve(tls, tls->tls, &(struct tiny_handler){.request = on_tls_request});
    target = "/end";
    get_by_tls();
    assert_int_equal(tls->status, 200);
    assert_string_equal(peer, "one");
    char *elsewhere = xasprintf("https://localhost:%d/end", tiny_server_port(tls->server));
    target = elsewhere;
    get_by_tls();
    assert_int_equal(tls->status, 200);
    assert_string_equal(peer, "");
    target = "http://127.0.0.1/end";
    get_by_tls();
    assert_int_equal(tls->err.code, ERR_INVALID);
    assert_non_null(strstr(tls->err.text, "the server redirects from https to http"));
    free(elsewhere);
    tls_bench_clear(tls);
    free(tls);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, http_bench_setup, http_bench_teardown)
    const struct CMUnitTest tests[] = {
        T(test_h20_redirects_to_the_same_server_are_followed),
        T(test_h20_another_server_gets_no_credentials),
        T(test_h20_ten_requests_and_no_more),
        T(test_a_redirect_to_nowhere_is_a_response),
        T(test_a_redirected_request_can_be_cancelled),
        cmocka_unit_test(test_h20_no_certificate_for_another_server_and_no_way_out_of_tls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
