/* raw.live: GETs whose response is a text: paths of k8s.raw, and logs of containers. A log that is followed
 * is a reader (reader_lines.c). */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "informer/live/live_client.h"
#include "script/server/bind_kind.h"
#include "script/server/declared.h"
#include "script/server/reader.h"
#include "script/vm/args.h"
#include "script/vm/memory.h"
#include "script/vm/task.h"

enum { TIMEOUT_MS = 30000, FOLLOW_MS = 60 * 60 * 1000, TIMEOUT_MAX_MS = 24 * 60 * 60 * 1000 };

/* --- arguments */

static int64_t timeout_arg(lua_State *L, int idx, const char *function, int64_t absent)
{
    if (lua_isnoneornil(L, idx)) return absent;
    lua_pushfstring(L, "%s: timeout", function);
    int64_t timeout_ms = arg_duration_ms(L, idx, own_text(L, -1));
    if (timeout_ms < 1 || timeout_ms > TIMEOUT_MAX_MS)
        script_raise(L, "%s: timeout must be above 0, and 24h at most", function);
    return timeout_ms;
}

static bool is_parameter(struct str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (!isalnum((unsigned char)name.p[i]) && !strchr("-_.", name.p[i])) return false;
    return name.n > 0;
}

/* Appends "?name=value&..." of the arguments from `at` on. */
static void put_query(lua_State *L, int at, const char *function, struct buf *out)
{
    char before = '?';
    for (; at < lua_gettop(L); at += 2) {
        struct str name = arg_str(L, at, function), value = arg_str(L, at + 1, function);
        if (!is_parameter(name))
            script_raise(L, "%s: query: \"%.40s\" cannot be a parameter", function, name.p);
        buf_printf(out, "%c%s=", before, name.p);
        url_escape(value, out);
        before = '&';
    }
}

/* Both would be responses without an end. */
static void refuse_streams(lua_State *L, int at)
{
    for (; at < lua_gettop(L); at += 2) {
        struct str name = arg_str(L, at, "k8s.raw: query");
        if (str_is(name, "watch")) script_raise(L, "k8s.raw: query: watch is refused; use k8s.watch");
        if (str_is(name, "follow")) script_raise(L, "k8s.raw: query: follow is refused; use k8s.logs");
    }
}

/* --- one response */

struct text_wait {
    struct task_wait wait;
    struct script *script;
    struct live_read *read;
    const struct cluster_parts *cluster; /* held */
    size_t bytes;                        /* C memory that counts as the script's */
    struct buf text;
    bool is_json;
    struct err err;
};

static void on_text(void *ctx, const struct object_response *response)
{
    struct text_wait *wait = ctx;
    if (response->err) {
        wait->err = *response->err;
        if (wait->err.code == ERR_LIMIT)
            err_set(&wait->err, ERR_LIMIT, "%s (limit value-size)", response->err->text);
    } else {
        buf_str(&wait->text, response->text);
        wait->is_json = response->is_json;
        wait->bytes = response->text.n;
        memory_note(wait->script, (ptrdiff_t)wait->bytes);
    }
    task_wake(&wait->wait);
}

static int push_text(lua_State *L, struct task_wait *base)
{
    struct text_wait *wait = container_of(base, struct text_wait, wait);
    if (wait->err.code != ERR_NONE) return push_err(L, &wait->err);
    lua_pushlstring(L, buf_text(&wait->text), wait->text.len);
    lua_pushboolean(L, wait->is_json);
    return 2;
}

static void drop_text(struct task_wait *base)
{
    struct text_wait *wait = container_of(base, struct text_wait, wait);
    live_close(wait->read);
    cluster_let_go(wait->cluster);
    memory_note(wait->script, -(ptrdiff_t)wait->bytes);
    buf_clear(&wait->text);
    free(wait);
}

