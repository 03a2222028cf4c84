/* TLS of core/net/transport.c: whom it trusts, under which name, with which certificate (T-1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/pem.h"
#include "net/transport.h"
#include "support/tls_bench.h"

static int setup(void **state)
{
    struct tls_bench *bench = NEW(struct tls_bench);
    tls_bench_init(bench, "DNS:api.unit.example,IP:127.0.0.2");
    *state = bench;
    return 0;
}

static int teardown(void **state)
{
    tls_bench_clear(*state);
    free(*state);
    return 0;
}

static void serve(struct tls_bench *bench)
{
    tls_bench_serve(bench, bench->tls, NULL);
}

static void get(struct tls_bench *bench, const struct transport_options *options)
{
    tls_bench_get(bench, options, &(struct http_request){.url = bench->url});
}

static struct str ca_of(struct tls_bench *bench)
{
    return str_of(bench->ca.cert_pem);
}

static void test_the_server_name_is_what_is_requested_and_verified(void **state)
{
    struct tls_bench *bench = *state;
    serve(bench);
    get(bench,
        &(struct transport_options){.tls.ca_pem = ca_of(bench), .tls_server_name = "api.unit.example"});
    assert_int_equal(bench->err.code, ERR_NONE);
    assert_int_equal(bench->status, 200);
    assert_string_equal(tiny_server_sni(bench->server), "api.unit.example");
    char *host = xasprintf("\r\nHost: 127.0.0.1:%d\r\n", tiny_server_port(bench->server));
    assert_non_null(strstr(buf_text(&bench->request), host));
    assert_memory_equal(bench->request.data, "GET /x ", 7);
    free(host);
}

static void test_a_name_that_is_not_in_the_certificate_is_refused(void **state)
{
    struct tls_bench *bench = *state;
    serve(bench);
    get(bench, &(struct transport_options){.tls.ca_pem = ca_of(bench)});
    assert_int_equal(bench->err.code, ERR_TLS);
    char *text = xasprintf("TLS with 127.0.0.1:%d: ", tiny_server_port(bench->server));
    assert_memory_equal(bench->err.text, text, strlen(text));
    free(text);
    get(bench,
        &(struct transport_options){.tls.ca_pem = ca_of(bench), .tls_server_name = "other.unit.example"});
    assert_int_equal(bench->err.code, ERR_TLS);
    assert_int_equal(bench->request.len, 0);
}

/* T-1 */
static void test_a_name_that_is_only_the_subject_s_is_none(void **state)
{
    struct tls_bench *bench = *state;
    static const char *const alt_names[] = {NULL, "email:ops@unit.example"};
    for (size_t i = 0; i < ARRAY_LEN(alt_names); i++) {
        struct tls_pair leaf = tls_new_leaf(&bench->ca, "api.unit.example", alt_names[i]);
        struct ssl_ctx_st *tls = tls_server_context(&leaf, NULL);
        tls_bench_serve(bench, tls, NULL);
        get(bench,
            &(struct transport_options){.tls.ca_pem = ca_of(bench), .tls_server_name = "api.unit.example"});
        assert_int_equal(bench->err.code, ERR_TLS);
        assert_non_null(strstr(bench->err.text, ": the certificate has no subject alternative name"));
        get(bench, &(struct transport_options){.insecure_skip_tls_verify = true});
        assert_int_equal(bench->err.code, ERR_NONE);
        tiny_server_free(bench->server);
        bench->server = NULL;
        free(bench->url);
        bench->url = NULL;
        tls_server_context_free(tls);
        tls_pair_clear(&leaf);
    }
}

static void test_only_the_given_ca_is_trusted(void **state)
{
    struct tls_bench *bench = *state;
    struct tls_pair other = tls_new_ca("another CA");
    serve(bench);
    get(bench, &(struct transport_options){.tls.ca_pem = str_of(other.cert_pem),
                                           .tls_server_name = "api.unit.example"});
    assert_int_equal(bench->err.code, ERR_TLS);
    get(bench, &(struct transport_options){.tls_server_name = "api.unit.example"}); /* the system's roots */
    assert_int_equal(bench->err.code, ERR_TLS);
    tls_pair_clear(&other);
}

static void test_insecure_verifies_nothing(void **state)
{
    struct tls_bench *bench = *state;
    serve(bench);
    get(bench, &(struct transport_options){.insecure_skip_tls_verify = true});
    assert_int_equal(bench->err.code, ERR_NONE);
    assert_int_equal(bench->status, 200);
}

static void test_a_client_certificate_is_sent(void **state)
{
    struct tls_bench *bench = *state;
    struct transport_options options = {.tls.ca_pem = ca_of(bench), .tls_server_name = "api.unit.example"};
    tls_want_client(bench->tls, &bench->ca);
    serve(bench);
    get(bench, &options);
    assert_int_not_equal(bench->err.code, ERR_NONE); /* TLS 1.3: the refusal comes after the handshake */
    options.tls.client_cert_pem = str_of(bench->one.cert_pem);
    options.tls.client_key_pem = str_of(bench->one.key_pem);
    get(bench, &options);
    assert_int_equal(bench->err.code, ERR_NONE);
    assert_int_equal(bench->status, 200);
}

static void test_a_server_older_than_tls_1_2_is_refused(void **state)
{
    struct tls_bench *bench = *state;
    serve(bench);
    tls_only_old(bench->tls);
    get(bench,
        &(struct transport_options){.tls.ca_pem = ca_of(bench), .tls_server_name = "api.unit.example"});
    assert_int_equal(bench->err.code, ERR_TLS);
}

