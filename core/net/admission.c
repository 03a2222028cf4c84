/* Admission of exchanges to connections. libcurl would open one for each exchange that finds the shared
 * HTTP/2 connections full, so a burst of requests became a burst of TLS handshakes; a kube-apiserver that is
 * busy with a hundred of those takes its watchers for dead and ends their watches. CURLOPT_PIPEWAIT does not
 * help: it considers the first connection only, and lets requests fail one after the other. Here an exchange
 * over TLS waits while another is setting up a connection, which then carries both; see
 * transport_internal.h. */
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "net/transport_internal.h"

enum { TIMEOUT_MS = 1000 };

static void admit(struct transport *transport, struct http_exchange *exchange)
{
    exchange->state = EXCHANGE_RUNNING;
    must(curl_multi_add_handle(transport->multi, exchange->easy) == CURLM_OK);
}

/* Gets the credentials at the last moment, so that the request carries the current ones. */
static enum transport_permit authorize(struct http_exchange *exchange, struct err *err)
{
    const struct transport_options *options = &exchange->transport->options;
    struct buf value = {0};
    if (!exchange->authorize || !options->authorize) return PERMIT_GO;
    enum transport_permit permit = options->authorize(options->ctx, &value, &exchange->authorization, err);
    /* Once the header is set it must not be added again. */
    exchange->authorize = permit == PERMIT_WAIT;
    if (permit == PERMIT_GO && value.len &&
        !exchange_add_header(exchange, "Authorization", buf_text(&value), err))
        permit = PERMIT_FAIL;
    buf_wipe(&value);
    return permit;
}

static bool may_connect(const struct http_exchange *exchange, bool *shares)
{
    const struct transport *transport = exchange->transport;
    /* Without TLS there is no HTTP/2 here, and a handshake costs nothing. */
    *shares = exchange->tls && !exchange->hurried && !transport->many_connections;
    return !*shares || !transport->opening;
}

void transport_admit(struct transport *transport)
{
    struct http_exchange *exchange = TAILQ_FIRST(&transport->exchanges);
    struct err err;
    bool shares;
    while (exchange) {
        enum transport_permit permit = PERMIT_WAIT;
        if (exchange->state == EXCHANGE_NEW && may_connect(exchange, &shares))
            permit = authorize(exchange, &err);
        if (permit == PERMIT_FAIL) {
            exchange_finish(exchange, CURLE_OK, &err);
            exchange = TAILQ_FIRST(&transport->exchanges); /* on_done may have changed the list */
            continue;
        }
        if (permit == PERMIT_GO) {
            admit(transport, exchange);
            if (shares) {
                transport->opening = exchange;
                timer_start(&transport->timeout, transport->clock, TIMEOUT_MS);
            }
        }
        exchange = TAILQ_NEXT(exchange, link);
    }
}

/* Ends the wait for a connection; the exchange that waited for it is admitted soon. */
static void release(struct transport *transport)
{
    transport->opening = NULL;
    timer_cancel(&transport->timeout);
    transport_resume(transport);
}

/* Admits all waiting exchanges at once: a server that does not let connections in must not fail them one
 * after the other. */
static void hurry_all(struct transport *transport)
{
    struct http_exchange *exchange;
    TAILQ_FOREACH (exchange, &transport->exchanges, link) {
        if (exchange->state == EXCHANGE_NEW) exchange->hurried = true;
    }
    release(transport);
}

static void on_timeout(struct timer *timer)
{
    hurry_all(container_of(timer, struct transport, timeout));
}

void transport_init_admission(struct transport *transport)
{
    transport->timeout.fn = on_timeout;
}

void transport_connected(struct http_exchange *exchange)
{
    if (exchange->transport->opening == exchange) release(exchange->transport);
}

void transport_connect_failed(struct http_exchange *exchange)
{
    if (exchange->transport->opening == exchange) hurry_all(exchange->transport);
}

void transport_forget(struct http_exchange *exchange)
{
    if (exchange->transport->opening == exchange) release(exchange->transport);
}
