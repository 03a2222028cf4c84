/* Server for webhooks, its certificate and its requests; see webhook_listener.h. */
#include "engine/webhook_listener.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "net/bind_address.h"
#include "net/server/certificate_files.h"
#include "net/server/web_server.h"

METRIC(metric_refused, 15, "kubelua_webhook_refused_total",
       "Number of requests that were refused before a webhook was asked.");

/* A proxy in front of the engine is one client with all connections. INBOUND_MAX: requests that wait for an
 * answer, of all scripts. BODIES_MAX: bytes of bodies in memory. */
enum { INBOUND_MAX = 128, BODIES_MAX = 64 << 20, CONNECTIONS_OF_ONE = 256 };
/* A replaced server has RETIRED_MS for the requests that it took. */
enum { LOOK_MS = 3000, RETIRED_MS = 60000, FINISH_MS = 1000, RETRY_S = 1 };

/* A request. The server's thread makes it and the response waits in it; both sides have a reference. */
struct inbound {
    struct mail mail; /* to the engine thread */
    TAILQ_ENTRY(inbound) link;
    struct webhook_listener *listener;
    struct web_client *client; /* under the lock; NULL: it has gone, or was resumed */
    bool is_delivered;         /* to the engine thread, where this belongs */
    atomic_int refs;
    char *method, *path;
    struct buf query, headers, body;
    struct webhook_request request;
    struct webhook_response response;
};

/* A server whose certificate is old, or that is not needed any more. */
struct retired_server {
    struct web_server *server;
    int64_t until_ms;
};

struct webhook_listener {
    struct webhook_listener_options options;
    struct webhook_paths *paths;
    struct certificate_files files;
    struct web_server *server; /* NULL: it does not listen */
    struct retired_server *retired;
    size_t retired_count;
    struct timer look;
    pthread_mutex_t lock;
    TAILQ_HEAD(, inbound) inbound; /* under the lock, as the next ones */
    size_t inbound_count;
    bool is_ending;
};

/* --- on the server's thread */

static void inbound_unref(struct inbound *in)
{
    if (atomic_fetch_sub(&in->refs, 1) > 1) return;
    webhook_response_clear(&in->response);
    buf_clear(&in->query);
    buf_clear(&in->headers);
    buf_wipe(&in->body);
    free(in->method);
    free(in->path);
    free(in);
}

static void put_pair(void *ctx, const char *name, const char *value)
{
    buf_append(ctx, name, strlen(name) + 1);
    buf_append(ctx, value, strlen(value) + 1);
}

static void give(struct webhook_response *from, struct web_response *to)
{
    to->status = from->status;
    to->retry_after_s = from->retry_after_s;
    if (from->is_json) to->content_type = "application/json";
    if (from->is_empty) to->content_type = NULL;
    to->body = from->body;
    to->headers = from->headers;
    from->body = from->headers = (struct buf){0};
    if (from->allow.len) buf_printf(&to->headers, "Allow: %.*s\n", STR_ARG(buf_slice(&from->allow)));
}

static void refuse(struct web_response *response, const char *text)
{
    response->status = 503;
    response->retry_after_s = RETRY_S;
    response->body.len = 0;
    buf_printf(&response->body, "%s\n", text);
    metric_inc(&metric_refused);
}

/* Before the body is read. */
static size_t on_head(void *ctx, const struct web_request *request, struct web_response *response)
{
    struct webhook_listener *listener = ctx;
    struct buf headers = {0};
    struct webhook_response refused = {0};
    size_t body_max;
    request->each_header(request, put_pair, &headers);
    const struct webhook_request head = {
        .method = request->method, .path = request->path, .headers = buf_slice(&headers)};
    if (!webhook_paths_admit(listener->paths, &head, &body_max, &refused)) {
        give(&refused, response);
        metric_inc(&metric_refused);
    }
    webhook_response_clear(&refused);
    buf_wipe(&headers);
    return body_max;
}

static void on_mail(struct mail *mail);

static struct inbound *inbound_new(struct webhook_listener *listener, const struct web_request *request)
{
    struct inbound *in = NEW(struct inbound);
    in->listener = listener;
    in->refs = 2;
    in->mail.deliver = on_mail;
    in->method = xstrdup(request->method);
    in->path = xstrdup(request->path);
    request->each_query(request, put_pair, &in->query);
    request->each_header(request, put_pair, &in->headers);
    in->body = *request->body;
    *request->body = (struct buf){0};
    in->request = (struct webhook_request){.method = in->method,
                                           .path = in->path,
                                           .query = buf_slice(&in->query),
                                           .headers = buf_slice(&in->headers),
                                           .body = buf_slice(&in->body)};
    return in;
}

