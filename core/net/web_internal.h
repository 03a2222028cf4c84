/* Internals shared by both halves of a script's request: web.c is the engine's, web_io.c the I/O thread's.
 * Each field belongs to one of them; `reply`, `err` and what they point at to the holder of the mail
 * `finished`. For these files only. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "net/transport.h"
#include "net/web.h"

/* Certificates of a call, or, with a transport, those that calls share. */
struct web_tls {
    TAILQ_ENTRY(web_tls) link;
    struct transport_tls tls; /* copies */
    struct transport *transport;
    size_t uses; /* calls with an exchange */
};
TAILQ_HEAD(web_tls_list, web_tls);

struct web {
    struct web_options options;
    LIST_HEAD(, web_call) calls; /* the engine's */
    struct transport *transport; /* of the I/O thread; created with the first request */
    struct web_tls_list own_tls; /* likewise */
    pthread_mutex_t lock;
    pthread_cond_t ended;
    _Atomic size_t buffered; /* bytes of responses' bodies */
    size_t running;          /* guarded by the lock: calls that the I/O thread still uses */
};

struct web_call {
    struct web *web;
    struct mail start, stop, finished, gone;

    /* Used by the engine thread alone. */
    LIST_ENTRY(web_call) link;
    void (*done)(void *ctx, const struct web_reply *reply, const struct err *err);
    void *ctx;
    bool closed;

    /* Used by the I/O thread alone, once `start` was posted. */
    char *method, *url;
    char **headers; /* name, value, ...; ends with NULL */
    struct buf body;
    bool has_body, keeps_body;
    int64_t timeout_ms;
    size_t body_max;
    struct web_tls *tls;  /* NULL: the system's roots, and no certificate of its own */
    struct web_tls *used; /* of web->own_tls, by the exchange; NULL: none */
    struct http_exchange *exchange;
    struct timer deadline;
    int redirects;
    bool redirected; /* by the response that is coming in */
    size_t buffered; /* of web->held */
    bool crowded;    /* that was too much */
    bool over;       /* it has a response, or was stopped */
    struct buf head_text, body_text;
    struct web_reply reply;
    struct err err;
    bool failed;
};

/* web_tls.c: */
struct web_tls *web_tls_copy(const struct transport_tls *tls);
/* NULL is allowed. */
void web_tls_free(struct web_tls *tls);
/* Returns the transport for the certificates of the call, until web_tls_leave. NULL with err. */
struct transport *web_tls_use(struct web_call *call, struct err *err);
void web_tls_leave(struct web_call *call);

/* web_io.c: */
struct transport *web_transport_new(struct web *web, const struct transport_tls *tls, struct err *err);
void web_io_start(struct mail *mail);
void web_io_stop(struct mail *mail);
