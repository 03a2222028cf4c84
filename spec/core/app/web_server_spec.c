/* core/app/web_server.c: one client cannot keep the others from being answered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "app/web_server.h"

enum { HOGS = 300 };

static void serve(void *ctx, const struct web_request *request, struct web_answer *answer)
{
    answer->status = 200;
    buf_puts(&answer->body, request->path);
}

/* A connection from one of the addresses of this machine; -1 when it is refused. */
static int connect_from(const char *host, const char *where)
{
    struct sockaddr_in from = {.sin_family = AF_INET}, to = {.sin_family = AF_INET};
    struct timeval timeout = {.tv_sec = 5};
    inet_pton(AF_INET, host, &from.sin_addr);
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    to.sin_port = htons((uint16_t)strtoul(strchr(where, ':') + 1, NULL, 10));
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&from, sizeof from), 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0) return fd;
    close(fd);
    return -1;
}

static void test_a_client_with_many_connections_leaves_room_for_others(void **state)
{
    static const char request[] = "GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    struct err err;
    struct web_server *server =
        web_server_new(&(struct web_server_options){.address = "127.0.0.1:0", .serve = serve}, &err);
    assert_non_null(server);
    int hogs[HOGS];
    for (int i = 0; i < HOGS; i++) {
        hogs[i] = connect_from("127.0.0.2", web_server_where(server));
        if (hogs[i] >= 0) (void)!send(hogs[i], "GET / HTTP/1.1\r\n", 16, MSG_NOSIGNAL);
    }
    int fd = connect_from("127.0.0.1", web_server_where(server));
    assert_true(fd >= 0);
    char answer[2048] = "";
    assert_int_equal(send(fd, request, sizeof request - 1, MSG_NOSIGNAL), sizeof request - 1);
    ssize_t n, len = 0;
    while ((n = recv(fd, answer + len, sizeof answer - 1 - (size_t)len, 0)) > 0) len += n;
    assert_int_equal(n, 0);
    assert_int_equal(strncmp(answer, "HTTP/1.1 200 ", 13), 0);
    assert_non_null(strstr(answer, "/livez"));
    close(fd);
    for (int i = 0; i < HOGS; i++)
        if (hogs[i] >= 0) close(hogs[i]);
    web_server_free(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_client_with_many_connections_leaves_room_for_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
