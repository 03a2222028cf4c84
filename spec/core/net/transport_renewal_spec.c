/* core/net/renewal.c and the authorize of core/net/admission.c: certificates that are replaced while requests
 * run (T-6), and requests that wait for credentials. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <curl/curl.h>
#include <malloc.h>

#include "base/mem.h"
#include "net/transport.h"
#include "support/tls_bench.h"

struct bench {
    struct tls_bench base;
    struct transport *transport;
    struct buf heads; /* of requests: "CN AUTHORIZATION\n" */
    bool hang;        /* answers begin and do not end */
    bool again;       /* an exchange that ends starts another */
    enum transport_permit permit;
    int asked;
    unsigned number;
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
    bench->number = response ? response->authorization : 0;
    tls_bench_done(&bench->base, response, err);
    if (bench->again) start(bench);
    bench->again = false;
}

static void start(struct bench *bench)
{
    const struct http_callbacks callbacks = {.on_done = on_done, .ctx = bench};
    const struct http_request request = {.url = bench->base.url, .authorize = true};
    assert_non_null(transport_start(bench->transport, &request, &callbacks, &bench->base.err));
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

static int setup(void **state)
{
    struct bench *bench = NEW(struct bench);
    struct tls_bench *base = &bench->base;
    tls_bench_init(base, "IP:127.0.0.1");
    tls_want_client(base->tls, &base->ca);
    tls_bench_serve(base, base->tls, &(struct tiny_handler){.request = on_request, .ctx = bench});
    const struct transport_options options = {
        .tls = {str_of(base->ca.cert_pem), str_of(base->one.cert_pem), str_of(base->one.key_pem)},
        .authorize = authorize,
        .ctx = bench,
    };
    bench->transport = transport_new(base->loop, &options, &base->err);
    *state = bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    transport_free(bench->transport);
    tls_bench_clear(&bench->base);
    buf_clear(&bench->heads);
    free(bench);
    return 0;
}

static void until_done(struct bench *bench, int dones)
{
    while (bench->base.dones < dones) loop_once(bench->base.loop, true);
}

static void settle(struct bench *bench)
{
    for (int i = 0; i < 20; i++) loop_once(bench->base.loop, false);
}

static bool set_pair(struct bench *bench, const struct tls_pair *cert, const struct tls_pair *key)
{
    const struct transport_tls tls = {.client_cert_pem = str_of(cert->cert_pem),
                                      .client_key_pem = str_of(key->key_pem)};
    return transport_set_tls(bench->transport, &tls, &bench->base.err);
}

static void test_t6_a_new_certificate_closes_all_connections(void **state)
{
    struct bench *bench = *state;
    bench->hang = true;
    start(bench);
    while (!bench->heads.len) loop_once(bench->base.loop, true);
    bench->hang = false;
    assert_true(set_pair(bench, &bench->base.two, &bench->base.two));
    assert_int_equal(bench->base.dones, 0); /* not from inside */
    bench->again = true;
    until_done(bench, 1);
    assert_int_equal(bench->base.err.code, ERR_CLOSED);
    assert_string_equal(bench->base.err.reason, "");
    assert_non_null(strstr(bench->base.err.text, "connection closed: the certificates have changed"));
    until_done(bench, 2); /* the one that the first one's end started */
    assert_int_equal(bench->base.err.code, ERR_NONE);
    settle(bench);
    assert_int_equal(tiny_server_open(bench->base.server), 1);
    assert_string_equal(buf_text(&bench->heads), "one Bearer late\ntwo Bearer late\n");
}

static void test_t6_the_same_certificate_closes_nothing(void **state)
{
    struct bench *bench = *state;
    start(bench);
    until_done(bench, 1);
    assert_true(set_pair(bench, &bench->base.one, &bench->base.one));
    start(bench);
    until_done(bench, 2);
    assert_int_equal(bench->base.err.code, ERR_NONE);
    assert_int_equal(tiny_server_accepted(bench->base.server), 1);
}

static void test_t6_what_cannot_be_used_changes_nothing(void **state)
{
    struct bench *bench = *state;
    assert_false(set_pair(bench, &bench->base.two, &bench->base.one));
    assert_int_equal(bench->base.err.code, ERR_TLS);
    assert_string_equal(bench->base.err.text, "the client key does not match the client certificate");
    start(bench);
    until_done(bench, 1);
    assert_string_equal(buf_text(&bench->heads), "one Bearer late\n");
}

static void test_t6_what_has_not_been_sent_goes_with_the_new_certificate(void **state)
{
    struct bench *bench = *state;
    start(bench);
    assert_true(set_pair(bench, &bench->base.two, &bench->base.two));
    until_done(bench, 1);
    assert_int_equal(bench->base.err.code, ERR_NONE);
    assert_string_equal(buf_text(&bench->heads), "two Bearer late\n");
}

static void test_t6_a_new_authority_is_the_only_one(void **state)
{
    struct bench *bench = *state;
    start(bench);
    until_done(bench, 1);
    struct tls_pair other = tls_new_ca("another CA");
    assert_true(transport_set_tls(bench->transport, &(struct transport_tls){.ca_pem = str_of(other.cert_pem)},
                                  &bench->base.err));
    start(bench);
    until_done(bench, 2);
    assert_int_equal(bench->base.err.code, ERR_TLS);
    tls_pair_clear(&other);
}

static void test_a_request_waits_for_its_permit(void **state)
{
    struct bench *bench = *state;
    bench->permit = PERMIT_WAIT;
    start(bench);
    settle(bench);
    assert_int_equal(bench->asked, 1);
    assert_int_equal(tiny_server_accepted(bench->base.server), 0);
    bench->permit = PERMIT_GO;
    settle(bench);
    assert_int_equal(bench->asked, 1); /* only when told to ask again */
    transport_resume(bench->transport);
    until_done(bench, 1);
    assert_int_equal(bench->base.status, 200);
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
    assert_int_equal(bench->base.dones, 0);
    until_done(bench, 3);
    assert_int_equal(bench->base.err.code, ERR_IO);
    assert_string_equal(bench->base.err.text, "no credentials to be had");
    assert_int_equal(tiny_server_accepted(bench->base.server), 0);
}

/* libcurl's copy of the header line is looked at when it is freed: it begins there, as in no other text. */
static int legible;

static void look_and_free(void *memory)
{
    static const char line[] = "Authorization: Bearer late";
    size_t size = memory ? malloc_usable_size(memory) : 0;
    if (size >= sizeof line && memcmp(memory, line, sizeof line) == 0) legible++;
    free(memory);
}

static void test_what_carried_a_token_is_wiped(void **state)
{
    struct bench *bench = *state;
    start(bench);
    until_done(bench, 1);
    assert_string_equal(buf_text(&bench->heads), "one Bearer late\n");
    assert_int_equal(legible, 0);
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
        T(test_what_carried_a_token_is_wiped),
        T(test_a_request_waits_for_its_permit),
        T(test_without_a_permit_requests_end_with_the_reason),
    };
    if (curl_global_init_mem(CURL_GLOBAL_DEFAULT, malloc, look_and_free, realloc, strdup, calloc)) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
