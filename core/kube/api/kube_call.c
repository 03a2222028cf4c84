/* One request with one complete response; see kube_call.h. */
#include "kube/api/kube_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "object/parse/tape.h"

enum { IDLE_MS = 60000, ERROR_BODY_MAX = 1 << 20 };

struct kube_call {
    struct kube_client *client;
    /* Request, as each try sends it: the body is kept, so that a write can be repeated too (H-5). */
    char *method, *path, *accept, *content_type;
    struct buf request_body;
    bool has_body;
    size_t limit;
    int64_t timeout_ms; /* of all tries; 0: none */
    bool flag_timeout;  /* it is --request-timeout's */
    bool once, urgent, own_connection;
    struct fence *fence; /* a reference; NULL: none */

    int64_t started_ns;
    struct http_exchange *exchange; /* NULL if none is in flight */
    struct timer delay;             /* until the next try, or until the report of one that could not start */
    struct timer permit;            /* until the client-side rate limit allows it (H-1) */
    struct timer deadline;
    unsigned tries;
    bool throttled; /* waits as the server said, with 429 */
    struct buf body;
    bool is_cut;         /* an error's, at ERROR_BODY_MAX */
    bool is_error;       /* an error response */
    struct err err;      /* of this try; ERR_NONE: none yet */
    struct err previous; /* of the try before */
    void (*done)(void *ctx, const struct kube_response *response, const struct err *err);
    void *ctx;
};

static struct clock *clock_of(const struct kube_call *call)
{
    return loop_clock(kube_client_loop(call->client));
}

static void begin_throttled(struct kube_call *call, int64_t wait_ms)
{
    call->throttled = true;
    throttled_begin(kube_client_throttled(call->client), call->method, call->path, wait_ms);
}

static void end_throttled(struct kube_call *call)
{
    if (call->throttled) throttled_end(kube_client_throttled(call->client));
    call->throttled = false;
}

static void free_call(struct kube_call *call)
{
    if (timer_running(&call->permit))
        kube_client_unthrottle(call->client, call->permit.due_ms - clock_now_ms(clock_of(call)));
    timer_cancel(&call->permit);
    timer_cancel(&call->delay);
    end_throttled(call);
    timer_cancel(&call->deadline);
    fence_unref(call->fence);
    free(call->method);
    free(call->path);
    free(call->accept);
    free(call->content_type);
    buf_clear(&call->request_body);
    buf_clear(&call->body);
    free(call);
}

/* `head` is that of the response; NULL: there was none. */
static void finish(struct kube_call *call, const struct http_response *head)
{
    struct rest_metrics *metrics = kube_client_metrics(call->client);
    rest_metrics_done(metrics, call->method, call->started_ns);
    if (call->err.code == ERR_NONE || call->body.len)
        rest_metrics_received(metrics, call->method, call->body.len);
    if (call->err.code == ERR_NONE) {
        buf_reserve(&call->body, TAPE_PADDING);
        const struct kube_response response = {head->status, call->body.data, call->body.len,
                                               head->content_type ? head->content_type : ""};
        call->done(call->ctx, &response, NULL);
    } else {
        kube_append_previous_error(&call->err, &call->previous); /* H-7 */
        call->done(call->ctx, NULL, &call->err);
    }
    free_call(call);
}

/* --- one try */

static void on_response(void *ctx, const struct http_response *response)
{
    struct kube_call *call = ctx;
    call->is_error = response->status / 100 != 2;
}

/* Takes the body of an error up to a limit; the rest is not awaited, as its code is known (H-8). */
static bool take_error_body(struct kube_call *call, const char *data, size_t len)
{
    size_t room = ERROR_BODY_MAX - call->body.len;
    call->is_cut = len > room;
    buf_append(&call->body, data, call->is_cut ? room : len);
    return !call->is_cut;
}

static bool on_body(void *ctx, const char *data, size_t len)
{
    struct kube_call *call = ctx;
    if (call->is_error) return take_error_body(call, data, len);
    if (call->body.len + len > call->limit)
        return err_set(&call->err, ERR_LIMIT, "the response exceeds %zu bytes", call->limit);
    buf_append(&call->body, data, len);
    return true;
}

static bool is_read(const struct kube_call *call)
{
    return strcmp(call->method, "GET") == 0;
}

/* Returns whether to retry (H-3, H-4): a write only if the server asked for it, as it may have been executed
 * otherwise. */
static bool should_retry(const struct kube_call *call, bool has_response, int64_t *wait_ms)
{
    /* The caller of such a request schedules its own tries. */
    if (call->once) return false;
    return is_read(call) ? kube_should_retry_read(&call->err, call->tries, has_response, wait_ms)
                         : kube_should_retry(&call->err, call->tries, wait_ms);
}

/* Returns whether the request may still be sent: once its fence is closed another leader may write. */
static bool may_send(struct kube_call *call)
{
    if (!call->fence || fence_is_open(call->fence)) return true;
    err_set(&call->err, ERR_CANCELLED, "%s %s: not sent: leadership was lost", call->method, call->path);
    snprintf(call->err.reason, sizeof call->err.reason, "NotLeader");
    return false;
}

