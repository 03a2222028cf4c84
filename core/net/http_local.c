/* Exchanges with a server in this process; see http_local.h. */
#include "net/http_local.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/transport_internal.h"

struct http_exchange *exchange_new_local(struct transport *transport, const struct http_request *request,
                                         const struct http_callbacks *callbacks)
{
    struct http_exchange *exchange = NEW(struct http_exchange);
    exchange_init(exchange, transport, request, callbacks);
    exchange->state = EXCHANGE_RUNNING;
    exchange->where = xstrdup("the server in this process");
    exchange->method = xstrdup(request->method ? request->method : "GET");
    exchange->url = xstrdup(request->url);
    if (request->fence) exchange->fence = fence_ref(request->fence);
    return exchange;
}

void exchange_begin_local(struct http_exchange *exchange, const struct http_request *request)
{
    struct http_local *local = exchange->transport->options.local;
    timer_start(&exchange->timer, exchange->transport->clock, exchange->first_byte_timeout_ms);
    local->begin(local, exchange, request);
}

bool http_local_send(struct http_exchange *exchange)
{
    struct err err;
    if (exchange_may_send(exchange)) return true;
    exchange_error(exchange, CURLE_OK, &err);
    http_local_end(exchange, &err);
    return false;
}

void http_local_set_headers(struct http_exchange *exchange, const struct http_header *headers)
{
    for (; headers && headers->name; headers++) {
        buf_append(&exchange->local_headers, headers->name, strlen(headers->name) + 1);
        buf_append(&exchange->local_headers, headers->value, strlen(headers->value) + 1);
    }
}

void exchange_each_local_header(const struct http_exchange *exchange,
                                void (*fn)(void *ctx, const char *name, const char *value), void *ctx)
{
    const struct buf *texts = &exchange->local_headers;
    for (size_t at = 0; at < texts->len;) {
        const char *name = texts->data + at, *value = name + strlen(name) + 1;
        fn(ctx, name, value);
        at += strlen(name) + strlen(value) + 2;
    }
}

void http_local_head(struct http_exchange *exchange, const struct http_response *head)
{
    struct transport *transport = exchange->transport;
    const struct transport_options *options = &transport->options;
    if (exchange->state == EXCHANGE_DEAD) return;
    transport_enter(transport);
    exchange->content_type = xstrdup(head->content_type ? head->content_type : "");
    exchange->response = *head;
    exchange->response.content_type = exchange->content_type;
    exchange->response.warning = "";
    exchange->response.http_version = 11;
    exchange->response.method = exchange->method;
    exchange->response.url = exchange->url;
    exchange->has_response = true;
    exchange_start_idle_timer(exchange);
    if (options->on_response) options->on_response(options->ctx, &exchange->response);
    if (exchange->callbacks.on_response)
        exchange->callbacks.on_response(exchange->callbacks.ctx, &exchange->response);
    transport_leave(transport);
}

void http_local_body(struct http_exchange *exchange, const char *data, size_t len)
{
    struct transport *transport = exchange->transport;
    if (exchange->state == EXCHANGE_DEAD || len == 0) return;
    transport_enter(transport);
    exchange->last_ms = clock_now_ms(transport->clock);
    if (exchange->callbacks.on_body && !exchange->callbacks.on_body(exchange->callbacks.ctx, data, len))
        exchange->refused = true;
    bool refused = exchange->refused && exchange->state == EXCHANGE_RUNNING;
    if (refused) {
        struct err err;
        err_set(&err, ERR_CANCELLED, "refused by the reader");
        exchange_finish(exchange, CURLE_OK, &err);
    }
    transport_leave(transport);
}

void http_local_end(struct http_exchange *exchange, const struct err *err)
{
    struct transport *transport = exchange->transport;
    if (exchange->state == EXCHANGE_DEAD) return;
    transport_enter(transport);
    exchange_finish(exchange, CURLE_OK, err);
    transport_leave(transport);
}

bool http_local_is_paused(const struct http_exchange *exchange)
{
    return exchange->paused;
}
