/* Options of k8s.queue and k8s.controller, as the table at 1 has them: names and types were checked by
 * lua/k8s, here the values are. Owner: the table holds the name. On the engine thread, inside a call into
 * Lua. */
#pragma once
#include <lua.h>

#include "script/work/script_queue.h"

enum { QUEUE_NAME_MAX = 253 };

/* Raises what is wrong; messages begin with `maker`, what the script called. Leaves the table at 1. */
void queue_options_read(lua_State *L, const char *maker, struct script_queue_options *options);
