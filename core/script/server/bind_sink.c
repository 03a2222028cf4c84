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
#include "script/server/sink_args.h"
#include "script/server/sink_texts.h"
#include "script/view/json_encode.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"
#include "script/vm/memory.h"
#include "script/vm/task.h"

static const char publish_verb[] = "sink:publish";

/* --- declaration */

static void check_place(lua_State *L, const char *name)
{
    const struct script_sinks *own = script_of(L)->own.sinks;
    if (own->count == SINKS_MAX) script_raise(L, "k8s.sink: a script can have at most %d sinks", SINKS_MAX);
    for (size_t i = 0; i < own->count; i++)
        if (strcmp(own->items[i].config.name, name) == 0)
            script_raise(L, "k8s.sink: the name \"%s\" is already used", name);
}

/* new(...), the arguments of sink_args.h: its number. While the script loads. */
static int l_sink_new(lua_State *L)
{
    struct script *script = script_of(L);
    struct script_sinks *own = script->own.sinks;
    const struct script_host *host = script->host;
    struct err err;
    arg_loading(L, "k8s.sink");
    const char *name = sink_args_check(L);
    check_place(L, name);
    if (!host->sinks && host->lacks_state_files)
        script_raise(L, "k8s.sink: %s: events are stored in a directory, which %s gives", name,
                     host->lacks_state_files);
    struct declared_sink declared = {.config = sink_args_read(L), .function = LUA_NOREF};
    if (host->sinks) {
        declared.sink = host->sinks->claim(host->sinks, &declared.config, &err);
        if (!declared.sink) {
            sink_config_clear(&declared.config);
            script_raise(L, "k8s.sink: %s: %s", name, err.text);
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
        {"new", l_sink_new},         {"ask", l_sink_ask},     {"lack", l_sink_lack}, {"take", l_sink_take},
        {"publish", l_sink_publish}, {"fresh", l_sink_fresh}, {NULL, NULL}};
    lua_newtable(L);
    luaL_register(L, NULL, verbs);
    lua_setfield(L, -2, "sink");
}

/* --- the script's life */

void sinks_handover(struct script *script)
{
    const struct script_sinks *own = script->own.sinks;
    const struct sinks *sinks = script->host->sinks;
    for (size_t i = 0; i < own->count; i++) {
        const struct declared_sink *one = &own->items[i];
        if (!one->sink) continue;
        if (one->function == LUA_NOREF)
            sinks->use(one->sink, &one->config);
        else
            sinks->hold(one->sink, &one->config, NULL);
    }
    sink_texts_begin(script);
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
    sink_texts_end(script);
    for (size_t i = 0; i < own->count; i++) {
        if (own->items[i].sink) script->host->sinks->release(own->items[i].sink);
        if (own->items[i].function != LUA_NOREF) {
            failure_log_flush(&own->items[i].report);
            quarantine_clear(&own->items[i].quarantine);
        }
        sink_config_clear(&own->items[i].config);
    }
    free(own->items);
}

const struct feature feature_sink = {.parts = {"sink"},
                                     .bind = bind_sink,
                                     FEATURE_OWNS(sinks),
                                     .turn = sinks_turn,
                                     .claims_changed = sink_texts_invalidate,
                                     .stop = sink_texts_end,
                                     .close = close};
