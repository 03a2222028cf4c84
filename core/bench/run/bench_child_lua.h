/* Processes that are measured, for Lua. Owner: the state of Lua, whose collector ends what still runs.
 * The main thread of `kubelua bench`; calls block. */
#pragma once
#include <lua.h>

/* Makes the classes of what the functions below return. */
void bench_lua_classes(lua_State *L);
/* start(name, argv, folder): see bench_child_start. */
int bench_lua_start(lua_State *L);
/* listen(): a socket on a port of this host that responds to nobody. */
int bench_lua_listen(lua_State *L);
