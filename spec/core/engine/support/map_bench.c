/* States in ConfigMaps of a small server; see map_bench.h. */
#include "core/engine/support/map_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/informer/support/objects.h"

enum { TURNS_MAX = 1000 };

struct object_call {
    struct object_request *request;
    object_done *done;
    void *ctx;
};

static struct object_call *awaiting; /* under way; NULL: none */

/* --- the server */

static struct object_call *start_call(void *ctx, const struct object_request *request, object_done *done,
                                      void *done_ctx)
{
    assert_null(awaiting);
    awaiting = NEW(struct object_call);
    *awaiting = (struct object_call){.request = object_request_copy(request), .done = done, .ctx = done_ctx};
    return awaiting;
}

static void cancel_call(struct object_call *call)
{
    if (awaiting == call) awaiting = NULL;
    object_request_free(call->request);
    free(call);
}

/* Takes the text that follows the key in a body, or "" for null; leaves `out` as it is when the body has no
 * such key. */
static bool take_text(struct str body, const char *key, char *out, size_t size)
{
    char text[512], pattern[40];
    assert_true(body.n < sizeof text);
    snprintf(text, sizeof text, "%.*s", STR_ARG(body));
    snprintf(pattern, sizeof pattern, "\"%s\":null", key);
    if (strstr(text, pattern)) *out = '\0';
    snprintf(pattern, sizeof pattern, "\"%s\":\"", key);
    const char *at = strstr(text, pattern);
    if (!at) return false;
    at += strlen(pattern);
    snprintf(out, size, "%.*s", (int)strcspn(at, "\""), at);
    return true;
}

int execute(struct map_server *server, const struct object_request *request)
{
    char now[16], named[16] = "";
    if (request->verb == OBJECT_GET) return server->version ? 200 : 404;
    if (request->place.name && strstr(request->place.name, "-aside-")) return 200;
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

static struct root *map_object(const struct map_server *server)
{
    char text[512];
    const char *comma = *server->a && *server->b ? "," : "";
    char a[MAP_VALUE_MAX + 8] = "", b[MAP_VALUE_MAX + 8] = "";
    if (*server->a) snprintf(a, sizeof a, "\"a\":\"%s\"", server->a);
    if (*server->b) snprintf(b, sizeof b, "\"b\":\"%s\"", server->b);
    snprintf(
        text, sizeof text,
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"namespace\":\"ops\",\"name\":\"it\","
        "\"resourceVersion\":\"%d\"},\"binaryData\":{%s%s%s}}",
        server->version, a, comma, b);
    return object_from_json(text);
}

static void settle(struct map_bench *b)
{
    assert_true(loop_settle(b->loop, TURNS_MAX));
}

const struct object_request *under_way(void)
{
    assert_non_null(awaiting);
    return awaiting->request;
}

static struct object_call *awaited(struct map_bench *b, enum object_verb verb)
{
    settle(b);
    struct object_call *call = awaiting;
    assert_int_equal(under_way()->verb, verb);
    awaiting = NULL;
    return call;
}

static void end_call(struct map_bench *b, struct object_call *call, int status, bool has_object)
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

void serve(struct map_bench *b, enum object_verb verb)
{
    struct object_call *call = awaited(b, verb);
    int status = execute(&b->server, call->request);
    end_call(b, call, status, status == 200);
}

void lose(struct map_bench *b, enum object_verb verb)
{
    struct object_call *call = awaited(b, verb);
    execute(&b->server, call->request);
    end_call(b, call, 0, false);
}

void refuse(struct map_bench *b, enum object_verb verb, int status)
{
    end_call(b, awaited(b, verb), status, false);
}

void change_from_outside(struct map_bench *b, char *value, const char *to)
{
    b->server.version++;
    snprintf(value, MAP_VALUE_MAX, "%s", to);
}

/* --- operations */

static void on_done(void *ctx, const struct state_op *op)
{
    struct map_bench *b = ctx;
    b->ended++;
    b->ok = op->ok;
    b->found = op->found;
    b->err = op->err;
    snprintf(b->text, sizeof b->text, "%.*s", STR_ARG(buf_slice(&op->bytes)));
    snprintf(b->where, sizeof b->where, "%s", op->where ? op->where : "");
}

void start(struct map_bench *b, enum state_op_kind kind, struct state_slot *slot, const char *text,
           struct fence *fence)
{
    struct buf bytes = {0};
    if (text) buf_puts(&bytes, text);
    b->ended = 0;
    state_op_start(b->store, kind, slot, text ? &bytes : NULL, fence, on_done, b);
    settle(b);
}

void assert_ok(const struct map_bench *b)
{
    assert_int_equal(b->ended, 1);
    if (!b->ok) fail_msg("%s", b->err.text);
    assert_null(awaiting);
}

void assert_refused(const struct map_bench *b, const char *reason)
{
    assert_int_equal(b->ended, 1);
    assert_false(b->ok);
    assert_string_equal(b->err.reason, reason);
    assert_null(awaiting);
}

void take_both(struct map_bench *b)
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
    assert_ok(b);
    assert_string_equal(b->text, "b");
}

int map_bench_setup(void **state)
{
    static struct map_bench b;
    b = (struct map_bench){.loop = loop_new_by_hand(MAP_WALL_US)};
    objects_open();
    awaiting = NULL;
    b.live = live_new(&(const struct live_options){
        .engine_loop = b.loop, .io_loop = b.loop, .caller = {start_call, cancel_call, NULL}, .seed = 1});
    b.store = state_maps_new(
        &(const struct state_maps_options){.live = b.live, .clock = loop_clock(b.loop), .namespace_ = "ops"});
    b.a = state_store_slot(b.store, "it", "a");
    b.b = state_store_slot(b.store, "it", "b");
    *state = &b;
    return 0;
}

int map_bench_teardown(void **state)
{
    struct map_bench *b = *state;
    state_store_free(b->store);
    live_free(b->live);
    loop_free(b->loop);
    objects_close();
    return 0;
}
