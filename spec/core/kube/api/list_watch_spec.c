/* core/kube/api/list_watch.c: lists and watches over HTTP, and how they end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/kube/support/kube_bench.h"
#include "object/value/value.h"

static void on_item(void *ctx, struct root *object)
{
    struct bench *bench = ctx;
    buf_puts(&bench->log, "item ");
    root_key(object, &bench->log);
    buf_putc(&bench->log, '\n');
    root_unref(object);
    if (!bench->cancel_at_item) return;
    bench->source->ops->cancel(bench->cancel_at_item);
    bench->cancel_at_item = NULL;
}

static void on_event(void *ctx, enum lw_event_type type, struct root *object, int64_t received_us)
{
    struct bench *bench = ctx;
    int64_t age_us = clock_wall_us(loop_clock(bench->loop)) - received_us;
    assert_in_range(age_us, 0, 5000000);
    buf_printf(&bench->log, "%s ", type == LW_ADDED ? "added" : type == LW_MODIFIED ? "modified" : "deleted");
    root_key(object, &bench->log);
    buf_putc(&bench->log, '\n');
    root_unref(object);
}

static void on_list_end(void *ctx, const struct lw_list_meta *meta)
{
    buf_printf(&((struct bench *)ctx)->log, "end %.*s\n", STR_ARG(meta->resource_version));
}

static void on_bookmark(void *ctx, const struct lw_bookmark *bookmark)
{
    buf_printf(&((struct bench *)ctx)->log, "bookmark %.*s\n", STR_ARG(bookmark->resource_version));
}

static void on_refused(void *ctx, const struct lw_refusal *refusal)
{
    buf_printf(&((struct bench *)ctx)->log, "refused %s\n", refusal->err->text);
}

static void on_done(void *ctx, const struct err *err)
{
    bench_note_end(ctx, err);
}

static const struct lw_sink sink = {on_item,    on_list_end, on_event, on_bookmark,
                                    on_refused, on_done,     NULL,     NULL};

static void start(struct bench *bench, struct lw_options options)
{
    const struct resource pods = {(char *)"", (char *)"v1", (char *)"pods", (char *)"Pod", true};
    if (!bench->source)
        bench->source = list_watch_new(bench->client, &pods,
                                       &(struct lw_scope){.namespace_ = "shop", .label_selector = "a=b"});
    bench->call = lw_start(bench->source, &options, &sink, bench);
}

static void run(struct bench *bench, struct lw_options options)
{
    bench->log.len = bench->requests.len = 0;
    start(bench, options);
    bench_until_done(bench);
}

static void on_opened(void *ctx)
{
    buf_puts(&((struct bench *)ctx)->log, "opened\n");
}

static const struct lw_options list = {.verb = LW_LIST, .limit = 2};
static const struct lw_options watch = {.verb = LW_WATCH, .resource_version = "5"};

#define POD(name) \
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"" name "\",\"namespace\":\"shop\"}}"
#define ADDED(name) "{\"type\":\"ADDED\",\"object\":" POD(name) "}\n"
#define LIST_OF(items)                                                                                       \
    "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[" items \
    "]}"
#define STREAM_HEAD "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"

static void answer_list(struct bench *bench, struct tiny_conn *conn, const char *path)
{
    tiny_answer(conn, 200, "Content-Type: application/json\r\n", LIST_OF(POD("a") "," POD("b")));
}

static void test_a_list_arrives_item_by_item(void **state)
{
    struct bench *bench = *state;
    bench_new_client(bench, false);
    bench->answer = answer_list;
    run(bench, list);
    assert_int_equal(bench->err.code, ERR_NONE);
    assert_string_equal(buf_text(&bench->log), "item shop/a\nitem shop/b\nend 7\n");
    assert_string_equal(buf_text(&bench->requests),
                        "/base/api/v1/namespaces/shop/pods?labelSelector=a%3Db&limit=2\n");
    assert_true(bench_head_has(bench, "Accept-Encoding: gzip"));
}

static void test_a_list_can_be_cancelled_from_inside(void **state)
{
    struct bench *bench = *state;
    bench_new_client(bench, false);
    bench->answer = answer_list;
    start(bench, list);
    bench->cancel_at_item = bench->call;
    while (!bench->log.len) loop_once(bench->loop, true);
    bench_settle(bench);
    assert_string_equal(buf_text(&bench->log), "item shop/a\n");
    assert_int_equal(bench->dones, 0);
}

static void forbid(struct bench *bench, struct tiny_conn *conn, const char *path)
{
    tiny_answer(conn, 429, "Retry-After: 3\r\nContent-Type: application/json\r\n",
                "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":\"slow "
                "down\",\"reason\":"
                "\"TooManyRequests\",\"code\":429}");
}

static void test_an_error_response_is_its_status(void **state)
{
    struct bench *bench = *state;
    bench_new_client(bench, false);
    bench->answer = forbid;
    run(bench, watch);
    assert_int_equal(bench->err.code, ERR_HTTP);
    assert_int_equal(bench->err.http_status, 429);
    assert_int_equal(bench->err.retry_after_ms, 3000);
    assert_string_equal(bench->err.text, "slow down");
    assert_true(kube_err_is_too_many_requests(&bench->err));
}

static void html(struct bench *bench, struct tiny_conn *conn, const char *path)
{
    tiny_answer(conn, 200, "Content-Type: text/html\r\n", "<html>log in first</html>");
}

/* H-13 */
static void test_a_page_instead_of_json_is_an_error(void **state)
{
    struct bench *bench = *state;
    bench_new_client(bench, false);
    bench->answer = html;
    run(bench, list);
    assert_int_equal(bench->err.code, ERR_PARSE);
    assert_string_equal(bench->err.text, "the server returned content type \"text/html\" instead of JSON");
}