/* Starts `n` exchanges; they count their ends in `dones`. */
static void start_many(struct tls_bench *bench, struct transport *transport, int n)
{
    const struct http_callbacks callbacks = {.on_done = tls_bench_done, .ctx = bench};
    bench->dones = 0;
    for (int i = 0; i < n; i++)
        assert_non_null(
            transport_start(transport, &(struct http_request){.url = bench->url}, &callbacks, &bench->err));
}

static void test_a_burst_of_requests_is_no_burst_of_handshakes(void **state)
{
    struct tls_bench *bench = *state;
    serve(bench);
    struct transport *transport = transport_new(
        bench->loop, &(struct transport_options){.insecure_skip_tls_verify = true}, &bench->err);
    start_many(bench, transport, 20);
    while (!bench->request.len) { /* it has not got through yet */
        assert_in_range(tiny_server_accepted(bench->server), 0, 1);
        loop_once(bench->loop, true);
    }
    while (bench->dones < 20) loop_once(bench->loop, true);
    assert_int_equal(bench->err.code, ERR_NONE);
    transport_free(transport);
}

static void test_requests_do_not_fail_one_after_the_other(void **state)
{
    struct tls_bench *bench = *state;
    struct loop *loop = bench->loop;
    tls_bench_serve(bench, NULL, NULL); /* it speaks no TLS */
    struct transport *transport =
        transport_new(loop, &(struct transport_options){.connect_timeout_ms = 500}, &bench->err);
    int64_t from = clock_now_ms(loop_clock(loop));
    start_many(bench, transport, 20);
    while (bench->dones < 20) loop_once(loop, true);
    assert_int_equal(bench->err.code, ERR_TIMEOUT);
    assert_in_range(clock_now_ms(loop_clock(loop)) - from, 500, 5000); /* not 20 times 500 */
    transport_free(transport);
}

static void test_the_one_that_others_wait_for_may_be_cancelled(void **state)
{
    struct tls_bench *bench = *state;
    serve(bench);
    struct transport *transport = transport_new(
        bench->loop, &(struct transport_options){.insecure_skip_tls_verify = true}, &bench->err);
    const struct http_callbacks callbacks = {.on_done = tls_bench_done, .ctx = bench};
    struct http_exchange *first =
        transport_start(transport, &(struct http_request){.url = bench->url}, &callbacks, &bench->err);
    start_many(bench, transport, 2);
    loop_once(bench->loop, true);
    http_cancel(first);
    while (bench->dones < 2) loop_once(bench->loop, true);
    assert_int_equal(bench->err.code, ERR_NONE);
    transport_free(transport);
}

static void expect_unusable(struct tls_bench *bench, const struct transport_options *options,
                            const char *text)
{
    assert_null(transport_new(bench->loop, options, &bench->err));
    assert_int_equal(bench->err.code, ERR_TLS);
    if (strncmp(bench->err.text, text, strlen(text)) != 0)
        fail_msg("\"%s\" is not \"%s\"", bench->err.text, text);
}

static void test_unusable_certificates_are_found_when_the_transport_is_made(void **state)
{
    struct tls_bench *bench = *state;
    struct str cert = str_of(bench->one.cert_pem), key = str_of(bench->one.key_pem);
    expect_unusable(bench, &(struct transport_options){.tls.ca_pem = STR("nonsense")},
                    "certificate authority: no certificate in PEM form");
    expect_unusable(bench, &(struct transport_options){.tls.ca_pem = cert, .insecure_skip_tls_verify = true},
                    "a certificate authority and insecure-skip-tls-verify are mutually exclusive");
    expect_unusable(bench, &(struct transport_options){.tls.client_cert_pem = cert},
                    "a client certificate without its key");
    expect_unusable(bench, &(struct transport_options){.tls.client_key_pem = key},
                    "a client key without its certificate");
    expect_unusable(bench,
                    &(struct transport_options){.tls.client_cert_pem = cert,
                                                .tls.client_key_pem = str_of(bench->leaf.key_pem)},
                    "the client key does not match the client certificate");
    expect_unusable(bench,
                    &(struct transport_options){.tls.client_cert_pem = cert, .tls.client_key_pem = cert},
                    "client key: no private key in PEM form");
    expect_unusable(bench, &(struct transport_options){.tls.client_cert_pem = key, .tls.client_key_pem = key},
                    "client certificate: no certificate in PEM form");
}

static void test_a_broken_certificate_behind_a_good_one_is_found(void **state)
{
    struct tls_bench *bench = *state;
    struct err err;
    char *two = xasprintf("%s%s", bench->ca.cert_pem, bench->leaf.cert_pem);
    char *broken =
        xasprintf("%s-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", bench->ca.cert_pem);
    assert_true(pem_check_certificates(str_of(two), &err));
    assert_false(pem_check_certificates(str_of(broken), &err));
    assert_memory_equal(err.text, "certificate 2 is broken: ", 25);
    free(two);
    free(broken);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_the_server_name_is_what_is_requested_and_verified),
        T(test_a_name_that_is_not_in_the_certificate_is_refused),
        T(test_a_name_that_is_only_the_subject_s_is_none),
        T(test_only_the_given_ca_is_trusted),
        T(test_insecure_verifies_nothing),
        T(test_a_client_certificate_is_sent),
        T(test_a_server_older_than_tls_1_2_is_refused),
        T(test_a_burst_of_requests_is_no_burst_of_handshakes),
        T(test_requests_do_not_fail_one_after_the_other),
        T(test_the_one_that_others_wait_for_may_be_cancelled),
        T(test_unusable_certificates_are_found_when_the_transport_is_made),
        T(test_a_broken_certificate_behind_a_good_one_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
