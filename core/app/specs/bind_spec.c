/* raw.test: engines for scripts under test, in the state of specs only. Errors are returned as nil and a
 * text: lua/k8s/test raises them where the spec called. Other parts: bind_spec_internal.h. */
#include <lauxlib.h>

#include "app/specs/bind_spec_internal.h"
#include "app/specs/replay.h"
#include "app/specs/spec_calls.h"
#include "base/series/user_metric.h"
#include "script/vm/args.h"
#include "tool/tool.h"

struct holder {
    struct spec_engine *engine; /* NULL: closed */
};

struct spec_engine *spec_engine_arg(lua_State *L)
{
    struct holder *holder = class_self(L, CLASS_TEST_ENGINE, "verb");
    if (!holder->engine) script_raise(L, "this test environment is closed");
    return holder->engine;
}

int spec_push_result(lua_State *L, bool ok, const struct err *err)
{
    if (ok) {
        lua_pushboolean(L, 1);
        return 1;
    }
    lua_pushnil(L);
    lua_pushstring(L, err->text);
    return 2;
}

/* Returns the limits in the table at `idx`, or nil: names and values as for the flag --limit, over those of
 * the flags. */
static struct limits limits_arg(lua_State *L, int idx)
{
    const struct limits *given = script_of(L)->host->limits;
    struct limits limits = given ? *given : limits_default;
    struct err err;
    lua_pushnil(L);
    while (lua_istable(L, idx) && lua_next(L, idx)) {
        struct str name = arg_str(L, -2, "test.load: limits: name");
        if (!lua_isstring(L, -1))
            script_raise(L, "test.load: limits: %s must be a string or a number", name.p);
        lua_tolstring(L, -1, NULL); /* converts a number to text */
        const char *value = arg_str(L, -1, "test.load: limits: value").p;
        if (!limits_set_value(&limits, name, value, &err)) script_raise(L, "test.load: limits: %s", err.text);
        lua_pop(L, 1);
    }
    return limits;
}

/* 2200-01-01, in seconds. */
#define NOW_END 7258118400.0

/* Returns the strings of the array at `idx`, which keeps them alive; an array with their pointers stays on
 * the stack. */
static const char **texts_arg(lua_State *L, int idx, const char *what, size_t *count)
{
    *count = lua_istable(L, idx) ? lua_objlen(L, idx) : 0;
    const char **texts = lua_newuserdata(L, (*count + 1) * sizeof *texts);
    for (size_t i = 0; i < *count; i++) {
        lua_rawgeti(L, idx, (int)i + 1);
        texts[i] = arg_str(L, -1, what).p;
        lua_pop(L, 1);
    }
    return texts;
}

/* open(namespace, wall time in seconds, elects, limits, params, clusters) */
static int l_open(lua_State *L)
{
    struct err err;
    size_t param_count, cluster_count;
    lua_settop(L, 6);
    const struct limits limits = limits_arg(L, 4);
    lua_settop(L, 6);
    const char **params = texts_arg(L, 5, "test.load: params", &param_count);
    const char **clusters = texts_arg(L, 6, "test.load: clusters", &cluster_count);
    lua_Number now = luaL_checknumber(L, 2);
    if (!(now >= 0 && now < NOW_END))
        script_raise(L, "test.load: now must be a time from 1970 to 2199, not %.14g seconds", now);
    const struct spec_engine_options options = {.namespace_ = arg_str(L, 1, "namespace").p,
                                                .wall_us = (int64_t)(now * 1e6),
                                                .elects = lua_toboolean(L, 3),
                                                .limits = &limits,
                                                .params = params,
                                                .param_count = param_count,
                                                .clusters = clusters,
                                                .cluster_count = cluster_count,
                                                .lua_path = script_of(L)->host->lua_path,
                                                .lua_path_count = script_of(L)->host->lua_path_count};
    struct holder *holder = lua_newuserdata(L, sizeof *holder);
    holder->engine = NULL;
    class_set(L, script_of(L), CLASS_TEST_ENGINE);
    holder->engine = spec_engine_open(&options, &err);
    if (holder->engine) return 1;
    return spec_push_result(L, false, &err);
}

static int l_close(lua_State *L)
{
    struct holder *holder = class_self(L, CLASS_TEST_ENGINE, "close");
    struct spec_engine *engine = holder->engine;
    holder->engine = NULL;
    spec_engine_free(engine);
    return 0;
}

