/* libcurl's multi interface driven by the loop: sockets, the timer, and the end of exchanges; see
 * transport.h. */
#include "net/transport.h"

#include <ev.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "net/transport_internal.h"

/* Socket whose events libcurl wants. */
struct watched_socket {
    ev_io io;
    struct transport *transport;
};

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;

static void init_curl(void)
{
    must(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);
}

static void on_socket(struct ev_loop *ev, ev_io *io, int events)
{
    struct transport *transport = container_of(io, struct watched_socket, io)->transport;
    int flags = (events & EV_READ ? CURL_CSELECT_IN : 0) | (events & EV_WRITE ? CURL_CSELECT_OUT : 0);
    int running, fd = io->fd; /* `io` may be freed by the call */
    transport_enter(transport);
    curl_multi_socket_action(transport->multi, fd, flags, &running);
    transport_leave(transport);
}

static int want_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *known)
{
    struct transport *transport = ctx;
    struct watched_socket *socket = known;
    struct ev_loop *ev = loop_ev(transport->loop);
    if (what == CURL_POLL_REMOVE) {
        if (!socket) return 0;
        ev_io_stop(ev, &socket->io);
        free(socket);
        curl_multi_assign(transport->multi, fd, NULL);
        return 0;
    }
    if (socket) {
        ev_io_stop(ev, &socket->io);
    } else {
        socket = NEW(struct watched_socket);
        socket->transport = transport;
        curl_multi_assign(transport->multi, fd, socket);
    }
    ev_io_init(&socket->io, on_socket, fd,
               (what & CURL_POLL_IN ? EV_READ : 0) | (what & CURL_POLL_OUT ? EV_WRITE : 0));
    ev_io_start(ev, &socket->io);
    return 0;
}

static void on_curl_timer(struct timer *timer)
{
    struct transport *transport = container_of(timer, struct transport, curl_timer);
    int running;
    transport_enter(transport);
    curl_multi_socket_action(transport->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    transport_leave(transport);
}

static int want_timer(CURLM *multi, long timeout_ms, void *ctx)
{
    struct transport *transport = ctx;
    if (timeout_ms < 0)
        timer_cancel(&transport->curl_timer);
    else
        timer_start(&transport->curl_timer, transport->clock, timeout_ms);
    return 0;
}

/* Does the work that libcurl forbids inside its callbacks: frees dead exchanges and admits new ones. */
static void work_off(struct transport *transport)
{
    struct http_exchange *exchange, *next;
    if (!transport->put_off) return;
    transport->put_off = false;
    for (exchange = TAILQ_FIRST(&transport->exchanges); exchange; exchange = next) {
        next = TAILQ_NEXT(exchange, link);
        if (exchange->state == EXCHANGE_DEAD) exchange_free(exchange);
    }
    transport_renew(transport);
    transport_admit(transport);
}

static void report_ends(struct transport *transport)
{
    CURLMsg *msg;
    int left;
    while ((msg = curl_multi_info_read(transport->multi, &left))) {
        if (msg->msg != CURLMSG_DONE) continue;
        struct http_exchange *exchange;
        curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, &exchange);
        exchange_finish(exchange, msg->data.result, NULL);
    }
}

void transport_enter(struct transport *transport)
{
    transport->inside++;
}

void transport_leave(struct transport *transport)
{
    must(transport->inside > 0);
    if (--transport->inside > 0) return;
    work_off(transport);
    report_ends(transport);
}

void transport_kick(struct transport *transport)
{
    if (!timer_running(&transport->kick)) timer_start(&transport->kick, transport->clock, 0);
}

void transport_resume(struct transport *transport)
{
    transport->put_off = true;
    transport_kick(transport);
}

/* Ends exchanges whose reader refused data: libcurl does not do so for data that it had held back. */
static void finish_refused(struct transport *transport)
{
    struct http_exchange *exchange = TAILQ_FIRST(&transport->exchanges);
    while (exchange) {
        if (exchange->state == EXCHANGE_RUNNING && exchange->refused) {
            exchange_finish(exchange, CURLE_WRITE_ERROR, NULL);
            exchange = TAILQ_FIRST(&transport->exchanges); /* on_done may have changed the list */
        } else {
            exchange = TAILQ_NEXT(exchange, link);
        }
    }
}

