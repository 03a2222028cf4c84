/* Parameters of a script and of its rules as tables, for the Lua of `kubelua check`. Owner: the command, on
 * the main thread; strings are copied. */
#pragma once
#include <lua.h>

#include "script/params/declared.h"

/* Sets the field `params` of the table on top: rule, name, type, default, value, source, help, bounds and
 * from, as declared.h has them, and is_secret, is_required and lacks. */
void script_settings_set(lua_State *L, const struct script *script);
