/* core/net/renewal.c and the authorize of core/net/admission.c: certificates that are replaced while requests
 * run (T-6), and requests that wait for credentials. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/transport.h"
#include "support/tiny_server.h"
#include "support/tls_files.h"

struct bench {
    struct loop *loop;
    struct tls_pair ca, leaf, one, two;
    struct ssl_ctx_st *tls;
    struct tiny_server *server;
    struct transport *transport;
    char *url;
    struct timer guard;
    struct buf heads; /* of requests: "CN AUTHORIZATION\n" */
    bool hang;        /* answers begin and do not end */
    bool again;       /* an exchange that ends starts another */
    enum transport_permit permit;
    int asked, starts, dones, status;
    unsigned number;
    struct err err;
};

static void on_request(void *ctx, struct tiny_conn *conn, struct str head, struct str body)
{
    struct bench *bench = ctx;
    struct buf text = {0};
    buf_str(&text, head);
    const char *value = strstr(buf_text(&text), "\r\nAuthorization: ");
    value = value ? value + strlen("\r\nAuthorization: ") : "\r";
    buf_printf(&bench->heads, "%s %.*s\n", tiny_peer_name(conn), (int)strcspn(value, "\r"), value);
    buf_clear(&text);
    if (bench->hang)
        tiny_puts(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n");
    else
        tiny_answer(conn, 200, "", "ok");
}

static void start(struct bench *bench);

static void on_done(void *ctx, const struct http_response *response, const struct err *err)
{
    struct bench *bench = ctx;
    bench->dones++;
    bench->status = response ? response->status : 0;
    bench->number = response ? response->authorization : 0;
    if (err)
        bench->err = *err;
    else
        err_clear(&bench->err);
    if (bench->again) start(bench);
    bench->again = false;
}

static void start(struct bench *bench)
{
    const struct http_callbacks callbacks = {.on_done = on_done, .ctx = bench};
    const struct http_request request = {.url = bench->url, .authorize = true};
    assert_non_null(transport_start(bench->transport, &request, &callbacks, &bench->err));
}

static enum transport_permit authorize(void *ctx, struct buf *value, unsigned *number, struct err *err)
{
    struct bench *bench = ctx;
    bench->asked++;
    if (bench->permit == PERMIT_GO) buf_puts(value, "Bearer late");
    *number = 7;
    if (bench->permit == PERMIT_FAIL) err_set(err, ERR_IO, "no credentials to be had");
    return bench->permit;
}

static void on_guard(struct timer *timer)
{
    fail_msg("nothing happened for 20 s");
}

static int setup(void **state)
{
    struct bench *bench = NEW(struct bench);
    bench->loop = loop_new();
    bench->ca = tls_new_ca("unit CA");
    bench->leaf = tls_new_leaf(&bench->ca, "server", "IP:127.0.0.1");
    bench->one = tls_new_leaf(&bench->ca, "one", NULL);
    bench->two = tls_new_leaf(&bench->ca, "two", NULL);
    bench->tls = tls_server_context(&bench->leaf, &bench->ca);
    bench->server =
        tiny_server_new(bench->loop, bench->tls, &(struct tiny_handler){.request = on_request, .ctx = bench});
    bench->url = xasprintf("https://127.0.0.1:%d/x", tiny_server_port(bench->server));
    const struct transport_options options = {
        .tls = {str_of(bench->ca.cert_pem), str_of(bench->one.cert_pem), str_of(bench->one.key_pem)},
        .authorize = authorize,
        .ctx = bench,
    };
    bench->transport = transport_new(bench->loop, &options, &bench->err);
    bench->guard.fn = on_guard;
    timer_start(&bench->guard, loop_clock(bench->loop), 20000);
    *state = bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    transport_free(bench->transport);
    tiny_server_free(bench->server);
    tls_server_context_free(bench->tls);
    tls_pair_clear(&bench->ca);
    tls_pair_clear(&bench->leaf);
    tls_pair_clear(&bench->one);
    tls_pair_clear(&bench->two);
    loop_free(bench->loop);
    buf_clear(&bench->heads);
    free(bench->url);
    free(bench);
    return 0;
}

static void until_done(struct bench *bench, int dones)
{
    while (bench->dones < dones) loop_once(bench->loop, true);
}

static void settle(struct bench *bench)
{
    for (int i = 0; i < 20; i++) loop_once(bench->loop, false);
}

static bool set_pair(struct bench *bench, const struct tls_pair *cert, const struct tls_pair *key)
{
    const struct transport_tls tls = {.client_cert_pem = str_of(cert->cert_pem),
                                      .client_key_pem = str_of(key->key_pem)};
    return transport_set_tls(bench->transport, &tls, &bench->err);
}

static void test_t6_a_new_certificate_closes_all_connections(void **state)
{
    struct bench *bench = *state;
    bench->hang = true;
    start(bench);
    while (!bench->heads.len) loop_once(bench->loop, true);
    bench->hang = false;
    assert_true(set_pair(bench, &bench->two, &bench->two));
    assert_int_equal(bench->dones, 0); /* not from inside */
    bench->again = true;
    until_done(bench, 1);
    assert_int_equal(bench->err.code, ERR_CLOSED);
    assert_string_equal(bench->err.reason, "");
    assert_non_null(strstr(bench->err.text, "connection closed: the certificates have changed"));
    until_done(bench, 2); /* the one that the first one's end started */
    assert_int_equal(bench->err.code, ERR_NONE);
    settle(bench);
    assert_int_equal(tiny_server_open(bench->server), 1);
    assert_string_equal(buf_text(&bench->heads), "one Bearer late\ntwo Bearer late\n");
}

static void test_t6_the_same_certificate_closes_nothing(void **state)
{
    struct bench *bench = *state;
    start(bench);
    until_done(bench, 1);
    assert_true(set_pair(bench, &bench->one, &bench->one));
    start(bench);
    until_done(bench, 2);
    assert_int_equal(bench->err.code, ERR_NONE);
    assert_int_equal(tiny_server_accepted(bench->server), 1);
}

static void test_t6_what_cannot_be_used_changes_nothing(void **state)
{
    struct bench *bench = *state;
    assert_false(set_pair(bench, &bench->two, &bench->one));
    assert_int_equal(bench->err.code, ERR_TLS);
    assert_string_equal(bench->err.text, "the client key does not belong to the client certificate");
    start(bench);
    until_done(bench, 1);
    assert_string_equal(buf_text(&bench->heads), "one Bearer late\n");
}

static void test_t6_what_has_not_been_sent_goes_with_the_new_certificate(void **state)
{
    struct bench *bench = *state;
    start(bench);
    assert_true(set_pair(bench, &bench->two, &bench->two));
    until_done(bench, 1);
    assert_int_equal(bench->err.code, ERR_NONE);
    assert_string_equal(buf_text(&bench->heads), "two Bearer late\n");
}

static void test_t6_a_new_authority_is_the_only_one(void **state)
{
    struct bench *bench = *state;
    start(bench);
    until_done(bench, 1);
    struct tls_pair other = tls_new_ca("another CA");
    assert_true(transport_set_tls(bench->transport, &(struct transport_tls){.ca_pem = str_of(other.cert_pem)},
                                  &bench->err));
    start(bench);
    until_done(bench, 2);
    assert_int_equal(bench->err.code, ERR_TLS);
    tls_pair_clear(&other);
}

static void test_a_request_waits_for_its_permit(void **state)
{
    struct bench *bench = *state;
    bench->permit = PERMIT_WAIT;
    start(bench);
    settle(bench);
    assert_int_equal(bench->asked, 1);
    assert_int_equal(tiny_server_accepted(bench->server), 0);
    bench->permit = PERMIT_GO;
    settle(bench);
    assert_int_equal(bench->asked, 1); /* only when told to ask again */
    transport_resume(bench->transport);
    until_done(bench, 1);
    assert_int_equal(bench->status, 200);
    assert_int_equal(bench->number, 7);
    assert_string_equal(buf_text(&bench->heads), "one Bearer late\n");
}

static void test_without_a_permit_requests_end_with_the_reason(void **state)
{
    struct bench *bench = *state;
    bench->permit = PERMIT_FAIL;
    bench->again = true;
    start(bench);
    start(bench);
    assert_int_equal(bench->dones, 0);
    until_done(bench, 3);
    assert_int_equal(bench->err.code, ERR_IO);
    assert_string_equal(bench->err.text, "no credentials to be had");
    assert_int_equal(tiny_server_accepted(bench->server), 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_t6_a_new_certificate_closes_all_connections),
        T(test_t6_the_same_certificate_closes_nothing),
        T(test_t6_what_cannot_be_used_changes_nothing),
        T(test_t6_what_has_not_been_sent_goes_with_the_new_certificate),
        T(test_t6_a_new_authority_is_the_only_one),
        T(test_a_request_waits_for_its_permit),
        T(test_without_a_permit_requests_end_with_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
