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
    json_t *result = sim_lua_call(L);
    const char *message = sim_text_at(json_array_get(result, 1), "");
    reply->code = 204; /* the log of a pod that is not scheduled */
    switch (json_integer_value(json_array_get(result, 0))) {
    case 0: break;
    case 400: sim_reply_status(reply, sim_status_bad_request("%s", message)); break;
    /* Of the pods, as a real server has it. */
    case 404: sim_reply_status(reply, sim_status_not_found(served->kind, message)); break;
    default: sim_reply_status(reply, sim_status(500, NULL, message, NULL, NULL));
    }
    json_decref(result);
}
