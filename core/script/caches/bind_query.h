/* Queries as userdata.
 * Owner: Lua's collector. Inside a call into Lua. */
#pragma once
#include "script/caches/source.h"

/* Pushes a new query. A snapshot's userdata is to be kept alive by the caller: the environment of the query.
 */
void query_push(lua_State *L, const struct source *source);
