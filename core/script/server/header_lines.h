/* Headers of a response as a table of Lua. On the engine thread. */
#pragma once
#include <lua.h>

#include "base/str.h"

/* Pushes a table of the lines "name: value", by name. Several of one name are one, as RFC 9110 has it. */
void header_lines_push(lua_State *L, struct str lines);