/* A watch that has given one event and stays open. */
static void open_watch(struct bench *bench)
{
    bench->answer = NULL;
    bench->requests.len = bench->log.len = 0;
    start(bench, watch);
    while (!bench->requests.len) loop_once(bench->loop, true);
    tiny_puts(bench->conn, STREAM_HEAD);
    tiny_chunk(bench->conn, ADDED("a"), strlen(ADDED("a")));
    while (!bench->log.len) loop_once(bench->loop, true);
    assert_string_equal(buf_text(&bench->log), "added shop/a\n");
}

static void test_a_watch_ends_cleanly_between_events(void **state)
{
    struct bench *bench = *state;
    bench_new_client(bench, false);
    open_watch(bench);
    assert_string_equal(
        buf_text(&bench->requests),
        "/base/api/v1/namespaces/shop/pods?labelSelector=a%3Db&resourceVersion=5&watch=true\n");
    assert_false(bench_head_has(bench, "Accept-Encoding"));
    tiny_puts(bench->conn, "0\r\n\r\n");
    bench_until_done(bench);
    assert_int_equal(bench->err.code, ERR_NONE);
    open_watch(bench); /* an EOF without HTTP's end mark is one too (H-10) */
    tiny_close(bench->conn);
    bench_until_done(bench);
    assert_int_equal(bench->err.code, ERR_NONE);
}

static void redirect_once(struct bench *bench, struct tiny_conn *conn, const char *path)
{
    if (strstr(path, "/moved")) {
        tiny_puts(conn, STREAM_HEAD);
        tiny_chunk(conn, ADDED("a"), strlen(ADDED("a")));
        tiny_puts(conn, "0\r\n\r\n");
    } else {
        tiny_answer(conn, 307, "Location: /moved\r\n", "over there");
    }
}

/* H-20 */
static void test_h20_a_watch_follows_a_redirect(void **state)
{
    struct bench *bench = *state;
    bench_new_client(bench, false);
    bench->answer = redirect_once;
    start(bench, watch);
    bench_until_done(bench);
    assert_int_equal(bench->err.code, ERR_NONE);
    assert_string_equal(buf_text(&bench->log), "added shop/a\n");
    assert_non_null(strstr(buf_text(&bench->requests), "&watch=true\n/moved\n"));
}

static void test_a_watch_cut_inside_an_event_or_reset_reports_it(void **state)
{
    struct bench *bench = *state;
    bench_new_client(bench, false);
    open_watch(bench);
    tiny_chunk(bench->conn, "{\"type\":", 8);
    tiny_close(bench->conn);
    bench_until_done(bench);
    assert_int_equal(bench->err.code, ERR_CLOSED);
    assert_string_equal(bench->err.text, "unexpected EOF: the stream ended inside an event");
    open_watch(bench);
    tiny_reset(bench->conn);
    bench_until_done(bench);
    assert_int_equal(bench->err.code, ERR_CLOSED);
    assert_non_null(strstr(bench->err.text, ": connection reset"));
    assert_string_equal(buf_text(&bench->log), "added shop/a\n");
}

static void test_an_error_event_ends_the_watch_and_its_connection(void **state)
{
    struct bench *bench = *state;
    const char *lines = ADDED("b") "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,"
                                   "\"reason\":\"Expired\"}}\n" ADDED("c");
    bench_new_client(bench, false);
    open_watch(bench);
    tiny_chunk(bench->conn, lines, strlen(lines));
    bench_until_done(bench);
    assert_true(kube_err_is_expired(&bench->err));
    bench_settle(bench);
    assert_string_equal(buf_text(&bench->log), "added shop/a\nadded shop/b\n");
    assert_int_equal(tiny_server_open(bench->server), 0);
}

static void test_h10_events_need_no_lines_of_their_own(void **state)
{
    struct bench *bench = *state;
    const char *text = "{\n  \"type\": \"MODIFIED\",\n  \"object\": " POD(
        "a") "\n}\n"
             "{\"type\":\"DELETED\",\"object\":" POD("a") "}{\"type\":\"ADDED\",\"object\":" POD("b") "}";
    bench_new_client(bench, false);
    open_watch(bench);
    tiny_chunk(bench->conn, text, strlen(text));
    while (!strstr(buf_text(&bench->log), "shop/b")) loop_once(bench->loop, true);
    assert_string_equal(buf_text(&bench->log),
                        "added shop/a\nmodified shop/a\ndeleted shop/a\nadded shop/b\n");
    bench->source->ops->cancel(bench->call);
}

