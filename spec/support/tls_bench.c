/* A server, its certificates and the ends of requests; see tls_bench.h. */
#include "support/tls_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"

static void on_guard(struct timer *timer)
{
    fail_msg("nothing happened for 20 s");
}

void tls_bench_init(struct tls_bench *bench, const char *alt_names)
{
    *bench = (struct tls_bench){.loop = loop_new(), .ca = tls_new_ca("unit CA")};
    bench->leaf = tls_new_leaf(&bench->ca, "server", alt_names);
    bench->one = tls_new_leaf(&bench->ca, "one", NULL);
    bench->two = tls_new_leaf(&bench->ca, "two", NULL);
    bench->tls = tls_server_context(&bench->leaf, NULL);
    bench->guard.fn = on_guard;
    timer_start(&bench->guard, loop_clock(bench->loop), 20000);
}

void tls_bench_clear(struct tls_bench *bench)
{
    if (bench->server) tiny_server_free(bench->server);
    tls_server_context_free(bench->tls);
    tls_pair_clear(&bench->ca);
    tls_pair_clear(&bench->leaf);
    tls_pair_clear(&bench->one);
    tls_pair_clear(&bench->two);
    timer_cancel(&bench->guard);
    loop_free(bench->loop);
    buf_clear(&bench->request);
    free(bench->url);
}

static void on_request(void *ctx, struct tiny_conn *conn, struct str head, struct str body)
{
    struct tls_bench *bench = ctx;
    bench->request.len = 0;
    buf_str(&bench->request, head);
    tiny_answer(conn, 200, "", "ok");
}

void tls_bench_serve(struct tls_bench *bench, struct ssl_ctx_st *tls, const struct tiny_handler *handler)
{
    const struct tiny_handler own = {.request = on_request, .ctx = bench};
    bench->server = tiny_server_new(bench->loop, tls, handler ? handler : &own);
    bench->url = xasprintf("https://127.0.0.1:%d/x", tiny_server_port(bench->server));
}

void tls_bench_done(void *ctx, const struct http_response *response, const struct err *err)
{
    struct tls_bench *bench = ctx;
    bench->dones++;
    bench->status = response ? response->status : 0;
    if (err)
        bench->err = *err;
    else
        err_clear(&bench->err);
}

void tls_bench_get(struct tls_bench *bench, const struct transport_options *options,
                   const struct http_request *request)
{
    const struct http_callbacks callbacks = {.on_done = tls_bench_done, .ctx = bench};
    struct transport *transport = transport_new(bench->loop, options, &bench->err);
    if (!transport) fail_msg("%s", bench->err.text);
    int before = bench->dones;
    bench->request.len = 0;
    assert_non_null(transport_start(transport, request, &callbacks, &bench->err));
    while (bench->dones == before) loop_once(bench->loop, true);
    transport_free(transport);
}
