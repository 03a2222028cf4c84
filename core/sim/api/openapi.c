/* OpenAPI v3, whose documents are made by lua/sim/openapi.lua; see openapi.h. */
#include "sim/api/openapi.h"

#include <stdlib.h>
#include <string.h>

#include "sim/api/discovery.h"
#include "sim/lua/lua.h"
#include "sim/text/tree.h"

/* --- types of the bundle, as openapi_types.lua reads them */

/* Words for the values of enum schema_form, schema_holder and schema_merge, in their order. */
static const char *const forms[] = {"string",          "bool",     "int32",  "int64",        "double",
                                    "bytes",           "quantity", "intstr", "time",         "microtime",
                                    "duration",        "raw",      "json",   "schemaorbool", "schemaorarray",
                                    "schemaorstrings", "object"};
static const char *const holders[] = {"one", "list", "namedlist", "map", "mapoflists"};
static const char *const merges[] = {"", "atomic", "set", "map", "granular"};

static json_t *field_json(const struct schema_field *field)
{
    return json_pack("{ss ss* ss ss ss* ss so* so* ss* sb sb sb sb sb sb}", "name", field->name,
                     "description", nonempty(field->description), "form", forms[field->form], "holder",
                     holders[field->holder], "type", field->object, "merge", merges[field->merge], "listKeys",
                     sim_strings_json(field->list_keys), "enums", sim_strings_json(field->enums), "mergeKey",
                     field->merge_key, "patchMerges", field->patch_merges, "retainsKeys",
                     field->patch_retains_keys, "patchReplaces", field->patch_replaces, "required",
                     field->required, "always", field->always, "optional", field->optional);
}

/* type_of(name): the type as a map; nil if there is none. */
static int l_type_of(lua_State *L)
{
    const struct schema_type *type = schema_type(luaL_checkstring(L, 1));
    json_t *fields = type ? json_array() : NULL;
    for (size_t i = 0; type && i < type->field_count; i++)
        json_array_append_new(fields, field_json(&type->fields[i]));
    sim_lua_push_new(L, type ? json_pack("{ss* sb so}", "description", nonempty(type->description), "atomic",
                                         type->atomic, "fields", fields)
                             : NULL);
    return 1;
}

/* --- responses */

/* Sets what the function gave: code, ETag, body. */
static void take_result(json_t *result, struct sim_reply *reply)
{
    const char *etag = sim_text_at(json_array_get(result, 1), "");
    reply->code = (int)json_integer_value(json_array_get(result, 0));
    reply->json = json_incref(json_array_get(result, 2));
    if (*etag) memcpy(reply->etag, etag, strlen(etag) + 1);
    json_decref(result);
}

bool sim_openapi(struct sim_api *api, const struct sim_request *request, struct sim_reply *reply)
{
    static const char root[] = "/openapi/v3";
    size_t n = sizeof root - 1;
    if (strncmp(request->path, root, n) != 0 || (request->path[n] && request->path[n] != '/')) return false;
    sim_store_lock(api->store);
    json_t *kinds = sim_kinds_json(api->store->kinds, api->store->served_count);
    sim_store_unlock(api->store);
    lua_State *L = sim_lua_take("sim.openapi", "respond");
    sim_lua_push_new(L, kinds);
    lua_pushstring(L, request->path[n] ? request->path + n + 1 : "");
    lua_pushstring(L, request->if_none_match);
    lua_pushboolean(L, sim_query(request, "hash") != NULL);
    lua_pushcfunction(L, l_type_of);
    json_t *result = sim_lua_call(L);
    if (result) take_result(result, reply);
    return result;
}
