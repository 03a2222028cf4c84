/* Commands that call a running engine by its admin socket: what they do with the replies is Lua
 * (lua/tool/admin/). Owner: the command, on the main thread. */
#pragma once
#include <lua.h>

#include "app/cmd/cmd.h"

/* Calls the Lua of the command. `more` adds functions to the host, the table on top of the stack; NULL: none.
 * Returns the exit code. */
int admin_tool_run(const struct flag *flags, struct command_line *line, void (*more)(lua_State *L));
