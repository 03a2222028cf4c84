/* core/net/http_exchange.c: a connection that ends at any byte of an answer, over each protocol: on_done
 * comes once, with an error or a whole answer and never with neither, and the next exchange works. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/transport.h"
#include "support/cut_server.h"

static struct loop *loop;
static struct tls_pair ca, leaf;
static struct timer guard;
static struct cut_server *server;
static struct transport *transport;
static const struct cut_answer *answer;
static enum cut_wire wire;

/* An answer; `eof_ends` not 0: from that byte on the end of the connection is the end of the answer. */
struct shape {
    const char *method;
    struct cut_answer answer;
    size_t eof_ends;
};

/* What one exchange reported. */
struct seen {
    int heads, dones, status;
    struct buf body;
    struct err err;
};

static void on_guard(struct timer *timer)
{
    fail_msg("nothing happened for 20 s");
}

static int setup(void **state)
{
    loop = loop_new();
    ca = tls_new_ca("unit CA");
    leaf = tls_new_leaf(&ca, "server", "IP:127.0.0.1");
    guard.fn = on_guard;
    return 0;
}

static int teardown(void **state)
{
    tls_pair_clear(&ca);
    tls_pair_clear(&leaf);
    timer_cancel(&guard);
    loop_free(loop);
    return 0;
}

static const struct cut_answer *give(void *ctx, const char *method, const char *path)
{
    return answer;
}

static void open_server(enum cut_wire over, const struct cut_answer *what)
{
    answer = what;
    wire = over;
    server = cut_server_new(
        &(struct cut_server_options){.loop = loop, .wire = wire, .leaf = &leaf, .answer = give});
}

static void open_transport(const char *proxy)
{
    struct err err;
    transport = transport_new(
        loop, &(struct transport_options){.tls.ca_pem = str_of(ca.cert_pem), .proxy_url = proxy}, &err);
    if (!transport) fail_msg("%s", err.text);
}

static void close_all(void)
{
    transport_free(transport);
    transport = NULL;
    cut_server_free(server);
}

static void on_response(void *ctx, const struct http_response *response)
{
    struct seen *seen = ctx;
    seen->heads++;
    seen->status = response->status;
}

static bool on_body(void *ctx, const char *data, size_t len)
{
    struct seen *seen = ctx;
    assert_int_equal(seen->heads, 1);
    buf_append(&seen->body, data, len);
    return true;
}

/* The contract: exactly one of them says how it ended. */
static void on_done(void *ctx, const struct http_response *response, const struct err *err)
{
    struct seen *seen = ctx;
    seen->dones++;
    assert_int_equal(response != NULL, seen->heads);
    if (!err && !response) fail_msg("neither an answer nor an error");
    err_clear(&seen->err);
    if (err) {
        assert_int_not_equal(err->code, ERR_NONE);
        assert_string_not_equal(err->text, "");
        seen->err = *err;
    }
}

static void ask(struct seen *seen, const char *method, const char *base)
{
    const struct http_callbacks callbacks = {on_response, on_body, on_done, seen};
    char *url = xasprintf("%s/x", base);
    buf_clear(&seen->body);
    *seen = (struct seen){0};
    timer_start(&guard, loop_clock(loop), 20000);
    assert_non_null(transport_start(transport, &(struct http_request){.method = method, .url = url},
                                    &callbacks, &seen->err));
    while (!seen->dones) loop_once(loop, true);
    free(url);
}

static void assert_whole(const struct seen *seen)
{
    struct buf whole = {0};
    for (const char *const *piece = answer->pieces; piece && *piece; piece++) buf_puts(&whole, *piece);
    if (seen->err.code != ERR_NONE) fail_msg("%s", seen->err.text);
    assert_int_equal(seen->status, answer->status);
    if (!answer->raw) assert_true(str_eq(buf_slice(&seen->body), buf_slice(&whole)));
    buf_clear(&whole);
}