/* Sends the request. `path` may be the script's scratch. */
static int wait_text(lua_State *L, const struct cluster_parts *cluster, const char *function,
                     struct buf *path, int64_t timeout_ms)
{
    static const struct task_wait_ops ops = {push_text, drop_text, .finishes = true};
    struct script *script = script_of(L);
    task_check(L, function);
    const struct object_request request = {.verb = OBJECT_TEXT,
                                           .path = buf_text(path),
                                           .limit = (size_t)script->limits.values[LIMIT_VALUE_SIZE],
                                           .timeout_ms = timeout_ms};
    struct text_wait *wait = NEW(struct text_wait);
    wait->script = script;
    err_clear(&wait->err);
    wait->cluster = cluster_hold(cluster);
    wait->read = live_call(cluster->live, &request, on_text, wait);
    return task_yield(L, &wait->wait, &ops);
}

/* raw(path, timeout or nil, cluster or nil, name, value, ...): text and whether it is JSON, or nil, err.
 * Waits. */
static int l_live_raw(lua_State *L)
{
    enum { ARG_CLUSTER = 3, ARG_QUERY };
    struct script *script = script_of(L);
    struct err err;
    struct str path = arg_str(L, 1, "k8s.raw: path");
    const struct cluster_parts *cluster = cluster_arg(L, ARG_CLUSTER, "k8s.raw");
    task_check(L, "k8s.raw");
    int64_t timeout_ms = timeout_arg(L, 2, "k8s.raw", TIMEOUT_MS);
    if (!lua_isnoneornil(L, 2)) lua_pop(L, 1); /* the words of its error */
    if (!read_path_check(path, &err)) script_raise(L, "k8s.raw: %s", err.text);
    if (!read_paths_allow(&script->own.reads->paths, path))
        script_raise(L, "k8s.raw: \"%s\" is not declared with k8s.reads", path.p);
    if (!cluster->live) script_raise(L, "k8s.raw: no server connection");
    refuse_streams(L, ARG_QUERY);
    struct buf *out = script_scratch(script);
    buf_str(out, path);
    put_query(L, ARG_QUERY, "k8s.raw", out);
    return wait_text(L, cluster, "k8s.raw", out, timeout_ms);
}

/* --- logs */

enum { ARG_LOG_QUERY = 5 };

/* Path of the log: resource, namespace, name, timeout, name, value, ... of the query. */
static struct buf *log_path(lua_State *L)
{
    struct err err;
    const struct resource *resource = read_resource_arg(L, 1, READ_FUNCTION_LOGS);
    struct str ns = arg_str(L, 2, "k8s.logs: namespace"), name = arg_str(L, 3, "k8s.logs: name");
    struct buf *out = script_scratch(script_of(L));
    if (!resource_object_path(resource, ns, name, STR("log"), out, &err))
        script_raise(L, "k8s.logs: %s", err.text);
    put_query(L, ARG_LOG_QUERY, "k8s.logs", out);
    return out;
}

/* logs(resource, namespace, name, timeout, name, value, ...): the text, or nil, err. Waits. */
static int l_live_logs(lua_State *L)
{
    struct buf *path = log_path(L);
    return wait_text(L, resource_cluster(L, 1), "k8s.logs", path, timeout_arg(L, 4, "k8s.logs", TIMEOUT_MS));
}

/* lines(the same): a reader of lines. */
static int l_live_lines(lua_State *L)
{
    const struct live_request request = {.verb = LIVE_TEXT, .path = buf_text(log_path(L))};
    int64_t timeout_ms = timeout_arg(L, 4, "k8s.logs", FOLLOW_MS);
    struct reader *reader = reader_push(L, CLASS_LINES, LIVE_TEXT, "k8s.logs");
    reader_start(reader, &request);
    timer_start(&reader->timeout, script_clock(script_of(L)), timeout_ms);
    return 1;
}

void bind_text(lua_State *L)
{
    static const luaL_Reg verbs[] = {{"raw", l_live_raw},
                                     {"logs", l_live_logs},
                                     {"lines", l_live_lines},
                                     {"line", reader_line},
                                     {NULL, NULL}};
    luaL_register(L, NULL, verbs);
}
