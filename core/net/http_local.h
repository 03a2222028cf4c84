/* Server inside this process, instead of the network: a transport that has one passes it every exchange.
 * Owner: the creator of the server, which outlives the transport. Everything runs on the loop's thread. */
#pragma once
#include "net/transport.h"

struct http_local {
    /* Receives a request, borrowed for the call. It responds later by the functions below, never from inside.
     */
    void (*begin)(struct http_local *local, struct http_exchange *exchange,
                  const struct http_request *request);
    /* The exchange ended for whatever reason: call no function below for it any more. May be called from
     * inside them. */
    void (*gone)(struct http_local *local, struct http_exchange *exchange);
};

/* Before a request is carried out: false when it may not be sent any more, which ends the exchange. */
bool http_local_send(struct http_exchange *exchange);
/* Sets the headers of the response for http_each_header, ended by a NULL name; copied. Call before the
 * head. */
void http_local_set_headers(struct http_exchange *exchange, const struct http_header *headers);
/* Deliver the response: its head once, then its body, then its end. `head` is copied; method and url are the
 * request's. `err` NULL: the response is complete; without a head that is an error too. */
void http_local_head(struct http_exchange *exchange, const struct http_response *head);
void http_local_body(struct http_exchange *exchange, const char *data, size_t len);
void http_local_end(struct http_exchange *exchange, const struct err *err);
/* Its owner does not want more of the body for now. */
bool http_local_is_paused(const struct http_exchange *exchange);
