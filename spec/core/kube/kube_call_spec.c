/* core/kube/kube_call.c: when a request is sent again, and what is said when it failed all the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "core/kube/support/kube_bench.h"
#include "kube/kube_call.h"

/* What each request in turn is answered with. */
enum reply { GOOD, BUSY, BUSY_WITHOUT_TIME, BROKEN, SILENT };
static const enum reply *replies;
static size_t reply_count, asked;

static void answer(struct bench *bench, struct tiny_conn *conn, const char *path)
{
    enum reply reply = asked < reply_count ? replies[asked] : replies[reply_count - 1];
    asked++;
    if (reply == GOOD)
        tiny_answer(conn, 201, "", "{}");
    else if (reply == BUSY)
        tiny_answer(conn, 429, "Retry-After: 0\r\n", "busy");
    else if (reply == BUSY_WITHOUT_TIME)
        tiny_answer(conn, 503, "", "busy");
    else if (reply == BROKEN)
        tiny_reset(conn);
}

static void on_done(void *ctx, const struct kube_answer *got, const struct err *err)
{
    struct bench *bench = ctx;
    if (got) buf_printf(&bench->log, "%d %.*s", got->http_status, (int)got->len, got->body);
    bench_note_end(bench, err);
}

static void run_all(struct bench *bench, const struct kube_request *request, const enum reply *list,
                    size_t count)
{
    if (!bench->client) bench_new_client(bench, false);
    bench->answer = answer;
    replies = list;
    reply_count = count;
    asked = 0;
    bench->log.len = 0;
    kube_call_start(bench->client, request, on_done, bench);
    bench_until_done(bench);
}

#define RUN(bench, request, ...)                               \
    run_all(bench, request, (const enum reply[]){__VA_ARGS__}, \
            sizeof((const enum reply[]){__VA_ARGS__}) / sizeof(enum reply))

static const struct kube_request get = {.path = "/x", .limit = 1000};
static const struct kube_request post = {
    .method = "POST", .path = "/x", .limit = 1000, .body = {"{\"a\":1}", 7}};

/* H-3, H-5: the body is sent again. */
static void test_h3_a_write_too_is_sent_again_when_the_server_asks_for_it(void **state)
{
    struct bench *bench = *state;
    RUN(bench, &post, BUSY, BUSY, GOOD);
    assert_int_equal(bench->err.code, ERR_NONE);
    assert_string_equal(buf_text(&bench->log), "201 {}");
    assert_int_equal(asked, 3);
    assert_string_equal(buf_text(&bench->body), "{\"a\":1}");
}

static void test_h3_ten_times_and_not_without_a_time(void **state)
{
    struct bench *bench = *state;
    RUN(bench, &get, BUSY);
    assert_int_equal(asked, 11);
    assert_int_equal(bench->err.http_status, 429);
    RUN(bench, &get, BUSY_WITHOUT_TIME);
    assert_int_equal(asked, 1);
}

static void test_one_that_is_sent_once(void **state)
{
    struct bench *bench = *state;
    struct kube_request once = get;
    once.once = true;
    RUN(bench, &once, BUSY);
    assert_int_equal(asked, 1);
}

static void test_h4_a_read_whose_connection_broke_is_sent_again_a_write_is_not(void **state)
{
    struct bench *bench = *state;
    RUN(bench, &get, BROKEN, GOOD);
    assert_int_equal(bench->err.code, ERR_NONE);
    assert_int_equal(asked, 2);
    RUN(bench, &post, BROKEN, GOOD);
    assert_int_equal(bench->err.code, ERR_CLOSED);
    assert_int_equal(asked, 1);
}

static void test_h7_the_error_names_the_one_before_it(void **state)
{
    struct bench *bench = *state;
    RUN(bench, &get, BUSY, BUSY_WITHOUT_TIME);
    assert_int_equal(bench->err.http_status, 503);
    assert_string_equal(bench->err.text,
                        "the server is currently unable to handle the request; the try before it: the server "
                        "has received too many requests and has asked us to try again later");
}

/* H-11: the limit on the whole is the caller's. */
static void test_h11_a_time_for_the_whole(void **state)
{
    struct bench *bench = *state;
    struct kube_request short_one = get;
    short_one.timeout_ms = 50;
    RUN(bench, &short_one, SILENT);
    assert_int_equal(bench->err.code, ERR_TIMEOUT);
    assert_string_equal(bench->err.text, "no answer within 0.05 s");
}

/* C-13: without a limit of its own, --request-timeout's. */
static void test_c13_the_time_that_a_flag_gives(void **state)
{
    struct bench *bench = *state;
    bench->options.request_timeout_ms = 50;
    RUN(bench, &post, SILENT);
    assert_int_equal(bench->err.code, ERR_TIMEOUT);
    assert_string_equal(bench->err.text, "no answer within 0.05 s (--request-timeout)");
    RUN(bench, &post, GOOD);
    assert_int_equal(bench->err.code, ERR_NONE);
}

#define T(name) cmocka_unit_test_setup_teardown(name, kube_bench_setup, kube_bench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_h3_a_write_too_is_sent_again_when_the_server_asks_for_it),
        T(test_h3_ten_times_and_not_without_a_time),
        T(test_one_that_is_sent_once),
        T(test_h4_a_read_whose_connection_broke_is_sent_again_a_write_is_not),
        T(test_h7_the_error_names_the_one_before_it),
        T(test_h11_a_time_for_the_whole),
        T(test_c13_the_time_that_a_flag_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
