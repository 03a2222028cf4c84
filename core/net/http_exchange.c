/* One HTTP exchange: maps the callbacks of libcurl to those of its owner; see transport.h. */
#include <stdlib.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"
#include "net/http_local.h"
#include "net/redirect.h"
#include "net/transport_internal.h"

static int64_t now_ms(const struct http_exchange *exchange)
{
    return clock_now_ms(exchange->transport->clock);
}

static bool dead(const struct http_exchange *exchange)
{
    return exchange->state == EXCHANGE_DEAD;
}

/* Returns the value of a header of the final response; several of one name are joined as RFC 9110 allows. */
static char *header_text(CURL *easy, const char *name)
{
    struct curl_header *header;
    struct buf text = {0};
    for (size_t i = 0; curl_easy_header(easy, name, i, CURLH_HEADER, -1, &header) == CURLHE_OK; i++) {
        if (i > 0) buf_puts(&text, ", ");
        buf_puts(&text, header->value);
        if (i + 1 == header->amount) break;
    }
    return text.len ? buf_take(&text) : NULL;
}

void http_each_header(struct http_exchange *exchange,
                      void (*fn)(void *ctx, const char *name, const char *value), void *ctx)
{
    struct curl_header *header = NULL;
    if (!exchange->easy) {
        exchange_each_local_header(exchange, fn, ctx);
        return;
    }
    while ((header = curl_easy_nextheader(exchange->easy, CURLH_HEADER, -1, header)))
        fn(ctx, header->name, header->value);
}

/* Returns a Retry-After of seconds or a date (H-3, B-8); -1 if it is neither. A date is relative to that of
 * the response, because the server's clock may differ from ours, `wall_us`. */
static int64_t retry_after_ms(const char *text, const char *sent, int64_t wall_us)
{
    uint64_t seconds;
    if (!text) return -1;
    if (str_to_u64(str_trim(str_of(text)), &seconds))
        return seconds > INT32_MAX ? INT32_MAX * 1000LL : (int64_t)seconds * 1000;
    time_t date = curl_getdate(text, NULL), now = sent ? curl_getdate(sent, NULL) : -1;
    if (date < 0) return -1;
    int64_t wait_ms = (int64_t)date * 1000 - (now < 0 ? wall_us / 1000 : (int64_t)now * 1000);
    return wait_ms > 0 ? wait_ms : 0;
}

static int version_number(CURL *easy)
{
    long version = 0;
    curl_easy_getinfo(easy, CURLINFO_HTTP_VERSION, &version);
    return version == CURL_HTTP_VERSION_2_0 ? 20 : version == CURL_HTTP_VERSION_1_0 ? 10 : 11;
}

static const char *info_text(CURL *easy, CURLINFO info)
{
    char *text = NULL;
    return curl_easy_getinfo(easy, info, &text) == CURLE_OK && text ? text : "";
}

static void read_head(struct http_exchange *exchange, int status)
{
    char *retry_after = header_text(exchange->easy, "Retry-After");
    char *date = header_text(exchange->easy, "Date");
    exchange->content_type = header_text(exchange->easy, "Content-Type");
    exchange->warning = header_text(exchange->easy, "Warning");
    exchange->response = (struct http_response){
        .status = status,
        .content_type = exchange->content_type ? exchange->content_type : "",
        .warning = exchange->warning ? exchange->warning : "",
        .retry_after_ms = retry_after_ms(retry_after, date, clock_wall_us(exchange->transport->clock)),
        .http_version = version_number(exchange->easy),
        .authorization = exchange->authorization,
        .method = info_text(exchange->easy, CURLINFO_EFFECTIVE_METHOD),
        .url = info_text(exchange->easy, CURLINFO_EFFECTIVE_URL),
    };
    exchange->has_response = true;
    /* Without HTTP/2 exchanges cannot share a connection, so admission need not wait for one. */
    if (exchange->tls && !exchange->alone)
        exchange->transport->many_connections = exchange->response.http_version < 20;
    free(retry_after);
    free(date);
}

void exchange_start_idle_timer(struct http_exchange *exchange)
{
    timer_cancel(&exchange->timer);
    exchange->last_ms = now_ms(exchange);
    if (exchange->idle_timeout_ms > 0)
        timer_start(&exchange->timer, exchange->transport->clock, exchange->idle_timeout_ms);
}