/* Whether nobody can miss what is missing: the very last line feed, or anything after a head whose body goes
 * on to the end of the connection. */
static bool may_be_whole(const struct shape *shape, size_t at)
{
    if (shape->eof_ends && at >= shape->eof_ends) return true;
    return wire != WIRE_H2 && at + 1 == cut_server_length(server);
}

/* One cut; false when the answer is not so long. `again`: libcurl may have asked again by itself, over a
 * connection that it had kept; and the next exchange of the transport works. */
static bool cut_one(const struct shape *shape, size_t at, enum cut_way way, bool again)
{
    struct seen seen = {0};
    cut_server_arm(server, 0, at, way);
    ask(&seen, shape->method, cut_server_url(server));
    bool has_cut = cut_server_has_cut(server), good = seen.err.code == ERR_NONE;
    if (!has_cut || (again && good && cut_server_requests(server) == 2))
        assert_whole(&seen);
    else if (good && !may_be_whole(shape, at))
        fail_msg("%s at byte %zu of %zu: no error", cut_way_name(way), at, cut_server_length(server));
    else if (!good && seen.err.code != ERR_CLOSED)
        fail_msg("%s at byte %zu: %s", cut_way_name(way), at, seen.err.text);
    if (again) {
        ask(&seen, shape->method, cut_server_url(server));
        assert_whole(&seen);
    }
    buf_clear(&seen.body);
    return has_cut;
}

/* `fresh`: each has connections of its own; else the exchange that is cut may be on one that was kept. */
static void cut_everywhere(enum cut_wire over, const struct shape *shape, bool fresh)
{
    open_server(over, &shape->answer);
    open_transport(NULL);
    for (enum cut_way way = 0; way < CUT_WAYS; way++) {
        bool more = wire != WIRE_PLAIN || way != CUT_DROP;
        for (size_t at = 0; more; at += CUT_STEP) {
            more = cut_one(shape, at, way, !fresh);
            if (!fresh) continue;
            transport_free(transport);
            open_transport(NULL);
        }
    }
    close_all();
}

static const char *const pieces[] = {"{\"a\":1}\n", "a longer piece than ten bytes", "x", NULL};
static const struct shape usual = {
    .method = "GET",
    .answer = {.status = 200,
               .headers = "Content-Type: application/json\r\nRetry-After: 1\r\n",
               .pieces = pieces,
               .trailers = "X-Sum: 12\r\nX-More: 1\r\n"}};

static void test_h4_http1_cut_at_any_byte_is_an_error(void **state)
{
    cut_everywhere(WIRE_PLAIN, &usual, true);
}

static void test_h4_http1_over_tls_cut_at_any_byte_is_an_error(void **state)
{
    cut_everywhere(WIRE_TLS, &usual, true);
}

static void test_h4_h2_cut_at_any_byte_is_an_error(void **state)
{
    cut_everywhere(WIRE_H2, &usual, true);
}

static void test_a_kept_connection_is_cut_likewise(void **state)
{
    for (enum cut_wire each = 0; each < WIRE_COUNT; each++) cut_everywhere(each, &usual, false);
}

#define HEAD "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
static void test_responses_of_other_shapes_are_cut_likewise(void **state)
{
    static const struct shape shapes[] = {
        {"GET", {.status = 200, .raw = HEAD "Content-Length: 5\r\n\r\nhello"}, 0},
        {"GET", {.status = 200, .raw = HEAD "Content-Length: 0\r\n\r\n"}, 0},
        {"HEAD", {.status = 200, .raw = HEAD "Content-Length: 5\r\n\r\n"}, 0},
        {"GET",
         {.status = 200, .raw = HEAD "Connection: close\r\n\r\nhello", .closes = true},
         sizeof(HEAD "Connection: close\r\n\r\n") - 1},
        {"DELETE", {.status = 204, .raw = "HTTP/1.1 204 No Content\r\n\r\n"}, 0},
        {"GET", {.status = 503, .raw = "HTTP/1.1 503 Busy\r\nContent-Length: 2\r\n\r\nno"}, 0},
        {"GET",
         {.status = 200,
          .raw = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" HEAD
                 "Content-Length: 2\r\n\r\nok"},
         0},
    };
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++) cut_everywhere(WIRE_PLAIN, &shapes[i], true);
}

