/* Negotiation of an object's form by the Accept header, which lua/sim/accept.lua reads. */
#include <string.h>

#include "sim/kinds/table.h"
#include "sim/lua/lua.h"

/* Most clients send one of these, which is not looked at further. */
static bool is_plain(const char *accept)
{
    return !accept || strcmp(accept, "application/json") == 0 || strcmp(accept, "*/*") == 0;
}

struct sim_media sim_negotiate_media(const char *accept, const struct sim_spoken *spoken)
{
    if (is_plain(accept)) return (struct sim_media){.form = SIM_FORM_JSON};
    lua_State *L = sim_lua_take("sim.accept", "media");
    lua_pushstring(L, accept);
    lua_pushboolean(L, spoken->tables);
    lua_pushboolean(L, spoken->protobuf);
    lua_pushboolean(L, spoken->partial_protobuf);
    json_t *found = sim_lua_call(L);
    struct sim_media media = {(enum sim_form)json_integer_value(json_array_get(found, 0)),
                              json_is_true(json_array_get(found, 1)), json_is_true(json_array_get(found, 2)),
                              json_is_true(json_array_get(found, 3))};
    json_decref(found);
    return media;
}

bool sim_is_routed(const char *accept)
{
    if (is_plain(accept)) return true;
    lua_State *L = sim_lua_take("sim.accept", "is_routed");
    lua_pushstring(L, accept);
    return sim_lua_is(L);
}

struct sim_media sim_negotiate_of(const struct sim_kind *kind, const char *accept)
{
    return sim_negotiate_media(
        accept, &(struct sim_spoken){.tables = true, .protobuf = !kind->custom, .partial_protobuf = true});
}
