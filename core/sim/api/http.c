/* HTTP by libmicrohttpd; see http.h. The listener accepts connections and passes them on, so that the
 * listening socket can be closed and opened again while they continue. */
#include "sim/api/http.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include <microhttpd.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/must.h"
#include "net/server/self_signed.h"
#include "sim/api/listener.h"
#include "sim/object/status.h"
#include "sim/store/gzip.h"
#include "sim/text/tree.h"

enum {
    BODY_MAX = 64 << 20,
    BLOCK = 64 << 10,              /* for clients that do not know chunks */
    CONNECTION_MEMORY = 256 << 10, /* nearly all of it is the block in which a stream is written */
    CONNECTIONS_MAX = 4096,
    STACK_SIZE = 1 << 20,
};

struct sim_http {
    struct sim_api *api;
    struct sim_http_options options;
    struct sim_listener *listener;
    struct MHD_Daemon *daemon;
    struct self_signed certificate; /* empty without TLS */
};

/* Request that is being received. */
struct exchange {
    struct buf body;
    char *uri;
    bool too_large, has_nul, begun;
};

/* Body that is being sent. */
struct body {
    struct sim_http *http;
    struct sim_stream *stream;
    int fd;
};

/* Resets a connection: a plain close would end it in order, while this one sends RST at once. */
static void reset(int fd)
{
    struct sockaddr nobody = {.sa_family = AF_UNSPEC};
    if (fd >= 0) (void)connect(fd, &nobody, sizeof nobody);
}

static ssize_t body_read(void *cls, uint64_t position, char *to, size_t room)
{
    struct body *body = cls;
    ssize_t n = body->stream->read(body->stream, to, room);
    if (n > 0) sim_count(&body->http->api->stats.bytes, (uint64_t)n);
    if (n == SIM_STREAM_END) return MHD_CONTENT_READER_END_OF_STREAM;
    if (n == SIM_STREAM_RESET) reset(body->fd);
    return n > 0 ? n : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void body_free(void *cls)
{
    struct body *body = cls;
    body->stream->free(body->stream);
    free(body);
}

static const char *header(struct MHD_Connection *connection, const char *name)
{
    const char *value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
    return value ? value : "";
}

static int socket_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

static bool takes_gzip(struct sim_http *http, struct MHD_Connection *connection)
{
    return atomic_load(&http->api->settings.gzip) &&
           strstr(header(connection, MHD_HTTP_HEADER_ACCEPT_ENCODING), "gzip");
}

static struct MHD_Response *text_response(struct sim_http *http, struct buf *text, bool gzip)
{
    sim_count(&http->api->stats.bytes, text->len);
    gzip = gzip && text->len > SIM_GZIP_MIN;
    if (gzip) sim_gzip_text(text);
    size_t len = text->len;
    struct MHD_Response *response =
        MHD_create_response_from_buffer_with_free_callback(len, buf_take(text), free);
    if (gzip) MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
    return response;
}

static struct MHD_Response *stream_response(struct sim_http *http, struct MHD_Connection *connection,
                                            struct sim_stream *stream)
{
    struct body *body = NEW(struct body);
    *body = (struct body){http, stream, socket_of(connection)};
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, body_read, body, body_free);
}

/* Reads the beginning of a list, to see whether it is large enough to be compressed. */
static struct MHD_Response *list_response(struct sim_http *http, struct MHD_Connection *connection,
                                          struct sim_reply *reply)
{
    struct sim_stream *stream = reply->stream;
    struct buf head = {0};
    ssize_t n = 1;
    if (reply->live || !takes_gzip(http, connection)) {
        reply->stream = NULL;
        return stream_response(http, connection, stream);
    }
    while (n > 0 && head.len <= SIM_GZIP_MIN) {
        n = stream->read(stream, buf_reserve(&head, BLOCK), BLOCK);
        if (n > 0) head.len += (size_t)n;
    }
    if (n == SIM_STREAM_END) return text_response(http, &head, head.len > SIM_GZIP_MIN);
    reply->stream = NULL;
    struct MHD_Response *response = stream_response(http, connection, sim_gzip(stream, &head));
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
    return response;
}

static struct MHD_Response *response_of(struct sim_http *http, struct MHD_Connection *connection,
                                        struct sim_reply *reply)
{
    if (reply->stream) return list_response(http, connection, reply);
    if (reply->json) {
        sim_put_json(&reply->text, reply->json);
        buf_putc(&reply->text, '\n');
    }
    return text_response(http, &reply->text, takes_gzip(http, connection));
}

