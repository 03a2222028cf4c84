/* core/engine/state_maps.c, state_map.c: operations on states of one ConfigMap, between the requests of
 * others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/informer/support/objects.h"
#include "engine/state_maps.h"
#include "informer/live/live_client.h"
#include "net/loop.h"

enum { TURNS_MAX = 1000, WALL_US = 7000000, VALUE_MAX = 32 };

struct object_call {
    struct object_request *request;
    object_done *done;
    void *ctx;
};

/* The server, with a ConfigMap of the states "a" and "b". */
struct server {
    int version; /* 0: there is no ConfigMap */
    char a[VALUE_MAX], b[VALUE_MAX], reader[64];
    struct object_call *call; /* under way; NULL: none */
    unsigned calls, takes;
};

struct bench {
    struct loop *loop;
    struct live_client *live;
    struct state_store *store;
    struct state_slot *a, *b;
    struct server server;
    /* Of the last operation. */
    unsigned ended;
    bool ok, found;
    struct err err;
    char text[VALUE_MAX];
};

/* --- the server */

static struct object_call *start_call(void *ctx, const struct object_request *request, object_done *done,
                                      void *done_ctx)
{
    struct server *server = ctx;
    assert_null(server->call);
    server->calls++;
    server->call = NEW(struct object_call);
    *server->call =
        (struct object_call){.request = object_request_copy(request), .done = done, .ctx = done_ctx};
    return server->call;
}

static struct server *cancelled_of;

static void cancel_call(struct object_call *call)
{
    if (cancelled_of->call == call) cancelled_of->call = NULL;
    object_request_free(call->request);
    free(call);
}

/* Takes the text that follows the key in a body; leaves `out` as it is when the body has no such key. */
static bool take_text(struct str body, const char *key, char *out, size_t size)
{
    char text[512], pattern[40];
    assert_true(body.n < sizeof text);
    snprintf(text, sizeof text, "%.*s", STR_ARG(body));
    snprintf(pattern, sizeof pattern, "\"%s\":\"", key);
    const char *at = strstr(text, pattern);
    if (!at) return false;
    at += strlen(pattern);
    snprintf(out, size, "%.*s", (int)strcspn(at, "\""), at);
    return true;
}

/* Executes a request; returns the status. */
static int execute(struct server *server, const struct object_request *request)
{
    char now[16], named[16] = "";
    if (request->verb == OBJECT_GET) return server->version ? 200 : 404;
    if (request->verb == OBJECT_CREATE && server->version) return 409;
    if (request->verb == OBJECT_PATCH && !server->version) return 404;
    snprintf(now, sizeof now, "%d", server->version);
    take_text(request->body, "resourceVersion", named, sizeof named);
    if (request->verb == OBJECT_PATCH && strcmp(now, named) != 0) return 409;
    server->version++;
    take_text(request->body, "a", server->a, sizeof server->a);
    take_text(request->body, "b", server->b, sizeof server->b);
    if (take_text(request->body, STATE_MAP_READER, server->reader, sizeof server->reader)) server->takes++;
    return 200;
}

static struct root *map_object(const struct server *server)
{
    char text[512];
    const char *comma = *server->a && *server->b ? "," : "";
    char a[VALUE_MAX + 8] = "", b[VALUE_MAX + 8] = "";
    if (*server->a) snprintf(a, sizeof a, "\"a\":\"%s\"", server->a);
    if (*server->b) snprintf(b, sizeof b, "\"b\":\"%s\"", server->b);
    snprintf(
        text, sizeof text,
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"namespace\":\"ops\",\"name\":\"it\","
        "\"resourceVersion\":\"%d\"},\"binaryData\":{%s%s%s}}",
        server->version, a, comma, b);
    return object_from_json(text);
}

static void settle(struct bench *b)
{
    assert_true(loop_settle(b->loop, TURNS_MAX));
}

static struct object_call *awaited(struct bench *b, enum object_verb verb)
{
    settle(b);
    struct object_call *call = b->server.call;
    assert_non_null(call);
    assert_int_equal(call->request->verb, verb);
    b->server.call = NULL;
    return call;
}

static void end_call(struct bench *b, struct object_call *call, int status, bool has_object)
{
    struct err err;
    struct object_response response = {.http_status = status};
    if (has_object) {
        response.object = map_object(&b->server);
    } else {
        err_set(&err, status ? ERR_HTTP : ERR_IO, "refused: %d", status);
        err.http_status = status;
        response.err = &err;
    }
    call->done(call->ctx, &response);
    cancel_call(call);
    settle(b);
}

/* The server executes the request under way, and answers. */
static void serve(struct bench *b, enum object_verb verb)
{
    struct object_call *call = awaited(b, verb);
    int status = execute(&b->server, call->request);
    end_call(b, call, status, status == 200);
}

static void change_from_outside(struct bench *b, char *value, const char *to)
{
    b->server.version++;
    snprintf(value, VALUE_MAX, "%s", to);
}

/* --- operations */

