/* raw.sink: k8s.sink. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/civil.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text/size.h"
#include "script/server/dry_write.h"
#include "script/server/sink.h"
#include "script/server/sink_target.h"
#include "script/view/json_encode.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"
#include "script/vm/memory.h"
#include "script/vm/task.h"

static const char verb[] = "k8s.sink", publish_verb[] = "sink:publish";

enum { HEADERS_MAX = 32, HEAD_BYTES = 8 << 10 };

/* With copies of all texts. */
struct declared_sink {
    struct sink_config config;
    char **headers;
    struct sink *sink; /* NULL: nothing is delivered here */
};

struct script_sinks {
    struct declared_sink *items;
    size_t count;
};

/* --- declaration */

enum { NAME = 1, TO, SPOOL, BATCH, TIMEOUT, USER, PASSWORD, TOKEN, HEADERS };

static size_t size_arg(lua_State *L)
{
    if (lua_isnoneornil(L, SPOOL)) return SINK_SPOOL;
    lua_Number bytes = luaL_checknumber(L, SPOOL);
    if (!(bytes >= SINK_SPOOL_MIN && bytes <= (lua_Number)SINK_SPOOL_MAX))
        script_raise(L, "k8s.sink: spool must be between 8Mi and 64Gi");
    return (size_t)bytes;
}

static size_t batch_arg(lua_State *L)
{
    if (lua_isnoneornil(L, BATCH)) return SINK_BATCH;
    lua_Number count = luaL_checknumber(L, BATCH);
    if (!(count >= 1 && count <= SINK_BATCH_MAX) || count != (lua_Number)(int)count)
        script_raise(L, "k8s.sink: batch must be an integer from 1 to %d", SINK_BATCH_MAX);
    return (size_t)count;
}

static int64_t timeout_arg(lua_State *L)
{
    int64_t ms =
        lua_isnoneornil(L, TIMEOUT) ? SINK_TIMEOUT_MS : arg_duration_ms(L, TIMEOUT, "k8s.sink: timeout");
    if (ms < 1) script_raise(L, "k8s.sink: timeout must be greater than 0");
    return ms;
}

/* name, value, ... from HEADERS on; made by lua/k8s. */
static void check_headers(lua_State *L)
{
    size_t bytes = 0;
    for (int i = HEADERS; i < lua_gettop(L); i += 2) {
        struct str name = arg_str(L, i, "k8s.sink: the name of a header");
        struct str value = arg_str(L, i + 1, "k8s.sink: the value of a header");
        bool good = name.n > 0 && strspn(name.p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                 "0123456789-_") == name.n;
        if (!good || strcasecmp(name.p, "content-type") == 0 || strcasecmp(name.p, "content-length") == 0 ||
            strcasecmp(name.p, "host") == 0)
            script_raise(L, "k8s.sink: the header \"%.40s\" cannot be set", name.p);
        if (strpbrk(value.p, "\r\n"))
            script_raise(L, "k8s.sink: the value of header %s contains a line break", name.p);
        bytes += name.n + value.n;
        if ((i - HEADERS) / 2 == HEADERS_MAX || bytes > HEAD_BYTES)
            script_raise(L, "k8s.sink: more than %d headers or %d KiB of headers", HEADERS_MAX,
                         HEAD_BYTES >> 10);
    }
}

static void check_target(lua_State *L, const char *name, const char *to, bool has_login)
{
    struct sink_target target;
    struct err err;
    if (!sink_target_read(to, &target, &err)) script_raise(L, "k8s.sink: %s: to: %s", name, err.text);
    bool is_http = sink_scheme_is_http(target.scheme);
    if (!is_http && lua_gettop(L) >= HEADERS)
        script_raise(L, "k8s.sink: %s: headers are for http:// and https:// only", name);
    if (has_login && (is_http || target.scheme == SINK_FILE))
        script_raise(
            L, "k8s.sink: %s: user, password and token are for nats:// and kafka:// only; use headers", name);
}

static char *copy_opt(lua_State *L, int idx, const char *what)
{
    struct str text = arg_str_opt(L, idx, what);
    return text.p ? xstrdup(text.p) : NULL;
}

static void clear(struct declared_sink *declared)
{
    struct sink_config *config = &declared->config;
    for (size_t i = 0; i < 2 * config->header_count; i++) wipe(declared->headers[i]);
    free(declared->headers);
    free((char *)config->name);
    free((char *)config->to);
    free((char *)config->user);
    wipe((char *)config->password);
    wipe((char *)config->token);
}

