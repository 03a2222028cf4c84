/* Addresses, families and ports of services, which lua/sim/services.lua settles. */
#include <string.h>

#include "sim/lua/lua.h"
#include "sim/object/object_spec.h"
#include "sim/object/status.h"
#include "sim/text/tree.h"
#include "sim/validate/cause.h"

static bool is_service(const struct sim_kind *kind)
{
    return kind->schema && strcmp(kind->schema->type, "core/v1.Service") == 0;
}

bool sim_service_begin(const struct sim_kind *kind, const json_t *old, json_t *object, bool tried,
                       struct sim_refusal *refusal)
{
    if (!is_service(kind)) return true;
    json_t *causes = json_array();
    lua_State *L = sim_lua_take("sim.services", "begin");
    sim_lua_push(L, old);
    sim_lua_push(L, object);
    lua_pushboolean(L, tried);
    sim_add_causes(causes, L);
    if (json_array_size(causes))
        return sim_refuse(refusal,
                          sim_status_invalid_causes(kind, sim_text_at(object, "metadata.name"), causes));
    json_decref(causes);
    return true;
}

void sim_service_finish(const struct sim_kind *kind, json_t *object)
{
    if (!is_service(kind)) return;
    lua_State *L = sim_lua_take("sim.services", "finish");
    sim_lua_push(L, object);
    sim_lua_is(L);
}