static void resume_deferred(struct transport *transport)
{
    struct http_exchange *exchange;
    transport_enter(transport);
    TAILQ_FOREACH (exchange, &transport->exchanges, link) {
        if (exchange->state != EXCHANGE_RUNNING || exchange->paused || !exchange->deferred) continue;
        exchange->deferred = false;
        curl_easy_pause(exchange->easy, CURLPAUSE_CONT); /* may call on_body at once */
    }
    transport_leave(transport);
    finish_refused(transport);
}

static void on_kick(struct timer *timer)
{
    resume_deferred(container_of(timer, struct transport, kick));
}

static void on_next_turn(void *ctx)
{
    resume_deferred(ctx);
}

static void copy_options(struct transport *transport, const struct transport_options *options)
{
    struct transport_options *own = &transport->options;
    *own = (struct transport_options){
        .tls_server_name = xstrdup(options->tls_server_name),
        .insecure_skip_tls_verify = options->insecure_skip_tls_verify,
        .user_agent = xstrdup(options->user_agent ? options->user_agent : "kubelua"),
        .on_response = options->on_response,
        .authorize = options->authorize,
        .ctx = options->ctx,
        .local = options->local,
    };
    transport_tls_copy(&own->tls, &options->tls);
    transport->connect_timeout_ms = options->connect_timeout_ms > 0 ? options->connect_timeout_ms : 30000;
}

CURLM *transport_new_multi(struct transport *transport)
{
    CURLM *multi = curl_multi_init();
    must(multi);
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, want_socket);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, transport);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, want_timer);
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, transport);
    curl_multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    return multi;
}

struct transport *transport_new(struct loop *loop, const struct transport_options *options, struct err *err)
{
    if (!transport_tls_check(&options->tls, options->insecure_skip_tls_verify, err)) return NULL;
    pthread_once(&curl_once, init_curl);
    struct proxies *proxies = proxies_new(options->proxy_url, err);
    if (!proxies) return NULL;
    struct transport *transport = NEW(struct transport);
    transport->proxies = proxies;
    transport->loop = loop;
    transport->clock = loop_clock(loop);
    transport->curl_timer.fn = on_curl_timer;
    transport->kick.fn = on_kick;
    transport->next_turn = waker_new(loop, on_next_turn, transport);
    transport_init_admission(transport);
    TAILQ_INIT(&transport->exchanges);
    copy_options(transport, options);
    transport->multi = transport_new_multi(transport);
    if (options->insecure_skip_tls_verify)
        log_warn("The server's certificate is not verified: insecure-skip-tls-verify is set");
    return transport;
}

void transport_free(struct transport *transport)
{
    if (!transport) return;
    must(transport->inside == 0);
    struct http_exchange *exchange;
    while ((exchange = TAILQ_FIRST(&transport->exchanges))) exchange_free(exchange);
    curl_multi_cleanup(transport->multi);
    timer_cancel(&transport->curl_timer);
    timer_cancel(&transport->kick);
    timer_cancel(&transport->timeout);
    waker_free(transport->next_turn);
    struct transport_options *own = &transport->options;
    transport_tls_clear(&own->tls);
    transport_tls_clear(&transport->next_tls);
    proxies_free(transport->proxies);
    free((char *)own->tls_server_name);
    free((char *)own->user_agent);
    free(transport);
}

struct http_exchange *transport_start(struct transport *transport, const struct http_request *request,
                                      const struct http_callbacks *callbacks, struct err *err)
{
    struct http_exchange *exchange = transport->options.local
                                         ? exchange_new_local(transport, request, callbacks)
                                         : exchange_new(transport, request, callbacks, err);
    if (!exchange) return NULL;
    TAILQ_INSERT_TAIL(&transport->exchanges, exchange, link);
    if (transport->options.local) {
        exchange_begin_local(exchange, request);
        return exchange;
    }
    transport->put_off = true;
    transport_kick(transport);
    return exchange;
}

void http_cancel(struct http_exchange *exchange)
{
    struct transport *transport = exchange->transport;
    if (exchange->state == EXCHANGE_DEAD) return;
    timer_cancel(&exchange->timer);
    if (transport->inside == 0) {
        exchange_free(exchange);
        return;
    }
    exchange->state = EXCHANGE_DEAD; /* no callback is called from now on */
    transport->put_off = true;
}

void http_pause(struct http_exchange *exchange, bool paused)
{
    if (exchange->paused == paused) return;
    exchange->paused = paused;
    exchange->last_ms = clock_now_ms(exchange->transport->clock);
    if (!paused && exchange->deferred) transport_kick(exchange->transport);
}
