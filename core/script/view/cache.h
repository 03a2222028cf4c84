/* Paths and selectors of a script, compiled once and kept by their text.
 * Owner: the state; what is given is valid until the next call of the same function. On the engine thread,
 * inside a call into Lua. */
#pragma once
#include <lua.h>

#include "object/value/path.h"
#include "object/value/selector.h"

/* The argument must be the text of a path; raises for anything else, naming `what`. */
const struct path *cache_path(lua_State *L, int idx, const char *what);
/* The same for a label selector; NULL when the argument is absent or nil: everything. */
const struct selector *cache_selector(lua_State *L, int idx, const char *what);
/* The same, but NULL with an error for a text that is no selector. */
const struct selector *cache_selector_or_error(lua_State *L, int idx, const char *what, struct err *err);
/* Registers the classes of what is cached, and makes the caches. */
void cache_define(lua_State *L);
