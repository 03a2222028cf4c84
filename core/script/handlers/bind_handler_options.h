/* A handler's options as userdata, while they are put together. Scripts never see one.
 * Owner: Lua's collector; what is kept of them takes a reference. Inside a call into Lua. */
#pragma once
#include <lua.h>

#include "informer/shared/handler_options.h"

/* Borrowed; NULL when the argument is none. */
struct handler_options *handler_options_arg(lua_State *L, int idx);
