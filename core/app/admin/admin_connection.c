/* Connection of the admin socket; see admin_socket_internal.h. One request is in flight at a time: it is
 * read, mailed to the engine thread and back, then its reply is written. If the client disconnects meanwhile,
 * a second mail notifies the engine thread and comes back too: the connection is freed when both are back. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "app/admin/admin_protocol.h"
#include "app/admin/admin_socket_internal.h"
#include "base/mem.h"

enum { READ_BLOCK = 4096 };

enum connection_step {
    STEP_READING,
    STEP_IN_FLIGHT, /* the engine thread has the request */
    STEP_WRITING,
    STEP_LOST, /* replied to or disconnected, while the request is still in flight */
};

struct admin_connection {
    TAILQ_ENTRY(admin_connection) link;
    struct admin_socket *socket;
    int fd; /* -1: closed */
    enum connection_step step;
    ev_io readable, writable;
    struct timer deadline;
    struct buf in, out;
    struct mail mail;
    struct admin_call call; /* owned by the engine thread while in flight */
    _Atomic bool lost;
    struct mail gone_mail;
    bool gone_is_out; /* sent and not back yet */
};

static struct ev_loop *ev_of(const struct admin_connection *client)
{
    return loop_ev(client->socket->options.io_loop);
}

static void hang_up(struct admin_connection *client)
{
    if (client->fd < 0) return;
    ev_io_stop(ev_of(client), &client->readable);
    ev_io_stop(ev_of(client), &client->writable);
    timer_cancel(&client->deadline);
    close(client->fd);
    client->fd = -1;
}

static void client_free(struct admin_connection *client)
{
    struct admin_socket *socket = client->socket;
    hang_up(client);
    TAILQ_REMOVE(&socket->clients, client, link);
    socket->count--;
    buf_clear(&client->in);
    buf_clear(&client->out);
    admin_call_clear(&client->call);
    free(client);
}

/* Runs on the I/O thread again. */
static void on_gone_back(struct mail *mail)
{
    struct admin_connection *client = container_of(mail, struct admin_connection, gone_mail);
    client->gone_is_out = false;
    if (client->step != STEP_LOST) client_free(client);
}

/* Runs on the engine thread. */
static void on_gone(struct mail *mail)
{
    struct admin_connection *client = container_of(mail, struct admin_connection, gone_mail);
    admin_call_notify_disconnect(&client->call);
    client->gone_mail.deliver = on_gone_back;
    mailbox_post(loop_mailbox(client->socket->options.io_loop), &client->gone_mail);
}

/* Ends the connection. A request in flight keeps the struct until it comes back, as the engine thread uses
 * it. */
static void drop(struct admin_connection *client)
{
    hang_up(client);
    if (client->step != STEP_IN_FLIGHT) {
        if (client->step != STEP_LOST) client_free(client);
        return;
    }
    client->step = STEP_LOST;
    atomic_store(&client->lost, true);
    client->gone_is_out = true;
    client->gone_mail.deliver = on_gone;
    mailbox_post(loop_mailbox(client->socket->options.engine_loop), &client->gone_mail);
}

static void arm(struct admin_connection *client, int64_t ms)
{
    timer_start(&client->deadline, loop_clock(client->socket->options.io_loop), ms);
}

/* --- requests */

static void start_writing(struct admin_connection *client)
{
    client->step = STEP_WRITING;
    ev_io_stop(ev_of(client), &client->readable);
    ev_io_start(ev_of(client), &client->writable);
    arm(client, client->socket->options.idle_ms);
}

static void refuse(struct admin_connection *client, const char *why)
{
    admin_error_write(why, &client->out);
    start_writing(client);
}

