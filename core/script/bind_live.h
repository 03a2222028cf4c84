/* Live reads as Lua sees them: what their two files share.
 * Owner: the state. On the engine thread, inside a call into Lua. */
#pragma once
#include <lua.h>

#include "kube/resource.h"

/* The resource that k8s.live's first step found; raises "verb: expected a resource, not nil". */
const struct resource *resource_arg(lua_State *L, int idx, const char *verb);
/* Adds the verbs of lists and watches to the table on top of the stack. */
void bind_reader(lua_State *L);
