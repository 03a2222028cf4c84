/* core/net/transport.c and its exchanges against a server on the same loop: requests, answers, connections.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/mem.h"
<<<<<<< HEAD
#include "core/net/support/http_bench.h"
=======
#include "net/transport.h"
#include "support/tiny_server.h"

struct call {
    struct bench *bench;
    struct http_exchange *exchange; /* NULL once it ended */
    struct buf body;
    struct http_response response;
    char content_type[100], warning[200];
    struct err err;
    int heads, dones;
    bool cancel_in_head, cancel_in_body, cancel_in_done, refuse;
    struct call *start_next, *cancel_other; /* in on_done */
};

struct bench {
    struct loop *loop;
    struct tiny_server *server;
    struct transport *transport;
    struct buf request; /* the last head */
    struct buf request_body;
    size_t requests;
    struct tiny_conn *conn;                                      /* of the last request */
    void (*answer)(struct bench *bench, struct tiny_conn *conn); /* NULL: the test does */
    struct buf reply;
    struct timer guard;
};

static void on_request(void *ctx, struct tiny_conn *conn, struct str head, struct str body)
{
    struct bench *bench = ctx;
    bench->requests++;
    bench->conn = conn;
    bench->request.len = bench->request_body.len = 0;
    buf_str(&bench->request, head);
    buf_str(&bench->request_body, body);
    if (bench->answer) bench->answer(bench, conn);
}

static void on_guard(struct timer *timer)
{
    fail_msg("nothing happened for 20 s");
}

static int setup(void **state)
{
    struct bench *bench = NEW(struct bench);
    struct err err;
    bench->loop = loop_new();
    bench->server =
        tiny_server_new(bench->loop, NULL, &(struct tiny_handler){.request = on_request, .ctx = bench});
    bench->transport = transport_new(bench->loop, &(struct transport_options){.user_agent = "unit/1"}, &err);
    bench->guard.fn = on_guard;
    timer_start(&bench->guard, loop_clock(bench->loop), 20000);
    assert_non_null(bench->transport);
    *state = bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    transport_free(bench->transport);
    tiny_server_free(bench->server);
    loop_free(bench->loop);
    buf_clear(&bench->request);
    buf_clear(&bench->request_body);
    buf_clear(&bench->reply);
    free(bench);
    return 0;
}

static void start(struct bench *bench, struct call *call, const char *path);

static void on_response(void *ctx, const struct http_response *response)
{
    struct call *call = ctx;
    call->heads++;
    call->response = *response;
    snprintf(call->content_type, sizeof call->content_type, "%s", response->content_type);
    snprintf(call->warning, sizeof call->warning, "%s", response->warning);
    if (!call->cancel_in_head) return;
    http_cancel(call->exchange);
    call->exchange = NULL;
}

static bool on_body(void *ctx, const char *data, size_t len)
{
    struct call *call = ctx;
    buf_append(&call->body, data, len);
    if (call->cancel_in_body) {
        http_cancel(call->exchange);
        call->exchange = NULL;
    }
    return !call->refuse;
}

static void on_done(void *ctx, const struct http_response *response, const struct err *err)
{
    struct call *call = ctx;
    call->dones++;
    if (call->cancel_in_done) http_cancel(call->exchange);
    call->exchange = NULL;
    assert_int_equal(response != NULL, call->heads > 0);
    if (err)
        call->err = *err;
    else
        err_clear(&call->err);
    if (call->start_next) start(call->bench, call->start_next, "/next");
    if (call->cancel_other && call->cancel_other->exchange) {
        http_cancel(call->cancel_other->exchange);
        call->cancel_other->exchange = NULL;
    }
}

static const struct http_callbacks callbacks = {on_response, on_body, on_done, NULL};

static void start_request(struct bench *bench, struct call *call, struct http_request *request)
{
    struct http_callbacks own = callbacks;
    char *url = xasprintf("http://127.0.0.1:%d%s", tiny_server_port(bench->server), request->url);
    own.ctx = call;
    call->bench = bench;
    request->url = url;
    call->exchange = transport_start(bench->transport, request, &own, &call->err);
    assert_non_null(call->exchange);
    free(url);
}

static void start(struct bench *bench, struct call *call, const char *path)
{
    start_request(bench, call, &(struct http_request){.method = "GET", .url = path});
}

