/* Admin socket and its clients, for admin_socket.c, which accepts them, and admin_connection.c, which serves
 * them. Owner: the socket owns its clients. On the I/O thread, except where admin_connection.c says
 * otherwise. */
#pragma once
#include <ev.h>
#include <sys/queue.h>

#include "app/admin/admin_call.h"
#include "app/admin/admin_protocol.h"
#include "app/admin/admin_socket.h"
#include "net/unix_socket.h"

struct admin_connection;

struct admin_socket {
    struct admin_socket_options options;
    char *path;
    struct unix_socket_file file;
    int fd;
    ev_io acceptable;
    struct timer again; /* runs while the process has no descriptor for a client */
    bool starved;       /* a failed accept was logged, and none has worked since */
    struct tape_parser *parser;
    TAILQ_HEAD(, admin_connection) clients;
    size_t count;
};

/* Takes over the connection. */
void admin_connection_new(struct admin_socket *socket, int fd);
/* Frees all connections, at the end, when no request is in flight. */
void admin_connections_free(struct admin_socket *socket);

/* --- A call as the admin socket keeps it; see admin_call.h. Owner: its client. It is the I/O
 * thread's but while it is `open`, when it is the engine thread's. For these files only. */

struct admin_call {
    struct admin_request request;
    struct buf line; /* the request, with TAPE_PADDING behind it */
    struct tape_parser *parser;
    struct tape tape;
    _Atomic bool taken; /* a part accepted it: the reply may take any time */
    bool open, good;
    bool is_session;
    int fd; /* descriptor of a session on the engine thread; -1: taken, or no session */
    struct buf result;
    struct err err;
    void (*done)(struct admin_call *call);
    void (*gone)(void *ctx);
    void *gone_ctx;
};

/* On the engine thread. */
void admin_call_notify_disconnect(struct admin_call *call);
void admin_call_clear(struct admin_call *call);