/* Of these nothing is missing, but there is no final head as libcurl knows it. */
static void test_a_head_that_is_no_response_is_an_error(void **state)
{
    static const char *const heads[] = {
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nbytes of another "
        "protocol",
        "HTTP/1.1 099 Odd\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 199 Odd\r\n\r\n",
        "HTTP/1.1\r\n\r\n",
        "HTTP/0.9 body alone",
        "\r\n\r\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
        struct seen seen = {0};
        char *raw = xasprintf("%s!", heads[i]);
        const struct cut_answer odd = {.status = 200, .raw = raw};
        open_server(WIRE_PLAIN, &odd);
        open_transport(NULL);
        cut_server_arm(server, 0, strlen(heads[i]), CUT_END);
        ask(&seen, "GET", cut_server_url(server));
        assert_int_equal(seen.dones, 1);
        assert_int_not_equal(seen.err.code, ERR_NONE);
        buf_clear(&seen.body);
        close_all();
        free(raw);
    }
}

static void test_h2_streams_and_connections_that_the_server_ends_are_errors(void **state)
{
    static const unsigned codes[] = {0, 1, 2,
                                     7, 8, 11}; /* NO_ERROR, PROTOCOL, INTERNAL, REFUSED, CANCEL, CALM */
    open_server(WIRE_H2, &usual.answer);
    for (size_t i = 0; i < 2 * ARRAY_LEN(codes); i++) {
        struct seen seen = {0};
        open_transport(NULL);
        if (i % 2)
            cut_server_arm_goaway(server, codes[i / 2]);
        else
            cut_server_arm_reset(server, codes[i / 2]);
        ask(&seen, "GET", cut_server_url(server));
        if (seen.err.code == ERR_NONE) assert_int_equal(cut_server_requests(server), 2);
        ask(&seen, "GET", cut_server_url(server));
        assert_whole(&seen);
        buf_clear(&seen.body);
        transport_free(transport);
    }
    transport = NULL;
    close_all();
}

/* The answer to CONNECT, and then the answer itself as usual. */
static void test_a_proxy_that_goes_away_is_an_error(void **state)
{
    static const struct shape tunnel = {
        "GET", {.status = 200, .raw = "HTTP/1.1 200 Connected\r\nVia: 1.1 unit\r\n\r\n"}, 0};
    open_server(WIRE_PLAIN, &tunnel.answer);
    for (size_t at = 0; at < strlen(tunnel.answer.raw); at++) {
        for (enum cut_way way = CUT_END; way < CUT_WAYS; way++) {
            struct seen seen = {0};
            open_transport(cut_server_url(server));
            cut_server_arm(server, 0, at, way);
            ask(&seen, "GET", "https://10.0.0.1:6443");
            assert_int_equal(seen.heads, 0);
            assert_int_not_equal(seen.err.code, ERR_NONE);
            transport_free(transport);
        }
    }
    transport = NULL;
    close_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_h4_http1_cut_at_any_byte_is_an_error),
        cmocka_unit_test(test_h4_http1_over_tls_cut_at_any_byte_is_an_error),
        cmocka_unit_test(test_h4_h2_cut_at_any_byte_is_an_error),
        cmocka_unit_test(test_a_kept_connection_is_cut_likewise),
        cmocka_unit_test(test_responses_of_other_shapes_are_cut_likewise),
        cmocka_unit_test(test_a_head_that_is_no_response_is_an_error),
        cmocka_unit_test(test_h2_streams_and_connections_that_the_server_ends_are_errors),
        cmocka_unit_test(test_a_proxy_that_goes_away_is_an_error),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
