/* raw.http: requests to servers that the operator allows; raw.base64 and raw.sha256, which those often want.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/web.h"
#include "script/server/header_lines.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"
#include "script/vm/memory.h"
#include "script/vm/modules.h"
#include "script/vm/task.h"
#include "script/vm/throttle.h"

enum { TIMEOUT_MS = 30000, ARG_HEADERS = 5, LEVEL_SLOTS = 6 };

/* --- arguments */

static bool is_token(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (!isalnum((unsigned char)text.p[i]) && !strchr("!#$%&'*+-.^_`|~", text.p[i])) return false;
    return text.n > 0;
}

static const char *method_arg(lua_State *L, int idx)
{
    struct str method = arg_str(L, idx, "http.request: method");
    bool good = is_token(method) && method.n <= 20;
    for (size_t i = 0; good && i < method.n; i++) good = isupper((unsigned char)method.p[i]);
    if (!good || str_is(method, "CONNECT") || str_is(method, "TRACE"))
        script_raise(L, "http.request: invalid method \"%.20s\"; use, for example, GET or POST", method.p);
    return method.p;
}

static const char *url_arg(lua_State *L, int idx)
{
    struct str url = arg_str(L, idx, "http.request: url");
    for (size_t i = 0; i < url.n; i++)
        if ((unsigned char)url.p[i] <= ' ' || url.p[i] == 0x7f)
            script_raise(L, "http.request: url contains a blank or a control character");
    return url.p;
}

/* Returns whether the header is the transport's own, or would turn the request into another one. */
static bool is_ours(const char *name)
{
    static const char *const ours[] = {"host", "content-length", "transfer-encoding", "connection",
                                       "te",   "upgrade",        "proxy-connection",  "expect"};
    for (size_t i = 0; i < ARRAY_LEN(ours); i++)
        if (strcasecmp(ours[i], name) == 0) return true;
    return false;
}

/* Name, value, ...: the rest of the arguments. */
static size_t header_args(lua_State *L, const char **headers)
{
    size_t count = 0, bytes = 0;
    for (int i = ARG_HEADERS; i < lua_gettop(L); i += 2) {
        struct str name = arg_str(L, i, "http.request: the name of a header");
        struct str value = arg_str(L, i + 1, "http.request: the value of a header");
        if (!is_token(name) || is_ours(name.p))
            script_raise(L, "http.request: the header \"%.40s\" cannot be set", name.p);
        if (strpbrk(value.p, "\r\n"))
            script_raise(L, "http.request: the value of header %s contains a line break", name.p);
        bytes += name.n + value.n;
        if (count / 2 == WEB_HEADERS_MAX || bytes > WEB_HEAD_MAX)
            script_raise(L, "http.request: more than %d headers or %d KiB of headers", WEB_HEADERS_MAX,
                         WEB_HEAD_MAX >> 10);
        headers[count++] = name.p;
        headers[count++] = value.p;
    }
    return count / 2;
}

/* --- the wait */

struct http_wait {
    struct task_wait wait;
    struct script *script;
    size_t bytes; /* C memory that it holds; counts as the script's */
    struct web_call *call;
    int status;
    struct buf headers, body;
    struct err err;
    bool failed;
};

static void on_done(void *ctx, const struct web_reply *response, const struct err *err)
{
    struct http_wait *wait = ctx;
    wait->failed = err != NULL;
    if (err) {
        wait->err = *err;
    } else {
        wait->status = response->status;
        buf_str(&wait->headers, response->headers);
        buf_str(&wait->body, response->body);
        wait->bytes += response->body.n;
        memory_note(wait->script, (ptrdiff_t)response->body.n);
    }
    task_wake(&wait->wait);
}

static int push_response(lua_State *L, struct task_wait *base)
{
    struct http_wait *wait = container_of(base, struct http_wait, wait);
    if (wait->failed) return push_err(L, &wait->err);
    luaL_checkstack(L, LEVEL_SLOTS, "http.request");
    lua_createtable(L, 0, 3);
    lua_pushinteger(L, wait->status);
    lua_setfield(L, -2, "status");
    header_lines_push(L, buf_slice(&wait->headers));
    lua_setfield(L, -2, "headers");
    lua_pushlstring(L, wait->body.data ? wait->body.data : "", wait->body.len);
    lua_setfield(L, -2, "body");
    return 1;
}

static void drop(struct task_wait *base)
{
    struct http_wait *wait = container_of(base, struct http_wait, wait);
    web_close(wait->call);
    memory_note(wait->script, -(ptrdiff_t)wait->bytes);
    buf_clear(&wait->headers);
    buf_clear(&wait->body);
    free(wait);
}

static size_t body_max(const struct script *script)
{
    int64_t most = script->limits.values[LIMIT_VALUE_SIZE];
    return (size_t)most; /* LIMIT_NONE is half of what there can be */
}

/* Reads method, url, timeout or nil, body or nil, name, value, ... */
static struct web_call_request request_args(lua_State *L, const char **headers)
{
    struct web_call_request request = {.method = method_arg(L, 1),
                                       .url = url_arg(L, 2),
                                       .headers = headers,
                                       .timeout_ms = TIMEOUT_MS,
                                       .body_max = body_max(script_of(L))};
    if (!lua_isnoneornil(L, 3)) request.timeout_ms = arg_duration_ms(L, 3, "http.request: timeout");
    if (request.timeout_ms < 1) script_raise(L, "http.request: timeout must be greater than 0");
    request.body = arg_bytes_opt(L, 4, "http.request: body");
    request.header_count = header_args(L, headers);
    return request;
}

/* turn(...): checks the arguments, and returns true, or nil, err. Waits for the limit http-requests. */
static int l_http_turn(lua_State *L)
{
    const char *headers[2 * (WEB_HEADERS_MAX + 1)];
    const struct web_call_request request = request_args(L, headers);
    struct web *web = script_of(L)->host->web;
    struct err err;
    task_check(L, "http.request");
    if (!web) return push_error(L, 0, "NotConnected", STR("network access is disabled here"));
    if (!web_allows(web_allowed(web), request.url, &err)) return push_err(L, &err);
    return pace_turn(L, LIMIT_HTTP_REQUESTS, "http.request");
}

/* send(...), after its turn: returns { status, headers, body }, or nil, err. Waits. */
static int l_http_send(lua_State *L)
{
    static const struct task_wait_ops ops = {push_response, drop, .finishes = true};
    struct script *script = script_of(L);
    const char *headers[2 * (WEB_HEADERS_MAX + 1)];
    const struct web_call_request request = request_args(L, headers);
    struct web *web = script->host->web;
    task_check(L, "http.request");
    memory_take(L, request.body.n);
    struct http_wait *wait = NEW(struct http_wait);
    wait->script = script;
    wait->bytes = request.body.n;
    wait->call = web_start(web, &request, on_done, wait);
    return task_yield(L, &wait->wait, &ops);
}

static void bind_http(lua_State *L)
{
    lua_newtable(L);
    lua_pushcfunction(L, l_http_turn);
    lua_setfield(L, -2, "turn");
    lua_pushcfunction(L, l_http_send);
    lua_setfield(L, -2, "send");
    lua_setfield(L, -2, "http");
}

static void push_module(lua_State *L)
{
    modules_internal(L, "k8s.http");
}

const struct feature feature_http = {
    .parts = {"http"}, .bind = bind_http, .module = "http", .push_module = push_module};
