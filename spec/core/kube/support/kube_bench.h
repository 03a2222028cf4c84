/* A client, a server on the same loop, and room for what comes out.
 * Owner: the test, by setup and teardown. A test that hangs fails after 20 s. */
#pragma once
#include <stdbool.h>

#include "base/buf.h"
#include "kube/api/client.h"
#include "kube/api/list_watch.h"
#include "kube/kinds/resource.h"
#include "support/tiny_server.h"
#include "support/tls_files.h"

struct bench {
    struct loop *loop;
    struct pool *pool;
    struct tls_pair ca, leaf;
    struct ssl_ctx_st *tls;
    struct tiny_server *server;
    struct kube_client *client;
    struct cluster_config config;
    struct kube_client_options options; /* but for its configuration, which is the one above */
    struct list_watch *source;
    struct timer guard;
    struct buf requests;   /* first lines */
    struct buf head, body; /* of the last one */
    struct tiny_conn *conn;
    void (*answer)(struct bench *bench, struct tiny_conn *conn, const char *path);
    /* What came out: */
    struct buf log;
    struct err err;
    int dones;
    struct lw_call *call, *cancel_at_item;
    struct catalogue *catalogue;
};

/* A server and a client of it, made from `config`, `options` and its own address. */
void bench_new_client(struct bench *bench, bool tls);
int kube_bench_setup(void **state);
int kube_bench_teardown(void **state);
/* Until bench_note_end was called once more. */
void bench_until_done(struct bench *bench);
/* What is ready and due now has been done when this returns. */
void bench_settle(struct bench *bench);
/* The last request's head has this stretch. */
bool bench_head_has(struct bench *bench, const char *line);
/* What a test calls at the end of what it asked for. */
void bench_note_end(struct bench *bench, const struct err *err);
