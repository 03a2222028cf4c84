/* See kube_bench.h. */
#include "core/kube/support/kube_bench.h"

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
    char path[512] = "";
    bench->conn = conn;
    bench->head.len = 0;
    buf_str(&bench->head, head);
    bench->body.len = 0;
    buf_str(&bench->body, body);
    sscanf(buf_text(&bench->head), "%*s %511s", path);
    buf_printf(&bench->requests, "%s\n", path);
    if (bench->answer) bench->answer(bench, conn, path);
}

static void on_guard(struct timer *timer)
{
    fail_msg("nothing happened for 20 s");
}

void bench_new_client(struct bench *bench, bool tls)
{
    bench->options.config = &bench->config;
    const struct tiny_handler handler = {.request = on_request, .ctx = bench};
    bench->tls = tls ? tls_server_context(&bench->leaf, NULL) : NULL;
    bench->server = tiny_server_new(bench->loop, bench->tls, &handler);
    bench->config.server =
        xasprintf("%s://127.0.0.1:%d/base", tls ? "https" : "http", tiny_server_port(bench->server));
    bench->config.ca_pem = tls ? xstrdup(bench->ca.cert_pem) : NULL;
    bench->client = kube_client_new(bench->loop, bench->pool, &bench->options, &bench->err);
    assert_non_null(bench->client);
}

int kube_bench_setup(void **state)
{
    struct bench *bench = NEW(struct bench);
    bench->loop = loop_new();
    bench->pool = pool_new(NULL);
    bench->ca = tls_new_ca("unit CA");
    bench->leaf = tls_new_leaf(&bench->ca, "server", "IP:127.0.0.1");
    bench->guard.fn = on_guard;
    timer_start(&bench->guard, loop_clock(bench->loop), 20000);
    *state = bench;
    return 0;
}

int kube_bench_teardown(void **state)
{
    struct bench *bench = *state;
    if (bench->source) bench->source->ops->free(bench->source);
    kube_client_free(bench->client);
    if (bench->server) tiny_server_free(bench->server);
    tls_server_context_free(bench->tls);
    tls_pair_clear(&bench->ca);
    tls_pair_clear(&bench->leaf);
    cluster_config_clear(&bench->config);
    catalogue_free(bench->catalogue);
    pool_free(bench->pool);
    loop_free(bench->loop);
    buf_clear(&bench->requests);
    buf_clear(&bench->head);
    buf_clear(&bench->body);
    buf_clear(&bench->log);
    free(bench);
    return 0;
}

void bench_until_done(struct bench *bench)
{
    int before = bench->dones;
    while (bench->dones == before) loop_once(bench->loop, true);
}

void bench_settle(struct bench *bench)
{
    for (int i = 0; i < 20; i++) loop_once(bench->loop, false);
}

bool bench_head_has(struct bench *bench, const char *line)
{
    return strstr(buf_text(&bench->head), line) != NULL;
}

void bench_note_end(struct bench *bench, const struct err *err)
{
    bench->dones++;
    if (err)
        bench->err = *err;
    else
        err_clear(&bench->err);
}
