/* raw.webhook: k8s.webhook. */
#include "script/work/bind_webhook.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/mem.h"
#include "script/view/json_encode.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"
#include "script/work/webhook.h"
#include "script/work/webhook_paths.h"

static const char verb[] = "k8s.webhook";

enum { PATH_MAX_BYTES = 200, HEADER_MAX_BYTES = 100, HEADERS_MAX = 32, HEAD_BYTES = 8 << 10 };

/* --- registration */

static const char *path_arg(lua_State *L, int idx)
{
    struct str path = arg_str(L, idx, "k8s.webhook: path");
    bool good = path.n > 0 && path.n <= PATH_MAX_BYTES && path.p[0] == '/';
    for (size_t i = 0; good && i < path.n; i++)
        good = isalnum((unsigned char)path.p[i]) || strchr("/-_.~", path.p[i]);
    if (!good || strstr(path.p, "//") || strstr(path.p, "/."))
        script_raise(
            L,
            "k8s.webhook: path must begin with / and have at most %d letters, digits and any of / - _ . "
            "~, not \"%.60s\"",
            PATH_MAX_BYTES, path.p);
    return path.p;
}

/* Letters, digits, '-' and '_': more than senders use. */
static bool is_header_name(struct str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (!isalnum((unsigned char)name.p[i]) && !strchr("-_", name.p[i])) return false;
    return name.n > 0 && name.n <= HEADER_MAX_BYTES;
}

/* A comma-separated list, made by lua/k8s. */
static unsigned methods_arg(lua_State *L, int idx)
{
    struct str rest = arg_str(L, idx, "k8s.webhook: methods"), one;
    unsigned methods = 0;
    while (str_cut(&rest, ',', &one)) {
        int i = 0;
        while (i < WEBHOOK_METHODS && !str_is(one, webhook_method_name((enum webhook_method)i))) i++;
        if (i == WEBHOOK_METHODS)
            script_raise(L, "k8s.webhook: methods has \"%.*s\", use GET, POST, PUT, PATCH or DELETE",
                         (int)(one.n < 20 ? one.n : 20), one.p);
        methods |= 1U << i;
    }
    return methods;
}

static size_t body_max_arg(lua_State *L, int idx)
{
    lua_Number most = lua_isnoneornil(L, idx) ? WEBHOOK_BODY : luaL_checknumber(L, idx);
    if (!(most >= 0 && most <= WEBHOOK_BODY_MAX))
        script_raise(L, "k8s.webhook: max_body must be between 0 and 16Mi");
    return (size_t)most;
}

static int64_t timeout_arg(lua_State *L, int idx)
{
    if (lua_isnoneornil(L, idx)) return WEBHOOK_TIMEOUT_MS;
    int64_t ms = arg_duration_ms(L, idx, "k8s.webhook: timeout");
    if (ms < 1) script_raise(L, "k8s.webhook: timeout must be greater than 0");
    return ms;
}

static enum signature_algorithm algorithm_arg(lua_State *L, int idx)
{
    struct str name = arg_str_opt(L, idx, "k8s.webhook: signature: algorithm");
    for (int i = 0; name.p && i < SIGNATURE_ALGORITHMS; i++)
        if (str_is(name, signature_algorithm_name((enum signature_algorithm)i)))
            return (enum signature_algorithm)i;
    if (name.p) script_raise(L, "k8s.webhook: signature: algorithm must be sha1, sha256 or sha512");
    return SIGNATURE_SHA256;
}

static const char *header_arg(lua_State *L, int idx)
{
    struct str name = arg_str_opt(L, idx, "k8s.webhook: signature: header");
    if (name.p && !is_header_name(name))
        script_raise(L, "k8s.webhook: signature: header \"%.40s\" is not the name of a header", name.p);
    return name.p;
}

/* The function at `idx`; LUA_NOREF for anything else. */
static int function_ref(lua_State *L, int idx)
{
    if (!lua_isfunction(L, idx)) return LUA_NOREF;
    lua_pushvalue(L, idx);
    return luaL_ref(L, LUA_REGISTRYINDEX);
}

enum {
    PATH = 1,
    FUNCTION,
    METHODS,
    BODY_MAX,
    TIMEOUT,
    LEADER,
    TOKEN,
    HEADER,
    SECRET,
    ALGORITHM,
    ARGUMENTS = ALGORITHM
};

static void take_secrets(lua_State *L, struct webhook *hook)
{
    if (lua_type(L, TOKEN) == LUA_TSTRING) {
        hook->rules.has_token = true;
        hook->rules.token = token_digest_of(arg_bytes(L, TOKEN, "k8s.webhook: token"));
    }
    if (!hook->header || lua_type(L, SECRET) != LUA_TSTRING) return;
    struct str key = arg_bytes(L, SECRET, "k8s.webhook: signature: secret");
    buf_reserve(&hook->key, key.n);
    buf_str(&hook->key, key);
}

