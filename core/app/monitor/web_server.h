/* Small HTTP server in a thread of its own, for probes and metrics: responds even if the loops are blocked
 * (E-8). Owner: the engine, on the main thread. `serve` is called on the server's thread. */
#pragma once
#include "base/buf.h"
#include "base/err.h"

struct web_request {
    const char *path;
    /* The value of a query parameter: "" when it has none, NULL when it is not there. */
    const char *(*query)(const struct web_request *request, const char *name);
    /* Calls `fn` with each value of a parameter that may be repeated. */
    void (*each)(const struct web_request *request, const char *name,
                 void (*fn)(void *ctx, const char *value), void *ctx);
    /* The value of a header; NULL when it is not there. */
    const char *(*header)(const struct web_request *request, const char *name);
    int resumed; /* value of web_resume; 0: the request was not suspended */
    void *connection;
};

struct web_response {
    int status;               /* 404 unless set */
    const char *content_type; /* text/plain unless set */
    struct buf body;
    /* Appends the next piece of a long body; returns false with the last one. On the server's thread. NULL:
     * `body` is all. */
    bool (*more)(void *ctx, struct buf *out);
    void *more_ctx; /* freed after the response */
    bool is_page;   /* for a browser: with a policy that lets it load nothing from elsewhere */
    bool is_suspended;
};

struct web_server;

/* Code that the server itself resumes requests with. */
enum { WEB_ENDING = -1 };

struct web_server_options {
    const char *address; /* as bind_address.h takes it, not off */
    void (*serve)(void *ctx, const struct web_request *request, struct web_response *response);
    void *ctx;
    int64_t request_ms; /* in which a whole request must arrive; 0: 10,000 */
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
/* Returns the address at which the server listens: "127.0.0.1:8080". */
const char *web_server_where(struct web_server *server);
/* Ends the thread, and suspended requests with 503; no call of `serve` comes after it. */
void web_server_free(struct web_server *server);
