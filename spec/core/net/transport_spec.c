/* core/net/transport.c and its exchanges against a server on the same loop: requests, answers, connections.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/mem.h"
#include "core/net/support/http_bench.h"

static void test_a_response_comes_completely_with_its_head(void **state)
{
    struct bench *bench = *state;
    struct call call = {0};
    bench->answer = bench_hello;
    bench_start(bench, &call, "/a/../b?x=%2F");
    assert_int_equal(call.dones, 0); /* never from inside the start */
    bench_until(bench, &call.dones, 1);
    assert_int_equal(call.err.code, ERR_NONE);
    assert_int_equal(call.heads, 1);
    assert_int_equal(call.response.status, 200);
    assert_int_equal(call.response.http_version, 11);
    assert_int_equal(call.response.retry_after_ms, -1);
    assert_string_equal(call.content_type, "text/plain");
    assert_string_equal(buf_text(&call.body), "hello");
    assert_true(bench_request_has(bench, "GET /a/../b?x=%2F HTTP/1.1\r\n"));
    assert_true(bench_request_has(bench, "\r\nUser-Agent: unit/1\r\n"));
    assert_true(bench_request_has(bench, "\r\nAccept-Encoding: gzip\r\n"));
    call_clear(&call);
}

static void test_headers_and_body_are_sent_as_given(void **state)
{
    struct bench *bench = *state;
    struct call call = {0};
    const struct http_header headers[] = {{"Content-Type", "application/json"}, {"X-Empty", ""}, {0}};
    bench->answer = bench_hello;
    bench_request(bench, &call,
                  &(struct http_request){.method = "PATCH",
                                         .url = "/x",
                                         .headers = headers,
                                         .body = STR("{\"a\":\0}"),
                                         .no_compression = true});
    bench_until(bench, &call.dones, 1);
    assert_true(bench_request_has(bench, "PATCH /x HTTP/1.1\r\n"));
    assert_true(bench_request_has(bench, "\r\nContent-Type: application/json\r\n"));
    assert_true(bench_request_has(bench, "\r\nX-Empty:"));
    assert_false(bench_request_has(bench, "Expect"));
    assert_false(bench_request_has(bench, "Accept-Encoding"));
    assert_int_equal(bench->request_body.len, 7);
    assert_memory_equal(bench->request_body.data, "{\"a\":\0}", 7);
    call_clear(&call);
}

static void test_a_header_with_a_line_end_and_a_bad_url_are_refused(void **state)
{
    struct bench *bench = *state;
    struct err err;
    const struct http_header headers[] = {{"X", "a\r\nY: b"}, {0}};
    assert_null(transport_start(bench->transport,
                                &(struct http_request){.url = "http://h/", .headers = headers},
                                &call_callbacks, &err));
    assert_int_equal(err.code, ERR_INVALID);
    assert_null(transport_start(bench->transport, &(struct http_request){.url = "http://[::1/"},
                                &call_callbacks, &err));
    assert_int_equal(err.code, ERR_INVALID);
    assert_memory_equal(err.text, "bad URL: ", 9);
}

/* T-2 */
static void test_connections_are_used_again(void **state)
{
    struct bench *bench = *state;
    bench->answer = bench_hello;
    for (int i = 0; i < 5; i++) {
        struct call call = {0};
        bench_start(bench, &call, "/");
        bench_until(bench, &call.dones, 1);
        call_clear(&call);
    }
    assert_int_equal(tiny_server_accepted(bench->server), 1);
}

static void test_two_at_once_take_two_connections(void **state)
{
    struct bench *bench = *state;
    struct call one = {0}, two = {0};
    bench_start(bench, &one, "/1");
    bench_until_size(bench, &bench->requests, 1);
    bench_start(bench, &two, "/2"); /* must not wait for the first, which may be a watch */
    bench->answer = bench_hello;
    bench_until(bench, &two.dones, 1);
    assert_int_equal(one.dones, 0);
    assert_int_equal(tiny_server_accepted(bench->server), 2);
    call_clear(&one);
    call_clear(&two);
}

