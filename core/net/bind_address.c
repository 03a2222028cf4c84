/* Listening sockets; see bind_address.h. */
#include "net/bind_address.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"

enum { BACKLOG = 64 };

bool bind_address_is_off(const char *address)
{
    return *address == '\0' || strcmp(address, "0") == 0;
}

/* getaddrinfo takes larger numbers, too, and leaves bits out. */
static bool is_port(const char *text)
{
    size_t n = strspn(text, "0123456789");
    return n > 0 && n <= 5 && text[n] == '\0' && strtoul(text, NULL, 10) <= UINT16_MAX;
}

/* Splits HOST:PORT, [HOST]:PORT or :PORT into owned strings; `*host` NULL for every address. */
static bool split(const char *address, char **host, char **port)
{
    const char *colon = strrchr(address, ':'), *begin = address;
    if (!colon || !is_port(colon + 1)) return false;
    size_t len = (size_t)(colon - address);
    if (len >= 2 && *begin == '[' && colon[-1] == ']') {
        begin++;
        len -= 2;
    } else if (memchr(address, ':', len)) {
        return false; /* an IPv6 address without brackets: which colon is the port's? */
    }
    *host = len ? xstrndup(begin, len) : NULL;
    *port = xstrdup(colon + 1);
    return true;
}

static int listen_on(const struct addrinfo *at)
{
    int on = 1, off = 0;
    int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (at->ai_family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0) return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

static void put_where(int fd, struct buf *where)
{
    struct sockaddr_storage address;
    socklen_t len = sizeof address;
    char host[NI_MAXHOST] = "", port[NI_MAXSERV] = "";
    if (getsockname(fd, (struct sockaddr *)&address, &len) == 0)
        getnameinfo((struct sockaddr *)&address, len, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV);
    buf_printf(where, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

/* Every address of the machine is both families in one socket, where the kernel has IPv6. */
static int listen_on_first(const struct addrinfo *found, bool any)
{
    int fd = -1;
    for (const struct addrinfo *at = found; any && fd < 0 && at; at = at->ai_next)
        if (at->ai_family == AF_INET6) fd = listen_on(at);
    if (any && fd < 0 && errno == EADDRINUSE) return -1;
    for (const struct addrinfo *at = found; fd < 0 && at; at = at->ai_next) fd = listen_on(at);
    return fd;
}

static bool is_loopback(const struct sockaddr *address)
{
    enum { LOOPBACK = 127 };
    if (address->sa_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
    return address->sa_family == AF_INET &&
           ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == LOOPBACK;
}

bool bind_address_is_loopback(const char *address)
{
    struct addrinfo hints = {.ai_flags = AI_NUMERICSERV, .ai_socktype = SOCK_STREAM}, *found;
    char *host, *port;
    if (!split(address, &host, &port)) return false;
    bool is = host && getaddrinfo(host, port, &hints, &found) == 0;
    if (is) {
        for (const struct addrinfo *at = found; at; at = at->ai_next) is = is && is_loopback(at->ai_addr);
        freeaddrinfo(found);
    }
    free(host);
    free(port);
    return is;
}

int bind_address_listen(const char *address, struct buf *where, struct err *err)
{
    struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM}, *found;
    char *host, *port;
    if (!split(address, &host, &port)) {
        err_set(err, ERR_INVALID, "\"%s\" is not an address such as 127.0.0.1:8080 or :8080, or 0 to disable",
                address);
        return -1;
    }
    int fd = -1, rc = getaddrinfo(host, port, &hints, &found);
    if (rc != 0) {
        err_set(err, ERR_INVALID, "\"%s\": %s", address, gai_strerror(rc));
    } else {
        fd = listen_on_first(found, host == NULL);
        if (fd < 0)
            err_set(err, ERR_IO, "cannot listen on %s: %s (use 0 to disable)", address, strerror(errno));
        freeaddrinfo(found);
    }
    if (fd >= 0) put_where(fd, where);
    free(host);
    free(port);
    return fd;
}
