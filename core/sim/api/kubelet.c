/* Subresources of pods for which an API server asks a kubelet, of which there is none here: the errors of a
 * server that has no node, no address or no answer, which lua/sim/subresources.lua words. See subresource.h.
 */
#include <string.h>

#include "base/mem.h"
#include "sim/api/subresource.h"
#include "sim/lua/lua.h"
#include "sim/object/status.h"
#include "sim/text/tree.h"

bool sim_is_kubelets(const char *subresource)
{
    static const char *const all[] = {"log", "exec", "attach", "portforward"};
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (strcmp(subresource, all[i]) == 0) return true;
    return false;
}

bool sim_log_takes(const struct sim_request *request, const struct sim_target *target,
                   struct sim_reply *reply)
{
    const struct sim_kind kind = {.group = "", .kind = "PodLogOptions"};
    json_t *query = json_object();
    for (size_t i = 0; i < request->query_count; i++)
        sim_default(query, request->query[i].key, sim_string(request->query[i].value));
    lua_State *L = sim_lua_take("sim.subresources", "log_problems");
    sim_lua_push_new(L, query);
    json_t *found = sim_lua_found(L);
    if (found) sim_reply_status(reply, sim_status_said(found, &kind, target->name));
    json_decref(found);
    return reply->code == 0;
}

void sim_kubelet(struct sim_api *api, const struct sim_request *request, const struct sim_target *target,
                 const struct sim_object *object, struct sim_reply *reply)
{
    const struct sim_served *served = target->served;
    json_t *pod = sim_served_json(served, object);
    const char *node = sim_text_at(pod, "spec.nodeName");
    lua_State *L = sim_lua_take("sim.subresources", "kubelet");
    sim_lua_push_new(L, pod);
    sim_lua_push_new(L, *node ? sim_stored(api->store, "v1", "Node", node) : NULL);
    lua_pushstring(L, target->subresource);
    lua_pushstring(L, sim_query(request, "container"));
    lua_pushboolean(L, sim_header(request, "Upgrade") != NULL);
    json_t *result = sim_lua_found(L);
    reply->code = 204; /* the log of a pod that is not scheduled */
    if (result) sim_reply_status(reply, sim_status_said(result, served->kind, NULL));
    json_decref(result);
}
