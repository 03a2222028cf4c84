/* Scripts as tables, for the Lua of `kubelua check` and `kubelua rbac` (lua/tool/check/). Scripts are loaded,
 * never started, and freed. Owner: the command, on the main thread; strings are copied. */
#pragma once
#include <lua.h>

#include "app/options/options.h"
#include "engine/reload/script_files.h"

/* Sets fields of the table on top:
 *   scripts       in the order of the files; one that does not load has `path`, `error`, and `unreadable`
 *   params_error  why the parameters of rules are wrong; none unless all scripts loaded
 * The options are complete; `here` is the namespace of the connection. */
void script_facts_set(lua_State *L, const struct options *options, const struct script_files *files,
                      const char *here);