/* Runs on the I/O thread again. */
static void on_reply(struct mail *mail)
{
    struct admin_connection *client = container_of(mail, struct admin_connection, mail);
    struct admin_call *call = &client->call;
    bool taken = call->is_session && call->fd < 0;
    if (call->is_session && call->fd >= 0) close(call->fd);
    call->is_session = false;
    if (taken && client->step == STEP_IN_FLIGHT) {
        client_free(client); /* a session took the connection */
        return;
    }
    if (client->step == STEP_LOST) {
        client->step = STEP_WRITING; /* no client to reply to */
        if (!client->gone_is_out) client_free(client);
        return;
    }
    if (call->good)
        admin_result_write(buf_slice(&call->result), &client->out);
    else
        admin_error_write(call->err.text, &client->out);
    call->result.len = 0;
    start_writing(client);
}

/* Runs on the engine thread: sends the call back. */
static void on_call_done(struct admin_call *call)
{
    struct admin_connection *client = container_of(call, struct admin_connection, call);
    client->mail.deliver = on_reply;
    mailbox_post(loop_mailbox(client->socket->options.io_loop), &client->mail);
}

static const struct admin_session *find_session(const struct admin_socket_options *o, const char *method)
{
    for (size_t i = 0; i < o->session_count; i++)
        if (strcmp(o->sessions[i].method, method) == 0) return &o->sessions[i];
    return NULL;
}

/* Runs on the engine thread. Returns false if no part accepts the call. */
static bool begin(const struct admin_socket_options *o, struct admin_call *call)
{
    const struct admin_session *session = find_session(o, call->request.method);
    if (!session) return o->begin && o->begin(o->ctx, call);
    session->begin(session->ctx, call);
    return true;
}

/* Runs on the engine thread. */
static void on_request(struct mail *mail)
{
    struct admin_connection *client = container_of(mail, struct admin_connection, mail);
    struct admin_call *call = &client->call;
    const struct admin_socket_options *o = &client->socket->options;
    call->open = true;
    if (atomic_load(&client->lost)) {
        admin_call_fail(call, "the client disconnected");
        return;
    }
    /* Set before `begin`, which may reply at once: the deadline must not report a busy engine then. */
    atomic_store(&call->taken, true);
    if (begin(o, call)) return;
    atomic_store(&call->taken, false);
    call->open = false;
    call->good = o->reply(o->ctx, call->request.method, &call->result, &call->err);
    on_call_done(call);
}

/* Lends the connection to a session, and stops reading it until the call has its reply. The session gets a
 * duplicate of the descriptor: libev removes a stopped one from the kernel's set later, and must not meet a
 * close by another thread. */
static bool lend_connection(struct admin_connection *client)
{
    int fd = fcntl(client->fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0) return false;
    ev_io_stop(ev_of(client), &client->readable);
    timer_cancel(&client->deadline);
    client->call.is_session = true;
    client->call.fd = fd;
    return true;
}

static void take_request(struct admin_connection *client, struct str line)
{
    struct err err;
    struct admin_call *call = &client->call;
    if (!admin_request_parse(client->socket->parser, line, &call->request, &err)) {
        refuse(client, err.text);
        return;
    }
    call->line.len = 0;
    buf_str(&call->line, line);
    memset(buf_reserve(&call->line, TAPE_PADDING), 0, TAPE_PADDING);
    call->done = on_call_done;
    client->mail.deliver = on_request;
    const struct admin_socket_options *o = &client->socket->options;
    bool session = find_session(o, call->request.method) != NULL;
    if (session && !lend_connection(client)) {
        refuse(client, "the engine is out of file descriptors");
        return;
    }
    client->step = STEP_IN_FLIGHT;
    if (!session) arm(client, o->reply_ms);
    mailbox_post(loop_mailbox(o->engine_loop), &client->mail);
}

/* Serves the next request in the input, if it arrived behind the last one. */
static void take_next(struct admin_connection *client)
{
    const char *end = client->in.len ? memchr(client->in.data, '\n', client->in.len) : NULL;
    if (!end) return;
    size_t len = (size_t)(end - client->in.data);
    take_request(client, (struct str){client->in.data, len});
    buf_consume(&client->in, len + 1);
}

