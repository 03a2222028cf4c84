/* A proxy of blocking calls; see tiny_proxy.h. */
#include "support/tiny_proxy.h"

#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/text/base64.h"

struct tiny_proxy {
    pthread_t thread;
    pthread_mutex_t lock; /* of `seen` */
    struct buf seen;
    int listener, port;
    char *user;
    const char *endless; /* how its response begins; NULL: it ends */
};

static void note(struct tiny_proxy *proxy, const char *how, const char *host, int port)
{
    pthread_mutex_lock(&proxy->lock);
    if (host)
        buf_printf(&proxy->seen, "%s %s:%d\n", how, host, port);
    else
        buf_printf(&proxy->seen, "%s\n", how);
    pthread_mutex_unlock(&proxy->lock);
}

static bool read_all(int fd, void *out, size_t len)
{
    return recv(fd, out, len, MSG_WAITALL) == (ssize_t)len;
}

static void say(int fd, const void *data, size_t len)
{
    must(send(fd, data, len, MSG_NOSIGNAL) == (ssize_t)len);
}

static int dial(int port)
{
    const struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (const struct sockaddr *)&to, sizeof to) == 0) return fd;
    close(fd);
    return -1;
}

/* Bytes both ways until either side is done. */
static void carry(int a, int b)
{
    struct pollfd ends[] = {{a, POLLIN, 0}, {b, POLLIN, 0}};
    char data[16384];
    while (poll(ends, 2, -1) > 0) {
        for (int i = 0; i < 2; i++) {
            if (!ends[i].revents) continue;
            ssize_t n = recv(ends[i].fd, data, sizeof data, 0);
            if (n <= 0 || send(ends[1 - i].fd, data, (size_t)n, MSG_NOSIGNAL) != n) return;
        }
    }
}

static bool connect_request(struct tiny_proxy *proxy, int fd, int *port)
{
    struct buf head = {0}, wanted = {0};
    char byte, host[256] = "";
    while (read_all(fd, &byte, 1)) {
        buf_putc(&head, byte);
        if (str_ends(buf_slice(&head), STR("\r\n\r\n"))) break;
    }
    buf_puts(&wanted, "Proxy-Authorization: Basic ");
    if (proxy->user) base64_encode(str_of(proxy->user), &wanted);
    bool ok = !proxy->user || strstr(buf_text(&head), buf_text(&wanted));
    ok = ok && sscanf(buf_text(&head), "CONNECT %255[^:]:%d", host, port) == 2;
    if (proxy->endless) {
        char more[4096];
        memset(more, 'x', sizeof more);
        note(proxy, "refused", NULL, 0);
        say(fd, proxy->endless, strlen(proxy->endless));
        ok = false;
        while (send(fd, more, sizeof more, MSG_NOSIGNAL) > 0) continue;
    } else if (!ok) {
        static const char no[] = "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n";
        note(proxy, "refused", NULL, 0); /* before the peer can ask for it */
        say(fd, no, sizeof no - 1);
    } else {
        static const char yes[] = "HTTP/1.1 200 Connection established\r\nX-Proxy: yes\r\n\r\n";
        note(proxy, "connect", host, *port);
        say(fd, yes, sizeof yes - 1);
    }
    buf_clear(&head);
    buf_clear(&wanted);
    return ok;
}

static bool socks_user(struct tiny_proxy *proxy, int fd)
{
    unsigned char head[2], len;
    char text[600] = "", part[256];
    if (!read_all(fd, head, 2) || !read_all(fd, part, head[1]) || !read_all(fd, &len, 1)) return false;
    part[head[1]] = '\0';
    strcat(strcpy(text, part), ":");
    if (!read_all(fd, part, len)) return false;
    part[len] = '\0';
    strcat(text, part);
    bool ok = strcmp(text, proxy->user) == 0;
    if (!ok) note(proxy, "refused", NULL, 0);
    say(fd, ok ? "\1\0" : "\1\1", 2);
    return ok;
}

/* RFC 1928, with names only. */
static bool socks_request(struct tiny_proxy *proxy, int fd, int *port)
{
    unsigned char head[5], methods[256], at[2];
    char host[256];
    if (!read_all(fd, head, 2) || !read_all(fd, methods, head[1])) return false;
    say(fd, proxy->user ? "\5\2" : "\5\0", 2);
    if (proxy->user && !socks_user(proxy, fd)) return false;
    if (!read_all(fd, head, 5)) return false;
    if (head[3] == 1) { /* an address: its first byte has come */
        unsigned char rest[3];
        if (!read_all(fd, rest, 3)) return false;
        snprintf(host, sizeof host, "%d.%d.%d.%d", head[4], rest[0], rest[1], rest[2]);
    } else {
        if (head[3] != 3 || !read_all(fd, host, head[4])) return false;
        host[head[4]] = '\0';
    }
    if (!read_all(fd, at, 2)) return false;
    *port = at[0] << 8 | at[1];
    note(proxy, "socks5", host, *port);
    say(fd, "\5\0\0\1\0\0\0\0\0\0", 10);
    return true;
}

static void serve(struct tiny_proxy *proxy, int fd)
{
    char first;
    int port;
    if (recv(fd, &first, 1, MSG_PEEK) != 1) return;
    if (!(first == 5 ? socks_request : connect_request)(proxy, fd, &port)) return;
    int to = dial(port);
    if (to < 0) return;
    carry(fd, to);
    close(to);
}

static void *run(void *arg)
{
    struct tiny_proxy *proxy = arg;
    int fd;
    while ((fd = accept(proxy->listener, NULL, NULL)) >= 0) {
        serve(proxy, fd);
        close(fd);
    }
    return NULL;
}

struct tiny_proxy *tiny_proxy_new(const char *user)
{
    struct tiny_proxy *proxy = NEW(struct tiny_proxy);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    proxy->user = xstrdup(user);
    proxy->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    must(bind(proxy->listener, (struct sockaddr *)&at, sizeof at) == 0 && listen(proxy->listener, 10) == 0);
    must(getsockname(proxy->listener, (struct sockaddr *)&at, &len) == 0);
    proxy->port = ntohs(at.sin_port);
    pthread_mutex_init(&proxy->lock, NULL);
    must(pthread_create(&proxy->thread, NULL, run, proxy) == 0);
    return proxy;
}

struct tiny_proxy *tiny_proxy_endless(const char *with)
{
    struct tiny_proxy *proxy = tiny_proxy_new(NULL);
    proxy->endless = with; /* no connection has come yet */
    return proxy;
}

void tiny_proxy_free(struct tiny_proxy *proxy)
{
    shutdown(proxy->listener, SHUT_RDWR);
    pthread_join(proxy->thread, NULL);
    close(proxy->listener);
    pthread_mutex_destroy(&proxy->lock);
    buf_clear(&proxy->seen);
    free(proxy->user);
    free(proxy);
}

int tiny_proxy_port(const struct tiny_proxy *proxy)
{
    return proxy->port;
}

const char *tiny_proxy_seen(struct tiny_proxy *proxy)
{
    pthread_mutex_lock(&proxy->lock);
    const char *text = buf_text(&proxy->seen);
    pthread_mutex_unlock(&proxy->lock);
    return text;
}
