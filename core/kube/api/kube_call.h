/* One request with one complete response (client-go's rest.Request with Do): sent, retried if the server asks
 * for it, its response gathered and its errors read. Owner: the I/O thread. `done` is called on that thread,
 * once, never from inside the start. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/fence.h"
#include "kube/api/client.h"

struct kube_request {
    const char *method;       /* NULL: GET */
    const char *path;         /* with its query: "/api/v1/namespaces/shop/pods/web?dryRun=All" */
    const char *accept;       /* NULL: JSON */
    const char *content_type; /* of the body */
    struct str body;          /* sent when `p` is not NULL */
    size_t limit;             /* bytes of the response's body; beyond them ERR_LIMIT */
    int64_t timeout_ms;       /* from the start to the end, with all tries (H-11); 0: --request-timeout */
    bool once;                /* never sent again: the caller has a way of its own */
    bool urgent;              /* not delayed by --kube-api-qps */
    bool own_connection;      /* not shared, as the present one may be dead */
    struct fence *fence;      /* only sent, and sent again, while it is open; NULL: none */
};

struct kube_response {
    int http_status;  /* 200 to 299 */
    const char *body; /* with TAPE_PADDING readable bytes behind it; borrowed for the call */
    size_t len;
    const char *content_type; /* "" without; borrowed for the call */
};

struct kube_call;

/* All of `request` is copied. `response` is NULL when `err` is set: ERR_HTTP with the Status's reason for
 * error responses (H-8), the transport's errors, ERR_LIMIT, ERR_TIMEOUT when `timeout_ms` passed. A server
 * that is busy and says for how long is asked again (H-3), and reads whose connection broke (H-4); an error
 * after such tries names the one before it (H-7). */
struct kube_call *kube_call_start(struct kube_client *client, const struct kube_request *request,
                                  void (*done)(void *ctx, const struct kube_response *response,
                                               const struct err *err),
                                  void *ctx);
/* Cancels the call; no callback follows. The server may have executed the request all the same. */
void kube_call_cancel(struct kube_call *call);

/* --- Decides whether a failed request is retried: the server asked for it (H-3), or the connection broke
 * (H-4). Owner: nothing is kept. May be called anywhere. */

/* Limits of retries: their number, and the longest wait that is not reported. */
enum { KUBE_RETRIES_MAX = 10, KUBE_RETRY_WAIT_MAX_MS = 30000 };

/* Returns whether to retry: for 429 and 5xx with a Retry-After header of a reasonable wait, after `tries`
 * such waits; sets `*wait_ms`. A version that is too large is left to the caller. */
bool kube_should_retry(const struct err *err, unsigned tries, int64_t *wait_ms);
/* Likewise for a read; true also if the connection broke before a response began. A write may have been
 * executed by then. */
bool kube_should_retry_read(const struct err *err, unsigned tries, bool has_response, int64_t *wait_ms);
/* Appends the error of the previous try, unless both are equal (H-7). */
void kube_append_previous_error(struct err *err, const struct err *previous);
