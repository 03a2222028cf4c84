/* Lines and descriptors between a command and an engine; see audit_session.h. */
#include "app/audit/audit_session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "app/admin/admin_protocol.h"
#include "base/mem.h"
#include "net/unix_socket.h"

enum { TIMEOUT_MS = 10000, READ_BLOCK = 64 << 10, MS_PER_S = 1000 };

/* --- from the engine */

static void keep_fds(struct audit_session *a, const struct msghdr *message)
{
    const struct cmsghdr *head = CMSG_FIRSTHDR(message);
    if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) return;
    size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; i++) {
        int fd;
        memcpy(&fd, CMSG_DATA(head) + i * sizeof fd, sizeof fd);
        if (a->fd_count < ARRAY_LEN(a->fds))
            a->fds[a->fd_count++] = fd;
        else
            close(fd);
    }
}

bool audit_session_receive(struct audit_session *a, struct err *err)
{
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(AUDIT_CHILDREN_MAX * sizeof(int))];
    } control = {0};
    struct iovec bytes = {buf_reserve(&a->in, READ_BLOCK), READ_BLOCK};
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t n;
    do n = recvmsg(a->fd, &message, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n < 0 && errno == EAGAIN)
        return err_set(err, ERR_TIMEOUT, "the engine did not respond within %d s", TIMEOUT_MS / MS_PER_S);
    a->closed = n <= 0;
    if (n <= 0) return err_set(err, ERR_CLOSED, "the engine stopped before the audit was done");
    a->in.len += (size_t)n;
    keep_fds(a, &message);
    return true;
}

size_t audit_session_next(struct audit_session *a, struct err *err)
{
    memset(buf_reserve(&a->in, TAPE_PADDING), 0, TAPE_PADDING);
    size_t left = a->in.len - a->used;
    const char *line = a->in.data + a->used, *end = left ? memchr(line, '\n', left) : NULL;
    err_clear(err);
    if (!end) return 0;
    a->used += (size_t)(end - line) + 1;
    return admin_reply_parse(a->parser, (struct str){line, (size_t)(end - line)}, &a->tape, err);
}

size_t audit_session_await(struct audit_session *a, struct err *err)
{
    size_t at = 0;
    do at = audit_session_next(a, err);
    while (!at && err->code == ERR_NONE && audit_session_receive(a, err));
    return at;
}

int64_t audit_session_number(const struct audit_session *a, size_t at, struct str name)
{
    return tape_int(&a->tape, tape_field(&a->tape, at, name), -1);
}

/* --- to the engine */

static bool send_request(struct audit_session *a, int children, struct err *err)
{
    struct buf line = {0};
    char params[64];
    snprintf(params, sizeof params, "{\"children\":%d}", children);
    admin_request_write("audit", params, &line);
    bool ok = send(a->fd, line.data, line.len, MSG_NOSIGNAL) == (ssize_t)line.len;
    buf_clear(&line);
    return (ok || err_set(err, ERR_CLOSED, "the engine stopped")) && audit_session_await(a, err);
}

static bool send_order(struct audit_session *a, int order, struct err *err)
{
    char byte = 'a';
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {
        .head = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))}};
    struct iovec bytes = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    memcpy(CMSG_DATA(&control.head), &order, sizeof order);
    return sendmsg(a->fd, &message, MSG_NOSIGNAL) == 1 || err_set(err, ERR_CLOSED, "the engine stopped");
}

size_t audit_session_begin(struct audit_session *a, int children, int order, struct err *err)
{
    return send_request(a, children, err) && send_order(a, order, err) ? audit_session_await(a, err) : 0;
}

bool audit_session_open(struct audit_session *a, const char *path, struct err *err)
{
    *a = (struct audit_session){.fd = -1, .parser = tape_parser_new()};
    a->fd = unix_socket_connect(path, TIMEOUT_MS, err);
    return a->fd >= 0;
}

void audit_session_close(struct audit_session *a)
{
    for (size_t i = 0; i < a->fd_count; i++)
        if (a->fds[i] >= 0) close(a->fds[i]);
    if (a->fd >= 0) close(a->fd);
    if (a->parser) tape_parser_free(a->parser);
    buf_clear(&a->in);
}