/* Under the lock. Returns false, and sets the response, if the request cannot wait. */
static bool put_aside(struct inbound *in, const struct web_request *request, struct web_response *response)
{
    struct webhook_listener *listener = in->listener;
    if (listener->is_ending) {
        refuse(response, "the engine is stopping");
        return false;
    }
    if (listener->inbound_count == INBOUND_MAX) {
        refuse(response, "128 requests wait for webhooks, which is the limit");
        return false;
    }
    in->client = web_suspend(request, response);
    if (!in->client) return false;
    *request->own = in;
    TAILQ_INSERT_TAIL(&listener->inbound, in, link);
    listener->inbound_count++;
    mailbox_post(loop_mailbox(listener->options.loop), &in->mail);
    return true;
}

/* On this thread, so that bodies of strangers do not cost the engine thread time. */
static bool verify(struct inbound *in, struct web_response *response)
{
    struct webhook_response refused = {0};
    in->request.verified = webhook_paths_verify(in->listener->paths, &in->request, &refused);
    if (in->request.verified) return true;
    give(&refused, response);
    webhook_response_clear(&refused);
    metric_inc(&metric_refused);
    return false;
}

static void on_request(void *ctx, const struct web_request *request, struct web_response *response)
{
    struct webhook_listener *listener = ctx;
    if (request->resumed) {
        give(&((struct inbound *)*request->own)->response, response);
        return;
    }
    struct inbound *in = inbound_new(listener, request);
    bool waits = verify(in, response);
    if (waits) {
        pthread_mutex_lock(&listener->lock);
        waits = put_aside(in, request, response);
        pthread_mutex_unlock(&listener->lock);
    }
    if (waits) return;
    in->refs = 1;
    inbound_unref(in);
}

/* The request is over. */
static void on_forget(void *ctx, void *own)
{
    struct webhook_listener *listener = ctx;
    struct inbound *in = own;
    pthread_mutex_lock(&listener->lock);
    in->client = NULL;
    pthread_mutex_unlock(&listener->lock);
    inbound_unref(in);
}

/* --- on the engine thread */

static void on_answered(void *ctx, struct webhook_response *response)
{
    struct inbound *in = ctx;
    struct webhook_listener *listener = in->listener;
    in->response = *response;
    *response = (struct webhook_response){0};
    pthread_mutex_lock(&listener->lock);
    TAILQ_REMOVE(&listener->inbound, in, link);
    listener->inbound_count--;
    if (in->client) web_resume(in->client, 1);
    in->client = NULL;
    pthread_mutex_unlock(&listener->lock);
    inbound_unref(in);
}

static void on_mail(struct mail *mail)
{
    struct inbound *in = container_of(mail, struct inbound, mail);
    in->is_delivered = true;
    webhook_call_start(in->listener->paths, &in->request, on_answered, in);
}

/* --- certificates and servers */

static void retire(struct webhook_listener *listener, struct web_server *server)
{
    int64_t now_ms = clock_now_ms(loop_clock(listener->options.loop));
    *array_add(listener->retired, listener->retired_count) =
        (struct retired_server){server, now_ms + RETIRED_MS};
}

static void end_retired(struct webhook_listener *listener)
{
    int64_t now_ms = clock_now_ms(loop_clock(listener->options.loop));
    for (size_t i = listener->retired_count; i-- > 0;) {
        struct retired_server *one = &listener->retired[i];
        if (!web_server_is_idle(one->server) && now_ms < one->until_ms) continue;
        web_server_free(one->server);
        array_remove(listener->retired, listener->retired_count, i);
    }
}

static void renew(struct webhook_listener *listener)
{
    struct err err;
    const struct web_certificate tls = certificate_files_in_use(&listener->files);
    struct web_server *server = web_server_renew(listener->server, &tls, &err);
    if (!server) {
        log_warn("Failed to renew the certificate of webhooks", F("err", err.text));
        return;
    }
    retire(listener, listener->server);
    listener->server = server;
    log_info("Renewed the certificate of webhooks", F("file", listener->options.cert_file));
}

/* The last path has gone: nothing is listened to. */
static void changed(void *ctx)
{
    struct webhook_listener *listener = ctx;
    if (!listener->server || listener->is_ending || webhook_paths_count(listener->paths) > 0) return;
    web_server_finish(listener->server, 0);
    retire(listener, listener->server);
    listener->server = NULL;
    log_info("Stopped serving webhooks");
}

