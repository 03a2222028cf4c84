/* Converts Lua values to JSON text: tables, views, null, k8s.int64 (docs/lua-api.md, k8s.json); for scripts,
 * and for people who read a log. Owner: the text is in the script's scratch. On the engine thread, inside a
 * call into Lua. */
#pragma once
#include <lua.h>

#include "base/buf.h"

/* Encodes the value at `idx` with sorted keys, so that equal tables give equal texts in every run. Raises for
 * nil, for values without a JSON form, for a table within itself, and for more than `max` bytes (0: the limit
 * value-size); messages begin with `verb`. */
struct buf *json_encode(lua_State *L, int idx, const char *verb, size_t max);
/* Encodes for people: values without a JSON form are shown by their type, and text after JSON_TEXT_MAX bytes
 * as "...". Raises only if memory is exhausted. */
enum { JSON_TEXT_MAX = 4096 };
struct buf *json_describe(lua_State *L, int idx);

/* --- decoding */

/* Pushes the value of the text, tables as obj:copy() returns them, or nil and an error if it is not JSON;
 * returns the number of values. `text` is the script's scratch, and changes. Raises if it is nested too
 * deeply; messages begin with `verb`. */
int json_decode(lua_State *L, struct buf *text, const char *verb);