static void compressed(struct bench *bench, struct tiny_conn *conn)
{
    z_stream z = {0};
    char text[100000], *out = xmalloc(sizeof text);
    memset(text, 'z', sizeof text);
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)text;
    z.avail_in = sizeof text;
    z.next_out = (Bytef *)out;
    z.avail_out = sizeof text;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    char *head =
        xasprintf("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %lu\r\n\r\n", z.total_out);
    tiny_puts(conn, head);
    tiny_send(conn, out, z.total_out);
    deflateEnd(&z);
    free(head);
    free(out);
}

/* T-5 */
static void test_gzip_is_unpacked(void **state)
{
    struct bench *bench = *state;
    struct call call = {0};
    bench->answer = compressed;
    bench_start(bench, &call, "/");
    bench_until(bench, &call.dones, 1);
    assert_int_equal(call.err.code, ERR_NONE);
    assert_int_equal(call.body.len, 100000);
    assert_int_equal(call.body.data[99999], 'z');
    call_clear(&call);
}

static bool is_by_chunk;

/* Two members, in a chunk each or in one. */
static void in_members(struct bench *bench, struct tiny_conn *conn)
{
    char out[200], text[] = "member", *line;
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)text;
    z.avail_in = sizeof text;
    z.next_out = (Bytef *)out;
    z.avail_out = sizeof out;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    tiny_puts(conn, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 2; i++) {
        if (is_by_chunk || i == 0) {
            line = xasprintf("%lx\r\n", is_by_chunk ? z.total_out : 2 * z.total_out);
            tiny_puts(conn, line);
            free(line);
        }
        tiny_send(conn, out, z.total_out);
        if (is_by_chunk || i == 1) tiny_puts(conn, "\r\n");
    }
    tiny_puts(conn, "0\r\n\r\n");
    deflateEnd(&z);
}

/* T-5 */
static void test_gzip_of_several_members_is_named(void **state)
{
    struct bench *bench = *state;
    bench->answer = in_members;
    for (int i = 0; i < 2; i++) {
        struct call call = {0};
        is_by_chunk = i == 1;
        bench_start(bench, &call, "/");
        bench_until(bench, &call.dones, 1);
        assert_int_equal(call.err.code, ERR_PARSE);
        assert_non_null(strstr(call.err.text, ": the compressed body goes on after its end"));
        call_clear(&call);
    }
}

static void broken_gzip(struct bench *bench, struct tiny_conn *conn)
{
    tiny_answer(conn, 200, "Content-Encoding: gzip\r\n", "this is no gzip at all");
}

static void test_broken_gzip_is_a_parse_error(void **state)
{
    struct bench *bench = *state;
    struct call call = {0};
    bench->answer = broken_gzip;
    bench_start(bench, &call, "/");
    bench_until(bench, &call.dones, 1);
    assert_int_equal(call.err.code, ERR_PARSE);
    call_clear(&call);
}

