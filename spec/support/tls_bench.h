/* What units of TLS share: a loop that does not run for ever, a server with certificates made on the spot,
 * and what became of the last request. Owner: the test; tls_bench_clear frees what it holds, after the test's
 * own transports. Everything runs on the loop's thread. */
#pragma once
#include "base/clock.h"
#include "base/err.h"
#include "net/transport.h"
#include "support/tiny_server.h"
#include "support/tls_files.h"

struct tls_bench {
    struct loop *loop;
    struct timer guard;
    struct tls_pair ca, leaf, one, two; /* `leaf` is the server's; "one" and "two" are clients' names */
    struct ssl_ctx_st *tls;             /* of a server with `leaf` */
    struct tiny_server *server;         /* NULL before tls_bench_serve */
    char *url;                          /* https://127.0.0.1:PORT/x, likewise */
    struct buf request;                 /* the head of the last one, unless the test has a handler */
    int dones, status;                  /* of the last end; 0: there was no answer */
    struct err err;                     /* likewise; clear when it was good */
};

/* `alt_names` are the server's, as tls_new_leaf takes them. */
void tls_bench_init(struct tls_bench *bench, const char *alt_names);
void tls_bench_clear(struct tls_bench *bench);
/* `tls`: bench->tls, or NULL for a plain server. `handler` NULL: it notes `request` and answers "ok". */
void tls_bench_serve(struct tls_bench *bench, struct ssl_ctx_st *tls, const struct tiny_handler *handler);
/* The on_done of http_callbacks; `bench` is their ctx. */
void tls_bench_done(void *bench, const struct http_response *response, const struct err *err);
/* One GET to its end, by a transport of its own; the test fails when there can be none. */
void tls_bench_get(struct tls_bench *bench, const struct transport_options *options,
                   const struct http_request *request);
