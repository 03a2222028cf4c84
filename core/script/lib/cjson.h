/* lua-cjson for scripts: the library itself, behind bounds. It works in C memory that Lua does not count and
 * that it loses when Lua's own runs out, and a few bytes of Lua can be gigabytes of its text.
 * Owner: the state. */
#pragma once
#include <lua.h>

/* Replaces the library's table on top of the stack by one that a script may have. */
void cjson_guard(lua_State *L);