/* Adds the headers of priority and fairness, which name the rule that rejected the request. */
static void add_fairness(struct MHD_Response *response)
{
    MHD_add_response_header(response, "X-Kubernetes-PF-FlowSchema-UID",
                            "5d0b1b0e-0f4e-4a5c-9a52-4e1f6f1d2c01");
    MHD_add_response_header(response, "X-Kubernetes-PF-PriorityLevel-UID",
                            "5d0b1b0e-0f4e-4a5c-9a52-4e1f6f1d2c02");
}

static void add_warnings(struct MHD_Response *response, const json_t *warnings)
{
    json_t *warning;
    size_t i;
    json_array_foreach ((json_t *)warnings, i, warning) {
        struct buf text = {0};
        buf_puts(&text, "299 - ");
        buf_json_string(&text, str_of(json_string_value(warning)));
        MHD_add_response_header(response, MHD_HTTP_HEADER_WARNING, buf_text(&text));
        buf_clear(&text);
    }
}

static enum MHD_Result respond(struct sim_http *http, struct MHD_Connection *connection,
                               struct sim_reply *reply)
{
    struct MHD_Response *response = response_of(http, connection, reply);
    char seconds[16];
    if (reply->code != MHD_HTTP_NO_CONTENT)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
                                reply->content_type ? reply->content_type : "application/json");
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL,
                            *reply->etag ? "public, immutable" : "no-cache, private");
    if (*reply->etag) MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, reply->etag);
    snprintf(seconds, sizeof seconds, "%d", reply->retry_after_s);
    if (reply->retry_after_s) MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, seconds);
    if (reply->code == MHD_HTTP_TOO_MANY_REQUESTS) add_fairness(response);
    add_warnings(response, reply->warnings);
    enum MHD_Result queued = MHD_queue_response(connection, (unsigned)reply->code, response);
    MHD_destroy_response(response);
    return queued;
}

/* Parameters of a query, or headers: all that fit into the connection's memory. */
struct pairs {
    struct sim_param *all;
    size_t count;
};

static enum MHD_Result take_param(void *cls, enum MHD_ValueKind kind, const char *key, const char *value)
{
    struct pairs *pairs = cls;
    *array_add(pairs->all, pairs->count) = (struct sim_param){key, value ? value : ""};
    return MHD_YES;
}

/* Takes headers that say who sends a request, and with what. */
static enum MHD_Result take_header(void *cls, enum MHD_ValueKind kind, const char *key, const char *value)
{
    static const char impersonation[] = "Impersonate-";
    bool wanted = strcasecmp(key, MHD_HTTP_HEADER_AUTHORIZATION) == 0 ||
                  strcasecmp(key, MHD_HTTP_HEADER_USER_AGENT) == 0 ||
                  strcasecmp(key, MHD_HTTP_HEADER_UPGRADE) == 0 ||
                  strncasecmp(key, impersonation, sizeof impersonation - 1) == 0;
    return wanted && value ? take_param(cls, kind, key, value) : MHD_YES;
}

static enum MHD_Result serve(struct sim_http *http, struct MHD_Connection *connection, const char *method,
                             const char *path, struct exchange *exchange)
{
    struct pairs query = {.count = 0}, headers = {.count = 0};
    struct sim_reply reply = {0};
    MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, take_param, &query);
    MHD_get_connection_values(connection, MHD_HEADER_KIND, take_header, &headers);
    struct sim_request request = {.method = method,
                                  .path = path,
                                  .uri = exchange->uri,
                                  .query = query.all,
                                  .query_count = query.count,
                                  .accept = header(connection, MHD_HTTP_HEADER_ACCEPT),
                                  .content_type = header(connection, MHD_HTTP_HEADER_CONTENT_TYPE),
                                  .if_none_match = header(connection, MHD_HTTP_HEADER_IF_NONE_MATCH),
                                  .headers = headers.all,
                                  .header_count = headers.count,
                                  .body = buf_slice(&exchange->body),
                                  .fd = socket_of(connection),
                                  .has_nul = exchange->has_nul};
    sim_count(&http->api->stats.requests, 1);
    if (exchange->too_large)
        sim_reply_status(&reply,
                         sim_status(413, "RequestEntityTooLarge", "Request entity too large", NULL, NULL));
    else
        http->options.serve(http->options.ctx, &request, &reply);
    enum MHD_Result result = MHD_NO; /* no response at all: the connection closes */
    if (reply.code == SIM_STREAM_RESET)
        reset(request.fd);
    else if (reply.code > 0)
        result = respond(http, connection, &reply);
    sim_reply_clear(&reply);
    free(query.all);
    free(headers.all);
    return result;
}

