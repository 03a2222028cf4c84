/* core/kube/config/tls_files.c: certificates that are replaced on disk (T-6, T-1), on a virtual clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "kube/config/tls_files.h"
#include "support/tls_bench.h"

struct bench {
    struct tls_bench base;
    struct virtual_clock clock; /* of the files; the transport has the loop's */
    struct transport *transport;
    struct tls_files *files;
    char dir[64], *ca_file, *cert_file, *key_file, peer[100];
};

static void put(const char *path, const char *text)
{
    char *fresh = xasprintf("%s.new", path);
    FILE *file = fopen(fresh, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(rename(fresh, path), 0);
    free(fresh);
}

static void put_pair(struct bench *bench, const struct tls_pair *pair)
{
    put(bench->cert_file, pair->cert_pem);
    put(bench->key_file, pair->key_pem);
}

static void on_request(void *ctx, struct tiny_conn *conn, struct str head, struct str body)
{
    struct bench *bench = ctx;
    snprintf(bench->peer, sizeof bench->peer, "%s", tiny_peer_name(conn));
    tiny_answer(conn, 200, "", "ok");
}

static int setup(void **state)
{
    struct bench *bench = NEW(struct bench);
    struct tls_bench *base = &bench->base;
    virtual_clock_init(&bench->clock);
    tls_bench_init(base, "IP:127.0.0.1");
    tls_want_client(base->tls, &base->ca);
    tls_bench_serve(base, base->tls, &(struct tiny_handler){.request = on_request, .ctx = bench});
    strcpy(bench->dir, "/tmp/tls_files_spec.XXXXXX");
    assert_non_null(mkdtemp(bench->dir));
    bench->ca_file = xasprintf("%s/ca.pem", bench->dir);
    bench->cert_file = xasprintf("%s/cert.pem", bench->dir);
    bench->key_file = xasprintf("%s/key.pem", bench->dir);
    put(bench->ca_file, base->ca.cert_pem);
    put_pair(bench, &base->one);
    const struct cluster_config config = {
        .ca_file = bench->ca_file, .client_cert_file = bench->cert_file, .client_key_file = bench->key_file};
    const struct transport_options options = {
        .tls = {str_of(base->ca.cert_pem), str_of(base->one.cert_pem), str_of(base->one.key_pem)}};
    bench->transport = transport_new(base->loop, &options, &base->err);
    bench->files = tls_files_new(&config, bench->transport, &bench->clock.clock);
    *state = bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    tls_files_free(bench->files);
    transport_free(bench->transport);
    tls_bench_clear(&bench->base);
    virtual_clock_clear(&bench->clock);
    char *const files[] = {bench->ca_file, bench->cert_file, bench->key_file};
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        unlink(files[i]);
        free(files[i]);
    }
    rmdir(bench->dir);
    free(bench);
    return 0;
}

/* The name in the certificate with which a request comes now, after a look at the files; "" when it fails. */
static const char *who(struct bench *bench)
{
    const struct http_callbacks callbacks = {.on_done = tls_bench_done, .ctx = &bench->base};
    int before = bench->base.dones;
    *bench->peer = '\0';
    tls_files_check(bench->files);
    assert_non_null(transport_start(bench->transport, &(struct http_request){.url = bench->base.url},
                                    &callbacks, &bench->base.err));
    while (bench->base.dones == before) loop_once(bench->base.loop, true);
    return bench->peer;
}

static void test_t6_a_pair_is_read_at_most_once_a_second(void **state)
{
    struct bench *bench = *state;
    assert_string_equal(who(bench), "one");
    put_pair(bench, &bench->base.two);
    virtual_clock_advance(&bench->clock, 999);
    assert_string_equal(who(bench), "one");
    virtual_clock_advance(&bench->clock, 1);
    assert_string_equal(who(bench), "two");
    virtual_clock_advance(&bench->clock, 1000);
    assert_string_equal(who(bench), "two");
    assert_int_equal(tiny_server_accepted(bench->base.server), 2); /* unchanged files close nothing */
}

static void test_t6_they_are_read_every_five_minutes_without_requests(void **state)
{
    struct bench *bench = *state;
    assert_string_equal(who(bench), "one");
    put_pair(bench, &bench->base.two);
    virtual_clock_advance(&bench->clock, 5 * 60000 - 1);
    for (int i = 0; i < 20; i++) loop_once(bench->base.loop, false);
    assert_int_equal(tiny_server_open(bench->base.server), 1);
    virtual_clock_advance(&bench->clock, 1);
    while (tiny_server_open(bench->base.server)) loop_once(bench->base.loop, true);
}

static void test_t6_half_a_pair_waits_for_the_other_half(void **state)
{
    struct bench *bench = *state;
    put(bench->cert_file, bench->base.two.cert_pem);
    virtual_clock_advance(&bench->clock, 1000);
    assert_string_equal(who(bench), "one");
    assert_int_equal(unlink(bench->key_file), 0);
    virtual_clock_advance(&bench->clock, 1000);
    assert_string_equal(who(bench), "one");
    put(bench->key_file, bench->base.two.key_pem);
    virtual_clock_advance(&bench->clock, 1000);
    assert_string_equal(who(bench), "two");
}

static void test_t6_an_authority_is_replaced_too(void **state)
{
    struct bench *bench = *state;
    struct tls_pair other = tls_new_ca("another CA");
    assert_string_equal(who(bench), "one");
    put(bench->ca_file, other.cert_pem);
    virtual_clock_advance(&bench->clock, 1000);
    assert_string_equal(who(bench), "");
    assert_int_equal(bench->base.err.code, ERR_TLS);
    put(bench->ca_file, bench->base.ca.cert_pem);
    virtual_clock_advance(&bench->clock, 1000);
    assert_string_equal(who(bench), "one");
    tls_pair_clear(&other);
}

static void test_t1_an_emptied_authority_does_not_mean_the_system_s_roots(void **state)
{
    struct bench *bench = *state;
    put(bench->ca_file, "");
    virtual_clock_advance(&bench->clock, 1000);
    assert_string_equal(who(bench), "one"); /* the old one stays */
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_t6_a_pair_is_read_at_most_once_a_second),
        T(test_t6_they_are_read_every_five_minutes_without_requests),
        T(test_t6_half_a_pair_waits_for_the_other_half),
        T(test_t6_an_authority_is_replaced_too),
        T(test_t1_an_emptied_authority_does_not_mean_the_system_s_roots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
