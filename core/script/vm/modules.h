/* `require`: the API's own modules, lua-cjson, and pure Lua modules beside the script.
 * Owner: the state. On the engine thread, under protection: all may raise. */
#pragma once
#include <lua.h>

#include "base/str.h"

/* Makes the tables of loaded modules, and the raw verbs of `require`. Needs the sandbox and the raw verbs. */
void modules_open(lua_State *L);
/* The half of it that the modules of lua/k8s need themselves. Needs the raw verbs and REF_INTERNAL_ENV. */
void modules_open_internal(lua_State *L);
/* Pushes a module of lua/k8s, which is loaded the first time. Scripts see `k8s` and what it shows only. */
void modules_internal(lua_State *L, const char *name);
/* The script has run: what of the API only loading needs goes. */
void modules_loaded(lua_State *L);
/* Pushes the chunk of Lua text, bytecode is refused; `chunk` is "@" and the path. */
void modules_push_chunk(lua_State *L, struct str source, const char *chunk);

/* --- Compiles Lua text in pieces, looking at the call's budget between them: LuaJIT's parser takes seconds
 * for what is made to be slow, such as 30,000 times "or b". Owner: nobody. To be used inside calls into Lua
 * only. */

/* As luaL_loadbufferx does for text: pushes the function, or an error's text and returns false. */
bool load_text(lua_State *L, struct str text, const char *chunk);
