/* core/kube/api/kube_call.c: when a request is sent again, and what is said when it failed all the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/series/series.h"
#include "core/kube/support/kube_bench.h"
#include "kube/api/kube_call.h"

/* What each request in turn is answered with. */
enum reply {
    GOOD,
    BUSY,
    BUSY_WITHOUT_TIME,
    BROKEN,
    SILENT,
    BUSY_AND_CLOSED,
    BUSY_IN_BODY,
    BUSY_SLOWLY,
    BUSY_FOR_30_S,
    BUSY_FOR_31_S,
    BUSY_AT_LENGTH,
    MODIFIED_AT_LENGTH,
    MODIFIED_WITHOUT_END
};
static struct fence *fence;
static const enum reply *replies;
static size_t reply_count, asked;

enum { SLOWLY_MS = 60 };
static struct tiny_conn *slow_conn;

static void on_slow(struct timer *timer)
{
    tiny_answer(slow_conn, 429, "Retry-After: 0\r\n", "busy");
}

static struct timer slow = {.fn = on_slow};

/* A Status whose message has `len` bytes. */
static void answer_at_length(struct tiny_conn *conn, int status, const char *headers, const char *reason,
                             size_t len)
{
    struct buf body = {0};
    buf_printf(&body, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":\"");
    memset(buf_reserve(&body, len), 'm', len);
    body.len += len;
    buf_printf(&body, "\",\"reason\":\"%s\",\"code\":%d}", reason, status);
    tiny_answer(conn, status, headers, buf_text(&body));
    buf_clear(&body);
}

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
    else if (reply == BUSY_IN_BODY)
        tiny_answer(conn, 429, "Content-Type: application/json\r\n",
                    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"code\":429,"
                    "\"reason\":\"TooManyRequests\",\"details\":{\"retryAfterSeconds\":1}}");
    else if (reply == BUSY_SLOWLY) {
        slow_conn = conn;
        timer_start(&slow, loop_clock(bench->loop), SLOWLY_MS);
    } else if (reply == BUSY_FOR_30_S)
        tiny_answer(conn, 429, "Retry-After: 30\r\n", "busy");
    else if (reply == BUSY_FOR_31_S)
        tiny_answer(conn, 429, "Retry-After: 31\r\n", "busy");
    else if (reply == BUSY_AT_LENGTH)
        answer_at_length(conn, 429, "Retry-After: 0\r\n", "TooManyRequests", 70 << 10);
    else if (reply == MODIFIED_AT_LENGTH)
        answer_at_length(conn, 409, "", "Modified", 70 << 10);
    else if (reply == MODIFIED_WITHOUT_END)
        answer_at_length(conn, 409, "", "Modified", 8 << 20);
    else if (reply == BROKEN)
        tiny_reset(conn);
    else if (reply == BUSY_AND_CLOSED) {
        fence_close(fence);
        tiny_answer(conn, 429, "Retry-After: 0\r\n", "busy");
    }
}

static void on_done(void *ctx, const struct kube_response *got, const struct err *err)
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
static void test_h3_a_write_too_is_sent_again_when_the_server_requests_it(void **state)
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

static void test_h3_a_wait_of_more_than_30_seconds_is_the_callers(void **state)
{
    struct bench *bench = *state;
    RUN(bench, &get, BUSY_FOR_31_S, GOOD);
    assert_int_equal(asked, 1);
    assert_int_equal(bench->err.http_status, 429);
    assert_int_equal(bench->err.retry_after_ms, 31000);
    replies = (const enum reply[]){BUSY_FOR_30_S};
    reply_count = 1;
    asked = bench->dones = 0;
    struct kube_call *waiting = kube_call_start(bench->client, &get, on_done, bench);
    while (!asked) loop_once(bench->loop, true);
    bench_settle(bench);
    assert_int_equal(bench->dones, 0);
    kube_call_cancel(waiting);
}

