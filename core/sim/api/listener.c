/* Listening socket; see listener.h. */
#include "sim/api/listener.h"

#include <errno.h>
#include <ev.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"

enum { BACKLOG = 512, AGAIN_MS = 50 };

struct sim_listener {
    struct loop *loop;
    struct sockaddr_storage address; /* with the port that was picked */
    socklen_t address_len;
    int fd; /* -1 while connections are refused */
    ev_io io;
    struct timer again;
    pthread_mutex_t lock; /* guards the two below, and `fd` against being closed */
    int64_t refuse_ms;
    struct waker *refused;
    void (*accepted)(void *ctx, int fd, const struct sockaddr *peer, socklen_t len);
    void *ctx;
};

static void on_ready(struct ev_loop *ev, ev_io *io, int events)
{
    struct sim_listener *listener = container_of(io, struct sim_listener, io);
    struct sockaddr_storage peer;
    socklen_t len = sizeof peer;
    int fd = accept4(listener->fd, (struct sockaddr *)&peer, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) listener->accepted(listener->ctx, fd, (struct sockaddr *)&peer, len);
}

static bool open_socket(struct sim_listener *listener, struct err *err)
{
    int on = 1;
    listener->fd = socket(listener->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener->fd < 0) return err_set(err, ERR_IO, "%s", strerror(errno));
    setsockopt(listener->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener->fd, (struct sockaddr *)&listener->address, listener->address_len) != 0 ||
        listen(listener->fd, BACKLOG) != 0 ||
        getsockname(listener->fd, (struct sockaddr *)&listener->address, &listener->address_len) != 0) {
        err_set(err, ERR_IO, "%s", strerror(errno));
        close(listener->fd);
        listener->fd = -1;
        return false;
    }
    ev_io_init(&listener->io, on_ready, listener->fd, EV_READ);
    ev_io_start(loop_ev(listener->loop), &listener->io);
    return true;
}

static void close_socket(struct sim_listener *listener)
{
    pthread_mutex_lock(&listener->lock);
    if (listener->fd >= 0) {
        ev_io_stop(loop_ev(listener->loop), &listener->io);
        close(listener->fd);
        listener->fd = -1;
    }
    pthread_mutex_unlock(&listener->lock);
}

static bool resolve(struct sim_listener *listener, const char *address, int port, struct err *err)
{
    struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICHOST, .ai_socktype = SOCK_STREAM}, *found;
    char service[16];
    snprintf(service, sizeof service, "%d", port);
    int rc = getaddrinfo(address, service, &hints, &found);
    if (rc == EAI_NONAME) return err_set(err, ERR_INVALID, "not an IP address such as 127.0.0.1 or ::1");
    if (rc != 0) return err_set(err, ERR_INVALID, "%s", gai_strerror(rc));
    memcpy(&listener->address, found->ai_addr, found->ai_addrlen);
    listener->address_len = found->ai_addrlen;
    freeaddrinfo(found);
    return true;
}

static void open_again(struct timer *timer)
{
    struct sim_listener *listener = container_of(timer, struct sim_listener, again);
    struct err err;
    pthread_mutex_lock(&listener->lock);
    bool ok = open_socket(listener, &err);
    pthread_mutex_unlock(&listener->lock);
    if (ok) return;
    log_warn("Failed to listen again", F("error", err.text));
    timer_start(timer, loop_clock(listener->loop), AGAIN_MS);
}

int sim_listener_port(const struct sim_listener *listener)
{
    const struct sockaddr_in6 *six = (const void *)&listener->address;
    const struct sockaddr_in *four = (const void *)&listener->address;
    return ntohs(listener->address.ss_family == AF_INET6 ? six->sin6_port : four->sin_port);
}

/* Shutting it down refuses connections from this moment on; the loop does the rest. */
void sim_listener_refuse(struct sim_listener *listener, int64_t ms)
{
    pthread_mutex_lock(&listener->lock);
    listener->refuse_ms = ms;
    if (listener->fd >= 0) shutdown(listener->fd, SHUT_RDWR);
    pthread_mutex_unlock(&listener->lock);
    waker_wake(listener->refused);
}

static void on_refused(void *ctx)
{
    struct sim_listener *listener = ctx;
    close_socket(listener);
    pthread_mutex_lock(&listener->lock);
    int64_t ms = listener->refuse_ms;
    pthread_mutex_unlock(&listener->lock);
    timer_start(&listener->again, loop_clock(listener->loop), ms);
}

struct sim_listener *sim_listener_new(struct loop *loop, const char *address, int port,
                                      void (*accepted)(void *ctx, int fd, const struct sockaddr *peer,
                                                       socklen_t len),
                                      void *ctx, struct err *err)
{
    struct sim_listener *listener = NEW(struct sim_listener);
    *listener = (struct sim_listener){
        .loop = loop, .fd = -1, .again.fn = open_again, .accepted = accepted, .ctx = ctx};
    pthread_mutex_init(&listener->lock, NULL);
    listener->refused = waker_new(loop, on_refused, listener);
    if (resolve(listener, address, port, err) && open_socket(listener, err)) return listener;
    err_wrap(err, "cannot listen on %s port %d", address, port);
    sim_listener_free(listener);
    return NULL;
}

void sim_listener_free(struct sim_listener *listener)
{
    if (!listener) return;
    timer_cancel(&listener->again);
    waker_free(listener->refused);
    close_socket(listener);
    pthread_mutex_destroy(&listener->lock);
    free(listener);
}
