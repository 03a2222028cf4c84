/* Calls of webhooks as Lua sees them. Owner: nothing is kept. On the engine thread, inside a call into Lua.
 */
#pragma once
#include <lua.h>

struct webhook_call;

/* Pushes function, request, and the functions that return the token and the secret, or nil. May raise. */
void webhook_push_call(lua_State *L, const struct webhook_call *call);