/* H-3: the header asks for it; what a Status says is for the caller. */
static void test_h3_not_for_a_time_that_is_only_in_the_body(void **state)
{
    struct bench *bench = *state;
    RUN(bench, &post, BUSY_IN_BODY, GOOD);
    assert_int_equal(asked, 1);
    assert_int_equal(bench->err.http_status, 429);
    assert_int_equal(bench->err.retry_after_ms, 1000);
    RUN(bench, &get, BUSY_IN_BODY, GOOD);
    assert_int_equal(asked, 1);
    assert_int_equal(bench->err.retry_after_ms, 1000);
}

/* A webhook may refuse with a long story. H-3: nor does its length keep a busy server from being asked again.
 */
static void test_h8_a_long_error_keeps_its_code_and_reason(void **state)
{
    struct bench *bench = *state;
    RUN(bench, &post, BUSY_AT_LENGTH, MODIFIED_AT_LENGTH);
    assert_int_equal(asked, 2);
    assert_int_equal(bench->err.code, ERR_HTTP);
    assert_int_equal(bench->err.http_status, 409);
    assert_string_equal(bench->err.reason, "Modified");
    assert_memory_equal(bench->err.text, "mmmm", 4);
    RUN(bench, &post, MODIFIED_WITHOUT_END); /* what is left of it says no more than its code */
    assert_int_equal(bench->err.code, ERR_HTTP);
    assert_int_equal(bench->err.http_status, 409);
    assert_string_equal(bench->err.reason, "AlreadyExists");
    RUN(bench, &get, BUSY_AT_LENGTH, GOOD);
    assert_int_equal(bench->err.code, ERR_NONE);
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
                        "the server is currently unable to handle the request; previous attempt: the server "
                        "has received too many requests and has asked us to try again later");
}

