/* Takes connections of the admin socket; see admin_socket.h. */
#include "app/admin/admin_socket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "app/admin/admin_socket_internal.h"
#include "base/log.h"
#include "base/mem.h"

/* Limits per process: descriptors that clients may take, time for an idle or slow client, and the pause when
 * none can be accepted. */
enum { CLIENTS_MAX = 64, IDLE_MS = 10000, REPLY_MS = 5000, STARVED_MS = 100 };

/* Returns whether the peer has our user id or is root. The mode of the file keeps others out too, but not on
 * every file system. */
static bool is_allowed(int fd)
{
    struct ucred peer;
    socklen_t len = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0) return false;
    return peer.uid == geteuid() || peer.uid == 0;
}

/* Pauses accepting when descriptors run out: the client stays in the backlog and the socket readable, so that
 * the loop would spin. */
static void pause_accepting(struct admin_socket *socket, int failed)
{
    if (!socket->starved)
        log_warn("Cannot accept admin connections, retrying", F("path", socket->path),
                 F("err", strerror(failed)));
    socket->starved = true;
    ev_io_stop(loop_ev(socket->options.io_loop), &socket->acceptable);
    timer_start(&socket->again, loop_clock(socket->options.io_loop), STARVED_MS);
}

static void on_again(struct timer *timer)
{
    struct admin_socket *socket = container_of(timer, struct admin_socket, again);
    ev_io_start(loop_ev(socket->options.io_loop), &socket->acceptable);
}

static void on_acceptable(struct ev_loop *ev, ev_io *io, int events)
{
    struct admin_socket *socket = container_of(io, struct admin_socket, acceptable);
    int fd = accept4(socket->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) pause_accepting(socket, errno);
        return;
    }
    socket->starved = false;
    if (socket->count >= CLIENTS_MAX || !is_allowed(fd)) {
        static const char busy[] = "{\"v\":1,\"error\":\"too many concurrent clients\"}\n";
        /* A stranger gets no reply that would confirm an engine. */
        if (is_allowed(fd)) (void)!send(fd, busy, sizeof busy - 1, MSG_NOSIGNAL);
        close(fd);
        return;
    }
    admin_connection_new(socket, fd);
}

struct admin_socket *admin_socket_new(const struct admin_socket_options *options, struct err *err)
{
    struct unix_socket_file file;
    int fd = unix_socket_listen(options->path, &file, err);
    if (fd < 0) return NULL;
    struct admin_socket *socket = NEW(struct admin_socket);
    socket->options = *options;
    if (!socket->options.idle_ms) socket->options.idle_ms = IDLE_MS;
    if (!socket->options.reply_ms) socket->options.reply_ms = REPLY_MS;
    socket->path = xstrdup(options->path);
    socket->file = file;
    socket->fd = fd;
    socket->parser = tape_parser_new();
    TAILQ_INIT(&socket->clients);
    socket->again.fn = on_again;
    ev_io_init(&socket->acceptable, on_acceptable, fd, EV_READ);
    ev_io_start(loop_ev(options->io_loop), &socket->acceptable);
    log_v(1, "Listening on the admin socket", F("path", socket->path));
    return socket;
}

void admin_socket_free(struct admin_socket *socket)
{
    if (!socket) return;
    admin_connections_free(socket);
    ev_io_stop(loop_ev(socket->options.io_loop), &socket->acceptable);
    timer_cancel(&socket->again);
    close(socket->fd);
    unix_socket_remove(socket->path, &socket->file);
    tape_parser_free(socket->parser);
    free(socket->path);
    free(socket);
}
