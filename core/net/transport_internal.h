/* Internals shared by transport.c (libcurl's multi on the loop), admission.c and http_exchange.c (one
 * request). Owner: as transport.h says. For these files only. libcurl must not add or remove handles from
 * inside its own callbacks: while `inside` is not 0 such operations are noted, and transport_leave carries
 * them out. */
#pragma once
#include <curl/curl.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "base/clock.h"
#include "net/transport.h"
#include "net/url/proxy.h"

enum { TUNNEL_STEPS_MAX = 64 << 10 }; /* about as many bytes of a proxy's response */

enum exchange_state {
    EXCHANGE_NEW,     /* not yet in the multi handle */
    EXCHANGE_RUNNING, /* in it */
    EXCHANGE_DEAD,    /* cancelled from inside a callback, or in its on_done; to be buried */
};

struct http_exchange {
    struct transport *transport;
    CURL *easy;
    enum exchange_state state;
    struct http_callbacks callbacks;
    struct http_response response;
    char *content_type, *warning; /* what `response` points at */
    struct curl_slist *headers, *connect_to;
    struct str body;     /* of the request */
    struct buf own_body; /* where it is a copy */
    size_t body_sent;    /* of it */
    struct fence *fence; /* a reference; NULL: none */
    char *target;        /* the URL, if redirects are followed */
    char *location;      /* where the response redirects to, until that is requested */
    unsigned redirects;
    char *where;               /* host:port, for messages */
    struct buf local_headers;  /* of one that a local server serves: name and value, each with its NUL */
    char *method, *url;        /* of one that a local server serves; NULL: libcurl knows them */
    const struct proxy *proxy; /* the transport's; NULL: none */
    char error_text[CURL_ERROR_SIZE];
    struct timer timer;     /* until the head of the response came, then between stretches of the body */
    unsigned authorization; /* number from `authorize` */
    int64_t first_byte_timeout_ms, idle_timeout_ms;
    int64_t last_ms;       /* when the last stretch came */
    bool tls;              /* its connection may carry others too */
    bool hurried;          /* waits for no other's connection */
    bool authorize;        /* wants an Authorization header and has none yet */
    bool alone;            /* has a connection of its own */
    bool follow;           /* redirects */
    bool elsewhere;        /* a redirect led to another server */
    bool nameless;         /* the server's certificate has no name but its subject's */
    bool has_response;     /* the head of the final response came */
    bool switched;         /* the server did, unasked, to another protocol */
    bool once;             /* not to be sent again, whatever becomes of the connection (H-4) */
    bool sent;             /* its head was, or was about to be */
    bool repeated;         /* libcurl was about to send it again */
    bool refused;          /* on_body returned false */
    bool fenced;           /* its fence was closed before all was sent */
    bool paused;           /* paused by the owner */
    bool tunnels;          /* its connection is through a proxy, and is not open yet */
    bool deferred;         /* libcurl holds a stretch back that we did not take */
    unsigned tunnel_steps; /* of libcurl while it tunnels */
    unsigned turn;         /* of the loop, in which the last stretch came */
    size_t turn_bytes;     /* of the body, in that turn */
    TAILQ_ENTRY(http_exchange) link;
};

TAILQ_HEAD(exchange_list, http_exchange);

struct transport {
    struct loop *loop;
    struct clock *clock;
    CURLM *multi;
    struct timer curl_timer; /* libcurl's own next moment */
    struct timer kick;       /* work that may not be done where it came up: starts and resumptions */
    struct waker *next_turn; /* resumes, in the loop's next turn, what had its share of this one */
    struct exchange_list exchanges;
    struct http_exchange *opening; /* may be setting up a connection that others will share */
    struct timer timeout;          /* how long they wait for it */
    bool many_connections;         /* this server speaks HTTP/1.1 over TLS: sharing is not to be hoped for */
    struct proxies *proxies;
    bool renewing; /* `next_tls` replaces the options' before anything more is sent */
    struct transport_tls next_tls;
    unsigned inside;                  /* depth of calls into libcurl that may call us back */
    bool put_off;                     /* some exchange is new or dead */
    struct transport_options options; /* own copies */
    int64_t connect_timeout_ms;
};

