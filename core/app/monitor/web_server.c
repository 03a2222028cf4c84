/* HTTP by libmicrohttpd; see web_server.h. */
#include "app/monitor/web_send.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <microhttpd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/bind_address.h"

/* Whoever connects and says nothing, or too much, gets no more than this, and leaves room for the others: a
 * probe that is not answered ends the pod. */
enum { CONNECTIONS_MAX = 256, CONNECTIONS_OF_ONE = 32, CONNECTION_MEMORY = 16 << 10, IDLE_SECONDS = 10 };
/* When more than these are open, the one that has been without a response the longest ends: a probe sends its
 * request at once. The rest of CONNECTIONS_MAX is for those that are closing. */
enum { CONNECTIONS_KEPT = 192 };
enum { STARVED_MS = 100, REQUEST_MS = 10000 };

/* A connection; used on the server's thread only, but for the last members. */
struct web_client {
    struct web_server *server;
    struct MHD_Connection *connection;
    int fd;
    int64_t since_ms; /* when it was opened, or its last request ended */
    bool answered;    /* its request arrived, and the response is being made or sent */
    bool ended;       /* shut down, and still to be closed by the library */
    TAILQ_ENTRY(web_client) link;
    bool is_suspended;               /* under the lock, as the next ones */
    int resumed;                     /* see struct web_request */
    TAILQ_ENTRY(web_client) waiting; /* while it is suspended */
};

TAILQ_HEAD(web_client_list, web_client);

struct web_server {
    struct web_server_options options;
    struct buf where;
    struct MHD_Daemon *daemon;
    struct web_client_list clients; /* those without a request for the longest time first */
    size_t client_count;            /* without ended ones */
    bool starved;                   /* no accept has worked since that was said; of the server's thread */
    pthread_mutex_t lock;
    struct web_client_list suspended; /* under the lock, as the next one */
    bool is_ending;
};

static int64_t now_ms(void)
{
    return clock_now_ms(clock_real());
}

static struct web_client *client_of(struct MHD_Connection *connection)
{
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

/* Ends connections whose request does not arrive in time, header and body, and the oldest when there are too
 * many. Called for each new connection: as long as none comes, they are in nobody's way. */
static void make_room(struct web_server *server)
{
    int64_t limit_ms = server->options.request_ms > 0 ? server->options.request_ms : REQUEST_MS;
    struct web_client *client;
    TAILQ_FOREACH (client, &server->clients, link) {
        bool late = !client->answered && now_ms() - client->since_ms > limit_ms;
        if (client->ended || (!late && server->client_count <= CONNECTIONS_KEPT)) continue;
        client->ended = true;
        server->client_count--;
        shutdown(client->fd, SHUT_RDWR);
    }
}

static const char *query(const struct web_request *request, const char *name)
{
    const char *value = NULL;
    enum MHD_Result found = MHD_lookup_connection_value_n(request->connection, MHD_GET_ARGUMENT_KIND, name,
                                                          strlen(name), &value, NULL);
    return found == MHD_YES ? (value ? value : "") : NULL;
}

struct each {
    const char *name;
    void (*fn)(void *ctx, const char *value);
    void *ctx;
};

static enum MHD_Result on_value(void *cls, enum MHD_ValueKind kind, const char *key, const char *value)
{
    const struct each *each = cls;
    if (strcmp(key, each->name) == 0) each->fn(each->ctx, value ? value : "");
    return MHD_YES;
}

static void each_value(const struct web_request *request, const char *name,
                       void (*fn)(void *ctx, const char *value), void *ctx)
{
    struct each each = {name, fn, ctx};
    MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, on_value, &each);
}

