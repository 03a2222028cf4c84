/* Admits scrapes by their bearer token, which the API server reviews (token_review.h) (E-6). A request waits
 * for its review suspended, so that it holds up no other, and no probe; a token that is asked for again is
 * reviewed once, and its verdict cached (token_cache.h). Tokens are never logged, and kept only until they
 * are sent. Owner: the monitor, on the main thread: created before the I/O thread runs, freed after it has
 * stopped and after the server. metrics_auth_admits is called on the server's thread; reviews run on the I/O
 * thread. */
#pragma once
#include "kube/api/client.h"
#include "net/loop.h"
#include "net/server/web_server.h"

/* METRICS_REVIEWS_MAX: at a time. METRICS_WAITING_MAX: tokens without a verdict; others are answered 503. */
enum {
    METRICS_REVIEWS_MAX = 10,
    METRICS_WAITING_MAX = 64,
    METRICS_REVIEW_MS = 10000,
    METRICS_WAIT_MS = 10000
};

struct metrics_auth;

struct metrics_auth *metrics_auth_new(struct loop *io_loop, struct kube_client *client);
/* NULL is allowed. */
void metrics_auth_free(struct metrics_auth *auth);
/* Returns whether to serve the request. If not, the response says why, 401, 403 or 503, or the request is
 * suspended. */
bool metrics_auth_admits(struct metrics_auth *auth, const struct web_request *request,
                         struct web_response *response);