/* Turns the loop until `*what` has the value. */
static void until(struct bench *bench, const int *what, int value)
{
    while (*what != value) loop_once(bench->loop, true);
}

static void until_size(struct bench *bench, const size_t *what, size_t value)
{
    while (*what != value) loop_once(bench->loop, true);
}

/* What is ready and due now has been done when this returns. */
static void settle(struct bench *bench)
{
    for (int i = 0; i < 20; i++) loop_once(bench->loop, false);
}

static void clear(struct call *call)
{
    buf_clear(&call->body);
}

static void hello(struct bench *bench, struct tiny_conn *conn)
{
    tiny_answer(conn, 200, "Content-Type: text/plain\r\n", "hello");
}

static bool request_has(struct bench *bench, const char *line)
{
    return strstr(buf_text(&bench->request), line) != NULL;
}
>>>>>>> review1

static void test_an_answer_comes_whole_with_its_head(void **state)
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

static void test_interim_answers_are_not_the_answer(void **state)
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

<<<<<<< HEAD
=======
static void test_refused_connections_say_so(void **state)
{
    struct bench *bench = *state;
    struct call call = {0};
    char *expected =
        xasprintf("connect to 127.0.0.1:%d: Connection refused", tiny_server_port(bench->server));
    tiny_server_stop_listening(bench->server);
    start(bench, &call, "/");
    until(bench, &call.dones, 1);
    assert_int_equal(call.err.code, ERR_CONNECT);
    assert_string_equal(call.err.reason, HTTP_REASON_REFUSED);
    assert_string_equal(call.err.text, expected);
    free(expected);
}

static void test_a_name_that_does_not_exist_is_a_connect_error(void **state)
{
    struct bench *bench = *state;
    struct call call = {.bench = bench};
    struct http_callbacks own = callbacks;
    own.ctx = &call;
    call.exchange = transport_start(
        bench->transport, &(struct http_request){.url = "http://no-such-host.invalid/"}, &own, NULL);
    until(bench, &call.dones, 1);
    assert_int_equal(call.err.code, ERR_CONNECT);
    assert_string_equal(call.err.text, "connect to no-such-host.invalid:80: cannot resolve the host's name");
}