CURLM *transport_new_multi(struct transport *transport);
/* Returns whether the fence permits sending at this instant. */
static inline bool exchange_may_send(struct http_exchange *exchange)
{
    exchange->fenced = exchange->fence && !fence_is_open(exchange->fence);
    return !exchange->fenced;
}

void transport_enter(struct transport *transport);
/* Carries out what was put off, and reports what has ended. */
void transport_leave(struct transport *transport);
/* Has transport_leave called soon, from the loop. */
void transport_kick(struct transport *transport);

/* The exchange has its connection, or will not get one, or is freed (admission.c). */
void transport_connected(struct http_exchange *exchange);
void transport_connect_failed(struct http_exchange *exchange);
void transport_forget(struct http_exchange *exchange);
/* Puts the exchanges into the multi handle that need not wait for a connection being set up. */
void transport_admit(struct transport *transport);
void transport_init_admission(struct transport *transport);

/* Copies, and wipes and frees them (renewal.c). */
void transport_tls_copy(struct transport_tls *to, const struct transport_tls *from);
void transport_tls_clear(struct transport_tls *tls);
/* Puts waiting certificates in force: ends what runs, closes all connections. Only outside of libcurl. */
void transport_renew(struct transport *transport);

/* Creates the easy handle with all its options; NULL if libcurl refuses the request. */
struct http_exchange *exchange_new(struct transport *transport, const struct http_request *request,
                                   const struct http_callbacks *callbacks, struct err *err);
/* Initialises the common part of exchange_new and the next one. */
void exchange_init(struct http_exchange *exchange, struct transport *transport,
                   const struct http_request *request, const struct http_callbacks *callbacks);
/* Creates one without libcurl, for the transport's local server; begin passes it on (http_local.c). */
struct http_exchange *exchange_new_local(struct transport *transport, const struct http_request *request,
                                         const struct http_callbacks *callbacks);
void exchange_begin_local(struct http_exchange *exchange, const struct http_request *request);
void exchange_each_local_header(const struct http_exchange *exchange,
                                void (*fn)(void *ctx, const char *name, const char *value), void *ctx);
/* Starts the idle timeout, the only one after the head. */
void exchange_start_idle_timer(struct http_exchange *exchange);
/* Reports the end with libcurl's result, or with `cause` when it is not NULL; then frees. */
void exchange_finish(struct http_exchange *exchange, CURLcode result, const struct err *cause);
/* Wipes and frees them: one may be the Authorization line. */
void exchange_free_headers(struct curl_slist *headers);
/* Takes it out of the multi handle and frees it, without a word to its owner. */
void exchange_free(struct http_exchange *exchange);

/* Options that depend on the transport: TLS, sockets, timeouts (exchange_options.c). */
void exchange_set_transport_options(struct http_exchange *exchange);
/* Sets the options that depend on certificates; called again for an exchange that is not sent yet. */
void exchange_set_tls(const struct http_exchange *exchange);
/* Adds a header. ERR_INVALID if it contains a line end; the message does not show it. */
bool exchange_add_header(struct http_exchange *exchange, const char *name, const char *value,
                         struct err *err);
/* URL, method, headers, body. False with ERR_INVALID. */
bool exchange_set_request(struct http_exchange *exchange, const struct http_request *request,
                          struct err *err);
/* Sets the options of the next request, of `location`. Returns false if there may be none. */
bool exchange_set_next(struct http_exchange *exchange, struct err *err);
/* Has certificates of servers refused that have no subject alternative name (peer_certificate.c, T-1). */
void exchange_require_names(struct http_exchange *exchange);
/* libcurl's result in our words (exchange_error.c). */
void exchange_error(const struct http_exchange *exchange, CURLcode result, struct err *err);
