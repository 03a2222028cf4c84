/* Sessions of commands on a running engine's caches, for lua/tool/look/: each is one of the engine's prompts
 * (repl_backend.h). Owner: the Lua state of the command, which ends them. */
#pragma once
#include <lua.h>

/* Adds to the host, the table on top of the stack:
 * session(socket), a session, or nil and why; session:eval(text, hides secrets, width, colours): the lines of
 * print as one text and the result as text, or nil and why; parse(text, exact): the value of a JSON text,
 * by tool_parse_exact if that is true;
 * yaml(text): the JSON text as YAML. */
void session_tool_push(lua_State *L);
