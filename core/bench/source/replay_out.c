/* Chunks in large writes; see replay_out.h. */
#include "bench/source/replay_out.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/must.h"

enum {
    CHUNK_PIECES = 3,
    SIZE_MAX_DIGITS = 16,
    CHUNK_ENDS = SIZE_MAX_DIGITS + 4, /* digits of the size, two line ends */
    COPY_MAX = 4 << 10,
};

void replay_out_init(struct replay_out *out, int fd)
{
    int on = 1;
    out->fd = fd;
    out->broken = false;
    out->bytes = 0;
    out->piece_count = out->pending = out->copied = 0;
    /* The head of the response may still be held back by the system, for more to come. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static void borrow(struct replay_out *out, const void *bytes, size_t n)
{
    out->pieces[out->piece_count++] = (struct iovec){(void *)bytes, n};
    out->pending += n;
}

/* Copies lie side by side: what ends one chunk and begins the next is one piece. */
static void copy(struct replay_out *out, const void *bytes, size_t n)
{
    char *to = out->copies + out->copied;
    struct iovec *last = out->piece_count ? &out->pieces[out->piece_count - 1] : NULL;
    memcpy(to, bytes, n);
    out->copied += n;
    if (last && (char *)last->iov_base + last->iov_len == to) {
        last->iov_len += n;
        out->pending += n;
    } else
        borrow(out, to, n);
}

static void put_size(struct replay_out *out, size_t size)
{
    char digits[SIZE_MAX_DIGITS + 2], *at = digits + SIZE_MAX_DIGITS;
    at[0] = '\r';
    at[1] = '\n';
    do *--at = "0123456789abcdef"[size & 15];
    while (size >>= 4);
    copy(out, at, (size_t)(digits + sizeof digits - at));
}

void replay_out_chunk(struct replay_out *out, struct str head, struct str body, struct str tail)
{
    size_t copies = head.n + tail.n + CHUNK_ENDS;
    must(copies <= COPY_MAX);
    if (out->broken || head.n + body.n + tail.n == 0) return; /* an empty chunk would be the end */
    if (out->piece_count + CHUNK_PIECES > REPLAY_PIECES || out->copied + copies > REPLAY_COPIES ||
        out->pending >= REPLAY_WRITE_SIZE)
        replay_out_flush(out);
    put_size(out, head.n + body.n + tail.n);
    copy(out, head.p, head.n);
    if (body.n) borrow(out, body.p, body.n);
    copy(out, tail.p, tail.n);
    copy(out, "\r\n", 2);
}

/* False when the client went away. */
static bool wait_for_room(int fd)
{
    struct pollfd ready = {.fd = fd, .events = POLLOUT | POLLRDHUP};
    while (poll(&ready, 1, -1) < 0)
        if (errno != EINTR) return false;
    return !(ready.revents & (POLLRDHUP | POLLERR | POLLHUP | POLLNVAL));
}

/* Steps over what was written. */
static void advance(struct msghdr *message, size_t n)
{
    while (n > 0 && n >= message->msg_iov->iov_len) {
        n -= message->msg_iov->iov_len;
        message->msg_iov++;
        message->msg_iovlen--;
    }
    if (n == 0) return;
    message->msg_iov->iov_base = (char *)message->msg_iov->iov_base + n;
    message->msg_iov->iov_len -= n;
}

void replay_out_flush(struct replay_out *out)
{
    struct msghdr message = {.msg_iov = out->pieces, .msg_iovlen = out->piece_count};
    while (out->pending > 0 && !out->broken) {
        ssize_t n = sendmsg(out->fd, &message, MSG_NOSIGNAL);
        if (n < 0) {
            out->broken = errno != EINTR && (errno != EAGAIN || !wait_for_room(out->fd));
            continue;
        }
        out->bytes += (uint64_t)n;
        out->pending -= (size_t)n;
        advance(&message, (size_t)n);
    }
    out->piece_count = out->pending = out->copied = 0;
}
