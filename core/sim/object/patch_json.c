/* JSON patch and merge patch, which lua/sim/json_patch.lua and merge_patch.lua apply; see patch.h. */
#include "base/mem.h"
#include "sim/lua/lua.h"
#include "sim/object/patch.h"
#include "sim/text/tree.h"

json_t *sim_patch_json(const json_t *target, const json_t *ops, char **message)
{
    lua_State *L = sim_lua_take("sim.json_patch", "apply");
    sim_lua_push(L, target);
    sim_lua_push(L, ops);
    json_t *result = sim_lua_call(L), *patched = NULL;
    if (message) *message = NULL;
    if (json_is_true(json_array_get(result, 0)))
        patched = json_incref(json_array_get(result, 1));
    else if (message)
        *message = xstrdup(sim_text_at(json_array_get(result, 1), ""));
    json_decref(result);
    return patched;
}

json_t *sim_patch_merge(const json_t *target, const json_t *patch)
{
    lua_State *L = sim_lua_take("sim.merge_patch", "apply");
    sim_lua_push(L, target);
    sim_lua_push(L, patch);
    return sim_lua_call(L);
}
