/* Sockets, and TLS by OpenSSL, for units; see tiny_server.h. */
#include "support/tiny_server.h"

#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/must.h"

struct tiny_conn {
    struct tiny_server *server;
    int fd;
    SSL *ssl;
    ev_io io;
    struct buf in, out;
    void *data;    /* the test's */
    bool closing;  /* when all is sent */
    unsigned busy; /* frames of ours on the stack */
    bool dead;
    LIST_ENTRY(tiny_conn) link;
};

struct tiny_server {
    struct loop *loop;
    SSL_CTX *tls;
    struct tiny_handler handler;
    int fd, port;
    ev_io io;
    size_t accepted, open;
    char sni[256];
    LIST_HEAD(, tiny_conn) conns;
};

static void drop(struct tiny_conn *conn)
{
    if (!conn->dead) {
        conn->dead = true;
        conn->server->open--;
        ev_io_stop(loop_ev(conn->server->loop), &conn->io);
        SSL_free(conn->ssl);
        close(conn->fd);
        const struct tiny_handler *handler = &conn->server->handler;
        if (handler->gone) handler->gone(handler->ctx, conn);
        if (handler->forget && conn->data) handler->forget(handler->ctx, conn->data);
    }
    if (conn->busy) return;
    LIST_REMOVE(conn, link);
    buf_clear(&conn->in);
    buf_clear(&conn->out);
    free(conn);
}

static void want(struct tiny_conn *conn, int events)
{
    struct ev_loop *ev = loop_ev(conn->server->loop);
    ev_io_stop(ev, &conn->io);
    ev_io_set(&conn->io, conn->fd, events);
    ev_io_start(ev, &conn->io);
}

static ssize_t write_some(struct tiny_conn *conn)
{
    if (conn->ssl) return SSL_write(conn->ssl, conn->out.data, (int)conn->out.len);
    return send(conn->fd, conn->out.data, conn->out.len, MSG_NOSIGNAL);
}

static void flush(struct tiny_conn *conn)
{
    while (!conn->dead && conn->out.len) {
        ssize_t n = write_some(conn);
        if (n <= 0) break;
        buf_consume(&conn->out, (size_t)n);
    }
    if (conn->dead) return;
    if (conn->out.len)
        want(conn, EV_READ | EV_WRITE);
    else if (conn->closing)
        drop(conn);
    else
        want(conn, EV_READ);
}

static size_t body_length(struct str head)
{
    static const char name[] = "\r\ncontent-length:";
    for (size_t i = 0; i + sizeof name < head.n; i++)
        if (strncasecmp(head.p + i, name, sizeof name - 1) == 0)
            return strtoul(head.p + i + sizeof name - 1, NULL, 10);
    return 0;
}

/* True when there may be more in what came. */
static bool take_bytes(struct tiny_conn *conn)
{
    const struct tiny_handler *handler = &conn->server->handler;
    size_t taken = conn->in.len ? handler->bytes(handler->ctx, conn, buf_slice(&conn->in)) : 0;
    if (!conn->dead) buf_consume(&conn->in, taken);
    return !conn->dead && taken > 0 && conn->in.len > 0;
}

static bool next_request(struct tiny_conn *conn)
{
    if (conn->server->handler.bytes) return take_bytes(conn);
    char *end = conn->in.len ? memmem(conn->in.data, conn->in.len, "\r\n\r\n", 4) : NULL;
    if (!end) return false;
    struct str head = {conn->in.data, (size_t)(end - conn->in.data) + 4};
    size_t body = body_length(head);
    if (conn->in.len < head.n + body) return false;
    conn->server->handler.request(conn->server->handler.ctx, conn, head, (struct str){head.p + head.n, body});
    if (!conn->dead) buf_consume(&conn->in, head.n + body);
    return !conn->dead;
}

/* 0: nothing now, -1: the end. */
static ssize_t read_some(struct tiny_conn *conn, char *out, size_t size)
{
    if (!conn->ssl) {
        ssize_t n = recv(conn->fd, out, size, 0);
        return n > 0 ? n : n < 0 && errno == EAGAIN ? 0 : -1;
    }
    int n = SSL_read(conn->ssl, out, (int)size);
    if (n > 0) return n;
    int why = SSL_get_error(conn->ssl, n);
    const char *sni = SSL_get_servername(conn->ssl, TLSEXT_NAMETYPE_host_name);
    if (sni) snprintf(conn->server->sni, sizeof conn->server->sni, "%s", sni);
    return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE ? 0 : -1;
}

