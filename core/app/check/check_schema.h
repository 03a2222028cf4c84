/* Kinds, their types and the stubs of the API for the Lua that reads sources (lua/tool/source/). Owner: the
 * binary has what they return; the functions may be called as long as the state lives. */
#pragma once
#include <lua.h>

/* Sets functions of the table on top:
 *   schema_kinds()        a list of all { group, version, kind, plural, type } of Kubernetes 1.36
 *   schema_type(name)     a list of the fields { name, form, holder, object, enums, description }, in their
 * order, with the `description` of the type; nil if there is none path_steps(text)      a list of { kind,
 * name } of a path, with kind "field", "index", "all" or "match"; or nil, why selector_error(text)  why a
 * label selector is invalid, or nil nearest(name, list)   the name of the list that was meant, or nil and
 * `stubs`, the texts of types/. */
void check_schema_set(lua_State *L);
