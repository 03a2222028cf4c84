/* core/net/web_io.c: an answer to http.request that breaks off at any byte, over each protocol, is one error
 * (H-4); redirects and answers of HEAD too. The next request is answered. One loop plays both threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/web.h"
#include "support/cut_server.h"

enum { HUNG_S = 120 };

static struct loop *loop;
static struct tls_pair ca, leaf;
static struct cut_server *server;
static struct web *web;
static const char *method;
static struct str sent; /* the body */

/* What came of one request. */
static int dones, status;
static struct buf body;
static struct err err;

static const struct cut_answer whole = {.status = 200,
                                        .headers = "Content-Type: text/plain\r\nX-One: 1\r\n",
                                        .pieces = (const char *const[]){"hello ", "world", NULL},
                                        .trailers = "X-Sum: 11\r\n"};
static const struct cut_answer moved = {.status = 302, .headers = "Location: /there\r\n"};
static const struct cut_answer head = {.status = 200,
                                       .headers = "X-One: 1\r\n",
                                       .raw = "HTTP/1.1 200 OK\r\nX-One: 1\r\nContent-Length: 11\r\n\r\n"};

static const struct cut_answer *answer(void *ctx, const char *verb, const char *path)
{
    if (strcmp(verb, "HEAD") == 0) return &head;
    return strcmp(path, "/moved") == 0 ? &moved : &whole;
}

static void on_done(void *ctx, const struct web_reply *reply, const struct err *error)
{
    assert_int_equal(reply == NULL, error != NULL);
    dones++;
    status = reply ? reply->status : 0;
    body.len = 0;
    if (reply) buf_str(&body, reply->body);
    err_clear(&err);
    if (error) err = *error;
}

static void ask(const char *path)
{
    char *url = xasprintf("%s%s", cut_server_url(server), path);
    dones = 0;
    struct web_call *call =
        web_start(web,
                  &(struct web_call_request){
                      .method = method, .url = url, .body = sent, .timeout_ms = 60000, .body_max = 1 << 20},
                  on_done, NULL);
    while (!dones) loop_once(loop, true);
    web_close(call);
    free(url);
}

static void assert_good(void)
{
    if (err.code != ERR_NONE) fail_msg("%s", err.text);
    assert_int_equal(status, 200);
    assert_string_equal(buf_text(&body), strcmp(method, "HEAD") == 0 ? "" : "hello world");
}

static void run(void *path)
{
    ask(path);
    if (strcmp(method, "POST") == 0) assert_int_equal(cut_server_requests(server), 1); /* never sent again */
    if (err.code != ERR_NONE) {
        if (err.code != ERR_CLOSED) fail_msg("%s", err.text);
        assert_true(cut_server_has_cut(server));
        ask(path);
    }
    assert_good();
}

static void open_all(enum cut_wire wire)
{
    alarm(HUNG_S);
    loop = loop_new();
    server = cut_server_new(
        &(struct cut_server_options){.loop = loop, .wire = wire, .leaf = &leaf, .answer = answer});
    struct web_allow *allow = web_allow_new((const char *const[]){cut_server_url(server)}, 1, &err);
    assert_non_null(allow);
    web = web_new(&(struct web_options){.engine_loop = loop,
                                        .io_loop = loop,
                                        .allow = allow,
                                        .user_agent = "kubelua/1",
                                        .ca_pem = str_of(ca.cert_pem)});
}

static void close_all(void)
{
    for (int i = 0; i < 20; i++) loop_once(loop, false);
    web_free(web);
    cut_server_free(server);
    loop_free(loop);
}

static void cut_all(const char *verb, const char *path, unsigned requests)
{
    method = verb;
    for (enum cut_wire wire = 0; wire < WIRE_COUNT; wire++) {
        open_all(wire);
        for (unsigned skip = 0; skip < requests; skip++)
            assert_true(cut_each(server, skip, run, (void *)path) > 5);
        close_all();
    }
    buf_clear(&body);
}

static void test_h4_a_response_that_breaks_off_is_an_error(void **state)
{
    cut_all("GET", "/x", 1);
    cut_all("POST", "/x", 1);
    sent = STR("{}");
    cut_all("POST", "/x", 1);
    sent = STR("");
    cut_all("POST", "/x", 1);
    sent = (struct str){0};
    cut_all("HEAD", "/x", 1);
}

static void test_h4_a_redirect_that_breaks_off_is_an_error(void **state)
{
    cut_all("GET", "/moved", 2);
}

static int setup(void **state)
{
    ca = tls_new_ca("unit CA");
    leaf = tls_new_leaf(&ca, "server", "IP:127.0.0.1");
    return 0;
}

static int teardown(void **state)
{
    tls_pair_clear(&ca);
    tls_pair_clear(&leaf);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_h4_a_response_that_breaks_off_is_an_error),
        cmocka_unit_test(test_h4_a_redirect_that_breaks_off_is_an_error),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
