/* The schema bundle as tables; see check_schema.h. */
#include "app/check/check_schema.h"

#include <lauxlib.h>
#include <string.h>

#include "app/check/project_files.h"
#include "object/value/path.h"
#include "schema/schema.h"
#include "tool/tool.h"

static const char *const form_names[] = {
    [SCHEMA_STRING] = "string",
    [SCHEMA_BOOL] = "boolean",
    [SCHEMA_INT32] = "integer",
    [SCHEMA_INT64] = "integer",
    [SCHEMA_DOUBLE] = "number",
    [SCHEMA_BYTES] = "string",
    [SCHEMA_QUANTITY] = "quantity",
    [SCHEMA_INT_OR_STRING] = "integer|string",
    [SCHEMA_TIME] = "string",
    [SCHEMA_MICRO_TIME] = "string",
    [SCHEMA_DURATION] = "string",
    [SCHEMA_RAW] = "any",
    [SCHEMA_JSON] = "any",
    [SCHEMA_SCHEMA_OR_BOOL] = "any",
    [SCHEMA_SCHEMA_OR_ARRAY] = "any",
    [SCHEMA_SCHEMA_OR_STRINGS] = "any",
    [SCHEMA_OBJECT] = "object",
};

static const char *const holder_names[] = {
    [SCHEMA_ONE] = "one",
    [SCHEMA_LIST] = "list",
    [SCHEMA_NAMED_LIST] = "list",
    [SCHEMA_MAP] = "map",
    [SCHEMA_MAP_OF_NAMED_LISTS] = "map of lists",
};

/* Sets a list of the texts up to NULL as a field of the table on top. */
static void set_texts(lua_State *L, const char *name, const char *const *texts)
{
    lua_newtable(L);
    for (; *texts; texts++) {
        lua_pushstring(L, *texts);
        tool_append(L);
    }
    lua_setfield(L, -2, name);
}

/* Sets `subresources` of the table on top, a set. */
static void set_subresources(lua_State *L, const struct schema_kind *kind)
{
    lua_newtable(L);
    for (size_t i = 0; i < kind->subresource_count; i++) {
        lua_pushboolean(L, true);
        lua_setfield(L, -2, kind->subresources[i].name);
    }
    lua_setfield(L, -2, "subresources");
}

static int l_kinds(lua_State *L)
{
    size_t count;
    const struct schema_kind *kinds = schema_kinds(&count);
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        lua_createtable(L, 0, 8);
        tool_set_text(L, "group", kinds[i].group);
        tool_set_text(L, "version", kinds[i].version);
        tool_set_text(L, "kind", kinds[i].kind);
        tool_set_text(L, "plural", kinds[i].plural);
        tool_set_text(L, "type", kinds[i].type);
        set_texts(L, "field_labels", kinds[i].field_labels);
        set_subresources(L, &kinds[i]);
        tool_append(L);
    }
    return 1;
}

/* Whether an object that a server returns may lack the map, the list or the object of a field. */
static bool may_lack(const struct schema_field *field)
{
    if (field->required || field->always || field->value) return false;
    return field->holder != SCHEMA_ONE || (field->form == SCHEMA_OBJECT && field->optional);
}

/* Adds the fields to the list on top, with those of inlined types. */
static void append_fields(lua_State *L, const struct schema_type *type)
{
    for (size_t i = 0; i < type->field_count; i++) {
        const struct schema_field *field = &type->fields[i];
        if (!*field->name) {
            const struct schema_type *inlined = schema_type_of_field(field);
            if (inlined) append_fields(L, inlined);
            continue;
        }
        lua_createtable(L, 0, 7);
        tool_set_text(L, "name", field->name);
        tool_set_text(L, "form", form_names[field->form]);
        tool_set_text(L, "holder", holder_names[field->holder]);
        tool_set_text(L, "object", field->object);
        tool_set_text(L, "description", field->description);
        set_texts(L, "enums", field->enums);
        lua_pushboolean(L, may_lack(field));
        lua_setfield(L, -2, "may_lack");
        tool_append(L);
    }
}

static int l_type(lua_State *L)
{
    const struct schema_type *type = schema_type(luaL_checkstring(L, 1));
    if (!type) return 0;
    lua_newtable(L);
    append_fields(L, type);
    tool_set_text(L, "description", type->description);
    return 1;
}

static int l_path_steps(lua_State *L)
{
    static const char *const kinds[] = {
        [PATH_FIELD] = "field", [PATH_INDEX] = "index", [PATH_ALL] = "all", [PATH_MATCH] = "match"};
    struct err err;
    struct path *path = path_compile(str_of(luaL_checkstring(L, 1)), &err);
    if (!path) {
        lua_pushnil(L);
        lua_pushstring(L, err.text);
        return 2;
    }
    lua_newtable(L);
    for (size_t i = 0; i < path_step_count(path); i++) {
        struct path_step step = path_step_at(path, i);
        lua_createtable(L, 0, 2);
        tool_set_text(L, "kind", kinds[step.kind]);
        if (step.name.p) {
            lua_pushlstring(L, step.name.p, step.name.n);
            lua_setfield(L, -2, "name");
        }
        tool_append(L);
    }
    path_free(path);
    return 1;
}

static int l_parse(lua_State *L)
{
    struct str text;
    struct err err;
    text.p = luaL_checklstring(L, 1, &text.n);
    if (tool_parse_json(L, text, &err)) return 1;
    lua_pushnil(L);
    lua_pushstring(L, err.text);
    return 2;
}

static void set_stubs(lua_State *L)
{
    lua_newtable(L);
    for (const struct embedded_file *file = project_files; file->path; file++) {
        if (strncmp(file->path, "types/", 6) != 0) continue;
        lua_pushlstring(L, file->text, file->len);
        tool_append(L);
    }
    lua_setfield(L, -2, "stubs");
}

void check_schema_set(lua_State *L)
{
    static const luaL_Reg functions[] = {{"schema_kinds", l_kinds},    {"schema_type", l_type},
                                         {"path_steps", l_path_steps}, {"parse", l_parse},
                                         {"nearest", tool_nearest},    {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
    set_stubs(L);
}