/* --- bytes */

static bool may_still_read(const struct admin_connection *client)
{
    struct pollfd both = {.fd = client->fd};
    return poll(&both, 1, 0) >= 0 && !(both.revents & (POLLHUP | POLLERR));
}

/* Keeps a client that has only shut down its own side, as it still reads, and drops one that is gone. Nothing
 * more will be readable, so the deadline checks it again. */
static void end_of_input(struct admin_connection *client)
{
    if (client->step == STEP_IN_FLIGHT && may_still_read(client))
        ev_io_stop(ev_of(client), &client->readable);
    else
        drop(client);
}

/* Runs also while a request is in flight, to notice that the client disconnects. */
static void on_readable(struct ev_loop *ev, ev_io *io, int events)
{
    struct admin_connection *client = container_of(io, struct admin_connection, readable);
    ssize_t n = read(client->fd, buf_reserve(&client->in, READ_BLOCK), READ_BLOCK);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n == 0) {
        end_of_input(client);
        return;
    }
    if (n < 0) {
        drop(client);
        return;
    }
    client->in.len += (size_t)n;
    if (client->step == STEP_IN_FLIGHT) {
        if (client->in.len > ADMIN_REQUEST_MAX) drop(client); /* stays unread, which would hide its end */
        return;
    }
    if (memchr(client->in.data, '\n', client->in.len))
        take_next(client);
    else if (client->in.len > ADMIN_REQUEST_MAX)
        drop(client);
}

static void on_writable(struct ev_loop *ev, ev_io *io, int events)
{
    struct admin_connection *client = container_of(io, struct admin_connection, writable);
    ssize_t n = send(client->fd, client->out.data, client->out.len, MSG_NOSIGNAL);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n < 0) {
        drop(client);
        return;
    }
    buf_consume(&client->out, (size_t)n);
    arm(client, client->socket->options.idle_ms);
    if (client->out.len) return;
    ev_io_stop(ev, &client->writable);
    ev_io_start(ev, &client->readable);
    client->step = STEP_READING;
    take_next(client);
}

/* Replies to the client at once when the engine thread is late: a blocked engine must not block its
 * operator. */
static void on_deadline(struct timer *timer)
{
    struct admin_connection *client = container_of(timer, struct admin_connection, deadline);
    if (client->step == STEP_IN_FLIGHT && atomic_load(&client->call.taken) && may_still_read(client)) {
        arm(client, client->socket->options.reply_ms);
        return;
    }
    if (client->step == STEP_IN_FLIGHT) {
        struct buf text = {0};
        const struct admin_socket_options *o = &client->socket->options;
        buf_puts(&text, "the engine is busy: ");
        size_t begun = text.len;
        if (o->running) running_describe(o->running, &text);
        if (text.len == begun)
            buf_puts(&text, "a script is blocking the engine, or a large list is being processed");
        admin_error_write(buf_text(&text), &client->out);
        buf_clear(&text);
        (void)!send(client->fd, client->out.data, client->out.len, MSG_NOSIGNAL);
    }
    drop(client);
}

void admin_connection_new(struct admin_socket *socket, int fd)
{
    struct admin_connection *client = NEW(struct admin_connection);
    client->socket = socket;
    client->fd = fd;
    client->deadline.fn = on_deadline;
    ev_io_init(&client->readable, on_readable, fd, EV_READ);
    ev_io_init(&client->writable, on_writable, fd, EV_WRITE);
    TAILQ_INSERT_TAIL(&socket->clients, client, link);
    socket->count++;
    ev_io_start(ev_of(client), &client->readable);
    arm(client, socket->options.idle_ms);
}

void admin_connections_free(struct admin_socket *socket)
{
    struct admin_connection *client;
    while ((client = TAILQ_FIRST(&socket->clients))) client_free(client);
}
