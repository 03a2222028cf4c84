/* Discovery, whose documents are made by lua/sim/discovery.lua; see discovery.h. */
#include "sim/api/discovery.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "sim/lua/lua.h"

json_t *sim_strings_json(const char *const *list)
{
    json_t *array = list ? json_array() : NULL;
    for (; list && *list; list++) json_array_append_new(array, json_string(*list));
    return array;
}

static json_t *subresources_of(const struct sim_kind *kind)
{
    json_t *list = json_array();
    struct schema_subresource sub;
    for (size_t at = 0; sim_next_subresource(kind, &at, &sub);)
        json_array_append_new(list, json_pack("{ss ss* ss so}", "name", sub.name, "version", sub.version,
                                              "kind", sub.kind, "verbs", sim_strings_json(sub.verbs)));
    return list;
}

static json_t *kind_json(const struct sim_kind *kind)
{
    static const char *const all[] = {"delete", "deletecollection", "get",   "list", "patch",
                                      "create", "update",           "watch", NULL};
    static const char *const ending[] = {"delete", "deletecollection", "get", "list", "watch", NULL};
    const struct sim_kind *stored = kind->stored;
    return json_pack(
        "{ss ss ss ss ss ss* sb sb sb sb sb so* so* ss* sO* so so* so* so}", "group", kind->group, "version",
        kind->version, "plural", kind->plural, "singular", kind->singular, "kind", kind->kind, "listKind",
        kind->list_kind, "namespaced", kind->namespaced, "custom", kind->custom, "unstored", kind->unstored,
        "notStorage", kind->not_storage, "returnsDeleted",
        kind->schema && kind->schema->returns_deleted && strcmp(kind->kind, "Namespace") != 0,
        "selectableFields", sim_strings_json(kind->custom ? kind->field_labels : NULL), "stored",
        stored ? json_sprintf("%s/%s/%s", stored->group, stored->version, stored->kind) : NULL, "type",
        kind->schema ? kind->schema->type : NULL, "structural", kind->structural, "verbs",
        sim_strings_json(kind->schema   ? kind->schema->verbs
                         : kind->ending ? ending
                                        : all),
        "shortNames", sim_strings_json(kind->short_names), "categories", sim_strings_json(kind->categories),
        "subresources", subresources_of(kind));
}

json_t *sim_kinds_json(const struct sim_kind *const *kinds, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        if (!kinds[i]->gone && !kinds[i]->hidden) json_array_append_new(list, kind_json(kinds[i]));
    return list;
}

json_t *sim_discovery(const char *path, const char *accept, const char *host,
                      const struct sim_kind *const *kinds, size_t n, const char **content_type)
{
    static const char *const types[] = {
        "application/json", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
        "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"};
    *content_type = types[0];
    if (strncmp(path, "/api", 4) != 0 && strcmp(path, "/version") != 0 && strcmp(path, "/version/") != 0)
        return NULL;
    lua_State *L = sim_lua_take("sim.discovery", "respond");
    sim_lua_push_new(L, sim_kinds_json(kinds, n));
    lua_pushstring(L, path);
    lua_pushstring(L, accept);
    lua_pushstring(L, host);
    json_t *result = sim_lua_call(L);
    json_t *response = json_incref(json_array_get(result, 0));
    if (response) *content_type = types[json_integer_value(json_array_get(result, 1))];
    json_decref(result);
    return response;
}