static void on_done(void *ctx, const struct http_response *response, const struct err *err)
{
    struct kube_call *call = ctx;
    struct rest_metrics *metrics = kube_client_metrics(call->client);
    int64_t wait_ms;
    call->exchange = NULL;
    rest_metrics_result(metrics, call->method, response ? response->status : 0);
    /* An error body that was cut off ended the exchange on purpose, so that is not an error of the transport.
     */
    if (call->err.code == ERR_NONE && err && !call->is_cut) call->err = *err;
    if (!response) reachability_failed(kube_client_reachability(call->client), &call->err);
    if (call->err.code == ERR_CANCELLED) may_send(call); /* sets the reason, if it was the fence */
    if (call->err.code == ERR_NONE && response->status / 100 != 2)
        kube_status_error(&call->err, call->method, response->status, response->retry_after_ms,
                          call->body.data, call->body.len);
    if (call->err.code == ERR_NONE || !should_retry(call, response != NULL, &wait_ms)) {
        finish(call, response);
        return;
    }
    call->tries++;
    if (response && response->status == 429) begin_throttled(call, wait_ms);
    rest_metrics_retry(metrics, call->method, response ? response->status : 0);
    /* Kept for the error of the last try, which alone may not explain the failure (H-7). */
    call->previous = call->err;
    err_clear(&call->err);
    timer_start(&call->delay, clock_of(call), wait_ms);
}

static void send_now(struct kube_call *call)
{
    /* Checked before each try: the wait before it may have outlasted the fence. */
    if (!may_send(call)) {
        timer_start(&call->delay, clock_of(call), 0);
        return;
    }
    const struct http_header headers[] = {{call->content_type ? "Content-Type" : NULL, call->content_type},
                                          {NULL, NULL}};
    const struct http_request request = {
        .method = call->method,
        .url = call->path,
        .headers = headers,
        .body = call->has_body ? (struct str){buf_text(&call->request_body), call->request_body.len}
                               : (struct str){0},
        .idle_timeout_ms = IDLE_MS,
        .fence = call->fence,
        .own_connection = call->own_connection,
    };
    const struct http_callbacks callbacks = {
        .on_response = on_response, .on_body = on_body, .on_done = on_done, .ctx = call};
    call->body.len = 0;
    call->is_cut = call->is_error = false;
    if (call->tries == 0 && call->timeout_ms > 0)
        timer_start(&call->deadline, clock_of(call), call->timeout_ms);
    call->exchange = kube_client_start(call->client, &request, call->accept, &callbacks, &call->err);
    if (call->exchange)
        rest_metrics_sent(kube_client_metrics(call->client), call->method, call->request_body.len);
    else
        timer_start(&call->delay, clock_of(call), 0);
}

static void on_permit(struct timer *timer)
{
    send_now(container_of(timer, struct kube_call, permit));
}

/* Begins a try, each of which waits for the rate limit. As in client-go the first wait is not part of the
 * request's timeout (H-1). */
static void begin_try(struct kube_call *call)
{
    int64_t wait_ms = call->urgent ? 0 : kube_client_throttle(call->client, call->method, call->path);
    if (wait_ms > 0)
        timer_start(&call->permit, clock_of(call), wait_ms);
    else
        send_now(call);
}

static void on_delay(struct timer *timer)
{
    struct kube_call *call = container_of(timer, struct kube_call, delay);
    end_throttled(call);
    if (call->err.code == ERR_NONE)
        begin_try(call);
    else
        finish(call, NULL);
}

static void on_deadline(struct timer *timer)
{
    struct kube_call *call = container_of(timer, struct kube_call, deadline);
    if (call->exchange) {
        http_cancel(call->exchange);
        rest_metrics_result(kube_client_metrics(call->client), call->method, 0);
    }
    call->exchange = NULL;
    call->body.len = 0;
    err_set(&call->err, ERR_TIMEOUT, "no response within %g s%s", (double)call->timeout_ms / 1000,
            call->flag_timeout ? " (--request-timeout)" : "");
    finish(call, NULL);
}

struct kube_call *kube_call_start(struct kube_client *client, const struct kube_request *request,
                                  void (*done)(void *ctx, const struct kube_response *response,
                                               const struct err *err),
                                  void *ctx)
{
    struct kube_call *call = NEW(struct kube_call);
    call->client = client;
    call->method = xstrdup(request->method ? request->method : "GET");
    call->path = xstrdup(request->path);
    call->accept = request->accept ? xstrdup(request->accept) : NULL;
    call->content_type = request->content_type ? xstrdup(request->content_type) : NULL;
    call->has_body = request->body.p != NULL;
    buf_str(&call->request_body, request->body);
    call->limit = request->limit;
    call->flag_timeout = request->timeout_ms <= 0;
    call->timeout_ms = call->flag_timeout ? kube_client_request_timeout_ms(client) : request->timeout_ms;
    call->once = request->once;
    call->urgent = request->urgent;
    call->own_connection = request->own_connection;
    call->started_ns = clock_measure_ns();
    call->fence = request->fence ? fence_ref(request->fence) : NULL;
    call->done = done;
    call->ctx = ctx;
    call->delay.fn = on_delay;
    call->permit.fn = on_permit;
    call->deadline.fn = on_deadline;
    err_clear(&call->err);
    err_clear(&call->previous);
    begin_try(call);
    return call;
}

void kube_call_cancel(struct kube_call *call)
{
    if (!call) return;
    if (call->exchange) http_cancel(call->exchange);
    free_call(call);
}
