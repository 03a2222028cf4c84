/* HTTP server in a thread of its own, with or without TLS: responds even if the loops are blocked (E-8).
 * Probes, metrics and the page of the engine are served by it, and webhooks of scripts. Owner: its creator,
 * on one thread. The callbacks of the options are called on the server's thread. */
#pragma once
#include "base/buf.h"
#include "base/err.h"

struct web_request {
    const char *method, *path;
    /* The value of a query parameter: "" when it has none, NULL when it is not there. */
    const char *(*query)(const struct web_request *request, const char *name);
    /* Calls `fn` with each value of a parameter that may be repeated. */
    void (*each)(const struct web_request *request, const char *name,
                 void (*fn)(void *ctx, const char *value), void *ctx);
    /* The value of a header; NULL when it is not there. */
    const char *(*header)(const struct web_request *request, const char *name);
    /* Call `fn` with each parameter of the query, or each header, in their order. */
    void (*each_query)(const struct web_request *request,
                       void (*fn)(void *ctx, const char *name, const char *value), void *ctx);
    void (*each_header)(const struct web_request *request,
                        void (*fn)(void *ctx, const char *name, const char *value), void *ctx);
    struct buf *body; /* complete; may be taken */
    void **own;       /* of `serve`, from one call to the next; see `forget` */
    int resumed;      /* value of web_resume; 0: the request was not suspended */
    void *connection;
};

struct web_response {
    int status;               /* 404 unless set */
    const char *content_type; /* text/plain unless set; NULL: none */
    struct buf body;
    struct buf headers; /* others: "Name: value\n" each; a type there counts, and what a 405 allows */
    int retry_after_s;  /* 0: not said */
    /* Appends the next piece of a long body; returns false with the last one. On the server's thread. NULL:
     * `body` is all. */
    bool (*more)(void *ctx, struct buf *out);
    void *more_ctx; /* freed after the response */
    bool closes;    /* the connection ends after it */
    bool is_page;   /* for a browser: with a policy that lets it load nothing from elsewhere */
    bool is_suspended;
};

struct web_server;

/* Code that the server itself resumes requests with. */
enum { WEB_ENDING = -1 };

/* In PEM. */
struct web_certificate {
    const char *certificates, *key;
};

struct web_server_options {
    const char *address;               /* as bind_address.h takes it, not off */
    const char *name;                  /* of its clients, in the log; NULL: "probe and metrics" */
    const struct web_certificate *tls; /* only until web_server_new returns; NULL: none */
    void (*serve)(void *ctx, const struct web_request *request, struct web_response *response);
    /* Of servers for other methods than GET and HEAD: the head of a request came. Returns the most bytes that
     * its body may have; or sets the status of the response, which is sent without a call of `serve`. */
    size_t (*head)(void *ctx, const struct web_request *request, struct web_response *response);
    /* The request is over, whatever became of it. `own` is not NULL. */
    void (*forget)(void *ctx, void *own);
    void *ctx;
    int64_t request_ms;          /* in which a whole request must arrive; 0: 10,000 */
    size_t bodies_max;           /* bytes of the bodies of all requests together */
    unsigned connections_of_one; /* of one client address at a time; 0: 32 */
};

struct web_client;

/* Puts a request aside, which keeps no other waiting: only inside of `serve`, which then returns and is
 * called once more after web_resume. Returns NULL, and sets the response, if the server is ending. */
struct web_client *web_suspend(const struct web_request *request, struct web_response *response);
/* Once for each suspended request, with a value above 0; not after web_server_free has begun. On any thread.
 */
void web_resume(struct web_client *client, int value);

/* Listens from now on. NULL with an error that names the address. */
struct web_server *web_server_new(const struct web_server_options *options, struct err *err);
/* Another server at the same socket, with another certificate, of the same callbacks. The old one takes no
 * connection any more, and ends those that it has after their request. NULL with an error: the old one goes
 * on. */
struct web_server *web_server_renew(struct web_server *old, const struct web_certificate *tls,
                                    struct err *err);
/* Returns the address at which the server listens: "127.0.0.1:8080". */
const char *web_server_where(struct web_server *server);
/* Returns whether it has no connection. */
bool web_server_is_idle(struct web_server *server);
/* Takes no new connection, and waits at most so long until all requests that arrived were answered. */
void web_server_finish(struct web_server *server, int64_t max_ms);
/* Ends the thread, and suspended requests with 503; no call of `serve` comes after it. */
void web_server_free(struct web_server *server);
