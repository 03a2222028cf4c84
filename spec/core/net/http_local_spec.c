/* A transport with a server inside the process, on a loop that is moved by hand. */
#include "net/http_local.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"

struct world {
    struct http_local server;
    struct loop *loop;
    struct transport *transport;
    struct http_exchange *begun; /* the last one; NULL: gone */
    int begins, gones;
    struct buf seen; /* what the owner of the exchange was told */
    bool cancels;    /* in on_body */
    struct http_exchange *own;
};

static void begin(struct http_local *server, struct http_exchange *exchange,
                  const struct http_request *request)
{
    struct world *w = container_of(server, struct world, server);
    w->begins++;
    w->begun = exchange;
    buf_printf(&w->seen, "%s %s;", request->method, request->url);
}

static void gone(struct http_local *server, struct http_exchange *exchange)
{
    struct world *w = container_of(server, struct world, server);
    w->gones++;
    if (w->begun == exchange) w->begun = NULL;
}

static void on_response(void *ctx, const struct http_response *response)
{
    struct world *w = ctx;
    buf_printf(&w->seen, "%d %s %s %s;", response->status, response->content_type, response->method,
               response->url);
}

static bool on_body(void *ctx, const char *data, size_t len)
{
    struct world *w = ctx;
    buf_printf(&w->seen, "%.*s;", (int)len, data);
    if (w->cancels) http_cancel(w->own);
    return strncmp(data, "no", len) != 0;
}

static void on_done(void *ctx, const struct http_response *response, const struct err *err)
{
    struct world *w = ctx;
    buf_printf(&w->seen, "done %s;", err ? err->text : "well");
}

static int set_up(void **state)
{
    static struct world w;
    struct err err;
    w = (struct world){.server = {begin, gone}};
    w.loop = loop_new_by_hand(0);
    w.transport = transport_new(w.loop, &(struct transport_options){.local = &w.server}, &err);
    *state = &w;
    return w.transport ? 0 : -1;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    transport_free(w->transport);
    assert_int_equal(w->begins, w->gones);
    loop_free(w->loop);
    buf_clear(&w->seen);
    return 0;
}

static void start(struct world *w, struct fence *fence)
{
    const struct http_request request = {.method = "GET", .url = "http://x/a", .fence = fence};
    const struct http_callbacks callbacks = {on_response, on_body, on_done, w};
    struct err err;
    w->own = transport_start(w->transport, &request, &callbacks, &err);
    assert_non_null(w->own);
}

static void head(struct world *w)
{
    http_local_head(w->begun, &(struct http_response){.status = 200, .content_type = "text/plain"});
}

static void an_answer_comes_in_its_parts(void **state)
{
    struct world *w = *state;
    start(w, NULL);
    assert_true(http_local_send(w->begun));
    head(w);
    http_local_body(w->begun, "one", 3);
    http_local_body(w->begun, "two", 3);
    http_local_end(w->begun, NULL);
    assert_string_equal(buf_text(&w->seen),
                        "GET http://x/a;200 text/plain GET http://x/a;one;two;done well;");
    assert_null(w->begun);
}

static void an_owner_may_cancel_from_inside(void **state)
{
    struct world *w = *state;
    w->cancels = true;
    start(w, NULL);
    head(w);
    http_local_body(w->begun, "one", 3);
    assert_null(w->begun);
    assert_null(strstr(buf_text(&w->seen), "done"));
}

static void a_reader_who_refuses_ends_it(void **state)
{
    struct world *w = *state;
    start(w, NULL);
    head(w);
    http_local_body(w->begun, "no", 2);
    assert_null(w->begun);
    assert_non_null(strstr(buf_text(&w->seen), "no;done refused by the reader;"));
}

static void nothing_is_sent_once_the_fence_is_closed(void **state)
{
    struct world *w = *state;
    struct fence *fence = fence_new(loop_clock(w->loop), INT64_MAX);
    start(w, fence);
    fence_close(fence);
    assert_false(http_local_send(w->begun));
    assert_null(w->begun);
    assert_non_null(strstr(buf_text(&w->seen), "not sent: leadership was lost;"));
    fence_unref(fence);
}

static void who_is_not_answered_gives_up_by_the_clock(void **state)
{
    struct world *w = *state;
    start(w, NULL);
    int64_t now_ms = clock_now_ms(loop_clock(w->loop));
    loop_set_clock(w->loop, now_ms + 59999);
    assert_true(loop_settle(w->loop, 10));
    assert_non_null(w->begun);
    loop_set_clock(w->loop, now_ms + 60000);
    assert_true(loop_settle(w->loop, 10));
    assert_null(w->begun);
    assert_non_null(strstr(buf_text(&w->seen), "no response within 60000 ms;"));
}

static void a_pause_is_seen(void **state)
{
    struct world *w = *state;
    start(w, NULL);
    http_pause(w->own, true);
    assert_true(http_local_is_paused(w->begun));
    http_pause(w->own, false);
    assert_false(http_local_is_paused(w->begun));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(an_answer_comes_in_its_parts),
        TEST(an_owner_may_cancel_from_inside),
        TEST(a_reader_who_refuses_ends_it),
        TEST(nothing_is_sent_once_the_fence_is_closed),
        TEST(who_is_not_answered_gives_up_by_the_clock),
        TEST(a_pause_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
