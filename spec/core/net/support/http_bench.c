/* See http_bench.h. */
#include "core/net/support/http_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"

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

int http_bench_setup(void **state)
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

int http_bench_teardown(void **state)
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
    if (call->start_next) bench_start(call->bench, call->start_next, "/next");
    if (call->cancel_other && call->cancel_other->exchange) {
        http_cancel(call->cancel_other->exchange);
        call->cancel_other->exchange = NULL;
    }
}

const struct http_callbacks call_callbacks = {on_response, on_body, on_done, NULL};

void bench_request(struct bench *bench, struct call *call, struct http_request *request)
{
    struct http_callbacks own = call_callbacks;
    char *url = xasprintf("http://127.0.0.1:%d%s", tiny_server_port(bench->server), request->url);
    own.ctx = call;
    call->bench = bench;
    request->url = url;
    call->exchange = transport_start(bench->transport, request, &own, &call->err);
    assert_non_null(call->exchange);
    free(url);
}

void bench_start(struct bench *bench, struct call *call, const char *path)
{
    bench_request(bench, call, &(struct http_request){.method = "GET", .url = path});
}

void bench_until(struct bench *bench, const int *what, int value)
{
    while (*what != value) loop_once(bench->loop, true);
}

void bench_until_size(struct bench *bench, const size_t *what, size_t value)
{
    while (*what != value) loop_once(bench->loop, true);
}

void bench_settle(struct bench *bench)
{
    for (int i = 0; i < 20; i++) loop_once(bench->loop, false);
}

void call_clear(struct call *call)
{
    buf_clear(&call->body);
}

void bench_hello(struct bench *bench, struct tiny_conn *conn)
{
    tiny_answer(conn, 200, "Content-Type: text/plain\r\n", "hello");
}

bool bench_request_has(struct bench *bench, const char *line)
{
    return strstr(buf_text(&bench->request), line) != NULL;
}

static int64_t stopped_at_ms;

static int64_t stopped_now_ms(struct clock *clock)
{
    return stopped_at_ms;
}

void bench_stop_clock(struct bench *bench)
{
    struct clock *clock = loop_clock(bench->loop);
    timer_cancel(&bench->guard);
    stopped_at_ms = clock_now_ms(clock);
    clock->now_ms = stopped_now_ms;
}

void bench_move_clock(struct bench *bench, int64_t ms)
{
    struct clock *clock = loop_clock(bench->loop);
    stopped_at_ms += ms;
    clock->rearm(clock);
    bench_settle(bench);
}