/* load(engine, path, name) */
static int l_load(lua_State *L)
{
    struct err err;
    struct spec_engine *engine = spec_engine_arg(L);
    const char *path = arg_str(L, 2, "path").p, *name = arg_str(L, 3, "name").p;
    return spec_push_result(L, spec_engine_load(engine, path, name, &err), &err);
}

static int l_settle(lua_State *L)
{
    struct err err;
    struct spec_engine *engine = spec_engine_arg(L);
    return spec_push_result(L, spec_engine_settle(engine, &err), &err);
}

/* advance(engine, duration) */
static int l_advance(lua_State *L)
{
    struct err err;
    struct spec_engine *engine = spec_engine_arg(L);
    int64_t ms = arg_duration_ms(L, 2, "env:advance: the duration");
    return spec_push_result(L, spec_engine_advance(engine, ms, &err), &err);
}

static int l_now(lua_State *L)
{
    lua_pushnumber(L, (lua_Number)clock_wall_us(loop_clock(spec_engine_arg(L)->loop)) / 1e6);
    return 1;
}

static int l_elapsed(lua_State *L)
{
    lua_pushnumber(L, (lua_Number)spec_engine_elapsed_ms(spec_engine_arg(L)));
    return 1;
}

/* records(engine): the records since the last call, as a JSON array. */
static int l_records(lua_State *L)
{
    struct spec_engine *engine = spec_engine_arg(L);
    struct buf *out = script_scratch(script_of(L));
    buf_putc(out, '[');
    buf_str(out, buf_slice(&engine->records));
    engine->records.len = 0;
    buf_putc(out, ']');
    lua_pushlstring(L, out->data, out->len);
    return 1;
}

/* lead(engine, leads): false if there is no election */
static int l_lead(lua_State *L)
{
    struct leaders *leaders = engine_cluster(spec_engine_arg(L)->engine)->parts.leaders;
    bool elects = leaders_count(leaders) > 0;
    if (elects) leaders_decide(leaders, lua_toboolean(L, 2));
    lua_pushboolean(L, elects);
    return 1;
}

/* stop(engine): what the end of the engine is for scripts */
static int l_stop(lua_State *L)
{
    struct err err;
    size_t count = 0;
    struct spec_engine *engine = spec_engine_arg(L);
    engine_stop_scripts(engine->engine);
    if (!spec_engine_settle(engine, &err)) return spec_push_result(L, false, &err);
    for (struct script *script; (script = spec_engine_script(engine, count)); count++)
        script_flush_states(script);
    return spec_push_result(L, spec_engine_settle(engine, &err), &err);
}

enum { CALL_ARGS_MAX = 100 };

/* call(engine, name, ...): outcome, text, whether that is JSON; or nil and an error */
static int l_call(lua_State *L)
{
    struct err err;
    const char *args[CALL_ARGS_MAX];
    struct spec_engine *engine = spec_engine_arg(L);
    const char *name = arg_str(L, 2, "env:call: name").p;
    int count = lua_gettop(L) - 2;
    if (count > CALL_ARGS_MAX) script_raise(L, "env:call: more than %d arguments", CALL_ARGS_MAX);
    for (int i = 0; i < count; i++) args[i] = arg_str(L, i + 3, "env:call: argument").p;
    struct spec_call_result r = {.text = script_scratch(script_of(L))};
    if (!spec_command_call(engine, name, args, (size_t)count, &r, &err))
        return spec_push_result(L, false, &err);
    lua_pushstring(L, script_command_end_name(r.end));
    lua_pushlstring(L, r.text->data ? r.text->data : "", r.text->len);
    lua_pushboolean(L, r.is_json);
    return 3;
}

/* metrics(engine): the page with the metrics of its scripts */
static int l_metrics(lua_State *L)
{
    const struct spec_engine *engine = spec_engine_arg(L);
    struct buf *page = script_scratch(script_of(L));
    user_metrics_render(engine, page);
    lua_pushlstring(L, page->data ? page->data : "", page->len);
    return 1;
}

/* recording_begin(path): seconds since the epoch */
static int l_recording_begin(lua_State *L)
{
    struct err err;
    int64_t begin_us;
    if (!spec_replay_begin_us(arg_str(L, 1, "path").p, &begin_us, &err))
        return spec_push_result(L, false, &err);
    lua_pushnumber(L, (lua_Number)begin_us / 1e6);
    return 1;
}

