/* Exchanges that a server in this process answers; see http_local.h. */
#include "net/http_local.h"

#include <stdlib.h>

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
