/* Engine thread's half of requests of scripts; see web.h. */
#include "net/web.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"
#include "net/web_internal.h"

static void free_call(struct web_call *call)
{
    atomic_fetch_sub(&call->web->buffered, call->buffered);
    LIST_REMOVE(call, link);
    for (char **text = call->headers; *text; text++) {
        explicit_bzero(*text, strlen(*text));
        free(*text);
    }
    free(call->headers);
    free(call->method);
    explicit_bzero(call->url, strlen(call->url));
    free(call->url);
    web_tls_free(call->tls);
    buf_clear(&call->body);
    buf_clear(&call->head_text);
    buf_clear(&call->body_text);
    free(call);
}

static void on_response(struct mail *mail)
{
    struct web_call *call = container_of(mail, struct web_call, finished);
    if (call->closed) return;
    call->done(call->ctx, call->failed ? NULL : &call->reply, call->failed ? &call->err : NULL);
}

static void on_gone(struct mail *mail)
{
    free_call(container_of(mail, struct web_call, gone));
}

struct web_call *web_start(struct web *web, const struct web_call_request *request,
                           void (*done)(void *ctx, const struct web_reply *reply, const struct err *err),
                           void *ctx)
{
    struct web_call *call = NEW(struct web_call);
    call->web = web;
    call->done = done;
    call->ctx = ctx;
    call->method = xstrdup(request->method);
    call->url = xstrdup(request->url);
    call->headers = xcalloc(2 * request->header_count + 1, sizeof(char *));
    for (size_t i = 0; i < 2 * request->header_count; i++) call->headers[i] = xstrdup(request->headers[i]);
    if (request->tls) call->tls = web_tls_copy(request->tls);
    call->has_body = request->body.p != NULL;
    call->keeps_body = request->keeps_body;
    buf_str(&call->body, request->body);
    call->timeout_ms = request->timeout_ms;
    call->body_max = request->body_max;
    call->start.deliver = web_io_start;
    call->stop.deliver = web_io_stop;
    call->finished.deliver = on_response;
    call->gone.deliver = on_gone;
    LIST_INSERT_HEAD(&web->calls, call, link);
    pthread_mutex_lock(&web->lock);
    web->running++;
    pthread_mutex_unlock(&web->lock);
    mailbox_post(loop_mailbox(web->options.io_loop), &call->start);
    return call;
}

void web_close(struct web_call *call)
{
    must(!call->closed);
    call->closed = true;
    mailbox_post(loop_mailbox(call->web->options.io_loop), &call->stop);
}

struct web *web_new(const struct web_options *options)
{
    struct web *web = NEW(struct web);
    web->options = *options;
    web->options.user_agent = xstrdup(options->user_agent);
    LIST_INIT(&web->calls);
    TAILQ_INIT(&web->own_tls);
    pthread_mutex_init(&web->lock, NULL);
    pthread_cond_init(&web->ended, NULL);
    return web;
}

const struct web_allow *web_allowed(const struct web *web)
{
    return web->options.allow;
}

void web_end(struct web *web)
{
    struct web_call *call;
    if (!web) return;
    LIST_FOREACH (call, &web->calls, link)
        if (!call->closed) web_close(call);
    pthread_mutex_lock(&web->lock);
    while (web->running > 0) loop_wait(web->options.io_loop, &web->ended, &web->lock);
    pthread_mutex_unlock(&web->lock);
    while ((call = LIST_FIRST(&web->calls))) {
        mailbox_withdraw(loop_mailbox(web->options.engine_loop), &call->finished);
        mailbox_withdraw(loop_mailbox(web->options.engine_loop), &call->gone);
        free_call(call);
    }
}

void web_free(struct web *web)
{
    struct web_tls *one;
    if (!web) return;
    while ((one = TAILQ_FIRST(&web->own_tls))) {
        TAILQ_REMOVE(&web->own_tls, one, link);
        web_tls_free(one);
    }
    transport_free(web->transport);
    web_allow_free(web->options.allow);
    free((char *)web->options.user_agent);
    pthread_mutex_destroy(&web->lock);
    pthread_cond_destroy(&web->ended);
    free(web);
}