static size_t on_header(char *data, size_t size, size_t n, void *ctx)
{
    struct http_exchange *exchange = ctx;
    long status = 0;
    if (dead(exchange)) return 0;
    bool blank = n == 0 || *data == '\r' || *data == '\n';
    if (!blank || exchange->has_response || exchange->location) return n; /* after the body: trailers */
    curl_easy_getinfo(exchange->easy, CURLINFO_RESPONSE_CODE, &status);
    exchange->switched = status == 101; /* libcurl would deliver what follows as a body without a head */
    if (exchange->switched) return 0;
    if (status < 200) return n; /* 100 Continue and its like come before the response */
    if (exchange->follow && redirect_is((int)status))
        exchange->location = header_text(exchange->easy, "Location");
    if (exchange->location) return n;
    read_head(exchange, (int)status);
    exchange_start_idle_timer(exchange);
    const struct transport_options *options = &exchange->transport->options;
    if (options->on_response) options->on_response(options->ctx, &exchange->response);
    if (exchange->callbacks.on_response)
        exchange->callbacks.on_response(exchange->callbacks.ctx, &exchange->response);
    return dead(exchange) ? 0 : n;
}

/* Returns whether the exchange has used up its share of this turn. */
static bool had_enough(struct http_exchange *exchange)
{
    unsigned turn = loop_turn(exchange->transport->loop);
    if (exchange->turn != turn) exchange->turn_bytes = 0;
    exchange->turn = turn;
    return exchange->turn_bytes >= HTTP_TURN_BYTES;
}

static size_t on_body(char *data, size_t size, size_t n, void *ctx)
{
    struct http_exchange *exchange = ctx;
    if (dead(exchange) || exchange->location) return 0; /* nobody reads the body of a redirect */
    bool enough = had_enough(exchange);
    if (exchange->paused || enough) {
        exchange->deferred = true;
        /* A busy stream continues in the next turn of the loop, so that it does not starve others. */
        if (enough) waker_wake(exchange->transport->next_turn);
        return CURL_WRITEFUNC_PAUSE;
    }
    exchange->turn_bytes += n;
    exchange->last_ms = now_ms(exchange);
    if (exchange->callbacks.on_body && !exchange->callbacks.on_body(exchange->callbacks.ctx, data, n)) {
        exchange->refused = true;
        return 0;
    }
    return dead(exchange) ? 0 : n;
}

/* Decides whether the request may be sent, now that the connection is open. */
static int before_request(void *ctx, char *ip, char *local_ip, int port, int local_port)
{
    struct http_exchange *exchange = ctx;
    exchange->tunnels = false;
    if (dead(exchange)) return CURL_PREREQFUNC_ABORT;
    transport_connected(exchange);
    /* Connecting may have outlasted the fence. */
    if (!exchange_may_send(exchange)) return CURL_PREREQFUNC_ABORT;
    /* libcurl repeats a request if its reused connection broke; a write must not be executed twice. */
    exchange->repeated = exchange->sent && exchange->once; /* H-4 */
    exchange->sent = true;
    if (exchange->repeated) return CURL_PREREQFUNC_ABORT;
    timer_start(&exchange->timer, exchange->transport->clock, exchange->first_byte_timeout_ms);
    return CURL_PREREQFUNC_OK;
}

static void on_timeout(struct timer *timer)
{
    struct http_exchange *exchange = container_of(timer, struct http_exchange, timer);
    struct err err;
    if (!exchange->has_response) {
        err_set(&err, ERR_TIMEOUT, "%s: no response within %lld ms", exchange->where,
                (long long)exchange->first_byte_timeout_ms);
        exchange_finish(exchange, CURLE_OK, &err);
        return;
    }
    /* Each piece of the body only stores the time: restarting the timer for it would cost more. So the timer
     * may fire early and starts again for the rest. */
    int64_t now = now_ms(exchange);
    /* A paused exchange reads nothing, so its silence is not the server's. */
    if (exchange->paused) exchange->last_ms = now;
    int64_t rest = exchange->last_ms + exchange->idle_timeout_ms - now;
    if (rest > 0) {
        timer_start(&exchange->timer, exchange->transport->clock, rest);
        return;
    }
    err_set(&err, ERR_TIMEOUT, "%s: no data received for %lld ms", exchange->where,
            (long long)exchange->idle_timeout_ms);
    exchange_finish(exchange, CURLE_OK, &err);
}

