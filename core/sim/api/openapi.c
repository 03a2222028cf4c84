/* OpenAPI v3, whose documents are made by lua/sim/openapi.lua; see openapi.h. */
#include "sim/api/openapi.h"

#include <stdlib.h>
#include <string.h>

#include "sim/api/discovery.h"
#include "sim/lua/lua.h"
#include "sim/text/tree.h"

/* --- types of the bundle, as openapi_types.lua reads them */

static const char *form_of(const struct schema_field *field)
{
    static const char *const forms[] = {
        [SCHEMA_STRING] = "string",
        [SCHEMA_BOOL] = "bool",
        [SCHEMA_INT32] = "int32",
        [SCHEMA_INT64] = "int64",
        [SCHEMA_DOUBLE] = "double",
        [SCHEMA_BYTES] = "bytes",
        [SCHEMA_QUANTITY] = "quantity",
        [SCHEMA_INT_OR_STRING] = "intstr",
        [SCHEMA_TIME] = "time",
        [SCHEMA_MICRO_TIME] = "microtime",
        [SCHEMA_DURATION] = "duration",
        [SCHEMA_RAW] = "raw",
        [SCHEMA_JSON] = "json",
        [SCHEMA_SCHEMA_OR_BOOL] = "schemaorbool",
        [SCHEMA_SCHEMA_OR_ARRAY] = "schemaorarray",
        [SCHEMA_SCHEMA_OR_STRINGS] = "schemaorstrings",
        [SCHEMA_OBJECT] = "object",
    };
    return forms[field->form];
}

/* Returns an array; NULL for an empty list. */
static json_t *strings(const char *const *list)
{
    json_t *array = *list ? json_array() : NULL;
    for (; *list; list++) json_array_append_new(array, json_string(*list));
    return array;
}

static json_t *field_json(const struct schema_field *field)
{
    static const char *const holders[] = {[SCHEMA_ONE] = "one",
                                          [SCHEMA_LIST] = "list",
                                          [SCHEMA_NAMED_LIST] = "namedlist",
                                          [SCHEMA_MAP] = "map",
                                          [SCHEMA_MAP_OF_NAMED_LISTS] = "mapoflists"};
    static const char *const merges[] = {[SCHEMA_MERGE_UNSAID] = "",
                                         [SCHEMA_ATOMIC] = "atomic",
                                         [SCHEMA_SET] = "set",
                                         [SCHEMA_LIST_MAP] = "map",
                                         [SCHEMA_GRANULAR] = "granular"};
    return json_pack("{ss ss* ss ss ss* ss so* so* so* ss* sb sb sb sb}", "name", field->name, "description",
                     nonempty(field->description), "form", form_of(field), "holder", holders[field->holder],
                     "type", field->object, "merge", merges[field->merge], "listKeys",
                     strings(field->list_keys), "enums", strings(field->enums), "default",
                     field->value ? json_loads(field->value, JSON_DECODE_ANY, NULL) : NULL, "mergeKey",
                     field->merge_key, "patchMerges", field->patch_merges, "retainsKeys",
                     field->patch_retains_keys, "patchReplaces", field->patch_replaces, "required",
                     field->required);
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
