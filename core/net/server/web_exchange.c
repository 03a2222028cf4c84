/* Requests of the HTTP server: head, body, response; see web_server_internal.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "net/server/web_send.h"
#include "net/server/web_server_internal.h"

/* Of a body that is not wanted, so much is read before the response, which a client that still writes would
 * not read. */
enum { UNWANTED_MAX = 1 << 20 };

/* A request, from its head to its end. */
struct web_exchange {
    struct buf body;
    size_t max, counted; /* most bytes of the body; those counted in the server */
    int64_t begun_ms;
    size_t unwanted;              /* bytes that were read and forgotten */
    bool refused;                 /* by `response`, which waits for the end of the body */
    bool is_counted;              /* among the requests that arrived */
    struct web_response response; /* of one that is refused */
    void *own;
};

static struct web_response new_response(void)
{
    return (struct web_response){.status = MHD_HTTP_NOT_FOUND, .content_type = "text/plain; charset=utf-8"};
}

static void response_clear(struct web_response *response)
{
    buf_clear(&response->body);
    buf_clear(&response->headers);
}

/* --- what `serve` may ask */

static const char *query(const struct web_request *request, const char *name)
{
    const char *value = NULL;
    enum MHD_Result found = MHD_lookup_connection_value_n(request->connection, MHD_GET_ARGUMENT_KIND, name,
                                                          strlen(name), &value, NULL);
    return found == MHD_YES ? (value ? value : "") : NULL;
}

/* Calls one of the two functions with the values of `name`; NULL: with all. */
struct each {
    const char *name;
    void (*value)(void *ctx, const char *value);
    void (*pair)(void *ctx, const char *name, const char *value);
    void *ctx;
};

static enum MHD_Result on_value(void *cls, enum MHD_ValueKind kind, const char *key, const char *value)
{
    const struct each *each = cls;
    if (each->pair)
        each->pair(each->ctx, key, value ? value : "");
    else if (strcmp(key, each->name) == 0)
        each->value(each->ctx, value ? value : "");
    return MHD_YES;
}

static void each_value(const struct web_request *request, const char *name,
                       void (*fn)(void *ctx, const char *value), void *ctx)
{
    struct each each = {.name = name, .value = fn, .ctx = ctx};
    MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, on_value, &each);
}

static void each_query(const struct web_request *request,
                       void (*fn)(void *ctx, const char *name, const char *value), void *ctx)
{
    struct each each = {.pair = fn, .ctx = ctx};
    MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, on_value, &each);
}

static void each_header(const struct web_request *request,
                        void (*fn)(void *ctx, const char *name, const char *value), void *ctx)
{
    struct each each = {.pair = fn, .ctx = ctx};
    MHD_get_connection_values(request->connection, MHD_HEADER_KIND, on_value, &each);
}