void exchange_init(struct http_exchange *exchange, struct transport *transport,
                   const struct http_request *request, const struct http_callbacks *callbacks)
{
    exchange->transport = transport;
    exchange->callbacks = *callbacks;
    exchange->timer.fn = on_timeout;
    exchange->first_byte_timeout_ms =
        request->first_byte_timeout_ms > 0 ? request->first_byte_timeout_ms : 60000;
    exchange->idle_timeout_ms = request->idle_timeout_ms;
    exchange->authorize = request->authorize;
}

struct http_exchange *exchange_new(struct transport *transport, const struct http_request *request,
                                   const struct http_callbacks *callbacks, struct err *err)
{
    struct http_exchange *exchange = NEW(struct http_exchange);
    exchange_init(exchange, transport, request, callbacks);
    CURL *easy = exchange->easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_PRIVATE, exchange);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, exchange->error_text);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, exchange);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, exchange);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, before_request);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, exchange);
    exchange_set_transport_options(exchange);
    if (exchange_set_request(exchange, request, err)) return exchange;
    exchange_free(exchange);
    return NULL;
}

static void unlink_exchange(struct http_exchange *exchange)
{
    timer_cancel(&exchange->timer);
    transport_forget(exchange);
    if (exchange->link.tqe_prev) TAILQ_REMOVE(&exchange->transport->exchanges, exchange, link);
    exchange->link.tqe_prev = NULL;
    curl_multi_remove_handle(exchange->transport->multi, exchange->easy); /* ignored if it was never added */
}

/* Requests what the response redirects to. Returns false if it may not: the exchange ends with the error. */
static bool redirect(struct http_exchange *exchange, struct err *err)
{
    timer_cancel(&exchange->timer);
    transport_forget(exchange);
    curl_multi_remove_handle(exchange->transport->multi, exchange->easy);
    exchange->error_text[0] = '\0';
    exchange->sent = exchange->deferred = false;
    if (!exchange_set_next(exchange, err)) return false;
    exchange->state = EXCHANGE_NEW;
    transport_resume(exchange->transport);
    return true;
}

/* Ends the exchange. An end without a head is an error, although libcurl reports success if an HTTP/1.1
 * connection closes inside the head (H-4). */
void exchange_finish(struct http_exchange *exchange, CURLcode result, const struct err *cause)
{
    struct err err;
    bool good = !cause && result == CURLE_OK && exchange->has_response;
    if (exchange->location && !cause && !dead(exchange)) {
        if (redirect(exchange, &err)) return;
    } else if (cause)
        err = *cause;
    else if (!good)
        exchange_error(exchange, result, &err); /* reads the handle, so before it is removed */
    if (!good) transport_connect_failed(exchange);
    unlink_exchange(exchange);
    bool wanted = !dead(exchange);
    exchange->state = EXCHANGE_DEAD; /* its owner may still cancel it, in on_done too */
    if (wanted && exchange->callbacks.on_done)
        exchange->callbacks.on_done(exchange->callbacks.ctx,
                                    exchange->has_response ? &exchange->response : NULL, good ? NULL : &err);
    exchange_free(exchange);
}

void exchange_free(struct http_exchange *exchange)
{
    struct http_local *local = exchange->transport->options.local;
    unlink_exchange(exchange);
    if (local) local->gone(local, exchange);
    curl_easy_cleanup(exchange->easy);
    exchange_free_headers(exchange->headers);
    curl_slist_free_all(exchange->connect_to);
    free(exchange->content_type);
    free(exchange->warning);
    free(exchange->where);
    free(exchange->target);
    free(exchange->location);
    buf_clear(&exchange->local_headers);
    free(exchange->method);
    free(exchange->url);
    buf_clear(&exchange->own_body);
    fence_unref(exchange->fence);
    free(exchange);
}
