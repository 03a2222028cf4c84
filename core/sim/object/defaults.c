/* Defaults of the built-in kinds, as far as clients depend on them; see defaults.h. */
#include "sim/object/defaults.h"

#include <string.h>

#include "sim/lua/lua.h"
#include "sim/object/default_fields.h"
#include "sim/object/object_spec.h"
#include "sim/text/tree.h"
#include "sim/validate/decode.h"

/* Calls a function of lua/sim/defaults.lua, which changes the object. */
static void call(const char *function, const char *type, json_t *object)
{
    lua_State *L = sim_lua_take("sim.defaults", function);
    lua_pushstring(L, type);
    sim_lua_push(L, object);
    sim_lua_is(L);
}

/* Of most types nothing is computed from other fields. */
static void finish(const char *type, json_t *object)
{
    static const char types[] =
        "core/v1.Container\0core/v1.EphemeralContainer\0core/v1.Volume\0core/v1.PodSpec\0core/v1.Pod\0"
        "core/v1.ReplicationController\0apps/v1.DaemonSet\0apps/v1.StatefulSet\0batch/v1.Job\0"
        "core/v1.Service\0core/v1.ServicePort\0networking/v1.NetworkPolicySpec\0core/v1.Namespace\0"
        "core/v1.Node\0core/v1.Secret\0core/v1.LimitRangeItem\0rbac/v1.Subject\0"
        "apiextensions/v1.CustomResourceDefinition\0";
    for (const char *one = types; one < types + sizeof types - 1; one += strlen(one) + 1)
        if (strcmp(type, one) == 0) call("finish", type, object);
}

void sim_apply_scheme_defaults(const struct sim_kind *kind, json_t *object)
{
    if (kind->schema) sim_default_fields(kind->schema, object, finish);
}

void sim_apply_defaults(const struct sim_kind *kind, json_t *object)
{
    sim_apply_scheme_defaults(kind, object);
    if (kind->schema) call("admit", kind->schema->type, object);
}

json_t *sim_unread(const struct sim_kind *kind, json_t *head)
{
    struct sim_decoding decoding = {0};
    sim_submap(head, "metadata");
    json_t *zero = sim_decode(schema_type_of_kind(kind->schema), head, &decoding);
    json_decref(head);
    call("unread", kind->schema->type, zero);
    return zero;
}

/* Sets each "now" to a time. */
static void set_times(json_t *value, json_t *now)
{
    const char *key;
    json_t *inner;
    size_t i;
    json_object_foreach (value, key, inner) {
        if (strcmp(sim_text_at(value, key), "now") == 0) json_object_set(value, key, now);
        set_times(inner, now);
    }
    json_array_foreach (value, i, inner) set_times(inner, now);
}

static void set_first_status(const struct schema_kind *schema, json_t *object)
{
    json_t *status = sim_submap(object, "status");
    json_t *first = json_loads(schema->first_status ? schema->first_status : "{}", 0, NULL);
    set_times(first, sim_at(object, "metadata.creationTimestamp"));
    json_object_update_new(status, first);
}

void sim_apply_first(const struct sim_kind *kind, json_t *object)
{
    bool keeps = kind->keeps_first_status && json_object_get(object, "status");
    if (kind->has_status && !keeps) {
        json_object_del(object, "status");
        if (kind->schema) set_first_status(kind->schema, object);
    }
    if (kind->schema) call("begin", kind->schema->type, object);
}
