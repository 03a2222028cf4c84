/* Conditions of CertificateSigningRequests (lua/sim/csrs.lua), and times that updates set (stamps.lua). */
#include <string.h>

#include "sim/object/object_spec.h"
#include "sim/text/timestamp.h"
#include "sim/validate/cause.h"

void sim_csr_check(const struct sim_kind *kind, const json_t *old, const json_t *object,
                   const char *subresource, json_t *causes)
{
    if (!sim_kind_is(kind, "CertificateSigningRequest")) return;
    lua_State *L = sim_lua_take("sim.csrs", "problems");
    sim_lua_push(L, old);
    sim_lua_push(L, object);
    lua_pushboolean(L, subresource && strcmp(subresource, "approval") == 0);
    sim_add_causes(causes, L);
}

void sim_stamp(const struct sim_kind *kind, const json_t *old, json_t *object, int64_t now_s)
{
    if (!sim_kind_is(kind, "CertificateSigningRequest") && !sim_kind_is(kind, "PersistentVolume")) return;
    lua_State *L = sim_lua_take("sim.stamps", kind->kind);
    sim_lua_push(L, old);
    sim_lua_push(L, object);
    sim_lua_push_new(L, sim_time(now_s));
    sim_lua_is(L);
}
