/* A server for units: accepts on 127.0.0.1 on the test's own loop and hands each request to a function of the
 * test, which answers with raw bytes, now or later, whole or in pieces. No HTTP knowledge beyond the end of a
 * request's head. Owner: the test frees it before its loop. Everything runs on the loop's thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "net/loop.h"

struct tiny_server;
struct tiny_conn;
struct ssl_ctx_st;

struct tiny_handler {
    /* A request came: its head with the blank line, and its body by Content-Length. */
    void (*request)(void *ctx, struct tiny_conn *conn, struct str head, struct str body);
    /* In its place: what came and is not taken yet; gives how much of it is taken. Optional. */
    size_t (*bytes)(void *ctx, struct tiny_conn *conn, struct str data);
    /* The connection is gone, and with it what tiny_set_data has kept; also when the server is freed.
     * Optional. */
    void (*forget)(void *ctx, void *data);
    /* The peer went away; optional. */
    void (*gone)(void *ctx, struct tiny_conn *conn);
    void *ctx;
};

/* `tls` NULL: plain. Borrowed. */
struct tiny_server *tiny_server_new(struct loop *loop, struct ssl_ctx_st *tls,
                                    const struct tiny_handler *handler);
void tiny_server_free(struct tiny_server *server);
int tiny_server_port(const struct tiny_server *server);
/* Connections accepted so far, and those open now. */
size_t tiny_server_accepted(const struct tiny_server *server);
size_t tiny_server_open(const struct tiny_server *server);
/* Returns the name that the last TLS client requested; "": none. */
const char *tiny_server_sni(const struct tiny_server *server);
/* The common name in the client certificate of a TLS connection, "" without; good until the next call. */
const char *tiny_peer_name(const struct tiny_conn *conn);
/* What the test keeps of a connection; NULL at first. */
void tiny_set_data(struct tiny_conn *conn, void *data);
void *tiny_data(const struct tiny_conn *conn);
/* No more connections: the port answers with a refusal. */
void tiny_server_stop_listening(struct tiny_server *server);

void tiny_send(struct tiny_conn *conn, const void *data, size_t len);
void tiny_puts(struct tiny_conn *conn, const char *text);
/* A whole answer with Content-Length. `headers` are lines with their ends, or "". */
void tiny_answer(struct tiny_conn *conn, int status, const char *headers, const char *body);
/* The head of an answer without an end (closed by tiny_close), and chunks of a chunked one. */
void tiny_chunk(struct tiny_conn *conn, const char *data, size_t len);
void tiny_close(struct tiny_conn *conn);
/* Without a word of TLS's before it, as when the program died. */
void tiny_drop(struct tiny_conn *conn);
/* With a RST instead of a FIN. */
void tiny_reset(struct tiny_conn *conn);
