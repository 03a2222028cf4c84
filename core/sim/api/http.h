/* HTTP server on libmicrohttpd: a listener on the loop, a thread for each connection, bodies in large blocks.
 * Owner: its creator; sim_http_free ends all connections. `serve` is called on the connections' threads,
 * everything else belongs to the loop's thread. */
#pragma once
#include "base/err.h"
#include "net/loop.h"
#include "sim/store/api.h"
#include "sim/store/request.h"

struct sim_http;

struct sim_http_options {
    const char *listen; /* an address */
    int port;           /* 0: any */
    bool tls;           /* with a certificate of its own */
    void (*serve)(void *ctx, const struct sim_request *request, struct sim_reply *reply);
    void *ctx;
};

/* Creates a server; NULL with an error that names the address. */
struct sim_http *sim_http_new(struct loop *loop, struct sim_api *api, const struct sim_http_options *options,
                              struct err *err);
/* The authority that signed the server's certificate, in PEM; NULL without TLS. */
const char *sim_http_authority(const struct sim_http *http);
int sim_http_port(const struct sim_http *http);
/* Refuses connections for `ms`: closes the listening socket. Open connections stay. From any thread. */
void sim_http_refuse(struct sim_http *http, int64_t ms);
void sim_http_free(struct sim_http *http);
