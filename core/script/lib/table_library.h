/* Functions of Lua's table library that are ours: those of C that take long for large tables, and that no
 * hook reaches.
 * Owner: the state. */
#pragma once
#include <lua.h>

/* Puts them into the table on top of the stack, which is Lua's table library. */
void table_library_open(lua_State *L);

/* For lua/k8s: raises, as table.sort does, unless Lua has an order for the two values. */
int l_table_check_order(lua_State *L);
