/* core/kube/api/text_stream.c: a text that grows, over HTTP. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/kube/support/kube_bench.h"
#include "kube/api/text_stream.h"

static struct text_stream *stream;

static void on_data(void *ctx, const char *data, size_t len)
{
    struct bench *bench = ctx;
    buf_append(&bench->log, data, len);
}

static void on_done(void *ctx, const struct err *err)
{
    stream = NULL;
    bench_note_end(ctx, err);
}

static const struct text_sink sink = {on_data, on_done};

static void answer(struct bench *bench, struct tiny_conn *conn, const char *path)
{
    bench->conn = conn;
    if (strstr(path, "/refused"))
        tiny_answer(conn, 400, "Content-Type: application/json\r\n",
                    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"message\":\"no container\",\"reason\":"
                    "\"BadRequest\",\"code\":400}");
    else if (strstr(path, "/none"))
        tiny_answer(conn, 204, "", "");
    else
        tiny_puts(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n");
}

static struct bench *start(void **state, const char *path)
{
    struct bench *bench = *state;
    bench_new_client(bench, false);
    bench->answer = answer;
    stream = text_stream_start(bench->client, path, &sink, bench);
    return bench;
}

static void until_log(struct bench *bench, const char *expected)
{
    while (bench->log.len < strlen(expected)) loop_once(bench->loop, true);
    assert_string_equal(buf_text(&bench->log), expected);
}

static void test_text_comes_as_it_is_sent(void **state)
{
    struct bench *bench = start(state, "/log?follow=true");
    while (!bench->conn) loop_once(bench->loop, true);
    assert_string_equal(buf_text(&bench->requests), "/base/log?follow=true\n");
    assert_false(bench_head_has(bench, "Accept-Encoding: gzip"));
    tiny_chunk(bench->conn, "one\n", 4);
    until_log(bench, "one\n");
    tiny_chunk(bench->conn, "tw", 2);
    until_log(bench, "one\ntw");
    tiny_chunk(bench->conn, "", 0);
    bench_until_done(bench);
    assert_int_equal(bench->err.code, ERR_NONE);
}

static void test_a_paused_one_waits(void **state)
{
    struct bench *bench = start(state, "/log");
    while (!bench->conn) loop_once(bench->loop, true);
    tiny_chunk(bench->conn, "one\n", 4);
    until_log(bench, "one\n");
    text_stream_pause(stream, true);
    tiny_chunk(bench->conn, "two\n", 4);
    bench_settle(bench);
    assert_string_equal(buf_text(&bench->log), "one\n");
    text_stream_pause(stream, false);
    until_log(bench, "one\ntwo\n");
    text_stream_cancel(stream);
    bench_settle(bench);
    assert_int_equal(bench->dones, 0);
}

static void test_errors_are_those_of_the_server_and_of_the_connection(void **state)
{
    struct bench *bench = start(state, "/refused");
    bench_until_done(bench);
    assert_int_equal(bench->err.http_status, 400);
    assert_string_equal(bench->err.text, "no container");
    stream = text_stream_start(bench->client, "/none", &sink, bench);
    bench_until_done(bench);
    assert_int_equal(bench->err.code, ERR_NONE);
    assert_int_equal(bench->log.len, 0);
    bench->conn = NULL;
    stream = text_stream_start(bench->client, "/log", &sink, bench);
    while (!bench->conn) loop_once(bench->loop, true);
    tiny_chunk(bench->conn, "one\n", 4);
    until_log(bench, "one\n");
    tiny_drop(bench->conn);
    bench_until_done(bench);
    assert_int_equal(bench->err.code, ERR_CLOSED);
}

#define T(name) cmocka_unit_test_setup_teardown(name, kube_bench_setup, kube_bench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_text_comes_as_it_is_sent),
        T(test_a_paused_one_waits),
        T(test_errors_are_those_of_the_server_and_of_the_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