static void test_a_body_streams_as_it_comes(void **state)
{
    struct bench *bench = *state;
    struct call call = {0};
    bench_start(bench, &call, "/");
    bench_until_size(bench, &bench->requests, 1);
    tiny_puts(bench->conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    bench_until(bench, &call.heads, 1);
    tiny_chunk(bench->conn, "one", 3);
    bench_until_size(bench, &call.body.len, 3);
    tiny_chunk(bench->conn, "two", 3);
    bench_until_size(bench, &call.body.len, 6);
    assert_int_equal(call.dones, 0);
    tiny_puts(bench->conn, "0\r\nWarning: 299 - \"late\"\r\n\r\n");
    bench_until(bench, &call.dones, 1);
    assert_int_equal(call.heads, 1);
    assert_int_equal(call.err.code, ERR_NONE);
    call_clear(&call);
}

static void interim(struct bench *bench, struct tiny_conn *conn)
{
    tiny_puts(conn, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nContent-Type: no/no\r\n\r\n");
    tiny_answer(conn, 503,
                "Retry-After: 7\r\nWarning: 299 - \"a\"\r\nContent-Type: x/y\r\nWarning: 299 - \"b\"\r\n",
                "");
}

static void test_interim_responses_are_not_the_response(void **state)
{
    struct bench *bench = *state;
    struct call call = {0};
    bench->answer = interim;
    bench_start(bench, &call, "/");
    bench_until(bench, &call.dones, 1);
    assert_int_equal(call.heads, 1);
    assert_int_equal(call.response.status, 503);
    assert_int_equal(call.response.retry_after_ms, 7000);
    assert_string_equal(call.content_type, "x/y");
    assert_string_equal(call.warning, "299 - \"a\", 299 - \"b\"");
    call_clear(&call);
}

static void dated(struct bench *bench, struct tiny_conn *conn)
{
    char date[64], *header;
    time_t then = clock_wall_us(loop_clock(bench->loop)) / 1000000 + 100;
    strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", gmtime(&then));
    header = xasprintf("Retry-After: %s\r\n", bench->requests == 1   ? date
                                              : bench->requests == 2 ? "Wed, 21 Oct 2015 07:28:00 GMT"
                                                                     : "soon");
    tiny_answer(conn, 429, header, "");
    free(header);
}

/* A server whose clock is hours ahead of ours. */
static void dated_ahead(struct bench *bench, struct tiny_conn *conn)
{
    tiny_answer(conn, 429,
                bench->requests == 1 ? "Date: Fri, 01 Jan 2100 03:00:00 GMT\r\n"
                                       "Retry-After: Fri, 01 Jan 2100 03:00:07 GMT\r\n"
                                     : "Date: Fri, 01 Jan 2100 03:00:00 GMT\r\n"
                                       "Retry-After: Fri, 01 Jan 2100 02:59:59 GMT\r\n",
                "");
}

/* H-3, B-8 */
static void test_a_date_to_retry_after_is_relative_to_the_response_s_own(void **state)
{
    struct bench *bench = *state;
    struct call call = {0};
    bench->answer = dated_ahead;
    bench_start(bench, &call, "/");
    bench_until(bench, &call.dones, 1);
    assert_int_equal(call.response.retry_after_ms, 7000);
    bench_start(bench, &call, "/");
    bench_until(bench, &call.dones, 2);
    assert_int_equal(call.response.retry_after_ms, 0);
}

/* H-3, B-8 */
static void test_retry_after_is_understood_as_a_date_too(void **state)
{
    struct bench *bench = *state;
    struct call call = {0};
    bench->answer = dated;
    bench_start(bench, &call, "/");
    bench_until(bench, &call.dones, 1);
    assert_in_range(call.response.retry_after_ms, 95000, 100000);
    bench_start(bench, &call, "/");
    bench_until(bench, &call.dones, 2);
    assert_int_equal(call.response.retry_after_ms, 0);
    bench_start(bench, &call, "/");
    bench_until(bench, &call.dones, 3);
    assert_int_equal(call.response.retry_after_ms, -1);
}

static void test_only_we_read_the_environment_s_proxies(void **state)
{
    struct bench *bench = *state;
    struct call call = {0};
    setenv("http_proxy", "http://127.0.0.1:9", 1);
    setenv("ALL_PROXY", "http://127.0.0.1:9", 1);
    bench->answer = bench_hello;
    bench_start(bench, &call, "/");
    bench_until(bench, &call.dones, 1);
    unsetenv("http_proxy");
    unsetenv("ALL_PROXY");
    assert_int_equal(call.err.code, ERR_NONE);
    call_clear(&call);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, http_bench_setup, http_bench_teardown)
    const struct CMUnitTest tests[] = {
        T(test_a_response_comes_completely_with_its_head),
        T(test_headers_and_body_are_sent_as_given),
        T(test_a_header_with_a_line_end_and_a_bad_url_are_refused),
        T(test_connections_are_used_again),
        T(test_two_at_once_take_two_connections),
        T(test_gzip_is_unpacked),
        T(test_gzip_of_several_members_is_named),
        T(test_broken_gzip_is_a_parse_error),
        T(test_a_body_streams_as_it_comes),
        T(test_interim_responses_are_not_the_response),
        T(test_retry_after_is_understood_as_a_date_too),
        T(test_a_date_to_retry_after_is_relative_to_the_response_s_own),
        T(test_only_we_read_the_environment_s_proxies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
