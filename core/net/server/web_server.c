/* HTTP by libmicrohttpd; see web_server.h. */
#include "net/server/web_server_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

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

int64_t web_now_ms(void)
{
    return clock_now_ms(clock_real());
}

struct web_client *web_client_of(struct MHD_Connection *connection)
{
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

int64_t web_request_ms(const struct web_server *server)
{
    return server->options.request_ms > 0 ? server->options.request_ms : REQUEST_MS;
}

/* Suspended requests are bounded by who answers them. */
static bool is_suspended(struct web_client *client)
{
    pthread_mutex_lock(&client->server->lock);
    bool suspended = client->is_suspended;
    pthread_mutex_unlock(&client->server->lock);
    return suspended;
}

/* Ends connections whose request does not arrive in time, header and body, and the oldest when there are too
 * many. Called for each new connection: as long as none comes, they are in nobody's way. */
static void make_room(struct web_server *server)
{
    int64_t limit_ms = web_request_ms(server);
    struct web_client *client;
    TAILQ_FOREACH (client, &server->clients, link) {
        bool late = !client->answered && web_now_ms() - client->since_ms > limit_ms;
        if (client->ended || (!late && server->client_count <= CONNECTIONS_KEPT)) continue;
        if (is_suspended(client)) continue;
        client->ended = true;
        server->client_count--;
        shutdown(client->fd, SHUT_RDWR);
    }
}

/* --- suspended requests */

struct web_client *web_suspend(const struct web_request *request, struct web_response *response)
{
    struct web_client *client = web_client_of(request->connection);
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

int web_take_resumed(struct web_client *client)
{
    pthread_mutex_lock(&client->server->lock);
    int resumed = client->resumed;
    client->resumed = 0;
    pthread_mutex_unlock(&client->server->lock);
    return resumed;
}

/* --- connections */

/* On the server's thread. The library tells in no other way that accept has failed as the process has no
 * descriptor left. While it serves nobody it tries again at once, and for ever: held up here, it does so ten
 * times a second. */
static void on_library_message(void *cls, const char *format, va_list arguments)
{
    const struct timespec pause = {.tv_nsec = STARVED_MS * 1000000L};
    struct web_server *server = cls;
    if (!strstr(format, "resource limit")) return;
    const char *name = server->options.name;
    if (!server->starved)
        log_warn("Cannot accept connections, out of file descriptors",
                 F("of", name ? name : "probes and metrics"), FS("address", buf_slice(&server->where)));
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
        client->since_ms = web_now_ms();
        TAILQ_INSERT_TAIL(&server->clients, client, link);
        server->client_count++;
        server->connections++;
        server->starved = false;
        make_room(server);
    } else if (*socket_context) {
        struct web_client *client = *socket_context;
        TAILQ_REMOVE(&server->clients, client, link);
        if (!client->ended) server->client_count--;
        server->connections--;
        free(client);
        *socket_context = NULL;
    }
}

/* Options of a server with TLS, and of one that takes bodies; their list ends behind them. */
static void set_options(const struct web_server *server, const struct web_certificate *tls,
                        struct MHD_OptionItem *item)
{
    static const char priorities[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";
    if (server->options.head) *item++ = (struct MHD_OptionItem){MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL};
    if (tls) {
        *item++ = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)tls->certificates};
        *item++ = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)tls->key};
        *item++ = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)priorities};
    }
    *item = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
}

/* Signals go to the loops. */
static struct MHD_Daemon *start(struct web_server *server, const struct web_certificate *tls)
{
    sigset_t all, before;
    struct MHD_OptionItem more[5];
    unsigned of_one = server->options.connections_of_one;
    set_options(server, tls, more);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC | MHD_USE_ERROR_LOG |
            MHD_USE_SUPPRESS_DATE_NO_CLOCK | MHD_ALLOW_SUSPEND_RESUME | (tls ? (unsigned)MHD_USE_TLS : 0),
        0, NULL, NULL, web_on_request, server, MHD_OPTION_EXTERNAL_LOGGER, on_library_message, server,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, server, MHD_OPTION_NOTIFY_COMPLETED, web_on_completed,
        server, MHD_OPTION_LISTEN_SOCKET, server->fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, of_one ? of_one : (unsigned)CONNECTIONS_OF_ONE,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)IDLE_SECONDS, MHD_OPTION_ARRAY, more, MHD_OPTION_END);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return daemon;
}

static struct web_server *prepare(const struct web_server_options *options, int fd)
{
    struct web_server *server = NEW(struct web_server);
    server->options = *options;
    server->options.tls = NULL;
    server->fd = fd;
    TAILQ_INIT(&server->clients);
    TAILQ_INIT(&server->suspended);
    pthread_mutex_init(&server->lock, NULL);
    pthread_cond_init(&server->finished, NULL);
    return server;
}

/* The library closes the socket of a server that it cannot start, or leaves it, by the cause. */
static void give_up(struct web_server *server)
{
    if (fcntl(server->fd, F_GETFD) < 0) server->fd = -1;
    web_server_free(server);
}

struct web_server *web_server_new(const struct web_server_options *options, struct err *err)
{
    struct buf where = {0};
    int fd = bind_address_listen(options->address, &where, err);
    if (fd < 0) {
        buf_clear(&where);
        return NULL;
    }
    struct web_server *server = prepare(options, fd);
    server->where = where;
    server->daemon = start(server, options->tls);
    if (server->daemon) return server;
    err_set(err, ERR_IO, "cannot serve on %s", options->address);
    give_up(server);
    return NULL;
}

/* Takes no connection any more; the socket stays open. */
static void quiesce(struct web_server *server)
{
    if (!atomic_exchange(&server->is_replaced, true)) MHD_quiesce_daemon(server->daemon);
}

struct web_server *web_server_renew(struct web_server *old, const struct web_certificate *tls,
                                    struct err *err)
{
    int fd = fcntl(old->fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0) {
        err_set(err, ERR_IO, "%s", strerror(errno));
        return NULL;
    }
    struct web_server *server = prepare(&old->options, fd);
    server->daemon = start(server, tls);
    if (!server->daemon) {
        give_up(server);
        err_set(err, ERR_TLS, "cannot serve with the certificate");
        return NULL;
    }
    buf_str(&server->where, buf_slice(&old->where));
    quiesce(old);
    old->shares_socket = true;
    return server;
}

const char *web_server_where(struct web_server *server)
{
    return buf_text(&server->where);
}

bool web_server_is_idle(struct web_server *server)
{
    return server->connections == 0;
}

void web_server_finish(struct web_server *server, int64_t max_ms)
{
    quiesce(server);
    if (!server->shares_socket)
        shutdown(server->fd, SHUT_RDWR); /* clients are refused, instead of waiting in vain */
    const struct timespec end = clock_wait_end(max_ms);
    pthread_mutex_lock(&server->lock);
    while (server->requests > 0 && clock_wait_until(&server->finished, &server->lock, &end))
        ;
    pthread_mutex_unlock(&server->lock);
}

void web_server_free(struct web_server *server)
{
    if (!server) return;
    end_suspended(server);
    if (server->daemon) quiesce(server);
    if (server->daemon) MHD_stop_daemon(server->daemon);
    if (server->fd >= 0) close(server->fd);
    pthread_cond_destroy(&server->finished);
    pthread_mutex_destroy(&server->lock);
    buf_clear(&server->where);
    free(server);
}