/* new(path, function, methods, max_body, timeout, leader, token, header, secret, algorithm): token and secret
 * may be functions. While the script loads. */
static int l_webhook_new(lua_State *L)
{
    struct script *script = script_of(L);
    struct script_webhooks *own = script->own.webhooks;
    lua_Debug ar;
    arg_loading(L, verb);
    lua_settop(L, ARGUMENTS);
    const char *path = path_arg(L, PATH), *header = header_arg(L, HEADER);
    arg_function(L, FUNCTION, "k8s.webhook: fn");
    const struct webhook_rules rules = {.methods = methods_arg(L, METHODS),
                                        .body_max = body_max_arg(L, BODY_MAX)};
    int64_t timeout_ms = timeout_arg(L, TIMEOUT);
    enum signature_algorithm algorithm = algorithm_arg(L, ALGORITHM);
    if (webhook_find(script, path))
        script_raise(L, "k8s.webhook: the path \"%s\" is already registered", path);
    if (own->count == WEBHOOKS_MAX)
        script_raise(L, "k8s.webhook: a script can have at most %d webhooks", WEBHOOKS_MAX);
    bool known = script_where(L, &ar);
    int function = function_ref(L, FUNCTION), token = function_ref(L, TOKEN),
        secret = function_ref(L, SECRET);
    struct webhook *hook = *array_add(own->items, own->count) = NEW(struct webhook);
    *hook =
        (struct webhook){.script = script,
                         .path = xstrdup(path),
                         .place = known ? xasprintf("%s:%d", ar.short_src, ar.currentline) : xstrdup(verb),
                         .rules = rules,
                         .timeout_ms = timeout_ms,
                         .leader = lua_toboolean(L, LEADER),
                         .function = function,
                         .token = token,
                         .secret = secret,
                         .header = header ? xstrdup(header) : NULL,
                         .algorithm = algorithm};
    take_secrets(L, hook);
    webhook_open_series(hook);
    char *id = xasprintf("webhook%s", path);
    quarantine_init(&hook->quarantine, script, id, NULL);
    free(id);
    return 0;
}

/* --- a request */

/* Names of headers in lower case. */
static void push_name(lua_State *L, const char *name, bool is_header)
{
    luaL_Buffer lower;
    luaL_buffinit(L, &lower);
    for (; *name; name++) luaL_addchar(&lower, is_header ? (char)tolower((unsigned char)*name) : *name);
    luaL_pushresult(&lower);
}

/* Sets the field of the table on top of the stack. Of one name several headers are one, as RFC 9110 has it;
 * of parameters the first counts. */
static void set_pair(lua_State *L, const char *name, const char *value, bool is_header)
{
    push_name(L, name, is_header);
    lua_pushvalue(L, -1);
    lua_rawget(L, -3);
    if (lua_isnil(L, -1))
        lua_pushstring(L, value);
    else if (is_header)
        lua_pushfstring(L, "%s, %s", own_text(L, -1), value);
    else
        lua_pushvalue(L, -1);
    lua_remove(L, -2);
    lua_rawset(L, -3);
}

static void push_pairs(lua_State *L, struct str rest, bool are_headers)
{
    lua_newtable(L);
    while (rest.n > 0) {
        const char *value = rest.p + strlen(rest.p) + 1, *end = value + strlen(value) + 1;
        set_pair(L, rest.p, value, are_headers);
        rest.n -= (size_t)(end - rest.p);
        rest.p = end;
    }
}

static void push_request(lua_State *L, const struct webhook_request *request)
{
    lua_createtable(L, 0, 5);
    lua_pushstring(L, request->method);
    lua_setfield(L, -2, "method");
    lua_pushstring(L, request->path);
    lua_setfield(L, -2, "path");
    push_pairs(L, request->query, false);
    lua_setfield(L, -2, "query");
    push_pairs(L, request->headers, true);
    lua_setfield(L, -2, "headers");
    lua_pushlstring(L, request->body.p ? request->body.p : "", request->body.n);
    lua_setfield(L, -2, "body");
}

static void push_function(lua_State *L, int ref)
{
    if (ref == LUA_NOREF)
        lua_pushnil(L);
    else
        lua_rawgeti(L, LUA_REGISTRYINDEX, ref);
}

void webhook_push_call(lua_State *L, const struct webhook_call *call)
{
    luaL_checkstack(L, 20, verb);
    script_push_function(L, call->hook->function);
    push_request(L, call->request);
    push_function(L, call->hook->token);
    push_function(L, call->hook->secret);
}