/* The request as it came: afterwards the path and the values of the query are C strings. Gives `*con_cls`. */
static void *on_target(void *cls, const char *target, struct MHD_Connection *connection)
{
    struct exchange *exchange = NEW(struct exchange);
    exchange->uri = xstrdup(target);
    exchange->has_nul = strstr(target, "%00");
    return exchange;
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *connection, const char *path,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **con_cls)
{
    struct exchange *exchange = *con_cls;
    bool begun = exchange->begun;
    exchange->begun = true;
    const char *encoding = header(connection, MHD_HTTP_HEADER_TRANSFER_ENCODING);
    /* Of a body in an encoding that is not known there is no end to wait for. The words are Go's. */
    if (!begun && *encoding && strcasecmp(encoding, "chunked") != 0) {
        struct sim_reply refusal = {.code = 501, .content_type = "text/plain; charset=utf-8"};
        buf_puts(&refusal.text, "Unsupported transfer encoding");
        return respond(cls, connection, &refusal);
    }
    if (!begun) return MHD_YES;
    if (*upload_size == 0) return serve(cls, connection, method, path, exchange);
    if (exchange->body.len + *upload_size > BODY_MAX) exchange->too_large = true;
    if (!exchange->too_large) buf_append(&exchange->body, upload, *upload_size);
    *upload_size = 0;
    return MHD_YES;
}

static void on_completed(void *cls, struct MHD_Connection *connection, void **con_cls,
                         enum MHD_RequestTerminationCode why)
{
    struct exchange *exchange = *con_cls;
    if (!exchange) return;
    buf_clear(&exchange->body);
    free(exchange->uri);
    free(exchange);
    *con_cls = NULL;
}

static void on_accepted(void *ctx, int fd, const struct sockaddr *peer, socklen_t len)
{
    struct sim_http *http = ctx;
    MHD_add_connection(http->daemon, fd, peer, len); /* closes it when it fails */
}

/* Of a cluster's own service. */
static const char service_names[] = "DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,"
                                    "DNS:kubernetes.default.svc.cluster.local";

/* Options of a server with TLS; without, their list ends at once. */
static void set_tls(struct sim_http *http, struct MHD_OptionItem tls[3])
{
    if (http->options.tls) {
        self_signed_make(&http->certificate, "kubelua-sim", service_names, http->options.listen);
        *tls++ = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, http->certificate.server};
        *tls++ = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, http->certificate.key};
    }
    *tls = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
}

static void start_daemon(struct sim_http *http)
{
    sigset_t all, before;
    struct MHD_OptionItem tls[3];
    set_tls(http, tls);
    sigfillset(&all); /* signals go to the loop's thread */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    http->daemon = MHD_start_daemon(
        MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC |
            MHD_USE_NO_LISTEN_SOCKET | (http->options.tls ? (unsigned)MHD_USE_TLS : 0),
        0, NULL, NULL, on_request, http, MHD_OPTION_NOTIFY_COMPLETED, on_completed, http,
        MHD_OPTION_URI_LOG_CALLBACK, on_target, http, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_MEMORY, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
        MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK_SIZE, MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    must(http->daemon);
}

/* Connections are accepted when the loop runs, and not before. */
struct sim_http *sim_http_new(struct loop *loop, struct sim_api *api, const struct sim_http_options *options,
                              struct err *err)
{
    struct sim_http *http = NEW(struct sim_http);
    *http = (struct sim_http){.api = api, .options = *options};
    http->listener = sim_listener_new(loop, options->listen, options->port, on_accepted, http, err);
    if (!http->listener) {
        sim_http_free(http);
        return NULL;
    }
    start_daemon(http);
    return http;
}

const char *sim_http_authority(const struct sim_http *http)
{
    return http->certificate.authority;
}

int sim_http_port(const struct sim_http *http)
{
    return sim_listener_port(http->listener);
}

void sim_http_refuse(struct sim_http *http, int64_t ms)
{
    sim_listener_refuse(http->listener, ms);
}

void sim_http_free(struct sim_http *http)
{
    if (!http) return;
    sim_listener_free(http->listener);
    if (http->daemon) MHD_stop_daemon(http->daemon);
    self_signed_clear(&http->certificate);
    free(http);
}
