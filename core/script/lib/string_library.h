/* Functions of Lua's string library that are ours, because hooks do not reach into Lua's own: a pattern, or a
 * short call with a long result, would hold the engine up.
 * Owner: the state. */
#pragma once
#include <lua.h>

/* Puts them into the table on top of the stack, which is Lua's string library. */
void string_library_open(lua_State *L);

/* For string_library_open. */
int l_string_gsub(lua_State *L);
int l_string_rep(lua_State *L);

/* For lua/k8s: string.find of a pattern, for string.gsub. */
int l_string_find_pattern(lua_State *L);
/* For lua/k8s: gives its arguments back, which are for string.format, when the result can be no longer than
 * the limit value-size. */
int l_format_arguments(lua_State *L);