static void on_look(struct timer *timer)
{
    struct webhook_listener *listener = container_of(timer, struct webhook_listener, look);
    struct err err;
    end_retired(listener);
    changed(listener); /* what it began for may have been refused afterwards */
    switch (listener->server ? certificate_files_look(&listener->files, &err) : CERTIFICATE_SAME) {
    case CERTIFICATE_NEW: renew(listener); break;
    case CERTIFICATE_WRONG:
        log_warn("Certificate of webhooks cannot be used, serving the previous one", F("err", err.text));
        break;
    case CERTIFICATE_SAME: break;
    }
    if (listener->server || listener->retired_count)
        timer_start(timer, loop_clock(listener->options.loop), LOOK_MS);
}

static void log_begin(struct webhook_listener *listener)
{
    const char *where = web_server_where(listener->server);
    if (listener->options.cert_file)
        log_info("Serving webhooks", F("address", where), F("certificate", listener->options.cert_file));
    else
        log_warn("Serving webhooks with a self-signed certificate, for development only", F("address", where),
                 F("set", listener->options.cert_name));
}

static bool begin(void *ctx, struct err *err)
{
    struct webhook_listener *listener = ctx;
    const struct webhook_listener_options *options = &listener->options;
    if (listener->server) return true;
    if (!options->address || bind_address_is_off(options->address))
        return err_set(err, ERR_INVALID, "webhooks are disabled by %s", options->address_name);
    if (!certificate_files_load(&listener->files, "kubelua", options->address, err))
        return err_wrap(err, "%s", options->cert_name);
    const struct web_certificate tls = certificate_files_in_use(&listener->files);
    listener->server =
        web_server_new(&(const struct web_server_options){.address = options->address,
                                                          .name = "webhooks",
                                                          .tls = &tls,
                                                          .serve = on_request,
                                                          .head = on_head,
                                                          .forget = on_forget,
                                                          .bodies_max = BODIES_MAX,
                                                          .connections_of_one = CONNECTIONS_OF_ONE,
                                                          .ctx = listener},
                       err);
    if (!listener->server) return err_wrap(err, "%s", options->address_name);
    log_begin(listener);
    timer_start(&listener->look, loop_clock(options->loop), LOOK_MS);
    return true;
}

/* --- lifetime */

struct webhook_listener *webhook_listener_new(const struct webhook_listener_options *options)
{
    struct webhook_listener *listener = NEW(struct webhook_listener);
    listener->options = *options;
    listener->files.cert_file = options->cert_file;
    listener->files.key_file = options->key_file;
    listener->look.fn = on_look;
    TAILQ_INIT(&listener->inbound);
    pthread_mutex_init(&listener->lock, NULL);
    listener->paths = webhook_paths_new(
        &(const struct webhook_paths_options){.begin = begin, .changed = changed, .ctx = listener});
    return listener;
}

struct webhook_paths *webhook_listener_paths(struct webhook_listener *listener)
{
    return listener->paths;
}

const char *webhook_listener_where(const struct webhook_listener *listener)
{
    return listener->server ? web_server_where(listener->server) : "";
}

/* Mail that was not delivered before the loop ended. */
static void refuse_undelivered(struct webhook_listener *listener)
{
    struct inbound *in, *next;
    for (in = TAILQ_FIRST(&listener->inbound); in; in = next) {
        struct webhook_response response = {0};
        next = TAILQ_NEXT(in, link);
        if (in->is_delivered) continue;
        mailbox_withdraw(loop_mailbox(listener->options.loop), &in->mail);
        webhook_response_set(&response, 503, "the engine is stopping");
        on_answered(in, &response);
    }
}

void webhook_listener_stop(struct webhook_listener *listener)
{
    if (!listener) return;
    pthread_mutex_lock(&listener->lock);
    listener->is_ending = true;
    pthread_mutex_unlock(&listener->lock);
}

void webhook_listener_end(struct webhook_listener *listener)
{
    if (!listener) return;
    webhook_listener_stop(listener);
    refuse_undelivered(listener);
    timer_cancel(&listener->look);
    if (listener->server) web_server_finish(listener->server, FINISH_MS);
    web_server_free(listener->server);
    listener->server = NULL;
    for (size_t i = 0; i < listener->retired_count; i++) web_server_free(listener->retired[i].server);
    listener->retired_count = 0;
}

void webhook_listener_free(struct webhook_listener *listener)
{
    if (!listener) return;
    webhook_listener_end(listener);
    webhook_paths_free(listener->paths);
    certificate_files_clear(&listener->files);
    free(listener->retired);
    pthread_mutex_destroy(&listener->lock);
    free(listener);
}