static void test_a_cancelled_watch_is_silent(void **state)
{
    struct bench *bench = *state;
    bench_new_client(bench, false);
    open_watch(bench);
    bench->source->ops->cancel(bench->call);
    bench_settle(bench);
    assert_int_equal(tiny_server_open(bench->server), 0);
    assert_int_equal(bench->dones, 0);
}

static int64_t skew_ms;

static int64_t skewed_now_ms(struct clock *clock)
{
    return clock_now_ms(clock_real()) + skew_ms;
}

/* F-14 */
static void test_a_watch_that_the_server_does_not_end_is_ended(void **state)
{
    struct bench *bench = *state;
    struct clock *clock;
    struct lw_options options = watch;
    options.timeout_seconds = 300;
    bench_new_client(bench, false);
    clock = loop_clock(bench->loop);
    timer_cancel(&bench->guard);
    start(bench, options);
    while (!bench->requests.len) loop_once(bench->loop, true);
    tiny_puts(bench->conn, STREAM_HEAD);
    tiny_chunk(bench->conn, ADDED("a"), strlen(ADDED("a")));
    while (!bench->log.len) loop_once(bench->loop, true);
    clock->now_ms = skewed_now_ms;
    skew_ms = 320000;
    clock->rearm(clock);
    bench_settle(bench);
    assert_int_equal(bench->dones, 0);
    skew_ms = 330000;
    clock->rearm(clock);
    bench_until_done(bench);
    assert_int_equal(bench->err.code, ERR_TIMEOUT);
    assert_string_equal(bench->err.text, "the server did not end the watch 30 s after its timeout of 300 s");
    bench_settle(bench);
    assert_int_equal(tiny_server_open(bench->server), 0);
}

/* For RW-2: an error before that is one of the open. */
static void test_a_good_open_is_reported(void **state)
{
    struct bench *bench = *state;
    struct lw_sink own = sink;
    own.opened = on_opened;
    bench_new_client(bench, false);
    bench->answer = forbid;
    run(bench, watch);
    assert_string_equal(buf_text(&bench->log), "");
    bench->answer = NULL;
    bench->call = lw_start(bench->source, &watch, &own, bench);
    bench->requests.len = 0;
    while (!bench->requests.len) loop_once(bench->loop, true);
    tiny_puts(bench->conn, STREAM_HEAD);
    while (!bench->log.len) loop_once(bench->loop, true);
    assert_string_equal(buf_text(&bench->log), "opened\n");
    bench->source->ops->cancel(bench->call);
}

static void put_event(struct bench *bench, const char *event)
{
    tiny_chunk(bench->conn, event, strlen(event));
}

static void test_a_watch_can_be_paused_on_a_connection_that_nobody_shares(void **state)
{
    struct bench *bench = *state;
    struct lw_options own = watch;
    own.own_connection = true;
    bench_new_client(bench, false);
    bench->answer = answer_list;
    run(bench, list); /* leaves a connection that could be used again */
    bench->answer = NULL;
    bench->requests.len = bench->log.len = 0;
    start(bench, own);
    while (!bench->requests.len) loop_once(bench->loop, true);
    assert_int_equal(tiny_server_accepted(bench->server), 2);
    tiny_puts(bench->conn, STREAM_HEAD);
    put_event(bench, "{\"type\":\"ADDED\",\"object\":" POD("a") "}\n");
    while (!bench->log.len) loop_once(bench->loop, true);
    bench->source->ops->pause(bench->call, true);
    put_event(bench, "{\"type\":\"DELETED\",\"object\":" POD("a") "}\n");
    bench_settle(bench);
    assert_string_equal(buf_text(&bench->log), "added shop/a\n");
    bench->source->ops->pause(bench->call, false);
    int dones = bench->dones;
    tiny_puts(bench->conn, "0\r\n\r\n");
    while (bench->dones == dones) loop_once(bench->loop, true);
    assert_string_equal(buf_text(&bench->log), "added shop/a\ndeleted shop/a\n");
    bench->answer = answer_list;
    run(bench, list);
    bench_settle(bench);
    assert_int_equal(tiny_server_accepted(bench->server), 2);
    assert_int_equal(tiny_server_open(bench->server), 1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, kube_bench_setup, kube_bench_teardown)
    const struct CMUnitTest tests[] = {
        T(test_a_list_arrives_item_by_item),
        T(test_a_list_can_be_cancelled_from_inside),
        T(test_an_error_response_is_its_status),
        T(test_a_page_instead_of_json_is_an_error),
        T(test_a_watch_ends_cleanly_between_events),
        T(test_h20_a_watch_follows_a_redirect),
        T(test_a_watch_cut_inside_an_event_or_reset_reports_it),
        T(test_an_error_event_ends_the_watch_and_its_connection),
        T(test_h10_events_need_no_lines_of_their_own),
        T(test_a_cancelled_watch_is_silent),
        T(test_a_watch_that_the_server_does_not_end_is_ended),
        T(test_a_good_open_is_reported),
        T(test_a_watch_can_be_paused_on_a_connection_that_nobody_shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
