/* No server; see no_server.h. */
#include "engine/bucket/no_server.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "base/mem.h"

struct refused_exchange {
    LIST_ENTRY(refused_exchange) link;
    struct http_exchange *exchange;
};

struct no_server {
    struct http_local local;
    struct loop *loop;
    struct timer answer;
    LIST_HEAD(, refused_exchange) waiting;
};

static void forget(struct refused_exchange *refused)
{
    LIST_REMOVE(refused, link);
    free(refused);
}

static void on_answer(struct timer *timer)
{
    struct no_server *server = container_of(timer, struct no_server, answer);
    struct refused_exchange *refused;
    struct err err;
    while ((refused = LIST_FIRST(&server->waiting))) {
        struct http_exchange *exchange = refused->exchange;
        forget(refused);
        err_set(&err, ERR_CONNECT, "no cluster is configured, which requests of scripts need");
        http_local_end(exchange, &err);
    }
}

static void begin(struct http_local *local, struct http_exchange *exchange,
                  const struct http_request *request)
{
    struct no_server *server = container_of(local, struct no_server, local);
    struct refused_exchange *refused = NEW(struct refused_exchange);
    refused->exchange = exchange;
    LIST_INSERT_HEAD(&server->waiting, refused, link);
    if (!timer_running(&server->answer)) timer_start(&server->answer, loop_clock(server->loop), 0);
}

static void gone(struct http_local *local, struct http_exchange *exchange)
{
    struct no_server *server = container_of(local, struct no_server, local);
    struct refused_exchange *refused;
    LIST_FOREACH (refused, &server->waiting, link)
        if (refused->exchange == exchange) {
            forget(refused);
            return;
        }
}

struct no_server *no_server_new(void)
{
    struct no_server *server = NEW(struct no_server);
    server->local = (struct http_local){begin, gone};
    server->answer.fn = on_answer;
    return server;
}

void no_server_set_loop(struct no_server *server, struct loop *loop)
{
    server->loop = loop;
}

struct http_local *no_server_local(struct no_server *server)
{
    return &server->local;
}

void no_server_free(struct no_server *server)
{
    struct refused_exchange *refused;
    if (!server) return;
    timer_cancel(&server->answer);
    while ((refused = LIST_FIRST(&server->waiting))) forget(refused);
    free(server);
}
