/* core/net/server/web_exchange.c: bodies, what is refused before they are read, and another certificate at
 * the same socket.
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
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "net/server/self_signed.h"
#include "net/server/web_server.h"

enum { BODY_MAX = 1000, BODIES_MAX = 1500 };

static struct web_client *_Atomic waiting;
static int forgotten, made;

static size_t on_head(void *ctx, const struct web_request *request, struct web_response *response)
{
    if (strcmp(request->path, "/refused") == 0) {
        response->status = 401;
        buf_puts(&response->body, "no");
    }
    return BODY_MAX;
}

static void serve(void *ctx, const struct web_request *request, struct web_response *response)
{
    if (!*request->own) {
        *request->own = &made;
        made++;
    }
    if (strcmp(request->path, "/wait") == 0 && !request->resumed) {
        waiting = web_suspend(request, response);
        return;
    }
    response->status = 200;
    buf_printf(&response->body, "%s %zu", request->method, request->body->len);
    buf_puts(&response->headers, "X-Own: yes\n");
}

static void on_forget(void *ctx, void *own)
{
    assert_ptr_equal(own, &made);
    forgotten++;
}

static struct web_server *start(const struct web_certificate *tls)
{
    struct err err;
    forgotten = made = 0;
    waiting = NULL;
    struct web_server *server = web_server_new(&(struct web_server_options){.address = "127.0.0.1:0",
                                                                            .tls = tls,
                                                                            .serve = serve,
                                                                            .head = on_head,
                                                                            .forget = on_forget,
                                                                            .bodies_max = BODIES_MAX},
                                               &err);
    assert_non_null(server);
    return server;
}

static int connect_to(struct web_server *server)
{
    struct sockaddr_in to = {.sin_family = AF_INET};
    struct timeval timeout = {.tv_sec = 10};
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    to.sin_port = htons((uint16_t)strtoul(strchr(web_server_where(server), ':') + 1, NULL, 10));
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

static void put_text(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static void put_bytes(int fd, size_t count)
{
    static const char bytes[4096];
    for (; count > sizeof bytes; count -= sizeof bytes)
        if (send(fd, bytes, sizeof bytes, MSG_NOSIGNAL) < 0) return;
    (void)!send(fd, bytes, count, MSG_NOSIGNAL);
}

/* A head of a POST with so long a body. */
static int begin(struct web_server *server, const char *path, size_t length)
{
    char head[256];
    int fd = connect_to(server);
    snprintf(head, sizeof head,
             "POST %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n", path, length);
    put_text(fd, head);
    return fd;
}

/* Reads to the end, and closes. */
static void assert_reads(int fd, const char *status, const char *part)
{
    char answer[4096] = "";
    ssize_t n, len = 0;
    while ((n = recv(fd, answer + len, sizeof answer - 1 - (size_t)len, 0)) > 0) len += n;
    assert_memory_equal(answer, status, strlen(status));
    assert_non_null(strstr(answer, part));
    close(fd);
}

static void test_a_body_is_complete_when_it_is_served(void **state)
{
    struct web_server *server = start(NULL);
    int fd = begin(server, "/x", BODY_MAX);
    put_bytes(fd, BODY_MAX - 1);
    put_bytes(fd, 1);
    assert_reads(fd, "HTTP/1.1 200 ", "\r\nX-Own: yes\r\n");
    fd = begin(server, "/x", 3);
    put_text(fd, "abc");
    assert_reads(fd, "HTTP/1.1 200 ", "\r\n\r\nPOST 3");
    web_server_free(server);
    assert_int_equal(forgotten, 2);
}

static void test_a_body_that_is_too_large_is_not_served(void **state)
{
    struct web_server *server = start(NULL);
    int fd = begin(server, "/x", BODY_MAX + 1);
    put_bytes(fd, BODY_MAX + 1);
    assert_reads(fd, "HTTP/1.1 413 ", "the body has more than 1000 bytes");
    fd = connect_to(server);
    put_text(fd,
             "POST /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n");
    put_bytes(fd, BODY_MAX + 1);
    put_text(fd, "\r\n0\r\n\r\n");
    assert_reads(fd, "HTTP/1.1 413 ", "the body has more than 1000 bytes");
    web_server_free(server);
    assert_int_equal(made, 0);
}

static void test_bodies_of_all_requests_have_a_limit(void **state)
{
    struct web_server *server = start(NULL);
    int first = begin(server, "/wait", BODY_MAX);
    put_bytes(first, BODY_MAX);
    while (!waiting) usleep(1000);
    int second = begin(server, "/x", BODY_MAX);
    put_bytes(second, BODY_MAX);
    assert_reads(second, "HTTP/1.1 503 ", "Retry-After: 1\r\n");
    web_resume(waiting, 1);
    assert_reads(first, "HTTP/1.1 200 ", "POST 1000");
    second = begin(server, "/x", BODY_MAX);
    put_bytes(second, BODY_MAX);
    assert_reads(second, "HTTP/1.1 200 ", "POST 1000");
    web_server_free(server);
    assert_int_equal(forgotten, 2);
}

