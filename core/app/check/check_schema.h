/* Kinds, their types and the stubs of the API for the Lua that reads sources (lua/tool/source/) and writes
 * classes (lua/tool/types/). Owner: the binary has what they return; the functions may be called as long as
 * the state lives. */
#pragma once
#include <lua.h>

/* Sets functions of the table on top:
 *   schema_kinds()        all { group, version, kind, plural, type } of Kubernetes 1.36
 *   schema_type(name)     its fields { name, form, holder, object, enums, description } in their order,
 *                         and its `description`; nil without such a type
 *   path_steps(text)      { kind, name } of a path: "field", "index", "all", "match"; or nil, why
 *   parse(text)           the value of a JSON text; or nil, why
 *   nearest(name, list)   the name of the list that was meant, or nil
 * and `stubs`, the texts of types/. */
void check_schema_set(lua_State *L);