static void on_conn(struct ev_loop *ev, ev_io *io, int events)
{
    struct tiny_conn *conn = container_of(io, struct tiny_conn, io);
    ssize_t n;
    conn->busy++;
    if (events & EV_WRITE) flush(conn);
    while (!conn->dead && (n = read_some(conn, buf_reserve(&conn->in, 16384), 16384)) != 0) {
        if (n < 0) {
            drop(conn);
            break;
        }
        conn->in.len += (size_t)n;
        while (next_request(conn)) continue;
    }
    if (!conn->dead && conn->ssl && SSL_want_write(conn->ssl)) want(conn, EV_READ | EV_WRITE);
    conn->busy--;
    if (conn->dead) drop(conn);
}

static void on_accept(struct ev_loop *ev, ev_io *io, int events)
{
    struct tiny_server *server = container_of(io, struct tiny_server, io);
    int fd = accept4(server->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    struct tiny_conn *conn = NEW(struct tiny_conn);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)); /* nothing waits for another's ACK */
    conn->server = server;
    conn->fd = fd;
    server->accepted++;
    server->open++;
    if (server->tls) {
        conn->ssl = SSL_new(server->tls);
        SSL_set_fd(conn->ssl, fd);
        SSL_set_accept_state(conn->ssl);
    }
    LIST_INSERT_HEAD(&server->conns, conn, link);
    ev_io_init(&conn->io, on_conn, fd, EV_READ);
    ev_io_start(ev, &conn->io);
}

struct tiny_server *tiny_server_new(struct loop *loop, SSL_CTX *tls, const struct tiny_handler *handler)
{
    signal(SIGPIPE, SIG_IGN); /* OpenSSL writes by write(2) */
    struct tiny_server *server = NEW(struct tiny_server);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    server->loop = loop;
    server->tls = tls;
    server->handler = *handler;
    server->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    must(bind(server->fd, (struct sockaddr *)&address, size) == 0 && listen(server->fd, 64) == 0);
    must(getsockname(server->fd, (struct sockaddr *)&address, &size) == 0);
    server->port = ntohs(address.sin_port);
    ev_io_init(&server->io, on_accept, server->fd, EV_READ);
    ev_io_start(loop_ev(loop), &server->io);
    return server;
}

void tiny_server_stop_listening(struct tiny_server *server)
{
    if (server->fd < 0) return;
    ev_io_stop(loop_ev(server->loop), &server->io);
    close(server->fd);
    server->fd = -1;
}

void tiny_server_free(struct tiny_server *server)
{
    struct tiny_conn *conn;
    server->handler.gone = NULL;
    tiny_server_stop_listening(server);
    while ((conn = LIST_FIRST(&server->conns))) drop(conn);
    free(server);
}

int tiny_server_port(const struct tiny_server *server)
{
    return server->port;
}

size_t tiny_server_accepted(const struct tiny_server *server)
{
    return server->accepted;
}

size_t tiny_server_open(const struct tiny_server *server)
{
    return server->open;
}

const char *tiny_server_sni(const struct tiny_server *server)
{
    return server->sni;
}

void tiny_send(struct tiny_conn *conn, const void *data, size_t len)
{
    if (conn->dead) return;
    conn->busy++;
    buf_append(&conn->out, data, len);
    flush(conn);
    if (--conn->busy == 0 && conn->dead) drop(conn);
}

void tiny_puts(struct tiny_conn *conn, const char *text)
{
    tiny_send(conn, text, strlen(text));
}

void tiny_answer(struct tiny_conn *conn, int status, const char *headers, const char *body)
{
    char *text =
        xasprintf("HTTP/1.1 %d Text\r\nContent-Length: %zu\r\n%s\r\n%s", status, strlen(body), headers, body);
    tiny_puts(conn, text);
    free(text);
}

void tiny_chunk(struct tiny_conn *conn, const char *data, size_t len)
{
    char *text = xasprintf("%zx\r\n%.*s\r\n", len, (int)len, data);
    tiny_puts(conn, text);
    free(text);
}

void tiny_drop(struct tiny_conn *conn)
{
    if (conn->dead) return;
    conn->closing = true;
    conn->busy++;
    flush(conn);
    if (--conn->busy == 0 && conn->dead) drop(conn);
}

void tiny_close(struct tiny_conn *conn)
{
    if (conn->dead) return;
    if (conn->ssl) SSL_shutdown(conn->ssl);
    tiny_drop(conn);
}

void tiny_reset(struct tiny_conn *conn)
{
    struct linger now = {.l_onoff = 1, .l_linger = 0};
    if (conn->dead) return;
    setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    drop(conn);
}

void tiny_set_data(struct tiny_conn *conn, void *data)
{
    conn->data = data;
}

void *tiny_data(const struct tiny_conn *conn)
{
    return conn->data;
}

const char *tiny_peer_name(const struct tiny_conn *conn)
{
    static char name[100];
    X509 *cert = conn->ssl ? SSL_get1_peer_certificate(conn->ssl) : NULL;
    *name = '\0';
    if (cert) X509_NAME_get_text_by_NID(X509_get_subject_name(cert), NID_commonName, name, sizeof name);
    X509_free(cert);
    return name;
}