/* admits(token, secret): what the functions returned, or nil. Sets the response if the request is refused. */
static int l_webhook_admits(lua_State *L)
{
    struct webhook_call *call = webhook_call_current(script_of(L));
    const struct webhook *hook = call->hook;
    bool ok = true;
    lua_settop(L, 2);
    if (hook->token != LUA_NOREF) {
        struct str token = arg_bytes_opt(L, 1, "k8s.webhook: what token returned");
        struct token_digest digest = token_digest_of(token);
        ok = token.n > 0 && token_digest_admits(&digest, webhook_header(call->request, "Authorization"));
    }
    if (ok && hook->secret != LUA_NOREF) {
        struct str secret = arg_bytes_opt(L, 2, "k8s.webhook: what signature.secret returned");
        ok = secret.n > 0 && signature_admits(hook->algorithm, secret, call->request->body,
                                              webhook_header(call->request, hook->header));
    }
    if (!ok) webhook_response_set(&call->response, 401, "the token or the signature is missing or wrong");
    lua_pushboolean(L, ok);
    return 1;
}

/* --- the response */

/* Returns whether the server sets it, or it would make another response. */
static bool is_ours(const char *name)
{
    static const char *const ours[] = {"connection",        "content-length", "date",
                                       "transfer-encoding", "upgrade",        "trailer"};
    for (size_t i = 0; i < ARRAY_LEN(ours); i++)
        if (strcasecmp(ours[i], name) == 0) return true;
    return false;
}

static void put_headers(lua_State *L, int first, struct buf *out)
{
    for (int i = first; i < lua_gettop(L); i += 2) {
        struct str name = arg_str(L, i, "k8s.webhook: the name of a header");
        struct str value = arg_str(L, i + 1, "k8s.webhook: the value of a header");
        if (!is_header_name(name) || is_ours(name.p))
            script_raise(L, "k8s.webhook: the header \"%.40s\" cannot be set", name.p);
        for (size_t j = 0; j < value.n; j++)
            if ((unsigned char)value.p[j] < ' ' && value.p[j] != '\t')
                script_raise(L, "k8s.webhook: the value of header %s contains a control character", name.p);
        if ((i - first) / 2 == HEADERS_MAX || out->len + name.n + value.n > HEAD_BYTES)
            script_raise(L, "k8s.webhook: more than %d headers or %d KiB of headers", HEADERS_MAX,
                         HEAD_BYTES >> 10);
        buf_printf(out, "%s: %s\n", name.p, value.p);
    }
}

/* respond(status, body, name, value, ...): the body is a string, a table, which is sent as JSON, or nil. */
static int l_webhook_respond(lua_State *L)
{
    struct webhook_response *response = &webhook_call_current(script_of(L))->response;
    lua_Number status = luaL_checknumber(L, 1);
    if (!(status >= 200 && status <= 599) || status != (int)status)
        script_raise(L, "k8s.webhook: status must be an integer from 200 to 599");
    webhook_response_clear(response);
    if (lua_isnoneornil(L, 2)) {
        response->is_empty = true;
    } else if (lua_isstring(L, 2)) {
        struct str text = arg_bytes(L, 2, "k8s.webhook: body");
        buf_str(&response->body, text);
    } else {
        buf_str(&response->body, buf_slice(json_encode(L, 2, "k8s.webhook: body", 0)));
        response->is_json = true;
    }
    put_headers(L, 3, &response->headers);
    response->status = (int)status;
    return 0;
}

/* runner(fn): what calls the function of a webhook */
static int l_webhook_runner(lua_State *L)
{
    lua_settop(L, 1);
    set_ref(L, REF_RUN_WEBHOOK);
    return 0;
}

static void bind_webhook(lua_State *L)
{
    static const luaL_Reg verbs[] = {{"new", l_webhook_new},
                                     {"admits", l_webhook_admits},
                                     {"respond", l_webhook_respond},
                                     {"runner", l_webhook_runner},
                                     {NULL, NULL}};
    lua_newtable(L);
    luaL_register(L, NULL, verbs);
    lua_setfield(L, -2, "webhook");
}

/* --- the script's life */

static void open(struct script *script)
{
    TAILQ_INIT(&script->own.webhooks->waiting);
    TAILQ_INIT(&script->own.webhooks->running);
}

static void end(struct script *script)
{
    webhooks_leave(script);
    webhooks_cancel(script);
}

static void free_webhook(struct webhook *hook)
{
    for (size_t i = 0; i < ARRAY_LEN(hook->requests); i++) series_free(hook->requests[i]);
    quarantine_clear(&hook->quarantine);
    buf_wipe(&hook->key);
    free(hook->header);
    free(hook->place);
    free(hook->path);
    free(hook);
}

static void close(struct script *script)
{
    struct script_webhooks *own = script->own.webhooks;
    for (size_t i = 0; i < own->count; i++) free_webhook(own->items[i]);
    free(own->items);
}

const struct feature feature_webhook = {.parts = {"webhook"},
                                        .bind = bind_webhook,
                                        FEATURE_OWNS(webhooks),
                                        .open = open,
                                        .turn = webhooks_turn,
                                        .stop = webhooks_refuse_waiting,
                                        .stop_leading = webhooks_stop_leading,
                                        .end = end,
                                        .close = close};
