/* Requests of scripts to servers other than the API server, those that the operator allows. Started on the
 * engine thread and executed on the I/O thread, over a transport of their own: the system's roots, the
 * environment's proxies, none of the cluster's credentials. Owner: the engine, on the engine thread, where
 * everything is called. `done` may close any request and start others. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "net/loop.h"

struct web;
struct web_allow;
struct web_call;

enum { WEB_REDIRECTS_MAX = 5, WEB_HEADERS_MAX = 100, WEB_HEAD_MAX = 64 << 10 };
/* Bytes of the bodies of all responses that are not delivered yet. */
enum { WEB_BUFFERED_MAX = 256 << 20 };

/* --- which servers are allowed */

/* `hosts` as the flag --allow-http has them: "host", "host:port", "*.domain", "https://host". Without a
 * scheme both are allowed, without a port those of the schemes. Copied. ERR_INVALID names the wrong one. */
struct web_allow *web_allow_new(const char *const *hosts, size_t count, struct err *err);
void web_allow_free(struct web_allow *allow);
/* Returns whether the URL is allowed; from any thread. ERR_INVALID with reason "Invalid" if it is not a URL
 * of these schemes, "Forbidden" if the server is not allowed; no message shows more of the URL than the
 * server. */
bool web_allows(const struct web_allow *allow, const char *url, struct err *err);

/* --- requests */

struct web_options {
    struct loop *engine_loop, *io_loop;
    struct web_allow *allow; /* taken */
    const char *user_agent;  /* copied */
    /* Server in this process that responds for all others (http_local.h), which are all allowed if `allow` is
     * NULL; NULL: the network. */
    struct http_local *local;
    struct str ca_pem; /* trusted certificates; empty: the system's roots; borrowed for its life */
};

struct transport_tls;
struct web_call_request {
    const char *method, *url;
    const char *const *headers; /* name, value, ...; copied, as all is */
    size_t header_count;        /* pairs */
    struct str body;            /* sent when `p` is not NULL */
    bool keeps_body;            /* a redirect that would lose the body is the response */
    int64_t timeout_ms;         /* of the complete request, redirects included */
    /* Certificates to trust, and one of the client, for this server and no other one that it redirects to;
     * NULL, or without any: the system's roots. */
    const struct transport_tls *tls;
    size_t body_max; /* bytes of the response's body; beyond them ERR_LIMIT */
};

struct web_reply {
    int status;
    struct str headers; /* "name: value" in lines, as they came; names in small letters */
    struct str body;
};

struct web *web_new(const struct web_options *options);
const struct web_allow *web_allowed(const struct web *web);
/* Closes all requests, and waits until the I/O thread, which must still run, no longer uses them. The engine
 * loop must not run any more. */
void web_end(struct web *web);
/* After the I/O thread has stopped. */
void web_free(struct web *web);

/* Redirects are followed to servers that are allowed, without the body after 301, 302 and 303 and without
 * credentials to another server. `reply` is NULL with an error; both are borrowed for the call. */
struct web_call *web_start(struct web *web, const struct web_call_request *request,
                           void (*done)(void *ctx, const struct web_reply *reply, const struct err *err),
                           void *ctx);
/* Closes a request; no callback follows. Needed after `done` too. */
void web_close(struct web_call *call);
