/* A server of NATS for one client; see fake_nats.h. */
#include "core/streams/support/fake_nats.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LINE_MAX_SIZE = 4096 };

static void send_text(int fd, const char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        ssize_t n = send(fd, text, left, MSG_NOSIGNAL);
        if (n <= 0) return;
        text += n;
        left -= (size_t)n;
    }
}

/* Requests have one subscription with a wildcard for their replies, readers one each. */
static void on_subscribe(struct fake_nats *fake, const char *line)
{
    char subject[256], sid[32];
    if (sscanf(line, "SUB %255s %31s", subject, sid) != 2) return;
    pthread_mutex_lock(&fake->lock);
    if (strchr(subject, '*')) {
        snprintf(fake->replies_sid, sizeof fake->replies_sid, "%s", sid);
    } else {
        snprintf(fake->inbox, sizeof fake->inbox, "%s", subject);
        snprintf(fake->inbox_sid, sizeof fake->inbox_sid, "%s", sid);
    }
    pthread_mutex_unlock(&fake->lock);
}

static void on_request(const struct fake_nats *fake, const char *line)
{
    char subject[256], reply[256], text[LINE_MAX_SIZE];
    if (sscanf(line, "PUB %255s %255s %*u", subject, reply) != 2) return;
    for (const struct fake_answer *a = fake->answers; a && a->subject; a++) {
        if (strncmp(subject, a->subject, strlen(a->subject)) != 0) continue;
        snprintf(text, sizeof text, "MSG %s %s %zu\r\n%s\r\n", reply, fake->replies_sid, strlen(a->json),
                 a->json);
        send_text(fake->client, text);
        return;
    }
}

/* A payload has no line that begins as a command does. */
static void on_line(struct fake_nats *fake, const char *line)
{
    if (strncmp(line, "PING", 4) == 0) send_text(fake->client, "PONG\r\n");
    if (strncmp(line, "PONG", 4) == 0) atomic_fetch_add(&fake->pongs, 1);
    if (strncmp(line, "SUB ", 4) == 0) on_subscribe(fake, line);
    if (strncmp(line, "PUB ", 4) == 0) on_request(fake, line);
}

static void *serve(void *ctx)
{
    struct fake_nats *fake = ctx;
    char line[LINE_MAX_SIZE];
    int fd = accept(fake->fd, NULL, NULL);
    if (fd < 0) return NULL;
    pthread_mutex_lock(&fake->lock);
    fake->client = fd;
    pthread_mutex_unlock(&fake->lock);
    send_text(fd, "INFO {\"server_id\":\"S\",\"version\":\"2.9.10\",\"proto\":1,\"headers\":true,"
                  "\"max_payload\":1048576,\"jetstream\":true}\r\n");
    FILE *in = fdopen(dup(fd), "r");
    while (in && fgets(line, sizeof line, in)) on_line(fake, line);
    if (in) fclose(in);
    return NULL;
}

void fake_nats_start(struct fake_nats *fake)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    fake->client = -1;
    pthread_mutex_init(&fake->lock, NULL);
    fake->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(fake->fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fake->fd, 1) != 0 ||
        getsockname(fake->fd, (struct sockaddr *)&address, &size) != 0)
        abort();
    fake->port = ntohs(address.sin_port);
    if (pthread_create(&fake->thread, NULL, serve, fake) != 0) abort();
}

void fake_nats_address(const struct fake_nats *fake, char out[32])
{
    snprintf(out, 32, "127.0.0.1:%d", fake->port);
}

void fake_nats_send_heads(struct fake_nats *fake, const char *heads)
{
    char text[LINE_MAX_SIZE];
    size_t n = strlen(heads);
    pthread_mutex_lock(&fake->lock);
    snprintf(text, sizeof text, "HMSG %s %s %zu %zu\r\n%s\r\n", fake->inbox, fake->inbox_sid, n, n, heads);
    send_text(fake->client, text);
    pthread_mutex_unlock(&fake->lock);
}

/* The client answers in order. */
void fake_nats_send_error(struct fake_nats *fake, const char *error)
{
    char text[LINE_MAX_SIZE];
    int before = atomic_load(&fake->pongs);
    pthread_mutex_lock(&fake->lock);
    snprintf(text, sizeof text, "-ERR '%s'\r\nPING\r\n", error);
    send_text(fake->client, text);
    pthread_mutex_unlock(&fake->lock);
    while (atomic_load(&fake->pongs) == before) usleep(1000);
}

void fake_nats_end(struct fake_nats *fake)
{
    shutdown(fake->fd, SHUT_RDWR);
    if (fake->client >= 0) shutdown(fake->client, SHUT_RDWR);
    pthread_join(fake->thread, NULL);
    if (fake->client >= 0) close(fake->client);
    close(fake->fd);
    pthread_mutex_destroy(&fake->lock);
}
