/* Grammars of texts that scripts write, for the Lua of checks. Owner: the state. One thread. */
#pragma once
#include <lua.h>

/* Sets functions of the table on top:
 *   regex_error(text), selector_error(text), cron_error(text), quantity_error(text)
 *                         why the text is invalid, or nil
 *   yaml(text, alone)     the values of its documents, or nil, why; `alone`: a second document is an error */
void check_texts_set(lua_State *L);