/* All arguments were checked: nothing raises for want of a right one. */
static struct declared_sink read_args(lua_State *L)
{
    struct declared_sink declared = {0};
    size_t count = lua_gettop(L) >= HEADERS ? (size_t)(lua_gettop(L) - HEADERS + 1) : 0;
    declared.headers = xcalloc(count + 1, sizeof *declared.headers);
    for (size_t i = 0; i < count; i++)
        declared.headers[i] = copy_opt(L, HEADERS + (int)i, "k8s.sink: headers");
    declared.config = (struct sink_config){.script = script_of(L)->id.name,
                                           .name = copy_opt(L, NAME, "k8s.sink: name"),
                                           .to = copy_opt(L, TO, "k8s.sink: to"),
                                           .headers = (const char *const *)declared.headers,
                                           .header_count = count / 2,
                                           .user = copy_opt(L, USER, "k8s.sink: user"),
                                           .password = copy_opt(L, PASSWORD, "k8s.sink: password"),
                                           .token = copy_opt(L, TOKEN, "k8s.sink: token"),
                                           .spool_bytes = size_arg(L),
                                           .batch = batch_arg(L),
                                           .timeout_ms = timeout_arg(L)};
    return declared;
}

static void check_args(lua_State *L)
{
    static const char *const logins[] = {"k8s.sink: user", "k8s.sink: password", "k8s.sink: token"};
    bool has_login = false;
    const char *name = check_id(L, arg_str(L, NAME, "k8s.sink: name"), verb, "name", SINK_NAME_MAX);
    for (int i = 0; i < 3; i++) has_login = arg_str_opt(L, USER + i, logins[i]).p || has_login;
    size_arg(L);
    batch_arg(L);
    timeout_arg(L);
    check_headers(L);
    check_target(L, name, arg_str(L, TO, "k8s.sink: to").p, has_login);
    const struct script_sinks *own = script_of(L)->own.sinks;
    if (own->count == SINKS_MAX) script_raise(L, "k8s.sink: a script can have at most %d sinks", SINKS_MAX);
    for (size_t i = 0; i < own->count; i++)
        if (strcmp(own->items[i].config.name, name) == 0)
            script_raise(L, "k8s.sink: the name \"%s\" is already used", name);
}

/* new(name, to, spool, batch, timeout, user, password, token, header, value, ...): its number. While the
 * script loads. */
static int l_sink_new(lua_State *L)
{
    struct script *script = script_of(L);
    struct script_sinks *own = script->own.sinks;
    const struct script_host *host = script->host;
    struct err err;
    arg_loading(L, verb);
    check_args(L);
    if (!host->sinks && host->lacks_state_files)
        script_raise(L, "k8s.sink: %s: events are stored in a directory, which %s gives", own_text(L, NAME),
                     host->lacks_state_files);
    struct declared_sink declared = read_args(L);
    if (host->sinks) {
        declared.sink = host->sinks->claim(host->sinks, &declared.config, &err);
        if (!declared.sink) {
            clear(&declared);
            script_raise(L, "k8s.sink: %s: %s", own_text(L, NAME), err.text);
        }
    }
    *array_add(own->items, own->count) = declared;
    lua_pushinteger(L, (lua_Integer)own->count);
    return 1;
}

/* --- publish */

struct publish_wait {
    struct task_wait wait;
    struct script *script;
    size_t bytes;                 /* C memory that it holds; counts as the script's */
    struct sink_publish *publish; /* NULL: it has ended */
    struct err err;
    bool failed;
};

static void on_done(void *ctx, const struct err *err)
{
    struct publish_wait *wait = ctx;
    wait->publish = NULL;
    wait->failed = err != NULL;
    if (err) wait->err = *err;
    task_wake(&wait->wait);
}

static int push_result(lua_State *L, struct task_wait *base)
{
    struct publish_wait *wait = container_of(base, struct publish_wait, wait);
    if (wait->failed) return push_err(L, &wait->err);
    lua_pushboolean(L, 1);
    return 1;
}

static void drop(struct task_wait *base)
{
    struct publish_wait *wait = container_of(base, struct publish_wait, wait);
    if (wait->publish) wait->script->host->sinks->cancel(wait->publish);
    memory_note(wait->script, -(ptrdiff_t)wait->bytes);
    free(wait);
}

static struct str short_arg(lua_State *L, int idx, const char *what, size_t most)
{
    struct str text = arg_str_opt(L, idx, what);
    if (text.n > most) script_raise(L, "%s must have at most %zu bytes", what, most);
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] < ' ' || text.p[i] == 0x7f)
            script_raise(L, "%s contains a control character", what);
    return text.p ? text : (struct str){"", 0};
}

