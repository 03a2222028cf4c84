/* core/kube/api/list_watch.c: how long a list or a watch may take (C-13, H-11), and which of them wait for
 * the client-side rate limit (H-1, H-2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/kube/support/kube_bench.h"
#include "object/value/value.h"

#define LIST_OF_A                                                                           \
    "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"7\"}," \
    "\"items\":[{\"metadata\":{\"name\":\"a\",\"namespace\":\"shop\"}}]}"
#define STREAM_HEAD "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"

static void on_item(void *ctx, struct root *object)
{
    struct bench *bench = ctx;
    buf_puts(&bench->log, "item ");
    root_key(object, &bench->log);
    buf_putc(&bench->log, '\n');
    root_unref(object);
}

static void on_list_end(void *ctx, const struct lw_list_meta *meta)
{
    buf_printf(&((struct bench *)ctx)->log, "end %.*s\n", STR_ARG(meta->resource_version));
}

static void on_done(void *ctx, const struct err *err)
{
    bench_note_end(ctx, err);
}

static const struct lw_sink sink = {.item = on_item, .list_end = on_list_end, .done = on_done};
static const struct lw_options list = {.verb = LW_LIST};
static const struct lw_options watch = {.verb = LW_WATCH, .resource_version = "5"};

static void start(struct bench *bench, struct lw_options options)
{
    const struct resource pods = {(char *)"", (char *)"v1", (char *)"pods", (char *)"Pod", true};
    if (!bench->source)
        bench->source = list_watch_new(bench->client, &pods, &(struct lw_scope){.namespace_ = "shop"});
    bench->call = lw_start(bench->source, &options, &sink, bench);
}

static void run(struct bench *bench, struct lw_options options)
{
    bench->log.len = bench->requests.len = 0;
    start(bench, options);
    bench_until_done(bench);
}

static void put(struct bench *bench, const char *text)
{
    tiny_chunk(bench->conn, text, strlen(text));
}

/* --- --request-timeout --- */

struct ticker {
    struct timer timer;
    struct bench *bench;
    int left;
};

static void on_tick(struct timer *timer)
{
    struct ticker *ticker = container_of(timer, struct ticker, timer);
    struct bench *bench = ticker->bench;
    if (bench->conn && ticker->left % 2) put(bench, " ");
    if (--ticker->left > 0)
        timer_start(timer, loop_clock(bench->loop), 60);
    else if (bench->conn)
        put(bench, LIST_OF_A), tiny_puts(bench->conn, "0\r\n\r\n");
}

static void send_head(struct bench *bench, struct tiny_conn *conn, const char *path)
{
    tiny_puts(conn, STREAM_HEAD);
}

static void test_c13_a_list_without_progress_ends_a_long_one_does_not(void **state)
{
    struct bench *bench = *state;
    bench->options.request_timeout_ms = 400;
    bench_new_client(bench, false);
    run(bench, list);
    assert_int_equal(bench->err.code, ERR_TIMEOUT);
    assert_non_null(strstr(bench->err.text, ": no response within 400 ms"));
    struct ticker ticker = {.timer = {.fn = on_tick}, .bench = bench, .left = 14};
    bench->answer = send_head;
    timer_start(&ticker.timer, loop_clock(bench->loop), 60);
    run(bench, list); /* 840 ms */
    assert_int_equal(bench->err.code, ERR_NONE);
    assert_string_equal(buf_text(&bench->log), "item shop/a\nend 7\n");
}

static void test_c13_a_watch_has_no_such_limit(void **state)
{
    struct bench *bench = *state;
    struct ticker ticker = {.timer = {.fn = on_tick}, .bench = bench, .left = 3};
    bench->options.request_timeout_ms = 20;
    bench_new_client(bench, false);
    start(bench, watch);
    while (!bench->requests.len) loop_once(bench->loop, true);
    ticker.bench = &(struct bench){.loop = bench->loop}; /* only lets time pass */
    timer_start(&ticker.timer, loop_clock(bench->loop), 60);
    while (ticker.left > 0) loop_once(bench->loop, true);
    assert_int_equal(bench->dones, 0);
    bench->source->ops->cancel(bench->call);
}

/* --- --kube-api-qps --- */

static void answer_list(struct bench *bench, struct tiny_conn *conn, const char *path)
{
    tiny_answer(conn, 200, "Content-Type: application/json\r\n", LIST_OF_A);
}

static void test_h1_lists_take_turns_h2_watches_do_not(void **state)
{
    struct bench *bench = *state;
    struct clock *clock = loop_clock(bench->loop);
    bench->options.qps = 2;
    bench->options.burst = 1;
    bench_new_client(bench, false);
    bench->answer = answer_list;
    int64_t begin = clock_now_ms(clock);
    run(bench, list);
    assert_true(clock_now_ms(clock) - begin < 500);
    run(bench, list);
    assert_in_range(clock_now_ms(clock) - begin, 500, 10000);
    start(bench, list); /* waits */
    bench_settle(bench);
    bench->source->ops->cancel(bench->call); /* and gives its turn back */
    begin = clock_now_ms(clock);
    bench->requests.len = 0;
    start(bench, watch);
    while (!bench->requests.len) loop_once(bench->loop, true);
    assert_true(clock_now_ms(clock) - begin < 500);
    bench->source->ops->cancel(bench->call);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, kube_bench_setup, kube_bench_teardown)
    const struct CMUnitTest tests[] = {
        T(test_c13_a_list_without_progress_ends_a_long_one_does_not),
        T(test_c13_a_watch_has_no_such_limit),
        T(test_h1_lists_take_turns_h2_watches_do_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