static void on_done(void *ctx, const struct state_op *op)
{
    struct bench *b = ctx;
    b->ended++;
    b->ok = op->ok;
    b->found = op->found;
    b->err = op->err;
    snprintf(b->text, sizeof b->text, "%.*s", STR_ARG(buf_slice(&op->bytes)));
}

static void start(struct bench *b, enum state_op_kind kind, struct state_slot *slot, const char *text,
                  struct fence *fence)
{
    struct buf bytes = {0};
    if (text) buf_puts(&bytes, text);
    b->ended = 0;
    state_op_start(b->store, kind, slot, text ? &bytes : NULL, fence, on_done, b);
    settle(b);
}

static void assert_ok(const struct bench *b)
{
    assert_int_equal(b->ended, 1);
    if (!b->ok) fail_msg("%s", b->err.text);
    assert_null(b->server.call);
}

static void assert_refused(const struct bench *b, const char *reason)
{
    assert_int_equal(b->ended, 1);
    assert_false(b->ok);
    assert_string_equal(b->err.reason, reason);
    assert_null(b->server.call);
}

/* Both states are stored, and have been read to be written. */
static void take_both(struct bench *b)
{
    b->server.version = 1;
    strcpy(b->server.a, "YQ==");
    strcpy(b->server.b, "Yg==");
    start(b, STATE_TAKE, b->a, NULL, NULL);
    serve(b, OBJECT_GET);
    serve(b, OBJECT_PATCH);
    assert_ok(b);
    start(b, STATE_TAKE, b->b, NULL, NULL);
    serve(b, OBJECT_GET);
    serve(b, OBJECT_PATCH);
    assert_ok(b);
    assert_string_equal(b->text, "b");
}

static int setup(void **state)
{
    static struct bench b;
    b = (struct bench){.loop = loop_new_by_hand(WALL_US)};
    objects_open();
    cancelled_of = &b.server;
    b.live = live_new(&(const struct live_options){
        .engine_loop = b.loop, .io_loop = b.loop, .caller = {start_call, cancel_call, &b.server}, .seed = 1});
    b.store = state_maps_new(&(const struct state_maps_options){.live = b.live, .namespace_ = "ops"});
    b.a = state_store_slot(b.store, "it", "a");
    b.b = state_store_slot(b.store, "it", "b");
    *state = &b;
    return 0;
}

static int teardown(void **state)
{
    struct bench *b = *state;
    state_store_free(b->store);
    live_free(b->live);
    loop_free(b->loop);
    objects_close();
    return 0;
}

/* --- what others have changed */

static void test_a_write_of_another_state_makes_no_change_known(void **state)
{
    struct bench *b = *state;
    take_both(b);
    change_from_outside(b, b->server.b, "bWluZQ==");
    start(b, STATE_WRITE, b->a, "new a", NULL);
    serve(b, OBJECT_PATCH);
    serve(b, OBJECT_GET);
    serve(b, OBJECT_PATCH);
    assert_ok(b);
    start(b, STATE_WRITE, b->b, "new b", NULL);
    serve(b, OBJECT_GET);
    assert_refused(b, "Conflict");
    assert_string_equal(b->server.a, "bmV3IGE=");
    assert_string_equal(b->server.b, "bWluZQ==");
}

static void test_a_read_of_another_state_makes_no_change_known(void **state)
{
    struct bench *b = *state;
    take_both(b);
    change_from_outside(b, b->server.b, "bWluZQ==");
    start(b, STATE_TAKE, b->a, NULL, NULL);
    serve(b, OBJECT_GET);
    serve(b, OBJECT_PATCH);
    assert_ok(b);
    start(b, STATE_WRITE, b->b, "new b", NULL);
    serve(b, OBJECT_GET);
    assert_refused(b, "Conflict");
    assert_string_equal(b->server.b, "bWluZQ==");
}

static void test_a_state_that_others_removed_is_not_written(void **state)
{
    struct bench *b = *state;
    take_both(b);
    change_from_outside(b, b->server.b, "");
    start(b, STATE_READ, b->a, NULL, NULL);
    serve(b, OBJECT_GET);
    start(b, STATE_WRITE, b->b, "new b", NULL);
    serve(b, OBJECT_GET);
    assert_refused(b, "Conflict");
}

static void test_writes_between_which_nobody_changes_anything_are_one_request_each(void **state)
{
    struct bench *b = *state;
    take_both(b);
    for (int i = 0; i < 2; i++) {
        start(b, STATE_WRITE, b->a, i ? "one" : "two", NULL);
        serve(b, OBJECT_PATCH);
        assert_ok(b);
        start(b, STATE_WRITE, b->b, i ? "one" : "two", NULL);
        serve(b, OBJECT_PATCH);
        assert_ok(b);
    }
    assert_int_equal(b->server.version, 7);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_a_write_of_another_state_makes_no_change_known),
        T(test_a_read_of_another_state_makes_no_change_known),
        T(test_a_state_that_others_removed_is_not_written),
        T(test_writes_between_which_nobody_changes_anything_are_one_request_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