/* Nothing of the event's content, which may be that of a Secret. */
static bool logs_only(struct script *script, const struct sink_config *config, const struct sink_event *event)
{
    if (script->write_mode == WRITES_SENT) return false;
    log_info(script->write_mode == WRITES_RECORDED ? dry_write_message(script)
                                                   : "Not published because of --dry-run=server",
             F("script", script->id.name), F("sink", config->name), FS("id", event->id),
             FS("key", event->key), FI("bytes", event->json.n));
    return true;
}

/* The members come first that lines of a file are known by. */
static struct str wrap(struct buf *json)
{
    static const struct str begin = {"{\"specversion\":\"1.0\",", 21};
    buf_reserve(json, begin.n);
    memmove(json->data + begin.n - 1, json->data, json->len);
    memcpy(json->data, begin.p, begin.n);
    json->len += begin.n - 1;
    return buf_slice(json);
}

/* publish(number, timeout, key, id, attributes): true, or nil, err. Waits. */
static int l_sink_publish(lua_State *L)
{
    static const struct task_wait_ops ops = {push_result, drop, .finishes = true};
    struct script *script = script_of(L);
    struct sinks *sinks = script->host->sinks;
    const struct declared_sink *declared = &script->own.sinks->items[lua_tointeger(L, 1) - 1];
    int64_t timeout_ms =
        lua_isnoneornil(L, 2) ? SINK_PUBLISH_MS : arg_duration_ms(L, 2, "sink:publish: timeout");
    struct sink_event event = {.key = short_arg(L, 3, "sink:publish: key", SINK_KEY_MAX),
                               .id = short_arg(L, 4, "sink:publish: id", SINK_ID_MAX)};
    if (timeout_ms < 0) script_raise(L, "sink:publish: timeout must not be negative");
    task_check(L, publish_verb);
    event.json = wrap(json_encode(L, 5, publish_verb, 0));
    if (event.json.n > SINK_EVENT_MAX)
        return push_error(L, 0, "TooLarge",
                          STR("the event exceeds the limit of 1 MiB for an event of a sink"));
    if (!declared->sink) return push_error(L, 0, "NotConnected", STR("nothing is delivered here"));
    if (logs_only(script, &declared->config, &event)) {
        lua_pushboolean(L, 1);
        return 1;
    }
    size_t bytes = event.json.n + event.id.n + event.key.n;
    memory_take(L, bytes);
    struct publish_wait *wait = NEW(struct publish_wait);
    *wait = (struct publish_wait){.script = script, .bytes = bytes};
    wait->publish = sinks->publish(declared->sink, &event, timeout_ms, on_done, wait);
    return task_yield(L, &wait->wait, &ops);
}

/* fresh(): an id that no other event has, and the time */
static int l_sink_fresh(lua_State *L)
{
    struct script *script = script_of(L);
    struct sinks *sinks = script->host->sinks;
    struct buf *text = script_scratch(script);
    buf_printf(text, "%016" PRIx64 "-%" PRIu64, sinks ? sinks->incarnation : 0, sinks ? ++sinks->ids : 0);
    lua_pushlstring(L, text->data, text->len);
    text->len = 0;
    civil_put_utc(text, clock_wall_us(script_clock(script)), 6);
    lua_pushlstring(L, text->data, text->len);
    return 2;
}

static void bind_sink(lua_State *L)
{
    static const luaL_Reg verbs[] = {
        {"new", l_sink_new}, {"publish", l_sink_publish}, {"fresh", l_sink_fresh}, {NULL, NULL}};
    lua_newtable(L);
    luaL_register(L, NULL, verbs);
    lua_setfield(L, -2, "sink");
}

/* --- the script's life */

void sinks_handover(struct script *script)
{
    const struct script_sinks *own = script->own.sinks;
    for (size_t i = 0; i < own->count; i++)
        if (own->items[i].sink) script->host->sinks->use(own->items[i].sink, &own->items[i].config);
}

size_t script_sink_count(const struct script *script)
{
    return script->own.sinks->count;
}

bool script_get_sink_status(const struct script *script, size_t i, struct sink_status *status)
{
    struct sink *sink = script->own.sinks->items[i].sink;
    if (sink) script->host->sinks->status(sink, status);
    return sink != NULL;
}

static void close(struct script *script)
{
    struct script_sinks *own = script->own.sinks;
    for (size_t i = 0; i < own->count; i++) {
        if (own->items[i].sink) script->host->sinks->release(own->items[i].sink);
        clear(&own->items[i]);
    }
    free(own->items);
}

const struct feature feature_sink = {
    .parts = {"sink"}, .bind = bind_sink, FEATURE_OWNS(sinks), .close = close};
