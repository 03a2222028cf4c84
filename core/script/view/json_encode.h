/* Lua values to JSON text: tables, views, null, k8s.int64 (docs/lua-api.md, k8s.json); for scripts, and for
 * people who read a log. Owner: the text goes into the script's scratch. On the engine thread, inside a call
 * into Lua. */
#pragma once
#include <lua.h>

#include "base/buf.h"

/* The value at `idx`; keys sorted, so that the same table gives the same text in every run. Raises for none,
 * for what has no JSON form, for a table within itself, and for more than `max` bytes (0: the limit
 * value-size); messages begin with `verb`. */
struct buf *json_encode(lua_State *L, int idx, const char *verb, size_t max);
/* The same for people: what has no JSON form is told by its type, and after JSON_TEXT_MAX bytes comes "...".
 * Raises for want of memory only. */
enum { JSON_TEXT_MAX = 4096 };
struct buf *json_describe(lua_State *L, int idx);

/* --- The way back */

/* Pushes what the text is, tables as obj:copy() gives them, or nil and why it is no JSON; returns how many
 * values these are. `text` is the script's scratch, and changes. Raises for too deep a nesting; messages
 * begin with `verb`. */
int json_decode(lua_State *L, struct buf *text, const char *verb);
