/* core/net/server/web_server.c: neither one client nor a lack of descriptors keeps the others from being
 * answered (E-8).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#include "net/server/web_server.h"

enum { HOGS = 300 };

enum { PIECES = 50, PIECE = 40000 };

/* A piece of one letter after another. */
static bool put_piece(void *ctx, struct buf *out)
{
    int *number = ctx;
    memset(buf_reserve(out, PIECE), 'a' + *number % 26, PIECE);
    out->len += PIECE;
    return ++*number < PIECES;
}

static void serve(void *ctx, const struct web_request *request, struct web_response *answer)
{
    answer->status = 200;
    if (strcmp(request->path, "/pieces") == 0) {
        answer->more = put_piece;
        answer->more_ctx = calloc(1, sizeof(int));
        return;
    }
    buf_puts(&answer->body, request->path);
}

static struct sockaddr_in address_of(struct web_server *server)
{
    struct sockaddr_in to = {.sin_family = AF_INET};
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    to.sin_port = htons((uint16_t)strtoul(strchr(web_server_where(server), ':') + 1, NULL, 10));
    return to;
}

/* A connection from one of the addresses of this machine; -1 when it is refused. */
static int connect_from(const char *host, struct web_server *server)
{
    struct sockaddr_in from = {.sin_family = AF_INET}, to = address_of(server);
    struct timeval timeout = {.tv_sec = 5};
    inet_pton(AF_INET, host, &from.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&from, sizeof from), 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0) return fd;
    close(fd);
    return -1;
}

static const char request[] = "GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

static struct web_server *start(int64_t request_ms)
{
    struct err err;
    struct web_server *server = web_server_new(
        &(struct web_server_options){.address = "127.0.0.1:0", .serve = serve, .request_ms = request_ms},
        &err);
    assert_non_null(server);
    return server;
}

static void assert_answered(int fd)
{
    char answer[2048] = "";
    ssize_t n, len = 0;
    while ((n = recv(fd, answer + len, sizeof answer - 1 - (size_t)len, 0)) > 0) len += n;
    assert_int_equal(n, 0);
    assert_int_equal(strncmp(answer, "HTTP/1.1 200 ", 13), 0);
    assert_non_null(strstr(answer, "/livez"));
}

/* Returns a connection whose head does not end, or -1. */
static int begin_slowly(const char *host, struct web_server *server)
{
    int fd = connect_from(host, server);
    if (fd >= 0) (void)!send(fd, "GET / HTTP/1.1\r\n", 16, MSG_NOSIGNAL);
    return fd;
}

static void assert_serves(struct web_server *server)
{
    int fd = connect_from("127.0.0.1", server);
    assert_true(fd >= 0);
    assert_int_equal(send(fd, request, sizeof request - 1, MSG_NOSIGNAL), sizeof request - 1);
    assert_answered(fd);
    close(fd);
}

static void test_a_long_body_is_written_in_pieces(void **state)
{
    static const char get[] = "GET /pieces HTTP/1.0\r\n\r\n";
    static char answer[PIECES * PIECE + 2048];
    struct web_server *server = start(0);
    int fd = connect_from("127.0.0.1", server);
    ssize_t n, len = 0;
    assert_int_equal(send(fd, get, sizeof get - 1, 0), sizeof get - 1);
    while ((n = recv(fd, answer + len, sizeof answer - 1 - (size_t)len, 0)) > 0) len += n;
    assert_int_equal(n, 0);
    const char *body = strstr(answer, "\r\n\r\n") + 4;
    assert_int_equal(answer + len - body, PIECES * PIECE);
    for (int i = 0; i < PIECES; i++) {
        assert_int_equal(body[i * PIECE], 'a' + i % 26);
        assert_int_equal(body[(i + 1) * PIECE - 1], 'a' + i % 26);
    }
    close(fd);
    fd = connect_from("127.0.0.1", server); /* goes before the end */
    assert_int_equal(send(fd, get, sizeof get - 1, 0), sizeof get - 1);
    assert_true(recv(fd, answer, 100, 0) > 0);
    close(fd);
    web_server_free(server);
}

/* --- suspended requests */

static struct web_client *put_aside;

static void serve_later(void *ctx, const struct web_request *asked, struct web_response *answer)
{
    const char *token = asked->header(asked, "X-Token");
    if (asked->resumed || strcmp(asked->path, "/later") != 0) {
        answer->status = 200;
        buf_printf(&answer->body, "%s %d %s", asked->path, asked->resumed, token ? token : "-");
        return;
    }
    __atomic_store_n(&put_aside, web_suspend(asked, answer), __ATOMIC_RELEASE);
}

static struct web_server *start_later(int *fd)
{
    static const char get[] = "GET /later HTTP/1.0\r\nX-Token: t\r\n\r\n";
    struct err err;
    struct web_server *server =
        web_server_new(&(struct web_server_options){.address = "127.0.0.1:0", .serve = serve_later}, &err);
    assert_non_null(server);
    put_aside = NULL;
    *fd = connect_from("127.0.0.1", server);
    assert_int_equal(send(*fd, get, sizeof get - 1, 0), sizeof get - 1);
    while (!__atomic_load_n(&put_aside, __ATOMIC_ACQUIRE)) usleep(1000);
    return server;
}

/* Reads to the end. */
static void assert_reads(int fd, const char *status, const char *body)
{
    char answer[2048] = "";
    ssize_t n, len = 0;
    while ((n = recv(fd, answer + len, sizeof answer - 1 - (size_t)len, 0)) > 0) len += n;
    assert_int_equal(n, 0);
    assert_memory_equal(answer, status, strlen(status));
    assert_string_equal(strstr(answer, "\r\n\r\n") + 4, body);
    close(fd);
}

