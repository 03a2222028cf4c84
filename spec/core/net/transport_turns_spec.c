/* core/net/http_exchange.c: a long body comes in shares, one for each turn of the loop, and whole. */
#include "core/net/support/http_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/mem.h"

enum {
    BODY = 8 * HTTP_TURN_BYTES,
    CHUNK = 16 << 10, /* the most that libcurl gives at once */
    SHARE = HTTP_TURN_BYTES + CHUNK,
};

/* Compresses well, and no two stretches of it are equal. */
static void fill(struct buf *text)
{
    text->len = 0;
    for (unsigned n = 0; text->len < BODY; n++)
        buf_printf(text, "{\"number\":%u,\"text\":\"what comes again and again and again\"},\n", n);
}

static void send_plain(struct bench *bench, struct tiny_conn *conn)
{
    struct buf head = {0};
    fill(&bench->reply);
    buf_printf(&head, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", bench->reply.len);
    tiny_puts(conn, buf_text(&head));
    tiny_send(conn, bench->reply.data, bench->reply.len);
    buf_clear(&head);
}

/* Its end is that of the connection. */
static void send_without_length(struct bench *bench, struct tiny_conn *conn)
{
    fill(&bench->reply);
    tiny_puts(conn, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
    tiny_send(conn, bench->reply.data, bench->reply.len);
    tiny_close(conn);
}

static void send_compressed(struct bench *bench, struct tiny_conn *conn)
{
    struct buf out = {0}, head = {0};
    z_stream z = {0};
    fill(&bench->reply);
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)bench->reply.data;
    z.avail_in = (uInt)bench->reply.len;
    z.next_out = (Bytef *)buf_reserve(&out, BODY);
    z.avail_out = BODY;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    assert_true(z.total_out < BODY / 10);
    buf_printf(&head, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %lu\r\n\r\n",
               z.total_out);
    tiny_puts(conn, buf_text(&head));
    tiny_send(conn, out.data, z.total_out);
    deflateEnd(&z);
    buf_clear(&out);
    buf_clear(&head);
}

static void assert_whole(const struct bench *bench, const struct call *call)
{
    assert_int_equal(call->dones, 1);
    assert_int_equal(call->err.code, ERR_NONE);
    assert_int_equal(call->body.len, bench->reply.len);
    assert_memory_equal(call->body.data, bench->reply.data, call->body.len);
}

/* Gives the most that one turn brought. */
static size_t most_of_a_turn(struct bench *bench, void (*answer)(struct bench *bench, struct tiny_conn *conn))
{
    struct call call = {0};
    size_t most = 0;
    bench->answer = answer;
    bench_start(bench, &call, "/");
    while (!call.dones) {
        size_t before = call.body.len;
        loop_once(bench->loop, true);
        if (call.body.len - before > most) most = call.body.len - before;
    }
    assert_whole(bench, &call);
    call_clear(&call);
    return most;
}

static void test_a_compressed_body_is_given_in_shares(void **state)
{
    assert_in_range(most_of_a_turn(*state, send_compressed), HTTP_TURN_BYTES, SHARE);
}

/* Of these a turn brings as much as sockets hold. */
static void test_a_body_with_a_length_comes_completely(void **state)
{
    assert_in_range(most_of_a_turn(*state, send_plain), 1, SHARE);
}

static void test_a_body_that_ends_with_its_connection_comes_completely(void **state)
{
    assert_in_range(most_of_a_turn(*state, send_without_length), 1, SHARE);
}

static void hello_or_much(struct bench *bench, struct tiny_conn *conn)
{
    (bench_request_has(bench, "GET /hello") ? bench_hello : send_compressed)(bench, conn);
}

/* A lease's renewal, say. */
static void test_a_short_response_does_not_wait_for_a_long_one(void **state)
{
    struct bench *bench = *state;
    struct call list = {0}, hello = {0};
    bench->answer = hello_or_much;
    bench_start(bench, &list, "/");
    while (!list.body.len) loop_once(bench->loop, true);
    bench_start(bench, &hello, "/hello");
    bench_until(bench, &hello.dones, 1);
    assert_int_equal(list.dones, 0);
    bench_until(bench, &list.dones, 1);
    assert_whole(bench, &list);
    call_clear(&list);
    call_clear(&hello);
}

static void test_an_exchange_that_is_paused_gets_no_further_share(void **state)
{
    struct bench *bench = *state;
    struct call call = {0};
    bench->answer = send_compressed;
    bench_start(bench, &call, "/");
    while (!call.body.len) loop_once(bench->loop, true);
    http_pause(call.exchange, true);
    size_t before = call.body.len;
    bench_settle(bench);
    assert_int_equal(call.body.len, before);
    http_pause(call.exchange, false);
    bench_until(bench, &call.dones, 1);
    assert_whole(bench, &call);
    call_clear(&call);
}

static void test_an_exchange_may_end_before_its_next_share(void **state)
{
    struct bench *bench = *state;
    struct call call = {0}, refused = {.refuse = true};
    bench->answer = send_compressed;
    bench_start(bench, &call, "/");
    while (!call.body.len) loop_once(bench->loop, true);
    http_cancel(call.exchange);
    bench_settle(bench);
    assert_int_equal(call.dones, 0);
    bench_start(bench, &refused, "/");
    bench_until(bench, &refused.dones, 1);
    assert_int_equal(refused.err.code, ERR_CANCELLED);
    call_clear(&call);
    call_clear(&refused);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, http_bench_setup, http_bench_teardown)
    const struct CMUnitTest tests[] = {
        T(test_a_compressed_body_is_given_in_shares),
        T(test_a_body_with_a_length_comes_completely),
        T(test_a_body_that_ends_with_its_connection_comes_completely),
        T(test_a_short_response_does_not_wait_for_a_long_one),
        T(test_an_exchange_that_is_paused_gets_no_further_share),
        T(test_an_exchange_may_end_before_its_next_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