/* replay_begin(engine, path) */
static int l_replay_begin(lua_State *L)
{
    struct err err;
    struct spec_engine *engine = spec_engine_arg(L);
    const char *path = arg_str(L, 2, "path").p;
    spec_replay_close(engine->replay);
    engine->replay = spec_replay_open(engine, path, &err);
    bool ok = engine->replay && spec_replay_begin(engine->replay, &(struct spec_replay_options){0}, &err);
    return spec_push_result(L, ok, &err);
}

/* replay_play(engine, speed): number of objects in the first lists, number of changes after them; and a text
 * if not everything was played */
static int l_replay_play(lua_State *L)
{
    struct err err;
    struct replay_counts counts = {0};
    struct spec_engine *engine = spec_engine_arg(L);
    const struct spec_replay_options options = {.speed = luaL_checknumber(L, 2)};
    bool ok = engine->replay ? spec_replay_play(engine->replay, &options, &err)
                             : err_set(&err, ERR_INVALID, "no recording to continue");
    if (engine->replay) spec_replay_get_counts(engine->replay, &counts);
    spec_replay_close(engine->replay);
    engine->replay = NULL;
    lua_pushnumber(L, (lua_Number)counts.objects);
    lua_pushnumber(L, (lua_Number)counts.changes);
    if (ok) return 2;
    lua_pushstring(L, err.text);
    return 3;
}

/* status(engine): nil without a script */
static int l_status(lua_State *L)
{
    const struct script *script = spec_engine_script(spec_engine_arg(L), 0);
    if (!script) return 0;
    spec_status_push(L, script);
    return 1;
}

void bind_test(lua_State *L)
{
    static const luaL_Reg verbs[] = {{"open", l_open},
                                     {"close", l_close},
                                     {"load", l_load},
                                     {"settle", l_settle},
                                     {"advance", l_advance},
                                     {"now", l_now},
                                     {"elapsed", l_elapsed},
                                     {"records", l_records},
                                     {"status", l_status},
                                     {"call", l_call},
                                     {"metrics", l_metrics},
                                     {"recording_begin", l_recording_begin},
                                     {"replay_begin", l_replay_begin},
                                     {"replay_play", l_replay_play},
                                     {"lead", l_lead},
                                     {"stop", l_stop},
                                     {NULL, NULL}};
    static const luaL_Reg meta[] = {{"__gc", l_close}, {NULL, NULL}};
    class_define(L, CLASS_TEST_ENGINE, "test environment", meta, NULL);
    push_ref(L, script_of(L), REF_RAW);
    lua_newtable(L);
    luaL_register(L, NULL, verbs);
    bind_test_cluster(L);
    bind_test_rules(L);
    bind_test_reload(L);
    bind_test_audit(L);
    bind_test_states(L);
    bind_test_webhook(L);
    lua_setfield(L, -2, "test");
    lua_pop(L, 1);
}

/* --- Result of env:status() in a spec */

static void add_handler(void *ctx, const struct script_handler_status *status)
{
    lua_State *L = ctx;
    lua_createtable(L, 0, 4);
    tool_set_text(L, "id", status->id);
    tool_set_text(L, "kind", status->kind);
    tool_set_count(L, "pending", status->pending);
    tool_set_count(L, "errors", status->errors);
    lua_rawseti(L, -2, (int)lua_objlen(L, -2) + 1);
}

static void push_queues(lua_State *L, const struct script *script)
{
    lua_newtable(L);
    for (size_t i = 0; i < script_queue_count(script); i++) {
        struct script_queue_status status;
        script_get_queue_status(script, i, &status);
        lua_createtable(L, 0, 6);
        tool_set_text(L, "name", status.name);
        tool_set_count(L, "waiting", status.queue.depth);
        tool_set_count(L, "delayed", status.queue.delayed);
        tool_set_count(L, "running", status.queue.processing);
        tool_set_count(L, "failing", status.queue.failing);
        tool_set_count(L, "errors", status.errors);
        lua_rawseti(L, -2, (int)i + 1);
    }
}

void spec_status_push(lua_State *L, const struct script *script)
{
    lua_newtable(L);
    lua_newtable(L);
    script_each_handler(script, add_handler, L);
    lua_setfield(L, -2, "handlers");
    push_queues(L, script);
    lua_setfield(L, -2, "queues");
    lua_pushboolean(L, script_has_synced(script));
    lua_setfield(L, -2, "synced");
    tool_set_count(L, "memory", script_memory(script));
}