static const char *header(const struct web_request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

/* --- suspended requests */

struct web_client *web_suspend(const struct web_request *request, struct web_response *response)
{
    struct web_client *client = client_of(request->connection);
    struct web_server *server = client->server;
    pthread_mutex_lock(&server->lock);
    if (!server->is_ending) {
        client->is_suspended = response->is_suspended = true;
        TAILQ_INSERT_TAIL(&server->suspended, client, waiting);
        MHD_suspend_connection(client->connection);
    }
    pthread_mutex_unlock(&server->lock);
    if (response->is_suspended) return client;
    response->status = MHD_HTTP_SERVICE_UNAVAILABLE;
    return NULL;
}

/* Under the lock. */
static void resume(struct web_client *client, int value)
{
    client->is_suspended = false;
    client->resumed = value;
    TAILQ_REMOVE(&client->server->suspended, client, waiting);
    MHD_resume_connection(client->connection);
}

void web_resume(struct web_client *client, int value)
{
    struct web_server *server = client->server;
    pthread_mutex_lock(&server->lock);
    if (client->is_suspended) resume(client, value);
    pthread_mutex_unlock(&server->lock);
}

/* The library requires it before it stops. */
static void end_suspended(struct web_server *server)
{
    struct web_client *client;
    pthread_mutex_lock(&server->lock);
    server->is_ending = true;
    while ((client = TAILQ_FIRST(&server->suspended))) resume(client, WEB_ENDING);
    pthread_mutex_unlock(&server->lock);
}

static int take_resumed(struct web_client *client)
{
    pthread_mutex_lock(&client->server->lock);
    int resumed = client->resumed;
    client->resumed = 0;
    pthread_mutex_unlock(&client->server->lock);
    return resumed;
}

/* --- requests */

static enum MHD_Result on_request(void *cls, struct MHD_Connection *connection, const char *path,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **con_cls)
{
    static char seen;
    struct web_server *server = cls;
    if (!*con_cls) { /* the head came; a body that is on its way is read and forgotten */
        *con_cls = &seen;
        return MHD_YES;
    }
    if (*upload_size) {
        *upload_size = 0;
        return MHD_YES;
    }
    struct web_response response = {.status = MHD_HTTP_NOT_FOUND,
                                    .content_type = "text/plain; charset=utf-8"};
    struct web_client *client = client_of(connection);
    struct web_request request = {path, query, each_value, header, take_resumed(client), connection};
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        response.status = MHD_HTTP_METHOD_NOT_ALLOWED;
    else if (request.resumed == WEB_ENDING)
        response.status = MHD_HTTP_SERVICE_UNAVAILABLE;
    else
        server->options.serve(server->options.ctx, &request, &response);
    client->answered = true;
    if (response.is_suspended) return MHD_YES;
    if (!response.body.len && response.status == MHD_HTTP_NOT_FOUND)
        buf_puts(&response.body, "404 page not found\n");
    return web_send(connection, &response);
}

/* On the server's thread. The library tells in no other way that accept has failed as the process has no
 * descriptor left. While it serves nobody it tries again at once, and for ever: held up here, it does so ten
 * times a second. */
static void on_library_message(void *cls, const char *format, va_list arguments)
{
    const struct timespec pause = {.tv_nsec = STARVED_MS * 1000000L};
    struct web_server *server = cls;
    if (!strstr(format, "resource limit")) return;
    if (!server->starved)
        log_warn("Cannot accept probe and metrics connections, out of file descriptors",
                 FS("address", buf_slice(&server->where)));
    server->starved = true;
    if (strstr(format, "FIRST connection")) nanosleep(&pause, NULL);
}

static void on_connection(void *cls, struct MHD_Connection *connection, void **socket_context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct web_server *server = cls;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        struct web_client *client = *socket_context = NEW(struct web_client);
        client->fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
        client->server = server;
        client->connection = connection;
        client->since_ms = now_ms();
        TAILQ_INSERT_TAIL(&server->clients, client, link);
        server->client_count++;
        server->starved = false;
        make_room(server);
    } else if (*socket_context) {
        struct web_client *client = *socket_context;
        TAILQ_REMOVE(&server->clients, client, link);
        if (!client->ended) server->client_count--;
        free(client);
        *socket_context = NULL;
    }
}

/* A request ended; the connection may bring another. */
static void on_completed(void *cls, struct MHD_Connection *connection, void **con_cls,
                         enum MHD_RequestTerminationCode code)
{
    struct web_server *server = cls;
    struct web_client *client = client_of(connection);
    if (!client) return;
    client->answered = false;
    client->since_ms = now_ms();
    TAILQ_REMOVE(&server->clients, client, link);
    TAILQ_INSERT_TAIL(&server->clients, client, link);
}

/* Signals go to the loops. */
static struct MHD_Daemon *start(struct web_server *server, int fd)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC | MHD_USE_ERROR_LOG |
            MHD_USE_SUPPRESS_DATE_NO_CLOCK | MHD_ALLOW_SUSPEND_RESUME,
        0, NULL, NULL, on_request, server, MHD_OPTION_EXTERNAL_LOGGER, on_library_message, server,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, server, MHD_OPTION_NOTIFY_COMPLETED, on_completed,
        server, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)CONNECTIONS_OF_ONE, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS, MHD_OPTION_END);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return daemon;
}

struct web_server *web_server_new(const struct web_server_options *options, struct err *err)
{
    struct web_server *server = NEW(struct web_server);
    server->options = *options;
    TAILQ_INIT(&server->clients);
    TAILQ_INIT(&server->suspended);
    pthread_mutex_init(&server->lock, NULL);
    int fd = bind_address_listen(options->address, &server->where, err);
    if (fd >= 0) server->daemon = start(server, fd);
    if (server->daemon) return server;
    if (fd >= 0) {
        close(fd);
        err_set(err, ERR_IO, "cannot serve on %s", options->address);
    }
    web_server_free(server);
    return NULL;
}

const char *web_server_where(struct web_server *server)
{
    return buf_text(&server->where);
}

void web_server_free(struct web_server *server)
{
    if (!server) return;
    end_suspended(server);
    if (server->daemon) MHD_stop_daemon(server->daemon); /* closes the socket too */
    pthread_mutex_destroy(&server->lock);
    buf_clear(&server->where);
    free(server);
}
