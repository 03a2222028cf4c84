/* Live reads as Lua sees them: what their two files share.
 * Owner: the state. On the engine thread, inside a call into Lua. */
#pragma once
#include <lua.h>

/* Adds the verbs of lists and watches to the table on top of the stack. */
void bind_reader(lua_State *L);
