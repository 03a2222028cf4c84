/* Paths of no resource; see paths.h. */
#include "sim/api/paths.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/api/control.h"
#include "sim/api/discovery.h"
#include "sim/lua/lua.h"
#include "sim/text/tree.h"

static int l_kinds(lua_State *L)
{
    struct sim_store *store = ((struct sim_api *)sim_lua_context(L))->store;
    sim_store_lock(store);
    json_t *kinds = sim_kinds_json(store->kinds, store->served_count);
    sim_store_unlock(store);
    sim_lua_push_new(L, kinds);
    return 1;
}

static int l_stats(lua_State *L)
{
    struct sim_api *api = sim_lua_context(L);
    json_t *stats = sim_stats_json(&api->stats);
    json_object_set_new(stats, "resources", sim_stats_resources(api));
    sim_lua_push_new(L, stats);
    return 1;
}

bool sim_paths(struct sim_api *api, const struct sim_request *request, struct sim_reply *reply)
{
    static const char *const types[] = {"text/plain; charset=utf-8", "application/json",
                                        "text/plain; version=0.0.4; charset=utf-8; escaping=underscores",
                                        "application/jwk-set+json",
                                        "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"};
    json_t *query = json_object();
    for (size_t i = 0; i < request->query_count; i++)
        json_object_set_new(query, request->query[i].key, sim_string(request->query[i].value));
    lua_State *L = sim_lua_take("sim.paths", "respond");
    lua_pushstring(L, request->path);
    lua_pushstring(L, request->uri ? request->uri : request->path);
    sim_lua_push_new(L, query);
    lua_pushboolean(L, strstr(request->accept, "proto-openapi") != NULL);
    sim_lua_push_function(L, l_kinds, api);
    sim_lua_push_function(L, l_stats, api);
    json_t *found = sim_lua_call(L);
    if (!found) return false;
    reply->code = (int)json_integer_value(json_array_get(found, 0));
    reply->content_type = types[json_integer_value(json_array_get(found, 1))];
    buf_puts(&reply->text, sim_text_at(json_array_get(found, 2), ""));
    json_decref(found);
    return true;
}

bool sim_watched_begin(const struct sim_request *request, struct sim_watched *watched)
{
    *watched = (struct sim_watched){.request = *request};
    if (!strstr(request->path, "/watch/")) return false;
    lua_State *L = sim_lua_take("sim.paths", "watched");
    lua_pushstring(L, request->path);
    watched->texts = sim_lua_call(L);
    if (!watched->texts) return false;
    struct sim_param *query = xcalloc(request->query_count + 2, sizeof *query);
    const char *selector = sim_text_at(json_array_get(watched->texts, 1), "");
    size_t n = 0;
    query[n++] = (struct sim_param){"watch", "true"}; /* before another one, which does not count */
    if (*selector) query[n++] = (struct sim_param){"fieldSelector", selector};
    for (size_t i = 0; i < request->query_count; i++) query[n++] = request->query[i];
    watched->request.path = json_string_value(json_array_get(watched->texts, 0));
    watched->request.query = query;
    watched->request.query_count = n;
    return true;
}

void sim_watched_clear(struct sim_watched *watched)
{
    if (watched->texts) free((void *)watched->request.query);
    json_decref(watched->texts);
}
