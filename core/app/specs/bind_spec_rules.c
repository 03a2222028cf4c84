/* More of raw.test: faults of a cluster, and responses of other servers; see bind_spec.c. */

#include "app/specs/bind_spec_internal.h"
#include "app/specs/spec_calls.h"
#include "engine/reload/managed_script.h"
#include "script/generation/handover.h"
#include "script/vm/args.h"
#include "script/vm/bundle.h"
#include "tool/tool.h"

enum { HEADERS_MAX = 20 };

static const char *text_of(lua_State *L, const char *key)
{
    lua_getfield(L, 2, key);
    const char *text = lua_isnil(L, -1) ? NULL : arg_str(L, -1, key).p;
    lua_pop(L, 1); /* the table keeps it alive */
    return text;
}

static int number_of(lua_State *L, const char *key, int otherwise)
{
    lua_getfield(L, 2, key);
    int n = lua_isnil(L, -1) ? otherwise : (int)luaL_checkinteger(L, -1);
    lua_pop(L, 1);
    return n;
}

static int64_t delay_of(lua_State *L)
{
    lua_getfield(L, 2, "delay_ms");
    int64_t ms = lua_isnil(L, -1) ? 0 : (int64_t)luaL_checknumber(L, -1); /* of raw.test.duration */
    lua_pop(L, 1);
    return ms;
}

/* rule(engine, table) */
static int l_rule(lua_State *L)
{
    struct err err;
    struct spec_engine *engine = spec_engine_arg(L);
    arg_table(L, 2, "rule");
    struct spec_fault fault = {.id = number_of(L, "id", 0),
                               .verb = text_of(L, "verb"),
                               .namespace_ = text_of(L, "namespace"),
                               .name = text_of(L, "name"),
                               .subresource = text_of(L, "subresource"),
                               .reason = text_of(L, "reason"),
                               .message = text_of(L, "message"),
                               .code = number_of(L, "code", 0),
                               .retry_after_s = number_of(L, "retry_after", 0),
                               .skip = number_of(L, "skip", 0),
                               .times = number_of(L, "times", 1),
                               .delay_ms = delay_of(L)};
    const char *kind = text_of(L, "kind");
    struct buf *name = script_scratch(script_of(L));
    struct resource resource;
    if (kind && !kinds_resolve(spec_engine_kinds(engine), str_of(kind), &resource, &err))
        return spec_push_result(L, false, &err);
    if (kind) {
        resource_name(&resource, name);
        resource_clear(&resource);
        fault.resource = buf_text(name);
    }
    spec_cluster_add_fault(engine->cluster, &fault);
    return spec_push_result(L, true, NULL);
}

/* Returns element `i` of the array on top, which keeps it alive. */
static const char *header_text(lua_State *L, int i)
{
    lua_rawgeti(L, -1, i);
    const char *text = lua_isnil(L, -1) ? NULL : arg_str(L, -1, "env:http: header").p;
    lua_pop(L, 1);
    return text;
}

static void take_headers(lua_State *L, struct http_header *headers)
{
    lua_getfield(L, 2, "headers");
    for (int i = 0; lua_istable(L, -1) && i < HEADERS_MAX; i++) {
        const struct http_header header = {header_text(L, 2 * i + 1), header_text(L, 2 * i + 2)};
        if (!header.value) break;
        headers[i] = header;
    }
    lua_pop(L, 1);
}

/* respond(engine, table): `headers` is an array of alternating names and values */
static int l_respond(lua_State *L)
{
    struct spec_engine *engine = spec_engine_arg(L);
    arg_table(L, 2, "response");
    lua_getfield(L, 2, "body");
    struct str body = arg_bytes_opt(L, -1, "env:http: body"); /* kept alive by the table */
    lua_pop(L, 1);
    struct http_header headers[HEADERS_MAX + 1] = {{NULL, NULL}};
    take_headers(L, headers);
    spec_web_add(engine->servers, &(struct spec_web_response){.method = text_of(L, "method"),
                                                              .url = text_of(L, "url"),
                                                              .status = number_of(L, "status", 200),
                                                              .headers = headers,
                                                              .body = body,
                                                              .delay_ms = delay_of(L),
                                                              .times = number_of(L, "times", 0)});
    return 0;
}

