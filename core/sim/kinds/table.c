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

json_t *sim_table_cells(const struct sim_kind *kind, json_t *object, int64_t now_s)
{
    json_t *columns = columns_of(kind);
    json_t *stored = sim_to_stored(kind, json_incref(object));
    lua_State *L = sim_lua_take("sim.tables", "row");
    sim_lua_push(L, columns);
    sim_lua_push(L, stored);
    lua_pushboolean(L, kind->graceful);
    lua_pushnumber(L, (lua_Number)now_s);
    json_t *row = sim_lua_call(L);
    json_decref(columns);
    json_decref(stored);
    return row;
}

json_t *sim_table_columns(const struct sim_kind *kind)
{
    json_t *columns = columns_of(kind);
    lua_State *L = sim_lua_take("sim.tables", "definitions");
    sim_lua_push(L, columns);
    json_t *definitions = sim_lua_call(L);
    json_decref(columns);
    return definitions;
}
