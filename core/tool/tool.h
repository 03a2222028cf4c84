/* Lua of the program's own: what commands print, `kubelua bench` and `kubelua check`. Its modules are
 * lua/tool/, in the binary; scripts of users know nothing of them. Owner: the caller of tool_open has the
 * state, and closes it by lua_close. One thread; functions push their results on the stack of the state. */
#pragma once
#include <lauxlib.h>

#include "base/cli/flags.h"
#include "object/parse/tape.h"

/* A state with the standard library; `require` finds the modules: "tool.json". */
lua_State *tool_open(void);
/* Calls the function that the module is with the values on the stack, which are taken; pushes one result.
 * False with what the module raised: nothing is pushed. */
bool tool_call(lua_State *L, const char *module, struct err *err);
/* Raises the text of the error. */
int tool_raise(lua_State *L, const struct err *err);
/* Creates the metatable with that name: its userdata has the methods. */
void tool_class(lua_State *L, const char *name, const luaL_Reg *methods);

/* Pushes the value of a JSON text. An object is a table whose metatable has its names in their order, as
 * `names`; null is a light userdata of NULL. */
void tool_push_json(lua_State *L, const struct tape *tape, size_t at);
/* The same for a table that shows the value: its members are rows, theirs are cells. Rows have their compact
 * text as `json` of the metatable; a cell that is no text or null is an empty table with that, and `is_cell`.
 */
void tool_push_cells(lua_State *L, const struct tape *tape, size_t at);
/* Pushes the value of the JSON text `text`. False with an error: nothing is pushed. */
bool tool_parse_json(lua_State *L, struct str text, struct err *err);
/* The same, but an integer that a double does not hold is an empty table with its text as `json` of the
 * metatable. */
bool tool_parse_exact(lua_State *L, struct str text, struct err *err);
void tool_push_list(lua_State *L, const struct flag_list *list);
/* Set fields of the table on top. A text of NULL is none. */
void tool_set_text(lua_State *L, const char *name, const char *text);
void tool_set_bool(lua_State *L, const char *name, bool value);
void tool_set_count(lua_State *L, const char *name, uint64_t count);
/* Takes the value on top, which becomes the last item of the list below it. */
void tool_append(lua_State *L);
/* A lua_CFunction: its text as JSON. */
int tool_quote(lua_State *L);
/* A lua_CFunction: of a list of names, behind a text, the one that was meant, or nil. */
int tool_nearest(lua_State *L);
/* Pushes a table of what the flags were set to, by their names; durations are milliseconds. */
void tool_push_flags(lua_State *L, const struct flag *flags);
