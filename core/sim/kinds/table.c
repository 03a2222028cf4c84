/* Tables, whose rows and columns are made by lua/sim/tables.lua; see table.h. */
#include "sim/kinds/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/kinds/kinds.h"
#include "sim/lua/lua.h"
#include "sim/object/convert.h"
#include "sim/object/status.h"
#include "sim/text/tree.h"

json_t *sim_table_refused(const char *include_object)
{
    static const char *const known[] = {"", "Metadata", "Object", "None"};
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (!include_object || strcmp(include_object, known[i]) == 0) return NULL;
    return sim_status_bad_request("Unable to convert to Table as requested: includeObject: Invalid value: "
                                  "\"%s\": must be 'Metadata', 'Object', 'None', or empty",
                                  include_object);
}

/* Returns the columns of the kind's tables; a new array. */
static json_t *columns_of(const struct sim_kind *kind)
{
    bool none = json_array_size(kind->printer_columns) == 0;
    json_t *columns = json_array();
    if (none || kind->custom) json_array_append(columns, sim_shared_column("name"));
    if (none) json_array_append(columns, sim_shared_column("age of a custom object"));
    json_array_extend(columns, (json_t *)kind->printer_columns);
    return columns;
}

json_t *sim_table_row(const struct sim_kind *kind, json_t *object, const char *include_object, int64_t now_s)
{
    json_t *columns = columns_of(kind);
    json_t *stored = sim_to_stored(kind, json_incref(object));
    bool whole = include_object && strcmp(include_object, "Object") == 0;
    char *api_version = whole ? sim_api_version(kind) : NULL;
    lua_State *L = sim_lua_take("sim.tables", "row");
    sim_lua_push(L, columns);
    sim_lua_push(L, object);
    sim_lua_push(L, stored);
    lua_pushstring(L, include_object);
    lua_pushstring(L, kind->kind);
    lua_pushstring(L, api_version);
    lua_pushboolean(L, kind->graceful);
    lua_pushnumber(L, (lua_Number)now_s);
    json_t *row = sim_lua_call(L);
    json_decref(columns);
    json_decref(stored);
    free(api_version);
    return row;
}

static json_t *definitions_of(const struct sim_kind *kind)
{
    json_t *columns = columns_of(kind);
    lua_State *L = sim_lua_take("sim.tables", "definitions");
    sim_lua_push(L, columns);
    json_t *definitions = sim_lua_call(L);
    json_decref(columns);
    return definitions;
}

json_t *sim_table(const struct sim_kind *kind, json_t *const *objects, size_t n, const char *rv,
                  const char *continue_token, const char *include_object, bool with_columns, int64_t now_s)
{
    json_t *rows = json_array();
    if (!rv && n == 1) rv = sim_text_at(objects[0], "metadata.resourceVersion");
    for (size_t i = 0; i < n; i++)
        json_array_append_new(rows, sim_table_row(kind, objects[i], include_object, now_s));
    return json_pack("{ss ss s{ss* ss*} so so}", "kind", "Table", "apiVersion", "meta.k8s.io/v1", "metadata",
                     "resourceVersion", nonempty(rv), "continue", nonempty(continue_token),
                     "columnDefinitions", with_columns ? definitions_of(kind) : json_null(), "rows", rows);
}

void sim_form_to_beta(json_t *object)
{
    static const char *const members[] = {"items", "rows"};
    json_t *item, *inner;
    size_t at;
    if (strcmp(sim_text_at(object, "apiVersion"), "meta.k8s.io/v1") == 0)
        json_object_set_new(object, "apiVersion", json_string("meta.k8s.io/v1beta1"));
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        json_array_foreach (json_object_get(object, members[i]), at, item) {
            inner = json_object_get(item, "object");
            sim_form_to_beta(json_is_object(inner) ? inner : item);
        }
}
