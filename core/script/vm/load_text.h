/* Compiles Lua text in pieces, looking at the call's budget between them: LuaJIT's parser takes seconds for
 * what is made to be slow, such as 30,000 times "or b".
 * Owner: nobody. To be used inside calls into Lua only. */
#pragma once
#include <lua.h>

#include "base/str.h"

/* As luaL_loadbufferx does for text: pushes the function, or an error's text and gives false. */
bool load_text(lua_State *L, struct str text, const char *chunk);
