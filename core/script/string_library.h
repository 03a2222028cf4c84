/* Functions of Lua's string library that are ours, because hooks do not reach into Lua's own: a pattern, or a
 * short call with a long result, would hold the engine up.
 * Owner: the state. */
#pragma once
#include <lua.h>

/* Puts them into the table on top of the stack, which is Lua's string library. */
void string_library_open(lua_State *L);

/* For string_library_open. */
int l_string_gsub(lua_State *L);