static void test_an_answer_cut_short_is_closed(void **state)
{
    struct bench *bench = *state;
    struct call call = {0};
    start(bench, &call, "/");
    until_size(bench, &bench->requests, 1);
    tiny_puts(bench->conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab");
    tiny_close(bench->conn);
    until(bench, &call.dones, 1);
    assert_int_equal(call.err.code, ERR_CLOSED);
    assert_string_equal(call.err.reason, "");
    assert_non_null(strstr(call.err.text, "connection closed before the end of the answer"));
    clear(&call);
}

static void test_a_reset_is_closed_with_its_reason(void **state)
{
    struct bench *bench = *state;
    struct call call = {0};
    char *expected = xasprintf("127.0.0.1:%d: connection reset", tiny_server_port(bench->server));
    start(bench, &call, "/");
    until_size(bench, &bench->requests, 1);
    tiny_puts(bench->conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n");
    until_size(bench, &call.body.len, 2);
    tiny_reset(bench->conn);
    until(bench, &call.dones, 1);
    assert_int_equal(call.err.code, ERR_CLOSED);
    assert_string_equal(call.err.reason, HTTP_REASON_RESET);
    assert_string_equal(call.err.text, expected);
    free(expected);
    clear(&call);
}

static void nonsense(struct bench *bench, struct tiny_conn *conn)
{
    tiny_puts(conn, "SSH-2.0-OpenSSH_9.2p1\r\n");
    tiny_close(conn);
}

static void test_what_is_not_http_is_a_parse_error(void **state)
{
    struct bench *bench = *state;
    struct call call = {0};
    bench->answer = nonsense;
    start(bench, &call, "/");
    until(bench, &call.dones, 1);
    assert_int_equal(call.err.code, ERR_PARSE);
    clear(&call);
}

static void test_a_silent_server_ends_by_the_first_byte_timeout(void **state)
{
    struct bench *bench = *state;
    struct call call = {0};
    start_request(bench, &call, &(struct http_request){.url = "/", .first_byte_timeout_ms = 30});
    until(bench, &call.dones, 1);
    assert_int_equal(bench->requests, 1);
    assert_int_equal(call.err.code, ERR_TIMEOUT);
    assert_non_null(strstr(call.err.text, ": no answer within 30 ms"));
    settle(bench);
    assert_int_equal(tiny_server_open(bench->server), 0);
}

static void test_the_idle_timeout_counts_from_the_last_stretch(void **state)
{
    struct bench *bench = *state;
    struct call call = {0};
    start_request(bench, &call,
                  &(struct http_request){.url = "/", .first_byte_timeout_ms = 60000, .idle_timeout_ms = 60});
    until_size(bench, &bench->requests, 1);
    tiny_puts(bench->conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    int64_t from = clock_now_ms(loop_clock(bench->loop)), last = from;
    while (clock_now_ms(loop_clock(bench->loop)) < from + 200) {
        last = clock_now_ms(loop_clock(bench->loop));
        tiny_chunk(bench->conn, "x", 1);
        size_t before = call.body.len;
        until_size(bench, &call.body.len, before + 1);
    }
    assert_int_equal(call.dones, 0);
    until(bench, &call.dones, 1);
    assert_int_equal(call.err.code, ERR_TIMEOUT);
    assert_non_null(strstr(call.err.text, ": nothing came for 60 ms"));
    assert_true(clock_now_ms(loop_clock(bench->loop)) >= last + 60);
    clear(&call);
}

static void test_a_connection_that_is_not_accepted_ends_by_the_connect_timeout(void **state)
{
    struct bench *bench = *state;
    struct call call = {.bench = bench};
    struct err err;
    struct http_callbacks own = callbacks;
    struct transport *transport =
        transport_new(bench->loop, &(struct transport_options){.connect_timeout_ms = 50}, &err);
    own.ctx = &call;
    /* TLS to a server that never says a word: TCP stands, the connection does not. */
    char *url = xasprintf("https://127.0.0.1:%d/", tiny_server_port(bench->server));
    call.exchange = transport_start(transport, &(struct http_request){.url = url}, &own, &err);
    until(bench, &call.dones, 1);
    assert_int_equal(call.err.code, ERR_TIMEOUT);
    assert_non_null(strstr(call.err.text, "no connection within 50 ms"));
    transport_free(transport);
    free(url);
}

static void test_a_reader_can_refuse(void **state)
{
    struct bench *bench = *state;
    struct call call = {.refuse = true};
    bench->answer = hello;
    start(bench, &call, "/");
    until(bench, &call.dones, 1);
    assert_int_equal(call.err.code, ERR_CANCELLED);
    assert_string_equal(call.err.text, "refused by the reader");
    clear(&call);
}

static void test_nothing_comes_after_a_cancel_wherever_it_is_made(void **state)
{
    struct bench *bench = *state;
    struct call in_head = {.cancel_in_head = true}, in_body = {.cancel_in_body = true}, early = {0},
                late = {0};
    start(bench, &early, "/never");
    http_cancel(early.exchange);
    settle(bench);
    assert_int_equal(bench->requests, 0);
    start(bench, &late, "/");
    until_size(bench, &bench->requests, 1);
    http_cancel(late.exchange);
    settle(bench);
    assert_int_equal(tiny_server_open(bench->server), 0);
    bench->answer = hello;
    start(bench, &in_head, "/");
    until(bench, &in_head.heads, 1);
    start(bench, &in_body, "/");
    until_size(bench, &in_body.body.len, 5);
    settle(bench);
    assert_int_equal(in_head.body.len + (size_t)in_head.dones + (size_t)in_body.dones + (size_t)early.dones +
                         (size_t)late.dones,
                     0);
    clear(&in_body);
}

static void test_exchanges_start_and_cancel_from_inside_the_end_of_another(void **state)
{
    struct bench *bench = *state;
    struct call next = {0}, other = {0}, first = {.start_next = &next, .cancel_other = &other};
    start(bench, &other, "/other");
    until_size(bench, &bench->requests, 1);
    bench->answer = hello;
    start(bench, &first, "/first");
    until(bench, &first.dones, 1);
    until(bench, &next.dones, 1);
    assert_true(request_has(bench, "GET /next "));
    settle(bench);
    assert_int_equal(other.dones, 0);
    clear(&first);
    clear(&next);
}

static void test_an_exchange_may_be_cancelled_in_its_own_end(void **state)
{
    struct bench *bench = *state;
    struct call call = {.cancel_in_done = true};
    bench->answer = hello;
    start(bench, &call, "/");
    until(bench, &call.dones, 1);
    settle(bench);
    assert_int_equal(call.dones, 1);
    clear(&call);
}

static void test_a_pause_holds_the_body_back_and_loses_nothing(void **state)
{
    struct bench *bench = *state;
    struct call call = {0};
    start_request(bench, &call, &(struct http_request){.url = "/", .idle_timeout_ms = 20});
    until_size(bench, &bench->requests, 1);
    tiny_puts(bench->conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    until(bench, &call.heads, 1);
    http_pause(call.exchange, true);
    tiny_chunk(bench->conn, "held", 4);
    int64_t from = clock_now_ms(loop_clock(bench->loop));
    while (clock_now_ms(loop_clock(bench->loop)) < from + 60)
        loop_once(bench->loop, true); /* the idle timer goes on */
    assert_int_equal(call.body.len, 0);
    assert_int_equal(call.dones, 0);
    http_pause(call.exchange, false);
    assert_int_equal(call.body.len, 0); /* not from inside the call */
    until_size(bench, &call.body.len, 4);
    tiny_chunk(bench->conn, "more", 4);
    until_size(bench, &call.body.len, 8);
    tiny_puts(bench->conn, "0\r\n\r\n");
    until(bench, &call.dones, 1);
    assert_int_equal(call.err.code, ERR_NONE);
    clear(&call);
}

static void test_what_was_held_back_can_be_refused_too(void **state)
{
    struct bench *bench = *state;
    struct call call = {.refuse = true};
    start(bench, &call, "/");
    until_size(bench, &bench->requests, 1);
    tiny_puts(bench->conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    until(bench, &call.heads, 1);
    http_pause(call.exchange, true);
    tiny_chunk(bench->conn, "held", 4);
    settle(bench);
    http_pause(call.exchange, false);
    until_size(bench, &call.body.len, 4);
    tiny_chunk(bench->conn, "more", 4);
    until(bench, &call.dones, 1);
    assert_int_equal(call.body.len, 4);
    assert_int_equal(call.err.code, ERR_CANCELLED);
    clear(&call);
}

static void test_a_transport_goes_with_everything_that_runs(void **state)
{
    struct bench *bench = *state;
    struct call calls[4] = {0};
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) start(bench, &calls[i], "/");
    until_size(bench, &bench->requests, 4);
    transport_free(bench->transport);
    bench->transport = NULL;
    settle(bench);
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) assert_int_equal(calls[i].dones, 0);
    assert_int_equal(tiny_server_open(bench->server), 0);
}

>>>>>>> review1
static void test_the_environment_s_proxies_are_not_used(void **state)
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
        T(test_an_answer_comes_whole_with_its_head),
        T(test_headers_and_body_are_sent_as_given),
        T(test_a_header_with_a_line_end_and_a_bad_url_are_refused),
        T(test_connections_are_used_again),
        T(test_two_at_once_take_two_connections),
        T(test_gzip_is_unpacked),
        T(test_broken_gzip_is_a_parse_error),
        T(test_a_body_streams_as_it_comes),
        T(test_interim_answers_are_not_the_answer),
        T(test_retry_after_is_understood_as_a_date_too),
<<<<<<< HEAD
=======
        T(test_refused_connections_say_so),
        T(test_a_name_that_does_not_exist_is_a_connect_error),
        T(test_an_answer_cut_short_is_closed),
        T(test_a_reset_is_closed_with_its_reason),
        T(test_what_is_not_http_is_a_parse_error),
        T(test_a_silent_server_ends_by_the_first_byte_timeout),
        T(test_the_idle_timeout_counts_from_the_last_stretch),
        T(test_a_connection_that_is_not_accepted_ends_by_the_connect_timeout),
        T(test_a_reader_can_refuse),
        T(test_nothing_comes_after_a_cancel_wherever_it_is_made),
        T(test_exchanges_start_and_cancel_from_inside_the_end_of_another),
        T(test_an_exchange_may_be_cancelled_in_its_own_end),
        T(test_a_pause_holds_the_body_back_and_loses_nothing),
        T(test_what_was_held_back_can_be_refused_too),
        T(test_a_transport_goes_with_everything_that_runs),
>>>>>>> review1
        T(test_the_environment_s_proxies_are_not_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
