/* Lua values to JSON text: tables, views, null, k8s.int64 (lua-api, section 2).
 * Owner: the text goes into the script's scratch. On the engine thread, inside a call into Lua: raises for
 * what has no JSON form. */
#pragma once
#include <lua.h>

#include "base/buf.h"

/* The value at `idx`; keys sorted, so that the same table gives the same text in every run. */
struct buf *json_encode(lua_State *L, int idx);
