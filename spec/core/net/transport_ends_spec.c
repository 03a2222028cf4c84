/* How exchanges of core/net/transport.c end: errors, dead connections (T-3), timers, cancelling, pausing. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/net/support/http_bench.h"

static void test_refused_connections_report_it(void **state)
{
    struct bench *bench = *state;
    struct call call = {0};
    char *expected =
        xasprintf("connect to 127.0.0.1:%d: Connection refused", tiny_server_port(bench->server));
    tiny_server_stop_listening(bench->server);
    bench_start(bench, &call, "/");
    bench_until(bench, &call.dones, 1);
    assert_int_equal(call.err.code, ERR_CONNECT);
    assert_string_equal(call.err.reason, HTTP_REASON_REFUSED);
    assert_string_equal(call.err.text, expected);
    free(expected);
}

static void test_a_name_that_does_not_exist_is_a_connect_error(void **state)
{
    struct bench *bench = *state;
    struct call call = {.bench = bench};
    struct http_callbacks own = call_callbacks;
    own.ctx = &call;
    call.exchange = transport_start(
        bench->transport, &(struct http_request){.url = "http://no-such-host.invalid/"}, &own, NULL);
    bench_until(bench, &call.dones, 1);
    assert_int_equal(call.err.code, ERR_CONNECT);
    assert_string_equal(call.err.text, "connect to no-such-host.invalid:80: cannot resolve the host's name");
}

static void test_a_response_cut_short_is_closed(void **state)
{
    struct bench *bench = *state;
    struct call call = {0};
    bench_start(bench, &call, "/");
    bench_until_size(bench, &bench->requests, 1);
    tiny_puts(bench->conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab");
    tiny_close(bench->conn);
    bench_until(bench, &call.dones, 1);
    assert_int_equal(call.err.code, ERR_CLOSED);
    assert_string_equal(call.err.reason, "");
    assert_non_null(strstr(call.err.text, "connection closed before the end of the response"));
    call_clear(&call);
}

/* A server that expects TLS closes the connection or sends an alert, where a head was awaited. */
static void test_what_may_be_tls_is_said_to_be(void **state)
{
    struct bench *bench = *state;
    static const char *const replies[] = {"", "\x15\x03\x01\x02\x02\x0a"};
    for (size_t i = 0; i < 2; i++) {
        struct call call = {0};
        size_t before = bench->requests;
        bench_start(bench, &call, "/");
        bench_until_size(bench, &bench->requests, before + 1);
        tiny_puts(bench->conn, replies[i]);
        tiny_close(bench->conn);
        bench_until(bench, &call.dones, 1);
        assert_non_null(strstr(call.err.text, "; does it speak TLS? Then its address begins with https://"));
        call_clear(&call);
    }
}

