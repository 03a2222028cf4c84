/* core/net/web_tls.c: requests of scripts with certificates of their own. One loop plays both threads. */
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
#include "support/tls_bench.h"

static struct web *web;
static char peer[64];
static char *location; /* NULL: no redirect */
static size_t accepted;

static void on_request(void *ctx, struct tiny_conn *conn, struct str head, struct str body)
{
    struct tls_bench *bench = ctx;
    char line[300];
    const char *name = tiny_peer_name(conn);
    snprintf(peer, sizeof peer, "%s", name ? name : "");
    snprintf(line, sizeof line, "Location: %s\r\n", location ? location : "");
    accepted = tiny_server_accepted(bench->server);
    if (location)
        tiny_answer(conn, 307, line, "");
    else
        tiny_answer(conn, 200, "", "ok");
}

static int setup(void **state)
{
    struct tls_bench *bench = NEW(struct tls_bench);
    tls_bench_init(bench, "DNS:localhost,IP:127.0.0.1");
    *state = bench;
    return 0;
}

static void settle(struct tls_bench *bench)
{
    for (int i = 0; i < 20; i++) loop_once(bench->loop, false);
}

static int teardown(void **state)
{
    struct tls_bench *bench = *state;
    settle(bench);
    web_free(web);
    free(location);
    location = NULL;
    tls_bench_clear(bench);
    free(bench);
    return 0;
}

static void on_done(void *ctx, const struct web_reply *reply, const struct err *err)
{
    struct tls_bench *bench = ctx;
    bench->dones++;
    bench->status = reply ? reply->status : 0;
    err_clear(&bench->err);
    if (err) bench->err = *err;
}

static void serve(struct tls_bench *bench, bool wants_client)
{
    const struct tiny_handler handler = {.request = on_request, .ctx = bench};
    if (wants_client) tls_want_client(bench->tls, &bench->ca);
    tls_bench_serve(bench, bench->tls, &handler);
    char *one = xasprintf("127.0.0.1:%d", tiny_server_port(bench->server));
    char *other = xasprintf("localhost:%d", tiny_server_port(bench->server));
    struct web_allow *allow = web_allow_new((const char *const[]){one, other}, 2, &bench->err);
    assert_non_null(allow);
    web = web_new(&(struct web_options){
        .engine_loop = bench->loop, .io_loop = bench->loop, .allow = allow, .user_agent = "kubelua/1"});
    free(one);
    free(other);
}

static void ask(struct tls_bench *bench, const struct transport_tls *tls)
{
    int before = bench->dones;
    struct web_call *call = web_start(web,
                                      &(struct web_call_request){.method = "POST",
                                                                 .url = bench->url,
                                                                 .body = STR("x"),
                                                                 .timeout_ms = 10000,
                                                                 .body_max = 1000,
                                                                 .tls = tls},
                                      on_done, bench);
    while (bench->dones == before) loop_once(bench->loop, true);
    web_close(call);
    settle(bench);
}

static struct transport_tls tls_of(const struct tls_bench *bench, const struct tls_pair *client)
{
    struct transport_tls tls = {.ca_pem = str_of(bench->ca.cert_pem)};
    if (!client) return tls;
    tls.client_cert_pem = str_of(client->cert_pem);
    tls.client_key_pem = str_of(client->key_pem);
    return tls;
}

static void test_authorities_are_those_of_the_request_alone(void **state)
{
    struct tls_bench *bench = *state;
    struct transport_tls tls = tls_of(bench, NULL);
    serve(bench, false);
    ask(bench, &tls);
    assert_int_equal(bench->status, 200);
    ask(bench, NULL);
    assert_int_equal(bench->err.code, ERR_TLS);
    ask(bench, &(const struct transport_tls){.ca_pem = {0}});
    assert_int_equal(bench->err.code, ERR_TLS);
}

static void test_each_certificate_has_connections_of_its_own(void **state)
{
    struct tls_bench *bench = *state;
    struct transport_tls one = tls_of(bench, &bench->one), two = tls_of(bench, &bench->two);
    serve(bench, true);
    for (int i = 0; i < 3; i++) ask(bench, &one);
    assert_string_equal(peer, "one");
    assert_int_equal(accepted, 1);
    ask(bench, &two);
    assert_string_equal(peer, "two");
    ask(bench, &one);
    assert_string_equal(peer, "one");
    assert_int_equal(accepted, 2);
}

static void test_a_certificate_that_is_none_is_named(void **state)
{
    struct tls_bench *bench = *state;
    struct transport_tls tls = {.ca_pem = STR("s3cret")};
    serve(bench, false);
    ask(bench, &tls);
    assert_int_equal(bench->err.code, ERR_TLS);
    assert_null(strstr(bench->err.text, "s3cret"));
}

static void test_transports_that_nobody_uses_go(void **state)
{
    struct tls_bench *bench = *state;
    serve(bench, true);
    struct tls_pair pairs[12];
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        pairs[i] = tls_new_leaf(&bench->ca, "many", NULL);
        struct transport_tls tls = tls_of(bench, &pairs[i]);
        ask(bench, &tls);
        assert_int_equal(bench->status, 200);
    }
    settle(bench);
    assert_true(tiny_server_open(bench->server) <= 9);
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) tls_pair_clear(&pairs[i]);
}

/* Another server than that whose authorities were given is one for the system's, and sees no certificate. */
static void test_a_redirect_to_another_server_has_none_of_them(void **state)
{
    struct tls_bench *bench = *state;
    struct transport_tls tls = tls_of(bench, &bench->one);
    serve(bench, false);
    location = xasprintf("https://localhost:%d/y", tiny_server_port(bench->server));
    ask(bench, &tls);
    assert_int_equal(bench->err.code, ERR_TLS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_authorities_are_those_of_the_request_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_each_certificate_has_connections_of_its_own, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_certificate_that_is_none_is_named, setup, teardown),
        cmocka_unit_test_setup_teardown(test_transports_that_nobody_uses_go, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_redirect_to_another_server_has_none_of_them, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
