/* Conversion between versions, by lua/sim/convert.lua; see convert.h. */
#include "sim/object/convert.h"

#include <string.h>

#include "base/mem.h"
#include "sim/lua/lua.h"
#include "sim/object/defaults.h"
#include "sim/object/metadata.h"
#include "sim/text/tree.h"

/* Calls a function of lua/sim/convert.lua, which changes the object. */
static void convert(const char *function, const struct sim_kind *kind, json_t *object)
{
    lua_State *L = sim_lua_take("sim.convert", function);
    sim_lua_push(L, kind->conversion);
    sim_lua_push(L, object);
    sim_lua_is(L);
}

/* With the fields that the version always has. Takes the object. */
static json_t *typed(const struct sim_kind *kind, json_t *object)
{
    json_object_del(object, "kind");
    json_t *result = sim_typed(kind, object);
    json_decref(object);
    return result;
}

json_t *sim_to_stored(const struct sim_kind *kind, json_t *object)
{
    if (!kind->conversion) return object;
    json_t *whole = json_deep_copy(object);
    json_decref(object);
    convert("to_stored", kind, whole);
    whole = typed(kind->stored, whole);
    sim_apply_defaults(kind->stored, whole);
    return whole;
}

json_t *sim_from_stored(const struct sim_kind *kind, json_t *object)
{
    if (!kind->conversion) return object;
    convert("from_stored", kind, object);
    return typed(kind, object);
}

char *sim_stored_path(const struct sim_kind *kind, const char *path)
{
    const json_t *row;
    size_t i, n = strcspn(path, ".");
    json_array_foreach (json_object_get(kind->conversion, "fields"), i, row) {
        const char *own = sim_text_at(json_array_get(row, 0), "");
        if (strlen(own) == n && strncmp(own, path, n) == 0)
            return xasprintf("%s%s", sim_text_at(json_array_get(row, 1), ""), path + n);
    }
    return xstrdup(path);
}
