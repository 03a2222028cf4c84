/* Entries of C features in a script's inventory, made while it loads. Owner: the script's inventory. Inside a
 * call into Lua. */
#pragma once
#include <lua.h>

#include "script/inventory/inventory.h"

/* Adds an entry to the inventory, with the place of the current registration. Allocates only in C, so that
 * nothing raises. */
void inventory_note(lua_State *L, enum inventory_class class, struct str key, struct str detail);
