/* I/O thread's half of requests of scripts: the exchange, its redirects and its limits; see web.h. */
#include <stdlib.h>
#include <strings.h>

#include "base/mem.h"
#include "net/redirect.h"
#include "net/web_internal.h"

static void begin(struct web_call *call);

/* --- the end */

static void let_go(struct web_call *call)
{
    call->over = true;
    timer_cancel(&call->deadline);
    if (call->exchange) http_cancel(call->exchange);
    call->exchange = NULL;
    web_tls_leave(call);
}

static void post_finished(struct web_call *call)
{
    let_go(call);
    mailbox_post(loop_mailbox(call->web->options.engine_loop), &call->finished);
}

static void fail(struct web_call *call, const struct err *err)
{
    call->failed = true;
    call->err = *err;
    post_finished(call);
}

static void on_deadline(struct timer *timer)
{
    struct web_call *call = container_of(timer, struct web_call, deadline);
    struct err err;
    err_set(&err, ERR_TIMEOUT, "no complete response within %g s", (double)call->timeout_ms / 1e3);
    fail(call, &err);
}

/* --- redirects */

/* Returns the value of the last header line of a name, or NULL. */
static char *header_value(const struct web_call *call, const char *name)
{
    struct str rest = buf_slice(&call->head_text), line;
    size_t n = strlen(name);
    char *found = NULL;
    while (str_cut(&rest, '\n', &line)) {
        if (line.n < n + 2 || strncmp(line.p, name, n) != 0 || line.p[n] != ':') continue;
        free(found);
        found = xstrndup(line.p + n + 2, line.n - n - 2);
    }
    return found;
}

static bool is_of_body(const char *name)
{
    return strcasecmp(name, "content-type") == 0 || strcasecmp(name, "content-encoding") == 0 ||
           strcasecmp(name, "content-language") == 0;
}

static void drop_headers(struct web_call *call, bool (*drops)(const char *name))
{
    char **to = call->headers;
    for (char **from = call->headers; *from; from += 2) {
        if (drops(from[0])) {
            explicit_bzero(from[1], strlen(from[1]));
            free(from[0]);
            free(from[1]);
        } else {
            *to++ = from[0];
            *to++ = from[1];
        }
    }
    *to = NULL;
}

/* Returns whether a redirect makes it a GET, as browsers and client libraries do: only 307 and 308 keep a
 * body. */
static bool changes_method(const struct web_call *call, int status)
{
    bool head = strcmp(call->method, "HEAD") == 0;
    return !head && (status == 303 || (status < 303 && strcmp(call->method, "POST") == 0));
}

static bool is_followed(const struct web_call *call, int status)
{
    return redirect_is(status) && !(call->keeps_body && changes_method(call, status));
}

static void change_method(struct web_call *call, int status)
{
    if (!changes_method(call, status)) return;
    free(call->method);
    call->method = xstrdup("GET");
    call->has_body = false;
    drop_headers(call, is_of_body);
}

/* Another server gets no credentials, and its certificate is not one of those that were expected. */
static void drop_access(struct web_call *call)
{
    drop_headers(call, redirect_drops);
    web_tls_free(call->tls);
    call->tls = NULL;
}

static void redirect(struct web_call *call, int status, const char *location)
{
    struct err err;
    char *next = NULL;
    bool ok = call->redirects++ < WEB_REDIRECTS_MAX ||
              err_set(&err, ERR_LIMIT, "more than %d redirects", WEB_REDIRECTS_MAX);
    bool same = false;
    if (ok) next = redirect_url(call->url, location, &same, &err);
    ok = next != NULL;
    if (ok && !same) drop_access(call);
    if (ok && !web_allows(call->web->options.allow, next, &err)) ok = err_wrap(&err, "a redirect");
    if (!ok) {
        free(next);
        fail(call, &err);
        return;
    }
    free(call->url);
    call->url = next;
    change_method(call, status);
    begin(call);
}

/* --- one exchange */

static void put_header(void *ctx, const char *name, const char *value)
{
    struct web_call *call = ctx;
    struct buf *out = &call->head_text;
    if (out->len + strlen(name) + strlen(value) > WEB_HEAD_MAX) return;
    for (; *name; name++) buf_putc(out, (*name >= 'A' && *name <= 'Z') ? (char)(*name + 32) : *name);
    buf_printf(out, ": %s\n", value);
}

