/* Errors of C as scripts see them.
 * Owner: nothing is kept. Inside a call into Lua: may raise for want of memory. */
#pragma once
#include <lua.h>

#include "base/err.h"

/* The server's reason, or a word of ours for what no server said: "Conflict", "NotConnected". */
const char *err_reason(const struct err *err);
/* Pushes nil and { code, reason, message, retry_after } for `return 2`. */
int push_err(lua_State *L, const struct err *err);
/* Pushes the same as a Status of the API: what an ERROR event carries. */
void push_err_status(lua_State *L, const struct err *err);
