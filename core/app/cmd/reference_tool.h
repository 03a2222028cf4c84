/* Commands and flags for the Lua of completions and man pages (lua/tool/reference/). Owner: the command, on
 * the main thread. */
#pragma once
#include <lua.h>

/* Sets functions of the table on top:
 *   commands()  the groups of commands: { title, commands = { { name, summary, text, groups = { { heading,
 *               flags = { { name, letter, kind, arg, values, help } } } } } } }
 *   kinds(flags)             plurals of the server's kinds, or of Kubernetes' own if it does not respond;
 *                            `flags`: texts of flags of the connection by their names
 *   cluster_get(path, flags) the response of the server, a text; nil without one
 *   kubeconfig(kubeconfig)   { contexts, clusters, users }, the names
 *   builtins()               the values of -f for rules that ship
 *   recipes()                paths of the files of all recipes: "scripts/ttl.lua", "rights/ttl.yaml"
 *   give_up_after(ms)        ends the process then, as if there were no candidates */
void reference_tool_set(lua_State *L);
