/* A transport, a server on the same loop, and calls that note what their exchange reported.
 * Owner: the test, by setup and teardown. A test that hangs fails after 20 s. */
#pragma once
#include <stdbool.h>

#include "base/buf.h"
#include "net/transport.h"
#include "support/tiny_server.h"

struct call {
    struct bench *bench;
    struct http_exchange *exchange; /* NULL once it ended */
    struct buf body;
    struct http_response response;
    char content_type[100], warning[200];
    struct err err;
    int heads, dones;
    bool cancel_in_head, cancel_in_body, cancel_in_done, refuse;
    struct call *start_next, *cancel_other; /* in on_done */
};

struct bench {
    struct loop *loop;
    struct tiny_server *server;
    struct transport *transport;
    struct buf request; /* the last head */
    struct buf request_body;
    size_t requests;
    struct tiny_conn *conn;                                      /* of the last request */
    void (*answer)(struct bench *bench, struct tiny_conn *conn); /* NULL: the test does */
    struct buf reply;
    struct timer guard;
};

extern const struct http_callbacks call_callbacks; /* with a struct call as ctx */
int http_bench_setup(void **state);
int http_bench_teardown(void **state);
/* The path of `request` is made a URL of the server. */
void bench_request(struct bench *bench, struct call *call, struct http_request *request);
void bench_start(struct bench *bench, struct call *call, const char *path);
/* Turn the loop until `*what` has the value. */
void bench_until(struct bench *bench, const int *what, int value);
void bench_until_size(struct bench *bench, const size_t *what, size_t value);
/* From here on the loop's clock stands still until it is moved; what becomes due by that is done. */
void bench_stop_clock(struct bench *bench);
void bench_move_clock(struct bench *bench, int64_t ms);
/* What is ready and due now has been done when this returns. */
void bench_settle(struct bench *bench);
void call_clear(struct call *call);
/* An answerer: 200 "hello". */
void bench_hello(struct bench *bench, struct tiny_conn *conn);
/* The last request's head has this stretch. */
bool bench_request_has(struct bench *bench, const char *line);