static const char *header(const struct web_request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

static struct web_request request_of(struct MHD_Connection *connection, const char *method, const char *path,
                                     struct web_exchange *x)
{
    return (struct web_request){.method = method,
                                .path = path,
                                .query = query,
                                .each = each_value,
                                .header = header,
                                .each_query = each_query,
                                .each_header = each_header,
                                .body = &x->body,
                                .own = &x->own,
                                .connection = connection};
}

/* --- the head */

static void too_large(struct web_response *response, size_t max)
{
    response->status = MHD_HTTP_CONTENT_TOO_LARGE;
    response->body.len = 0;
    buf_printf(&response->body, "the body has more than %zu bytes\n", max);
}

static bool is_read_method(const char *method)
{
    return strcmp(method, MHD_HTTP_METHOD_GET) == 0 || strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
}

static enum MHD_Result refuse_at_once(struct web_client *client, const struct web_request *request,
                                      struct web_exchange *x)
{
    x->refused = client->answered = true;
    enum MHD_Result sent = web_send(request->connection, &x->response);
    response_clear(&x->response);
    return sent;
}

/* Sends the response at once to a client that waits with its body, or has a large one; else after the body.
 */
static enum MHD_Result refuse(struct web_client *client, const struct web_request *request,
                              struct web_exchange *x)
{
    const char *length = header(request, MHD_HTTP_HEADER_CONTENT_LENGTH);
    bool at_once =
        header(request, MHD_HTTP_HEADER_EXPECT) || (length && strtoull(length, NULL, 10) > UNWANTED_MAX);
    x->refused = true;
    return at_once ? refuse_at_once(client, request, x) : MHD_YES;
}

/* Of the headers that tell where a request ends. */
struct framing {
    const char *length;
    bool is_chunked, is_odd;
};

static enum MHD_Result on_framing(void *cls, enum MHD_ValueKind kind, const char *key, const char *value)
{
    struct framing *framing = cls;
    framing->is_odd |= key[strcspn(key, " \t")] != '\0';
    framing->is_chunked |= strcasecmp(key, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0;
    if (strcasecmp(key, MHD_HTTP_HEADER_CONTENT_LENGTH) != 0) return MHD_YES;
    framing->is_odd |= framing->length && strcmp(framing->length, value ? value : "") != 0;
    framing->length = value ? value : "";
    return MHD_YES;
}

/* Whether a proxy might take another place for the end of the request than the library does: what follows
 * would be the next request of somebody else (RFC 9112, 6.3 and 5.1). */
static bool is_ambiguous(struct MHD_Connection *connection)
{
    struct framing framing = {0};
    MHD_get_connection_values(connection, MHD_HEADER_KIND, on_framing, &framing);
    return framing.is_odd || (framing.is_chunked && framing.length);
}

/* The head came. */
static enum MHD_Result begin(struct web_server *server, struct web_client *client,
                             const struct web_request *request, struct web_exchange *x)
{
    x->response = new_response();
    x->begun_ms = web_now_ms();
    if (is_ambiguous(request->connection)) {
        x->response.status = MHD_HTTP_BAD_REQUEST;
        x->response.closes = true;
        buf_puts(&x->response.body, "the head does not tell where the request ends\n");
        return refuse_at_once(client, request, x);
    }
    if (server->options.head) {
        x->response.status = 0;
        x->max = server->options.head(server->options.ctx, request, &x->response);
        const char *length = header(request, MHD_HTTP_HEADER_CONTENT_LENGTH);
        if (!x->response.status && length) {
            errno = 0;
            if (strtoull(length, NULL, 10) > x->max || errno) too_large(&x->response, x->max);
        }
        if (!x->response.status) return MHD_YES;
    } else if (is_read_method(request->method)) {
        return MHD_YES;
    } else {
        x->response.status = MHD_HTTP_METHOD_NOT_ALLOWED;
    }
    return refuse(client, request, x);
}

/* --- the body */

static void busy(struct web_response *response, size_t max)
{
    response->status = MHD_HTTP_SERVICE_UNAVAILABLE;
    response->retry_after_s = 1;
    buf_printf(&response->body, "bodies of requests have %zu bytes, which is the limit\n", max);
}

/* Returns MHD_NO, which ends the connection, for a client that goes on for too long. */
static enum MHD_Result take_body(struct web_server *server, struct web_exchange *x, const char *bytes,
                                 size_t n)
{
    if (web_now_ms() - x->begun_ms > web_request_ms(server)) return MHD_NO;
    if (!x->refused && server->options.head) {
        size_t room = server->options.bodies_max - server->body_bytes;
        x->refused = x->body.len + n > x->max || n > room;
        if (x->body.len + n > x->max)
            too_large(&x->response, x->max);
        else if (n > room)
            busy(&x->response, server->options.bodies_max);
    }
    if (x->refused || !server->options.head) {
        x->unwanted += n;
        return x->unwanted > UNWANTED_MAX ? MHD_NO : MHD_YES;
    }
    buf_append(&x->body, bytes, n);
    x->counted += n;
    server->body_bytes += n;
    return MHD_YES;
}

/* --- the response */

static void count(struct web_server *server, struct web_exchange *x)
{
    if (x->is_counted) return;
    x->is_counted = true;
    pthread_mutex_lock(&server->lock);
    server->requests++;
    pthread_mutex_unlock(&server->lock);
}

static enum MHD_Result respond(struct web_server *server, struct web_client *client,
                               struct web_request *request, struct web_exchange *x)
{
    struct web_response response = new_response();
    count(server, x);
    client->answered = true;
    if (x->refused) {
        enum MHD_Result refused = web_send(request->connection, &x->response);
        response_clear(&x->response);
        return refused;
    }
    request->resumed = web_take_resumed(client);
    if (request->resumed == WEB_ENDING)
        response.status = MHD_HTTP_SERVICE_UNAVAILABLE;
    else
        server->options.serve(server->options.ctx, request, &response);
    if (response.is_suspended) return MHD_YES;
    if (!response.body.len && response.status == MHD_HTTP_NOT_FOUND)
        buf_puts(&response.body, "404 page not found\n");
    response.closes = server->is_replaced;
    enum MHD_Result sent = web_send(request->connection, &response);
    response_clear(&response);
    return sent;
}

enum MHD_Result web_on_request(void *cls, struct MHD_Connection *connection, const char *path,
                               const char *method, const char *version, const char *upload,
                               size_t *upload_size, void **con_cls)
{
    struct web_server *server = cls;
    struct web_client *client = web_client_of(connection);
    bool is_new = !*con_cls;
    struct web_exchange *x = is_new ? (*con_cls = NEW(struct web_exchange)) : *con_cls;
    struct web_request request = request_of(connection, method, path, x);
    if (is_new) return begin(server, client, &request, x);
    if (!*upload_size) return respond(server, client, &request, x);
    enum MHD_Result taken = take_body(server, x, upload, *upload_size);
    *upload_size = 0;
    return taken;
}

/* A request ended; the connection may bring another. */
void web_on_completed(void *cls, struct MHD_Connection *connection, void **con_cls,
                      enum MHD_RequestTerminationCode code)
{
    struct web_server *server = cls;
    struct web_client *client = web_client_of(connection);
    struct web_exchange *x = *con_cls;
    if (x) {
        if (x->own && server->options.forget) server->options.forget(server->options.ctx, x->own);
        server->body_bytes -= x->counted;
        pthread_mutex_lock(&server->lock);
        server->requests -= x->is_counted;
        pthread_cond_broadcast(&server->finished);
        pthread_mutex_unlock(&server->lock);
        buf_clear(&x->body);
        response_clear(&x->response);
        free(x);
        *con_cls = NULL;
    }
    if (!client) return;
    client->answered = false;
    client->since_ms = web_now_ms();
    TAILQ_REMOVE(&server->clients, client, link);
    TAILQ_INSERT_TAIL(&server->clients, client, link);
}
