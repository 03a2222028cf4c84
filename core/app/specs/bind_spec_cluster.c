/* raw.test: changes and requests of a spec to the cluster of its engine; see bind_spec_internal.h. */
#include <string.h>

#include "app/specs/bind_spec_internal.h"
#include "app/specs/spec_clusters.h"
#include "audit/input/manifest_objects.h"
#include "object/parse/document.h"
#include "script/vm/args.h"
#include "tool/tool.h"

/* put(engine, json) */
static int l_put(lua_State *L)
{
    struct err err;
    struct spec_engine *engine = spec_engine_arg(L);
    return spec_push_result(L, spec_engine_put(engine, arg_bytes(L, 2, "json"), &err), &err);
}

/* remove(engine, path) */
static int l_remove(lua_State *L)
{
    struct spec_engine *engine = spec_engine_arg(L);
    lua_pushboolean(L, spec_engine_remove(engine, arg_str(L, 2, "path").p));
    return 1;
}

/* request(engine, method, target, content type or nil, body or nil): code, text */
static int l_request(lua_State *L)
{
    struct spec_engine *engine = spec_engine_arg(L);
    const struct sim_inside_request request = {.method = arg_str(L, 2, "method").p,
                                               .target = arg_str(L, 3, "target").p,
                                               .content_type = arg_str_opt(L, 4, "content type").p,
                                               .agent = "k8s.test",
                                               .body = arg_bytes_opt(L, 5, "body")};
    struct sim_inside_response response = {0};
    sim_inside_serve(spec_cluster_inside(engine->cluster), &request, &response);
    lua_pushinteger(L, response.code);
    lua_pushlstring(L, buf_text(&response.body), response.body.len);
    sim_inside_response_clear(&response);
    return 2;
}

/* answer(engine, path, code, body, is JSON, is a log, container or nil, is previous) */
static int l_answer(lua_State *L)
{
    struct spec_engine *engine = spec_engine_arg(L);
    const struct spec_answer answer = {.path = arg_str(L, 2, "path").p,
                                       .code = (int)luaL_checkinteger(L, 3),
                                       .body = arg_bytes(L, 4, "body"),
                                       .is_json = lua_toboolean(L, 5),
                                       .is_log = lua_toboolean(L, 6),
                                       .container = arg_str_opt(L, 7, "container").p,
                                       .is_previous = lua_toboolean(L, 8)};
    spec_cluster_answer(engine->cluster, &answer);
    return 0;
}

/* add_kind(engine, group, version, plural, kind, namespaced) */
static int l_add_kind(lua_State *L)
{
    struct err err;
    struct spec_engine *engine = spec_engine_arg(L);
    const struct resource resource = {.group = (char *)arg_str(L, 2, "group").p,
                                      .version = (char *)arg_str(L, 3, "version").p,
                                      .plural = (char *)arg_str(L, 4, "plural").p,
                                      .kind = (char *)arg_str(L, 5, "kind").p,
                                      .namespaced = lua_toboolean(L, 6)};
    return spec_push_result(L, spec_engine_add_kind(engine, &resource, &err), &err);
}

static void set_slice(lua_State *L, const char *key, struct str value)
{
    if (!value.n) return;
    lua_pushlstring(L, value.p, value.n);
    lua_setfield(L, -2, key);
}

static bool on_object(void *ctx, const struct audit_input_parsed *object, struct err *err)
{
    lua_State *L = ctx;
    struct buf json = {0};
    document_json(object->tape, tape_root(object->tape), &json);
    lua_newtable(L);
    set_slice(L, "json", buf_slice(&json));
    set_slice(L, "apiVersion", object->api_version);
    set_slice(L, "kind", object->kind);
    lua_rawseti(L, -2, (int)lua_objlen(L, -2) + 1);
    buf_clear(&json);
    return true;
}

/* select(engine, name or nil): which cluster is meant from now on; returns whether there is one. */
static int l_select(lua_State *L)
{
    const char *name = arg_str_opt(L, 2, "name").p;
    lua_pushboolean(L, spec_engine_select(spec_engine_arg(L), name));
    return 1;
}

/* join(engine, name): adds a cluster that comes and goes. */
static int l_join(lua_State *L)
{
    struct err err;
    struct spec_engine *engine = spec_engine_arg(L);
    const char *name = arg_str(L, 2, "env:add_cluster: name").p;
    if (spec_engine_select(engine, name))
        return spec_push_result(L, err_set(&err, ERR_INVALID, "\"%s\" is there already", name), &err);
    return spec_push_result(L, spec_cluster_join(engine, name, &err), &err);
}

/* leave(engine, name): has it end; returns whether there was one. */
static int l_leave(lua_State *L)
{
    struct spec_engine *engine = spec_engine_arg(L);
    lua_pushboolean(L, engine_leave_cluster(engine->engine, arg_str(L, 2, "env:remove_cluster: name").p));
    return 1;
}

/* read_file(path): its objects, each { json, apiVersion, kind }, with the types that its List declares */
static int l_read_file(lua_State *L)
{
    struct err err;
    const char *path = arg_str(L, 1, "path").p;
    const struct manifest_sink sink = {.object = on_object, .ctx = L};
    lua_newtable(L); /* a failure here ends only the process of the specs */
    return manifest_objects(&path, 1, &sink, NULL, &err) ? 1 : spec_push_result(L, false, &err);
}

/* resolve(engine, kind): a table */
static int l_resolve(lua_State *L)
{
    struct err err;
    struct resource resource;
    struct spec_engine *engine = spec_engine_arg(L);
    const char *kind = arg_str(L, 2, "kind").p;
    if (!kinds_resolve(spec_engine_kinds(engine), str_of(kind), &resource, &err))
        return spec_push_result(L, false, &err);
    lua_createtable(L, 0, 5); /* five small strings; a failure here ends only the process of the specs */
    tool_set_text(L, "group", resource.group);
    tool_set_text(L, "version", resource.version);
    tool_set_text(L, "plural", resource.plural);
    tool_set_text(L, "kind", resource.kind);
    lua_pushboolean(L, resource.namespaced);
    lua_setfield(L, -2, "namespaced");
    resource_clear(&resource);
    return 1;
}

void bind_test_cluster(lua_State *L)
{
    static const luaL_Reg verbs[] = {{"put", l_put},
                                     {"remove", l_remove},
                                     {"request", l_request},
                                     {"resolve", l_resolve},
                                     {"add_kind", l_add_kind},
                                     {"answer", l_answer},
                                     {"read_file", l_read_file},
                                     {"select", l_select},
                                     {"join", l_join},
                                     {"leave", l_leave},
                                     {NULL, NULL}};
    luaL_register(L, NULL, verbs);
}
