/* Small HTTP server in a thread of its own, for probes and metrics: responds even if the loops are blocked.
 * Owner: the engine, on the main thread. `serve` is called on the server's thread. */
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
};

struct web_server;

struct web_server_options {
    const char *address; /* as bind_address.h takes it, not off */
    void (*serve)(void *ctx, const struct web_request *request, struct web_response *response);
    void *ctx;
    int64_t request_ms; /* in which a whole request must arrive; 0: 10,000 */
};

/* Listens from now on. NULL with an error that names the address. */
struct web_server *web_server_new(const struct web_server_options *options, struct err *err);
/* Returns the address at which the server listens: "127.0.0.1:8080". */
const char *web_server_where(struct web_server *server);
/* Ends the thread; no call of `serve` comes after it. */
void web_server_free(struct web_server *server);
