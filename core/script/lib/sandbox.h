/* Sandbox of a script: a list of what it may reach of Lua; all else is absent (docs/lua-api.md, What a script
 * cannot do). Owner: the state, while it is set up. The API's own Lua code runs in an environment of its own,
 * that a script cannot change. */
#pragma once
#include <lua.h>

/* Opens the libraries, cuts the globals down to the list, makes the environment of lua/k8s. */
void sandbox_open(lua_State *L);
/* Gives scripts the functions that know views (lua/k8s/prelude.lua). Needs the modules. */
void sandbox_install(lua_State *L);
