/* Delivery by HTTP, over the client of http.request: the sender posts a batch to the engine thread, which
 * sends it, and waits for the response. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text/base64.h"
#include "engine/sink/sink_internal.h"
#include "net/transport.h"
#include "net/web.h"

enum { RESPONSE_MAX = 64 << 10, WAIT_MS = 3600000, CA_MAX = 1 << 20 };

struct http_delivery {
    struct sink_delivery base;
    struct sink *sink;
    const struct sink_config *config;
};

/* --- the engine thread */

/* "retry-after: 120" in the lines of a head, as seconds; -1: none. A date is none. */
static int64_t retry_after_ms(struct str headers)
{
    struct str line;
    while (str_cut(&headers, '\n', &line)) {
        if (!str_starts(line, STR("retry-after: "))) continue;
        int64_t seconds = 0;
        const char *p = line.p + 13, *end = line.p + line.n;
        if (p == end) return -1;
        for (; p < end && *p >= '0' && *p <= '9' && seconds < 1000000; p++)
            seconds = seconds * 10 + (*p - '0');
        return p == end ? seconds * 1000 : -1;
    }
    return -1;
}

static void on_done(void *ctx, const struct web_reply *reply, const struct err *err)
{
    struct sink *sink = ctx;
    struct sink_http *http = &sink->http;
    pthread_mutex_lock(&sink->lock);
    http->status = reply ? reply->status : 0;
    http->retry_after_ms = reply ? retry_after_ms(reply->headers) : -1;
    if (err) http->err = *err;
    /* Nothing of the body, which may repeat what was sent. */
    if (reply) err_set(&http->err, ERR_HTTP, "the server responded %d", reply->status);
    http->is_over = true;
    pthread_cond_broadcast(&sink->changed);
    pthread_mutex_unlock(&sink->lock);
    web_close(http->call);
    http->call = NULL;
}

/* Appends the value of the header Authorization, if there is a login. */
static void put_login(const struct sink_config *config, struct buf *out)
{
    const char *const *access = config->access;
    struct buf pair = {0};
    if (access[SINK_TOKEN]) buf_printf(out, "Bearer %s", access[SINK_TOKEN]);
    if (!access[SINK_USER]) return;
    buf_printf(&pair, "%s:%s", access[SINK_USER], access[SINK_PASSWORD]);
    buf_puts(out, "Basic ");
    base64_encode(buf_slice(&pair), out);
    buf_wipe(&pair);
}

/* A path was read by the sender. */
static struct transport_tls tls_of(const struct sink_http *http)
{
    const char *const *access = http->config->access;
    struct transport_tls tls = {.ca_pem = buf_slice(&http->ca)};
    if (access[SINK_CA] && *access[SINK_CA] != '/') tls.ca_pem = str_of(access[SINK_CA]);
    if (!access[SINK_CERT]) return tls;
    tls.client_cert_pem = str_of(access[SINK_CERT]);
    tls.client_key_pem = str_of(access[SINK_CERT_KEY]);
    return tls;
}

/* The settings stay as they are while the sender waits. */
static void on_start(struct mail *mail)
{
    struct sink *sink = container_of(container_of(mail, struct sink_http, start), struct sink, http);
    struct sink_http *http = &sink->http;
    const struct sink_config *config = http->config;
    const char **headers = xcalloc(2 * config->header_count + 4, sizeof *headers);
    size_t count = 2 * config->header_count;
    struct buf login = {0};
    for (size_t i = 0; i < count; i++) headers[i] = config->headers[i];
    headers[count++] = "Content-Type";
    headers[count++] = http->is_batch ? "application/cloudevents-batch+json" : "application/cloudevents+json";
    put_login(config, &login);
    if (login.len > 0) {
        headers[count++] = "Authorization";
        headers[count++] = buf_text(&login);
    }
    struct transport_tls tls = tls_of(http);
    http->call = web_start(
        sink->hub->options.web,
        &(const struct web_call_request){.method = "POST",
                                         .url = config->to,
                                         .headers = headers,
                                         .header_count = count / 2,
                                         .body = buf_slice(&http->body),
                                         .keeps_body = true,
                                         .timeout_ms = config->timeout_ms,
                                         .body_max = RESPONSE_MAX,
                                         .tls = tls.ca_pem.n || tls.client_cert_pem.n ? &tls : NULL},
        on_done, sink);
    free(headers);
    buf_wipe(&login);
}

void sink_http_end(struct sink *sink)
{
    struct sink_http *http = &sink->http;
    if (http->call)
        web_close(http->call);
    else if (http->is_posted && !http->is_over)
        mailbox_withdraw(loop_mailbox(sink->hub->options.loop), &http->start);
    http->call = NULL;
    buf_clear(&http->body);
    buf_clear(&http->ca);
}

/* --- the sender */

/* 408, 425, 429 and 5xx pass, and so do those that tell of a wrong address or of credentials, which an
 * operator can change. The others are about the events. */
static enum sink_outcome outcome_of(int status)
{
    static const int of_events[] = {400, 413, 415, 422};
    if (status >= 200 && status < 300) return SINK_DELIVERED;
    for (size_t i = 0; i < ARRAY_LEN(of_events); i++)
        if (status == of_events[i]) return SINK_REFUSED;
    return SINK_RETRY;
}

static void put_body(struct buf *body, const struct sink_event *events, size_t count, bool is_batch)
{
    body->len = 0;
    if (is_batch) buf_putc(body, '[');
    for (size_t i = 0; i < count; i++) {
        if (i > 0) buf_putc(body, ',');
        buf_str(body, events[i].json);
    }
    if (is_batch) buf_putc(body, ']');
}

/* A file of authorities is read anew for each delivery. */
static bool read_ca(struct sink_http *http, struct err *err)
{
    const char *ca = http->config->access[SINK_CA];
    http->ca.len = 0;
    return !ca || *ca != '/' || file_read(ca, CA_MAX, &http->ca, err) || err_wrap(err, "ca");
}

static void deliver(struct sink_delivery *base, const struct sink_event *events, size_t count,
                    struct sink_result *result)
{
    struct http_delivery *delivery = container_of(base, struct http_delivery, base);
    struct sink *sink = delivery->sink;
    struct sink_http *http = &sink->http;
    http->config = delivery->config;
    http->is_batch = delivery->config->batch > 1;
    put_body(&http->body, events, count, http->is_batch);
    sink_result_set(result, SINK_RETRY);
    if (!read_ca(http, &result->err)) return;
    pthread_mutex_lock(&sink->lock);
    http->is_over = false;
    http->start.deliver = on_start;
    http->is_posted = !sink->ends;
    if (http->is_posted) mailbox_post(loop_mailbox(sink->hub->options.loop), &http->start);
    while (!http->is_over && !sink->ends) sink_wait(sink, WAIT_MS);
    sink_result_set(result, http->is_over ? outcome_of(http->status) : SINK_ENDED);
    if (http->is_over) {
        result->retry_after_ms = http->retry_after_ms;
        result->err = http->err;
    }
    pthread_mutex_unlock(&sink->lock);
}

static void free_http(struct sink_delivery *base)
{
    free(container_of(base, struct http_delivery, base));
}

struct sink_delivery *sink_http_new(struct sink *sink, const struct sink_config *config)
{
    struct http_delivery *delivery = NEW(struct http_delivery);
    *delivery = (struct http_delivery){.base = {deliver, free_http}, .sink = sink, .config = config};
    return &delivery->base;
}
