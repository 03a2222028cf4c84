/* HTTP on the loop: libcurl's multi interface driven by libev. HTTP/1.1 and h2 (over TLS, by ALPN), gzip,
 * keep-alive and reuse of connections, streamed bodies. Owner: the loop's thread owns the transport and all
 * its exchanges. Callbacks run on that thread, never from inside transport_start; they may start and cancel
 * any exchange, their own included. Timers as in B-8 and H-11: a connect timeout, a first-byte timeout and an
 * idle timeout, never a limit on the complete exchange. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/fence.h"
#include "base/str.h"
#include "net/loop.h"

/* Bytes of decompressed body that one exchange delivers in one turn of the loop (and up to 16 KiB more). The
 * rest waits for the next turn, so that no list delays leases, probes and other watches. Without it libcurl
 * reads a hundred times before it lets the loop go on: 26 MB of a watch, which took 60 ms, and of a
 * compressed list of new objects 190 MB and 680 ms. This much takes 30 ms, of such a list 45 ms. Each
 * exchange may bring it in the same turn. A third of it would cost a storm of updates 8 %. */
enum { HTTP_TURN_BYTES = 12 << 20 };

struct http_local;
struct http_response;

struct transport_tls {
    struct str ca_pem;                          /* empty: the system's roots */
    struct str client_cert_pem, client_key_pem; /* empty: no client certificate; both or neither */
};

enum transport_permit { PERMIT_GO, PERMIT_WAIT, PERMIT_FAIL };

/* Address of one server, and how to trust it. PEM strings and paths are borrowed for transport_new. */
struct transport_options {
    struct transport_tls tls;
    const char *tls_server_name; /* NULL: the URL's host */
    bool insecure_skip_tls_verify;
    const char *proxy_url; /* for all requests; NULL: that of the environment (proxy.h) */
    const char *user_agent;
    int64_t connect_timeout_ms; /* 0: 30,000 (T-2) */
    /* Sees the head of every response, before the exchange's own callback; may start and cancel nothing.
     * Optional. */
    void (*on_response)(void *ctx, const struct http_response *response);
    /* Appends the value of the Authorization header, just before a request is sent, and sets `*number`, which
     * its response will carry; if nothing is appended, no header is sent. PERMIT_WAIT: not yet, until
     * transport_resume. PERMIT_FAIL: `err` ends the exchange. It must not start or cancel exchanges.
     * Optional. */
    enum transport_permit (*authorize)(void *ctx, struct buf *value, unsigned *number, struct err *err);
    void *ctx;
    struct http_local *local; /* responds instead of the network, see http_local.h; NULL: the network */
};

struct transport;
struct http_exchange;

/* err.reason of an ERR_CONNECT by ECONNREFUSED (needed for R-22). */
#define HTTP_REASON_REFUSED "ConnectionRefused"
/* err.reason of an ERR_CLOSED by a RST, or by a peer that no longer responds. */
#define HTTP_REASON_RESET   "ConnectionReset"

struct http_header {
    const char *name, *value;
};

struct http_response {
    int status;
    const char *content_type; /* "" when the server sent none; borrowed until the exchange ends */
    int64_t retry_after_ms;   /* seconds or a date, as it came (H-3, B-8); -1 without */
    const char *warning;      /* values of all Warning headers, joined by ", "; "" without (H-15) */
    int http_version;         /* 11 or 20 */
    const char *method, *url; /* of the request; borrowed until the exchange ends */
    unsigned authorization;   /* number from `authorize`; 0 without */
};

struct http_callbacks {
    /* Called with the head of the final response; optional. */
    void (*on_response)(void *ctx, const struct http_response *response);
    /* Called with each piece of the decompressed body. Returning false ends the exchange with ERR_CANCELLED
     * "refused by the reader". */
    bool (*on_body)(void *ctx, const char *data, size_t len);
    /* Called exactly once, last, unless the exchange was cancelled. `err` NULL: the response is complete,
     * with any status, and `response` is set. Else ERR_CONNECT, ERR_TLS, ERR_TIMEOUT, ERR_CLOSED (reset, or
     * ended before the end, of the head too), ERR_PARSE (not HTTP, broken gzip), ERR_CANCELLED; `response` is
     * NULL if the head is incomplete. Never are both NULL. The exchange is freed after it. */
    void (*on_done)(void *ctx, const struct http_response *response, const struct err *err);
    void *ctx;
};

struct http_request {
    const char *method; /* "GET" */
    const char *url;
    const struct http_header *headers; /* ends with a NULL name; may be NULL */
    struct str body;                   /* sent only when `p` is not NULL */
    bool body_stays;                   /* until on_done or http_cancel; else it is copied */
    int64_t first_byte_timeout_ms;     /* until the head of the response; 0: 60,000 */
    int64_t idle_timeout_ms;           /* between two stretches of the body; 0: none */
    bool no_compression;               /* do not request gzip (watches) */
    bool follow;         /* GET: redirects, ten requests at most; another server gets no credentials (H-20) */
    bool authorize;      /* call `authorize` of the transport */
    struct fence *fence; /* nothing is sent once it is closed: ERR_CANCELLED; NULL: none */
    bool own_connection; /* an HTTP/1.1 connection that is not shared, so that pausing it delays no other
                            exchange */
};

/* Creates a transport. Returns NULL with ERR_TLS if a certificate or key cannot be used, ERR_INVALID if a
 * proxy cannot; the message names it, never its content. */
struct transport *transport_new(struct loop *loop, const struct transport_options *options, struct err *err);
/* Cancels what runs. Not from a callback of one of its exchanges. */
void transport_free(struct transport *transport);

/* Replaces certificates and keys; a NULL pointer keeps the present one. If that changes anything, all
 * connections are closed (T-6): running exchanges end with ERR_CLOSED soon, not inside the call, and waiting
 * ones use new connections. Returns false with ERR_TLS if they cannot be used, and keeps the old ones. */
bool transport_set_tls(struct transport *transport, const struct transport_tls *fresh, struct err *err);
/* Returns whether the settings can be used, with or without a transport. */
bool transport_tls_check(const struct transport_tls *tls, bool insecure, struct err *err);
/* Soon calls `authorize` again for exchanges that had PERMIT_WAIT. */
void transport_resume(struct transport *transport);

/* Everything in `request` is copied. NULL with an error only when libcurl refuses the request as such (a bad
 * URL). */
struct http_exchange *transport_start(struct transport *transport, const struct http_request *request,
                                      const struct http_callbacks *callbacks, struct err *err);
/* Each header of the response, from inside on_response: several of one name come one after
 * the other. */
void http_each_header(struct http_exchange *exchange,
                      void (*fn)(void *ctx, const char *name, const char *value), void *ctx);
/* Cancels an exchange; no callback follows. */
void http_cancel(struct http_exchange *exchange);
/* Pauses or resumes reading the body from the network. On HTTP/2 this version of libcurl stops the complete
 * connection once its buffer for the stream is full, so a long pause delays all exchanges on it. Data
 * received meanwhile is delivered after the call, not inside it; the idle timeout does not count during a
 * pause. */
void http_pause(struct http_exchange *exchange, bool paused);