/* duration(value): milliseconds */
static int l_duration(lua_State *L)
{
    lua_pushnumber(L, (lua_Number)arg_duration_ms(L, 1, "env:fault: delay"));
    return 1;
}

/* rule_is_unmet(engine, id) */
static int l_rule_is_unmet(lua_State *L)
{
    struct spec_engine *engine = spec_engine_arg(L);
    lua_pushboolean(L, spec_cluster_has_unmet(engine->cluster, (int)luaL_checkinteger(L, 2)));
    return 1;
}

static int l_clear_rules(lua_State *L)
{
    spec_cluster_clear_faults(spec_engine_arg(L)->cluster);
    return 0;
}

/* end_watches(engine, kind or "", expire) */
static int l_end_watches(lua_State *L)
{
    struct err err;
    struct spec_engine *engine = spec_engine_arg(L);
    const char *kind = arg_str(L, 2, "kind").p;
    struct sim_inside *inside = spec_cluster_inside(engine->cluster);
    return spec_push_result(L, sim_inside_end_watches(inside, kind, lua_toboolean(L, 3), &err), &err);
}

void bind_test_rules(lua_State *L)
{
    static const luaL_Reg verbs[] = {{"rule", l_rule},
                                     {"respond", l_respond},
                                     {"duration", l_duration},
                                     {"rule_is_unmet", l_rule_is_unmet},
                                     {"clear_rules", l_clear_rules},
                                     {"end_watches", l_end_watches},
                                     {NULL, NULL}};
    luaL_register(L, NULL, verbs);
}

/* --- More of raw.test: results of rules; see bind_spec.c */

/* audit(engine, rule or nil, passes): a JSON array of results; or nil and an error */
static int l_audit(lua_State *L)
{
    struct err err;
    struct spec_engine *engine = spec_engine_arg(L);
    const char *rule = arg_str_opt(L, 2, "env:audit: rule").p;
    struct buf *out = script_scratch(script_of(L));
    if (!spec_audit(engine, rule, lua_toboolean(L, 3), out, &err)) return spec_push_result(L, false, &err);
    lua_pushlstring(L, out->data, out->len);
    return 1;
}

/* check_params(engine): nothing, or nil and the parameters without a rule */
static int l_check_params(lua_State *L)
{
    struct err err;
    return spec_push_result(L, engine_check_params(spec_engine_arg(L)->engine, &err), &err);
}

void bind_test_audit(lua_State *L)
{
    lua_pushcfunction(L, l_audit);
    lua_setfield(L, -2, "audit");
    lua_pushcfunction(L, l_check_params);
    lua_setfield(L, -2, "check_params");
}

/* --- More of raw.test: the next generation of a script under test; see bind_spec.c */

/* reload(engine, name, text or nil): the handover of the previous generation; or nil and the reason of the
 * refusal */
static int l_reload(lua_State *L)
{
    struct err err;
    struct handover done;
    struct spec_engine *engine = spec_engine_arg(L);
    const char *name = arg_str(L, 2, "name").p;
    if (!spec_engine_reload(engine, name, arg_bytes_opt(L, 3, "env:reload: the text"), &done, &err))
        return spec_push_result(L, false, &err);
    lua_createtable(L, 0, 6);
    tool_set_count(L, "handlers_kept", done.kept);
    tool_set_count(L, "handlers_added", done.added);
    tool_set_count(L, "handlers_removed", done.removed);
    tool_set_count(L, "events_dropped", done.dropped_events);
    tool_set_count(L, "keys_dropped", done.dropped_keys);
    tool_set_count(L, "timers_cancelled", done.cancelled_timers);
    return 1;
}

/* source(engine, name): the source of the running script; nil without a script */
static int l_source(lua_State *L)
{
    const struct managed_scripts *scripts = engine_scripts(spec_engine_arg(L)->engine);
    const struct managed_script *managed = managed_script_find(scripts, arg_str(L, 2, "name").p);
    struct str text;
    struct err err;
    if (!managed || !bundle_text(script_bundle(managed->running), managed->path, &text, &err)) return 0;
    lua_pushlstring(L, text.p, text.n);
    return 1;
}

void bind_test_reload(lua_State *L)
{
    static const luaL_Reg verbs[] = {{"reload", l_reload}, {"source", l_source}, {NULL, NULL}};
    luaL_register(L, NULL, verbs);
}
