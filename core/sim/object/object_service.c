/* Addresses, families and ports of services, which lua/sim/services.lua settles. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/lua/lua.h"
#include "sim/object/object_spec.h"
#include "sim/object/status.h"
#include "sim/text/tree.h"

static bool is_service(const struct sim_kind *kind)
{
    return kind->schema && strcmp(kind->schema->type, "core/v1.Service") == 0;
}

struct asking {
    const struct sim_refusal *by;
    const char *key;
};

static int l_is_taken(lua_State *L)
{
    const struct asking *asking = lua_touserdata(L, lua_upvalueindex(1));
    lua_pushboolean(L, asking->by->is_taken &&
                           asking->by->is_taken(asking->by->ctx, asking->key, luaL_checkstring(L, 1)));
    return 1;
}

bool sim_service_begin(const struct sim_kind *kind, const json_t *old, json_t *object, bool tried,
                       struct sim_refusal *refusal)
{
    if (!is_service(kind)) return true;
    const char *name = sim_text_at(object, "metadata.name");
    char *key = xasprintf("%s/%s", sim_text_at(object, "metadata.namespace"), name);
    struct asking asking = {refusal, key};
    lua_State *L = sim_lua_take("sim.services", "begin");
    sim_lua_push(L, old);
    sim_lua_push(L, object);
    lua_pushboolean(L, tried);
    lua_pushlightuserdata(L, &asking);
    lua_pushcclosure(L, l_is_taken, 1);
    json_t *found = sim_lua_found(L);
    if (found) refusal->status = sim_status_said(found, kind, name);
    json_decref(found);
    free(key);
    return !found;
}

void sim_service_finish(const struct sim_kind *kind, json_t *object)
{
    if (!is_service(kind)) return;
    lua_State *L = sim_lua_take("sim.services", "finish");
    sim_lua_push(L, object);
    sim_lua_is(L);
}