static void test_a_suspended_request_holds_up_no_other(void **state)
{
    static const char get[] = "GET /now HTTP/1.0\r\n\r\n";
    int later;
    struct web_server *server = start_later(&later);
    for (int i = 0; i < 5; i++) {
        int now = connect_from("127.0.0.1", server);
        assert_int_equal(send(now, get, sizeof get - 1, 0), sizeof get - 1);
        assert_reads(now, "HTTP/1.1 200 ", "/now 0 -");
    }
    web_resume(put_aside, 7);
    assert_reads(later, "HTTP/1.1 200 ", "/later 7 t");
    web_server_free(server);
}

static void test_the_end_of_the_server_ends_suspended_requests(void **state)
{
    int later;
    struct web_server *server = start_later(&later);
    web_server_free(server);
    char answer[512];
    ssize_t n = recv(later, answer, sizeof answer, 0);
    assert_true(n <= 0 || strncmp(answer, "HTTP/1.1 503 ", 13) == 0);
    close(later);
}

static void test_a_client_that_goes_while_it_is_suspended_is_no_trouble(void **state)
{
    int later;
    struct web_server *server = start_later(&later);
    close(later);
    web_resume(put_aside, 7);
    web_server_free(server);
}

static void test_a_client_with_many_connections_leaves_room_for_others(void **state)
{
    struct web_server *server = start(0);
    int hogs[HOGS];
    for (int i = 0; i < HOGS; i++) {
        hogs[i] = begin_slowly("127.0.0.2", server);
    }
    assert_serves(server);
    for (int i = 0; i < HOGS; i++)
        if (hogs[i] >= 0) close(hogs[i]);
    web_server_free(server);
}

/* More than all places together, and each address has no more than its share. */
static void test_slow_requests_from_many_addresses_leave_room_for_others(void **state)
{
    struct web_server *server = start(0);
    int hogs[HOGS];
    for (int i = 0; i < HOGS; i++) {
        char host[16];
        snprintf(host, sizeof host, "127.0.0.%d", 2 + i / 25);
        hogs[i] = begin_slowly(host, server);
    }
    for (int i = 0; i < 3; i++) assert_serves(server);
    for (int i = 0; i < HOGS; i++)
        if (hogs[i] >= 0) close(hogs[i]);
    web_server_free(server);
}

/* Each line comes in time; the whole does not. The time is checked when another connection comes. */
static void test_a_request_has_a_deadline(void **state)
{
    struct web_server *server = start(50);
    int slow = connect_from("127.0.0.2", server), lines = 0;
    assert_int_equal(send(slow, "GET / HTTP/1.1\r\n", 16, MSG_NOSIGNAL), 16);
    struct pollfd ended = {.fd = slow, .events = POLLIN};
    while (poll(&ended, 1, 10) == 0) {
        assert_true(lines++ < 100); /* more would not fit into the memory of a connection */
        (void)!send(slow, "A: b\r\n", 6, MSG_NOSIGNAL);
        close(connect_from("127.0.0.1", server));
    }
    close(slow);
    web_server_free(server);
}

static double cpu_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/* The client waits in the backlog. */
static void starve(struct web_server *server)
{
    struct rlimit before, none;
    struct sockaddr_in to = address_of(server);
    struct timeval timeout = {.tv_sec = 5};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct pollfd answered = {.fd = fd, .events = POLLIN};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 3; /* they are taken, and poll may name so many */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    assert_int_equal(send(fd, request, sizeof request - 1, MSG_NOSIGNAL), sizeof request - 1);
    double cpu = cpu_ms();
    assert_int_equal(poll(&answered, 1, 400), 0);
    cpu = cpu_ms() - cpu;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_true(cpu < 100);
    assert_answered(fd);
    close(fd);
}

static void test_a_process_without_descriptors_does_not_spin(void **state)
{
    struct web_server *server = start(0);
    starve(server);
    web_server_free(server);
}

static void test_each_lack_of_descriptors_is_logged_once(void **state)
{
    struct web_server *server = start(0);
    int errors = dup(STDERR_FILENO), kept = memfd_create("log", MFD_CLOEXEC), said = 0;
    char text[4096] = "";
    dup2(kept, STDERR_FILENO);
    for (int i = 0; i < 2; i++) starve(server);
    dup2(errors, STDERR_FILENO);
    assert_true(pread(kept, text, sizeof text - 1, 0) > 0);
    for (const char *at = text; (at = strstr(at, "Cannot accept connections, out of file descriptors")); at++)
        said++;
    assert_int_equal(said, 2);
    close(errors);
    close(kept);
    web_server_free(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_long_body_is_written_in_pieces),
        cmocka_unit_test(test_a_suspended_request_holds_up_no_other),
        cmocka_unit_test(test_the_end_of_the_server_ends_suspended_requests),
        cmocka_unit_test(test_a_client_that_goes_while_it_is_suspended_is_no_trouble),
        cmocka_unit_test(test_a_client_with_many_connections_leaves_room_for_others),
        cmocka_unit_test(test_slow_requests_from_many_addresses_leave_room_for_others),
        cmocka_unit_test(test_a_request_has_a_deadline),
        cmocka_unit_test(test_a_process_without_descriptors_does_not_spin),
        cmocka_unit_test(test_each_lack_of_descriptors_is_logged_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