/* H-4: after the head of an answer it may have been a large one. */
static void cut(struct bench *bench, struct tiny_conn *conn, const char *path)
{
    asked++;
    tiny_puts(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{");
    tiny_close(conn);
}

static void test_h4_a_read_that_broke_off_in_the_middle_is_not_sent_again(void **state)
{
    struct bench *bench = *state;
    bench_new_client(bench, false);
    bench->answer = cut;
    asked = 0;
    kube_call_start(bench->client, &get, on_done, bench);
    bench_until_done(bench);
    assert_int_equal(bench->err.code, ERR_CLOSED);
    assert_int_equal(asked, 1);
}

/* H-11: the limit on the whole is the caller's. */
static void test_h11_a_time_for_everything(void **state)
{
    struct bench *bench = *state;
    struct kube_request short_one = get;
    short_one.timeout_ms = 50;
    RUN(bench, &short_one, SILENT);
    assert_int_equal(bench->err.code, ERR_TIMEOUT);
    assert_string_equal(bench->err.text, "no response within 0.05 s");
}

/* All tries are in it: a server that is busy again and again does not make it longer. */
static void test_h11_from_the_start_to_the_end_with_all_tries(void **state)
{
    struct bench *bench = *state;
    struct kube_request short_one = get;
    short_one.timeout_ms = SLOWLY_MS * 5 / 2;
    RUN(bench, &short_one, BUSY_SLOWLY);
    timer_cancel(&slow);
    assert_int_equal(bench->err.code, ERR_TIMEOUT);
    assert_memory_equal(bench->err.text, "no response within 0.15 s", 25);
    assert_true(asked <= 3);
}

/* C-13: without a limit of its own, --request-timeout's. */
static void test_c13_the_time_of_a_flag(void **state)
{
    struct bench *bench = *state;
    bench->options.request_timeout_ms = 50;
    RUN(bench, &post, SILENT);
    assert_int_equal(bench->err.code, ERR_TIMEOUT);
    assert_string_equal(bench->err.text, "no response within 0.05 s (--request-timeout)");
    RUN(bench, &post, GOOD);
    assert_int_equal(bench->err.code, ERR_NONE);
}

/* --- H-1, H-2: the client-side rate limit --- */

/* How long `count` requests take that are started together. */
static int64_t time_of(struct bench *bench, const struct kube_request *request, int count)
{
    int64_t begin = clock_now_ms(loop_clock(bench->loop));
    int before = bench->dones;
    replies = (const enum reply[]){GOOD};
    reply_count = 1;
    bench->answer = answer;
    for (int i = 0; i < count; i++) kube_call_start(bench->client, request, on_done, bench);
    while (bench->dones < before + count) loop_once(bench->loop, true);
    return clock_now_ms(loop_clock(bench->loop)) - begin;
}

static void test_h1_requests_take_turns(void **state)
{
    struct bench *bench = *state;
    bench->options.qps = 4;
    bench->options.burst = 2;
    bench_new_client(bench, false);
    assert_true(time_of(bench, &get, 2) < 250);
    assert_in_range(time_of(bench, &post, 3), 500, 10000);
    struct kube_request urgent = get;
    urgent.urgent = true;
    struct kube_call *waiting = kube_call_start(bench->client, &get, on_done, bench);
    assert_true(time_of(bench, &urgent, 1) < 250);
    kube_call_cancel(waiting);
}

/* Tries count too, and the first wait is no part of a timeout. */
static void test_h1_each_try_takes_a_turn(void **state)
{
    struct bench *bench = *state;
    struct kube_request quick = post;
    quick.timeout_ms = 300;
    bench->options.qps = 5;
    bench->options.burst = 1;
    bench_new_client(bench, false);
    kube_call_start(bench->client, &quick, on_done, bench);
    kube_call_start(bench->client, &quick, on_done, bench);
    kube_call_start(bench->client, &quick, on_done, bench); /* after 400 ms */
    static const enum reply then[] = {BUSY, GOOD};
    replies = then;
    reply_count = 2;
    asked = 0;
    bench->answer = answer;
    while (bench->dones < 2) loop_once(bench->loop, true); /* the first one's next try: after 600 ms */
    assert_int_equal(bench->err.code, ERR_TIMEOUT);
    while (bench->dones < 3) loop_once(bench->loop, true);
    assert_int_equal(bench->err.code, ERR_NONE);
    assert_int_equal(asked, 3);
}

static void test_h1_a_call_cancelled_before_its_turn_returns_its_token(void **state)
{
    struct bench *bench = *state;
    bench->options.qps = 0.01;
    bench->options.burst = 1;
    bench_new_client(bench, false);
    assert_int_equal(kube_client_throttle(bench->client, "GET", "/"), 0);
    for (int i = 0; i < 5; i++) kube_call_cancel(kube_call_start(bench->client, &get, on_done, bench));
    assert_in_range(kube_client_throttle(bench->client, "GET", "/"), 1, 100000);
}

static void test_h1_either_flag_switches_it_on(void **state)
{
    struct bench *bench = *state;
    bench_new_client(bench, false);
    assert_int_equal(kube_client_throttle(bench->client, "GET", "/"), 0);
    kube_client_free(bench->client);
    bench->options.burst = 1;
    bench->client = kube_client_new(bench->loop, bench->pool, &bench->options, &bench->err);
    assert_int_equal(kube_client_throttle(bench->client, "GET", "/"), 0);
    assert_in_range(kube_client_throttle(bench->client, "GET", "/"), 150, 200); /* 5 a second */
    kube_client_free(bench->client);
    bench->options.burst = 0;
    bench->options.qps = 2;
    bench->client = kube_client_new(bench->loop, bench->pool, &bench->options, &bench->err);
    for (int i = 0; i < 10; i++) assert_int_equal(kube_client_throttle(bench->client, "GET", "/"), 0);
    assert_in_range(kube_client_throttle(bench->client, "GET", "/"), 400, 500);
}

/* --- H-16 --- */

static struct buf page;

static void expect_line(struct bench *bench, const char *name, const char *labels, const char *value)
{
    struct buf line = {0};
    buf_printf(&line, "rest_client_%s{%s,host=\"127.0.0.1:%d\"} %s\n", name, labels,
               tiny_server_port(bench->server), value);
    if (!strstr(buf_text(&page), buf_text(&line))) fail_msg("no %sin\n%s", buf_text(&line), buf_text(&page));
    buf_clear(&line);
}

static void test_h16_requests_are_counted(void **state)
{
    struct bench *bench = *state;
    RUN(bench, &get, BROKEN, GOOD); /* first: a connection that is used again libcurl mends by itself */
    RUN(bench, &post, BUSY, BUSY, GOOD);
    page.len = 0;
    series_render(&page);
    expect_line(bench, "requests_total", "code=\"429\",method=\"POST\"", "2");
    expect_line(bench, "requests_total", "code=\"201\",method=\"POST\"", "1");
    expect_line(bench, "requests_total", "code=\"<error>\",method=\"GET\"", "1");
    expect_line(bench, "requests_total", "code=\"201\",method=\"GET\"", "1");
    expect_line(bench, "request_retries_total", "code=\"429\",verb=\"POST\"", "2");
    expect_line(bench, "request_retries_total", "code=\"<error>\",verb=\"GET\"", "1");
    expect_line(bench, "request_duration_seconds_count", "verb=\"POST\"", "1");
    expect_line(bench, "request_size_bytes_sum", "verb=\"POST\"", "21");
    expect_line(bench, "request_size_bytes_count", "verb=\"POST\"", "3");
    expect_line(bench, "response_size_bytes_sum", "verb=\"POST\"", "2");
    expect_line(bench, "response_size_bytes_count", "verb=\"GET\"", "1");
    assert_null(strstr(buf_text(&page), "rate_limiter")); /* without a limit */
    kube_client_free(bench->client);
    bench->client = NULL;
    page.len = 0;
    series_render(&page);
    assert_null(strstr(buf_text(&page), "rest_client"));
    buf_clear(&page);
}

static void test_a_write_of_a_leader_is_not_sent_once_it_leads_no_more(void **state)
{
    struct bench *bench = *state;
    struct kube_request fenced = post;
    fence = fenced.fence = fence_new(NULL, INT64_MAX);
    RUN(bench, &fenced, GOOD);
    assert_int_equal(bench->err.code, ERR_NONE);
    RUN(bench, &fenced, BUSY_AND_CLOSED, GOOD);
    assert_int_equal(asked, 1); /* nor sent again */
    assert_int_equal(bench->err.code, ERR_CANCELLED);
    RUN(bench, &fenced, GOOD);
    assert_int_equal(asked, 0);
    assert_string_equal(bench->err.text, "POST /x: not sent: leadership was lost");
    assert_string_equal(bench->err.reason, "NotLeader");
    fence_unref(fence);
    /* It closes while the request is on its way to the connection. */
    fence = fenced.fence = fence_new(NULL, INT64_MAX);
    bench->dones = 0;
    kube_call_start(bench->client, &fenced, on_done, bench);
    fence_close(fence);
    bench_until_done(bench);
    assert_int_equal(asked, 0);
    assert_string_equal(bench->err.reason, "NotLeader");
    fence_unref(fence);
}

#define T(name) cmocka_unit_test_setup_teardown(name, kube_bench_setup, kube_bench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_h3_a_write_too_is_sent_again_when_the_server_requests_it),
        T(test_h3_ten_times_and_not_without_a_time),
        T(test_h3_a_wait_of_more_than_30_seconds_is_the_callers),
        T(test_h3_not_for_a_time_that_is_only_in_the_body),
        T(test_h8_a_long_error_keeps_its_code_and_reason),
        T(test_one_that_is_sent_once),
        T(test_h4_a_read_whose_connection_broke_is_sent_again_a_write_is_not),
        T(test_h7_the_error_names_the_one_before_it),
        T(test_h11_a_time_for_everything),
        T(test_h11_from_the_start_to_the_end_with_all_tries),
        T(test_c13_the_time_of_a_flag),
        T(test_h4_a_read_that_broke_off_in_the_middle_is_not_sent_again),
        T(test_h1_requests_take_turns),
        T(test_h1_each_try_takes_a_turn),
        T(test_h1_a_call_cancelled_before_its_turn_returns_its_token),
        T(test_h1_either_flag_switches_it_on),
        T(test_h16_requests_are_counted),
        T(test_a_write_of_a_leader_is_not_sent_once_it_leads_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
