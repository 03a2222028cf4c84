/* Live reads as Lua sees them: what their two files share.
 * Owner: the state. On the engine thread, inside a call into Lua. */
#pragma once
#include <lua.h>

#include "kube/kinds/resource.h"

enum read_function { READ_FUNCTION_GET, READ_FUNCTION_LIST, READ_FUNCTION_PAGES, READ_FUNCTION_WATCH };

/* By its name: "k8s.list". */
enum read_function read_function_arg(lua_State *L, int idx);
/* What the kind of a read that is about to be sent means; raises when the script did not declare it. */
const struct resource *read_resource_arg(lua_State *L, int idx, enum read_function of);
/* Adds the verbs of lists and watches to the table on top of the stack. */
void bind_reader(lua_State *L);
