/* raw.test.webhook: requests to the webhooks of a script under test, without a network. */
#include <lauxlib.h>
#include <string.h>

#include "app/specs/bind_spec_internal.h"
#include "app/specs/spec_calls.h"
#include "engine/engine_view.h"
#include "script/server/header_lines.h"
#include "script/vm/args.h"
#include "script/work/webhook_paths.h"
#include "tool/tool.h"

enum { METHOD = 2, PATH, BODY, SECRET, QUERY, HEADERS };

struct webhook_wait {
    struct webhook_response response;
    bool over;
};

static void on_done(void *ctx, struct webhook_response *response)
{
    struct webhook_wait *wait = ctx;
    wait->response = *response;
    *response = (struct webhook_response){0};
    wait->over = true;
}

/* Appends the names and values of the array at `idx`. */
static void put_pairs(lua_State *L, int idx, struct buf *out)
{
    for (int i = 1; i <= (int)lua_objlen(L, idx); i++) {
        lua_rawgeti(L, idx, i);
        struct str text = arg_str(L, -1, "env:call_webhook: names and values");
        buf_append(out, text.p, text.n + 1);
        lua_pop(L, 1);
    }
}

/* Signs the body as the webhook expects it. */
static void put_signature(lua_State *L, struct webhook_paths *paths, const struct webhook_request *request,
                          struct buf *headers)
{
    struct str secret = arg_bytes_opt(L, SECRET, "env:call_webhook: secret");
    const struct webhook *hook = webhook_paths_find(paths, request->path);
    if (!secret.p || !hook || !hook->header) return;
    buf_append(headers, hook->header, strlen(hook->header) + 1);
    signature_put(hook->algorithm, secret, request->body, headers);
    buf_putc(headers, '\0');
}

/* The buffers become Lua's before anything can raise but for want of memory. */
static void push_response(lua_State *L, struct webhook_response *response)
{
    lua_createtable(L, 0, 5);
    lua_pushinteger(L, response->status);
    lua_setfield(L, -2, "status");
    lua_pushlstring(L, response->body.data ? response->body.data : "", response->body.len);
    lua_setfield(L, -2, "body");
    lua_pushboolean(L, response->is_json);
    lua_setfield(L, -2, "is_json");
    header_lines_push(L, buf_slice(&response->headers));
    if (response->retry_after_s) {
        lua_pushfstring(L, "%d", response->retry_after_s);
        lua_setfield(L, -2, "Retry-After");
    }
    lua_setfield(L, -2, "headers");
}

static bool call(struct spec_engine *engine, struct webhook_paths *paths,
                 const struct webhook_request *request, struct webhook_wait *wait, struct err *err)
{
    spec_engine_enter(engine);
    struct webhook_call *under_way = webhook_call_start(paths, request, on_done, wait);
    spec_engine_leave();
    bool ok = spec_wait_for(engine, &wait->over, "webhook", err);
    if (under_way && !wait->over) webhook_call_cancel(under_way);
    return ok;
}

/* webhook(engine, method, path, body, secret, query, headers): the response, or nil and an error */
static int l_webhook(lua_State *L)
{
    struct err err;
    struct spec_engine *engine = spec_engine_arg(L);
    struct webhook_paths *paths = engine_host(engine->engine)->webhooks;
    struct buf *pairs = script_scratch(script_of(L));
    struct webhook_wait wait = {.over = false};
    put_pairs(L, QUERY, pairs);
    size_t query = pairs->len;
    put_pairs(L, HEADERS, pairs);
    struct webhook_request request = {.method = arg_str(L, METHOD, "env:call_webhook: method").p,
                                      .path = arg_str(L, PATH, "env:call_webhook: path").p,
                                      .body = arg_bytes(L, BODY, "env:call_webhook: body")};
    put_signature(L, paths, &request, pairs);
    request.query = (struct str){pairs->data, query};
    request.headers = (struct str){pairs->data + query, pairs->len - query};
    bool ok = call(engine, paths, &request, &wait, &err);
    if (!ok) {
        webhook_response_clear(&wait.response);
        return spec_push_result(L, false, &err);
    }
    push_response(L, &wait.response);
    webhook_response_clear(&wait.response);
    return 1;
}

void bind_test_webhook(lua_State *L)
{
    lua_pushcfunction(L, l_webhook);
    lua_setfield(L, -2, "webhook");
}