static void test_a_reset_is_closed_with_its_reason(void **state)
{
    struct bench *bench = *state;
    struct call call = {0};
    char *expected = xasprintf("127.0.0.1:%d: connection reset", tiny_server_port(bench->server));
    bench_start(bench, &call, "/");
    bench_until_size(bench, &bench->requests, 1);
    tiny_puts(bench->conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n");
    bench_until_size(bench, &call.body.len, 2);
    tiny_reset(bench->conn);
    bench_until(bench, &call.dones, 1);
    assert_int_equal(call.err.code, ERR_CLOSED);
    assert_string_equal(call.err.reason, HTTP_REASON_RESET);
    assert_string_equal(call.err.text, expected);
    free(expected);
    call_clear(&call);
}

static void nonsense(struct bench *bench, struct tiny_conn *conn)
{
    tiny_puts(conn, "SSH-2.0-OpenSSH_9.2p1\r\n");
    tiny_close(conn);
}

/* The socket whose other end is the server's. */
static int client_socket(int port)
{
    for (int fd = 3; fd < 1024; fd++) {
        struct sockaddr_in peer;
        socklen_t len = sizeof peer;
        if (getpeername(fd, (struct sockaddr *)&peer, &len) == 0 && ntohs(peer.sin_port) == port) return fd;
    }
    fail_msg("no socket is connected to port %d", port);
    return -1;
}

static int socket_option(int fd, int level, int name)
{
    int value = -1;
    socklen_t len = sizeof value;
    assert_int_equal(getsockopt(fd, level, name, &value, &len), 0);
    return value;
}

static void test_t3_the_kernel_checks_for_dead_connections(void **state)
{
    struct bench *bench = *state;
    struct call call = {0};
    bench_start(bench, &call, "/");
    bench_until_size(bench, &bench->requests, 1);
    int fd = client_socket(tiny_server_port(bench->server));
    assert_int_equal(socket_option(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
    assert_int_equal(socket_option(fd, IPPROTO_TCP, TCP_KEEPIDLE), 30);
    assert_int_equal(socket_option(fd, IPPROTO_TCP, TCP_KEEPINTVL), 5);
    assert_int_equal(socket_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 15000);
    http_cancel(call.exchange);
    call_clear(&call);
}

static void test_what_is_not_http_is_a_parse_error(void **state)
{
    struct bench *bench = *state;
    struct call call = {0};
    bench->answer = nonsense;
    bench_start(bench, &call, "/");
    bench_until(bench, &call.dones, 1);
    assert_int_equal(call.err.code, ERR_PARSE);
    call_clear(&call);
}

/* H-11, B-8 */
static void test_a_silent_server_ends_by_the_first_byte_timeout(void **state)
{
    struct bench *bench = *state;
    struct call call = {0};
    bench_request(bench, &call, &(struct http_request){.url = "/", .first_byte_timeout_ms = 30});
    bench_until(bench, &call.dones, 1);
    assert_int_equal(bench->requests, 1);
    assert_int_equal(call.err.code, ERR_TIMEOUT);
    assert_non_null(strstr(call.err.text, ": no response within 30 ms"));
    bench_settle(bench);
    assert_int_equal(tiny_server_open(bench->server), 0);
}

static void test_the_idle_timeout_counts_from_the_last_stretch(void **state)
{
    struct bench *bench = *state;
    struct call call = {0};
    bench_request(
        bench, &call,
        &(struct http_request){.url = "/", .first_byte_timeout_ms = 15000, .idle_timeout_ms = 60000});
    bench_until_size(bench, &bench->requests, 1);
    bench_stop_clock(bench);
    tiny_puts(bench->conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    bench_until(bench, &call.heads, 1); /* the first byte's timeout counts no more */
    for (size_t i = 1; i <= 5; i++) {
        bench_move_clock(bench, 59000);
        tiny_chunk(bench->conn, "x", 1);
        bench_until_size(bench, &call.body.len, i);
    }
    bench_move_clock(bench, 59999);
    assert_int_equal(call.dones, 0);
    bench_move_clock(bench, 1);
    assert_int_equal(call.dones, 1);
    assert_int_equal(call.err.code, ERR_TIMEOUT);
    assert_non_null(strstr(call.err.text, ": no data received for 60000 ms"));
    call_clear(&call);
}

static void test_a_connection_that_is_not_accepted_ends_by_the_connect_timeout(void **state)
{
    struct bench *bench = *state;
    struct call call = {.bench = bench};
    struct err err;
    struct http_callbacks own = call_callbacks;
    struct transport *transport =
        transport_new(bench->loop, &(struct transport_options){.connect_timeout_ms = 50}, &err);
    own.ctx = &call;
    /* TLS to a server that never says a word: TCP stands, the connection does not. */
    char *url = xasprintf("https://127.0.0.1:%d/", tiny_server_port(bench->server));
    call.exchange = transport_start(transport, &(struct http_request){.url = url}, &own, &err);
    bench_until(bench, &call.dones, 1);
    assert_int_equal(call.err.code, ERR_TIMEOUT);
    assert_non_null(strstr(call.err.text, "no connection within 50 ms"));
    transport_free(transport);
    free(url);
}

static void test_a_reader_can_refuse(void **state)
{
    struct bench *bench = *state;
    struct call call = {.refuse = true};
    bench->answer = bench_hello;
    bench_start(bench, &call, "/");
    bench_until(bench, &call.dones, 1);
    assert_int_equal(call.err.code, ERR_CANCELLED);
    assert_string_equal(call.err.text, "refused by the reader");
    call_clear(&call);
}

static void test_nothing_comes_after_a_cancel_wherever_it_is_made(void **state)
{
    struct bench *bench = *state;
    struct call in_head = {.cancel_in_head = true}, in_body = {.cancel_in_body = true}, early = {0},
                late = {0};
    bench_start(bench, &early, "/never");
    http_cancel(early.exchange);
    bench_settle(bench);
    assert_int_equal(bench->requests, 0);
    bench_start(bench, &late, "/");
    bench_until_size(bench, &bench->requests, 1);
    http_cancel(late.exchange);
    bench_settle(bench);
    assert_int_equal(tiny_server_open(bench->server), 0);
    bench->answer = bench_hello;
    bench_start(bench, &in_head, "/");
    bench_until(bench, &in_head.heads, 1);
    bench_start(bench, &in_body, "/");
    bench_until_size(bench, &in_body.body.len, 5);
    bench_settle(bench);
    assert_int_equal(in_head.body.len + (size_t)in_head.dones + (size_t)in_body.dones + (size_t)early.dones +
                         (size_t)late.dones,
                     0);
    call_clear(&in_body);
}

static void test_exchanges_start_and_cancel_from_inside_the_end_of_another(void **state)
{
    struct bench *bench = *state;
    struct call next = {0}, other = {0}, first = {.start_next = &next, .cancel_other = &other};
    bench_start(bench, &other, "/other");
    bench_until_size(bench, &bench->requests, 1);
    bench->answer = bench_hello;
    bench_start(bench, &first, "/first");
    bench_until(bench, &first.dones, 1);
    bench_until(bench, &next.dones, 1);
    assert_true(bench_request_has(bench, "GET /next "));
    bench_settle(bench);
    assert_int_equal(other.dones, 0);
    call_clear(&first);
    call_clear(&next);
}

static void test_an_exchange_may_be_cancelled_in_its_own_end(void **state)
{
    struct bench *bench = *state;
    struct call call = {.cancel_in_done = true};
    bench->answer = bench_hello;
    bench_start(bench, &call, "/");
    bench_until(bench, &call.dones, 1);
    bench_settle(bench);
    assert_int_equal(call.dones, 1);
    call_clear(&call);
}

static void test_a_pause_delays_the_body_and_loses_nothing(void **state)
{
    struct bench *bench = *state;
    struct call call = {0};
    bench_request(bench, &call, &(struct http_request){.url = "/", .idle_timeout_ms = 1000});
    bench_until_size(bench, &bench->requests, 1);
    tiny_puts(bench->conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    bench_until(bench, &call.heads, 1);
    bench_stop_clock(bench);
    http_pause(call.exchange, true);
    tiny_chunk(bench->conn, "held", 4);
    for (int i = 0; i < 5; i++) bench_move_clock(bench, 900); /* a pause is no idleness */
    assert_int_equal(call.body.len, 0);
    assert_int_equal(call.dones, 0);
    http_pause(call.exchange, false);
    assert_int_equal(call.body.len, 0); /* not from inside the call */
    bench_until_size(bench, &call.body.len, 4);
    tiny_chunk(bench->conn, "more", 4);
    bench_until_size(bench, &call.body.len, 8);
    tiny_puts(bench->conn, "0\r\n\r\n");
    bench_until(bench, &call.dones, 1);
    assert_int_equal(call.err.code, ERR_NONE);
    call_clear(&call);
}

static void test_a_paused_body_can_be_refused_too(void **state)
{
    struct bench *bench = *state;
    struct call call = {.refuse = true};
    bench_start(bench, &call, "/");
    bench_until_size(bench, &bench->requests, 1);
    tiny_puts(bench->conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    bench_until(bench, &call.heads, 1);
    http_pause(call.exchange, true);
    tiny_chunk(bench->conn, "held", 4);
    bench_settle(bench);
    http_pause(call.exchange, false);
    bench_until_size(bench, &call.body.len, 4);
    tiny_chunk(bench->conn, "more", 4);
    bench_until(bench, &call.dones, 1);
    assert_int_equal(call.body.len, 4);
    assert_int_equal(call.err.code, ERR_CANCELLED);
    call_clear(&call);
}

/* The clock of a fence that is open for so many questions, and closed from then on. */
static int questions_left;

static int64_t count_down(struct clock *clock)
{
    return questions_left-- > 0 ? 0 : 1;
}

static void send_behind_fence(struct bench *bench, struct call *call, int open_for)
{
    struct clock clock = {.now_ms = count_down};
    struct fence *fence = fence_new(&clock, 1);
    questions_left = open_for;
    bench_request(
        bench, call,
        &(struct http_request){.method = "POST", .url = "/x", .body = STR("{\"a\":1}"), .fence = fence});
    bench_until(bench, &call->dones, 1);
    bench_settle(bench);
    fence_unref(fence);
}

/* It may close when the connection stands, and when the headers are on their way: nobody acts on a request
 * whose body does not come. */
static void test_nothing_is_sent_past_a_closed_fence_nor_is_its_body(void **state)
{
    struct bench *bench = *state;
    bench->answer = bench_hello;
    for (int open_for = 0; open_for < 2; open_for++) {
        struct call call = {0};
        send_behind_fence(bench, &call, open_for);
        assert_int_equal(call.err.code, ERR_CANCELLED);
        assert_non_null(strstr(call.err.text, "not sent: leadership was lost"));
        assert_int_equal(bench->requests, 0);
        call_clear(&call);
    }
    struct call call = {0};
    send_behind_fence(bench, &call, 1000);
    assert_int_equal(call.err.code, ERR_NONE);
    assert_int_equal(bench->requests, 1);
    assert_string_equal(buf_text(&bench->request_body), "{\"a\":1}");
    call_clear(&call);
}

static void test_a_transport_goes_with_everything_that_runs(void **state)
{
    struct bench *bench = *state;
    struct call calls[4] = {0};
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) bench_start(bench, &calls[i], "/");
    bench_until_size(bench, &bench->requests, 4);
    transport_free(bench->transport);
    bench->transport = NULL;
    bench_settle(bench);
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) assert_int_equal(calls[i].dones, 0);
    assert_int_equal(tiny_server_open(bench->server), 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, http_bench_setup, http_bench_teardown)
    const struct CMUnitTest tests[] = {
        T(test_refused_connections_report_it),
        T(test_a_name_that_does_not_exist_is_a_connect_error),
        T(test_a_response_cut_short_is_closed),
        T(test_what_may_be_tls_is_said_to_be),
        T(test_a_reset_is_closed_with_its_reason),
        T(test_t3_the_kernel_checks_for_dead_connections),
        T(test_what_is_not_http_is_a_parse_error),
        T(test_a_silent_server_ends_by_the_first_byte_timeout),
        T(test_the_idle_timeout_counts_from_the_last_stretch),
        T(test_a_connection_that_is_not_accepted_ends_by_the_connect_timeout),
        T(test_a_reader_can_refuse),
        T(test_nothing_comes_after_a_cancel_wherever_it_is_made),
        T(test_exchanges_start_and_cancel_from_inside_the_end_of_another),
        T(test_an_exchange_may_be_cancelled_in_its_own_end),
        T(test_a_pause_delays_the_body_and_loses_nothing),
        T(test_a_paused_body_can_be_refused_too),
        T(test_nothing_is_sent_past_a_closed_fence_nor_is_its_body),
        T(test_a_transport_goes_with_everything_that_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
