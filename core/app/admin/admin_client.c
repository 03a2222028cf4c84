/* Asking an engine; see admin_client.h. */
#include "app/admin/admin_client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "app/admin/admin_protocol.h"
#include "base/mem.h"
#include "net/unix_socket.h"

enum { TIMEOUT_MS = 10000, READ_BLOCK = 64 << 10, REPLY_MAX = 256 << 20 };

struct admin_client {
    struct tape_parser *parser;
    struct tape tape;
    size_t result;
    struct buf text;
};

struct sent_call {
    const char *method, *params;
    int64_t timeout_ms;
};

/* A request fits into the buffer of any socket. */
static bool send_request(int fd, const struct sent_call *call, struct err *err)
{
    struct buf line = {0};
    admin_request_write(call->method, call->params, &line);
    bool fits = line.len <= ADMIN_REQUEST_MAX;
    bool ok = fits && send(fd, line.data, line.len, MSG_NOSIGNAL) == (ssize_t)line.len;
    buf_clear(&line);
    if (!fits) return err_set(err, ERR_LIMIT, "the request exceeds %d KiB", ADMIN_REQUEST_MAX >> 10);
    return ok || err_set(err, ERR_CLOSED, "the engine stopped");
}

/* Longest wait for a reply; connecting has a timeout of its own. */
static bool set_timeout(int fd, int64_t ms, struct err *err)
{
    struct timeval timeout = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
    return setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) == 0 ||
           err_set(err, ERR_IO, "%s", strerror(errno));
}

/* One line. */
static bool receive(int fd, const struct sent_call *call, struct buf *text, struct err *err)
{
    while (!text->len || text->data[text->len - 1] != '\n') {
        ssize_t n = recv(fd, buf_reserve(text, READ_BLOCK), READ_BLOCK, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return err_set(err, ERR_TIMEOUT, "the engine did not respond within %g s",
                           (double)call->timeout_ms / 1e3);
        /* The engine keeps a connection open as long as its call is in flight. */
        if (n <= 0) return err_set(err, ERR_CLOSED, "the engine stopped before it responded");
        text->len += (size_t)n;
        if (text->len > REPLY_MAX) return err_set(err, ERR_LIMIT, "the response exceeds 256 MiB");
    }
    return true;
}

static bool exchange(struct admin_client *client, const char *path, const struct sent_call *call,
                     struct err *err)
{
    int fd = unix_socket_connect(path, TIMEOUT_MS, err);
    if (fd < 0) return false;
    bool ok = send_request(fd, call, err) && set_timeout(fd, call->timeout_ms, err) &&
              receive(fd, call, &client->text, err);
    close(fd);
    if (!ok) return err_wrap(err, "%s", path);
    memset(buf_reserve(&client->text, TAPE_PADDING), 0, TAPE_PADDING);
    client->result = admin_reply_parse(client->parser, buf_slice(&client->text), &client->tape, err);
    return client->result != 0;
}

struct admin_client *admin_client_request(const char *path, const char *method, struct err *err)
{
    return admin_client_call(path, method, NULL, TIMEOUT_MS, err);
}

struct admin_client *admin_client_call(const char *path, const char *method, const char *params,
                                       int64_t timeout_ms, struct err *err)
{
    const struct sent_call call = {method, params, timeout_ms};
    char *chosen = unix_socket_choose_path(path, err);
    if (!chosen) return NULL;
    struct admin_client *client = NEW(struct admin_client);
    client->parser = tape_parser_new();
    bool ok = exchange(client, chosen, &call, err);
    free(chosen);
    if (ok) return client;
    admin_client_free(client);
    return NULL;
}

const struct tape *admin_client_tape(const struct admin_client *client)
{
    return &client->tape;
}

size_t admin_client_result(const struct admin_client *client)
{
    return client->result;
}

void admin_client_free(struct admin_client *client)
{
    if (!client) return;
    tape_parser_free(client->parser);
    buf_clear(&client->text);
    free(client);
}