static void on_response(void *ctx, const struct http_response *response)
{
    struct web_call *call = ctx;
    http_each_header(call->exchange, put_header, call);
    call->reply.status = response->status;
    char *location = is_followed(call, response->status) ? header_value(call, "location") : NULL;
    call->redirected = location != NULL;
    free(location);
}

static bool on_body(void *ctx, const char *data, size_t len)
{
    struct web_call *call = ctx;
    if (call->redirected) return true; /* the body of a redirect is not read */
    if (call->body_text.len + len > call->body_max) return false;
    call->buffered += len;
    if (atomic_fetch_add(&call->web->buffered, len) + len > WEB_BUFFERED_MAX) {
        call->crowded = true;
        return false;
    }
    buf_append(&call->body_text, data, len);
    return true;
}

static void on_done(void *ctx, const struct http_response *response, const struct err *err)
{
    struct web_call *call = ctx;
    struct err own;
    call->exchange = NULL;
    web_tls_leave(call);
    if (err) {
        bool too_large = err->code == ERR_CANCELLED;
        if (call->crowded)
            err_set(&own, ERR_LIMIT, "responses that scripts wait for exceed %d MiB in total",
                    WEB_BUFFERED_MAX >> 20);
        else if (too_large)
            err_set(&own, ERR_LIMIT, "the response exceeds the limit value-size (%zu bytes)", call->body_max);
        fail(call, too_large ? &own : err);
        return;
    }
    char *location = is_followed(call, response->status) ? header_value(call, "location") : NULL;
    if (location) {
        redirect(call, response->status, location);
        free(location);
        return;
    }
    call->reply.headers = buf_slice(&call->head_text);
    call->reply.body = buf_slice(&call->body_text);
    post_finished(call);
}

struct transport *web_transport_new(struct web *web, const struct transport_tls *tls, struct err *err)
{
    struct transport_options options = {
        .tls = *tls, .user_agent = web->options.user_agent, .local = web->options.local};
    if (tls->ca_pem.n == 0) options.tls.ca_pem = web->options.ca_pem;
    return transport_new(web->options.io_loop, &options, err);
}

static struct transport *transport_of(struct web_call *call, struct err *err)
{
    struct web *web = call->web;
    if (call->tls) return web_tls_use(call, err);
    if (!web->transport)
        web->transport = web_transport_new(web, &(const struct transport_tls){.ca_pem = {0}}, err);
    return web->transport;
}

static void begin(struct web_call *call)
{
    const struct http_callbacks callbacks = {
        .on_response = on_response, .on_body = on_body, .on_done = on_done, .ctx = call};
    struct http_header headers[WEB_HEADERS_MAX + 1];
    struct err err;
    size_t count = 0;
    for (char **text = call->headers; *text && count < WEB_HEADERS_MAX; text += 2)
        headers[count++] = (struct http_header){text[0], text[1]};
    headers[count] = (struct http_header){0};
    call->head_text.len = call->body_text.len = 0;
    call->reply = (struct web_reply){0};
    const struct http_request request = {.method = call->method,
                                         .url = call->url,
                                         .headers = headers,
                                         .body = call->has_body ? buf_slice(&call->body) : (struct str){0},
                                         .body_stays = true,
                                         .first_byte_timeout_ms = call->timeout_ms};
    struct transport *transport = transport_of(call, &err);
    if (transport) call->exchange = transport_start(transport, &request, &callbacks, &err);
    if (!call->exchange) fail(call, &err);
}

/* --- mails */

void web_io_start(struct mail *mail)
{
    struct web_call *call = container_of(mail, struct web_call, start);
    call->deadline.fn = on_deadline;
    timer_start(&call->deadline, loop_clock(call->web->options.io_loop), call->timeout_ms);
    begin(call);
}

void web_io_stop(struct mail *mail)
{
    struct web_call *call = container_of(mail, struct web_call, stop);
    struct web *web = call->web;
    let_go(call);
    mailbox_post(loop_mailbox(web->options.engine_loop), &call->gone); /* which frees it */
    /* Signalled with the lock held: a thread that sees the count may free `web` as soon as it gets the lock.
     */
    pthread_mutex_lock(&web->lock);
    web->running--;
    pthread_cond_signal(&web->ended);
    pthread_mutex_unlock(&web->lock);
}