static void test_a_refused_request_is_answered_after_its_body_or_before_a_large_one(void **state)
{
    struct web_server *server = start(NULL);
    int fd = begin(server, "/refused", 900);
    put_bytes(fd, 900);
    assert_reads(fd, "HTTP/1.1 401 ", "no");
    fd = begin(server, "/refused", 100 << 20); /* none of it is sent */
    assert_reads(fd, "HTTP/1.1 401 ", "no");
    web_server_free(server);
    assert_int_equal(made, 0);
}

static void test_a_client_that_sends_without_end_is_cut_off(void **state)
{
    struct web_server *server = start(NULL);
    char end[16];
    int fd = connect_to(server);
    put_text(fd, "POST /refused HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n7fffffff\r\n");
    for (int i = 0; i < 100; i++) put_bytes(fd, 1 << 20);
    assert_true(recv(fd, end, sizeof end, 0) <= 0);
    close(fd);
    web_server_free(server);
}

/* --- certificates */

/* Returns the name in the certificate that a client is shown, over a connection on which it sends a request.
 */
static void assert_shown(struct web_server *server, const char *name)
{
    char subject[256], answer[1024] = "";
    static const char get[] = "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL *ssl = SSL_new(context);
    int fd = connect_to(server);
    SSL_set_fd(ssl, fd);
    assert_int_equal(SSL_connect(ssl), 1);
    assert_true(SSL_version(ssl) >= TLS1_2_VERSION);
    X509 *shown = SSL_get1_peer_certificate(ssl);
    X509_NAME_oneline(X509_get_subject_name(shown), subject, sizeof subject);
    assert_non_null(strstr(subject, name));
    assert_int_equal(SSL_write(ssl, get, sizeof get - 1), sizeof get - 1);
    assert_true(SSL_read(ssl, answer, sizeof answer - 1) > 0);
    assert_memory_equal(answer, "HTTP/1.1 200 ", 13);
    X509_free(shown);
    SSL_free(ssl);
    SSL_CTX_free(context);
    close(fd);
}

static void test_another_certificate_is_shown_at_the_same_socket(void **state)
{
    struct self_signed a, b;
    struct err err;
    self_signed_make(&a, "first", NULL, "127.0.0.1");
    self_signed_make(&b, "second", NULL, "127.0.0.1");
    struct web_server *old = start(&(struct web_certificate){a.server, a.key});
    assert_shown(old, "CN=first");
    assert_null(web_server_renew(old, &(struct web_certificate){"none", b.key}, &err));
    assert_shown(old, "CN=first");
    struct web_server *now = web_server_renew(old, &(struct web_certificate){b.server, b.key}, &err);
    assert_non_null(now);
    assert_shown(now, "CN=second");
    while (!web_server_is_idle(old)) usleep(1000);
    web_server_free(old);
    assert_shown(now, "CN=second");
    web_server_free(now);
    self_signed_clear(&a);
    self_signed_clear(&b);
}

static void test_the_old_server_answers_what_it_took(void **state)
{
    struct self_signed a;
    struct err err;
    self_signed_make(&a, "first", NULL, "127.0.0.1");
    struct web_server *old = start(NULL);
    int fd = begin(old, "/wait", 0);
    while (!waiting) usleep(1000);
    struct web_server *now = web_server_renew(old, &(struct web_certificate){a.server, a.key}, &err);
    assert_non_null(now);
    assert_shown(now, "CN=first");
    web_resume(waiting, 1);
    assert_reads(fd, "HTTP/1.1 200 ", "POST 0");
    web_server_finish(old, 5000);
    web_server_free(old);
    web_server_free(now);
    self_signed_clear(&a);
}

static void test_a_finished_server_refuses_connections(void **state)
{
    struct web_server *server = start(NULL);
    struct sockaddr_in to = {.sin_family = AF_INET};
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    to.sin_port = htons((uint16_t)strtoul(strchr(web_server_where(server), ':') + 1, NULL, 10));
    web_server_finish(server, 0);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), -1);
    close(fd);
    web_server_free(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_body_is_complete_when_it_is_served),
        cmocka_unit_test(test_a_body_that_is_too_large_is_not_served),
        cmocka_unit_test(test_bodies_of_all_requests_have_a_limit),
        cmocka_unit_test(test_a_refused_request_is_answered_after_its_body_or_before_a_large_one),
        cmocka_unit_test(test_a_client_that_sends_without_end_is_cut_off),
        cmocka_unit_test(test_another_certificate_is_shown_at_the_same_socket),
        cmocka_unit_test(test_the_old_server_answers_what_it_took),
        cmocka_unit_test(test_a_finished_server_refuses_connections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
