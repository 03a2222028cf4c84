/* Compiled paths and selectors of a script, cached by their text. Owner: the state; a result is valid until
 * the next call of the same function. On the engine thread, inside a call into Lua. */
#pragma once
#include <lua.h>

#include "object/value/path.h"
#include "object/value/selector.h"

/* Returns the path in the argument; raises for anything else, naming `what`. */
const struct path *cache_path(lua_State *L, int idx, const char *what);
/* Returns the label selector in the argument; NULL (matches everything) if it is absent or nil. Raises for
 * anything else. */
const struct selector *cache_selector(lua_State *L, int idx, const char *what);
/* Like cache_selector, but returns NULL with an error for text that is not a selector. */
const struct selector *cache_selector_or_error(lua_State *L, int idx, const char *what, struct err *err);
/* Registers the classes of cached values, and creates the caches. */
void cache_define(lua_State *L);
