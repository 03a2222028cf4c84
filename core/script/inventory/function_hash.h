/* Identity of functions: a hash of a function's code. Comments, lines and names of locals do not count;
 * calls, constants and names of upvalues do. Equal in every process of this binary. Owner: stateless. Inside
 * a call into Lua; may raise. */
#pragma once
#include <lua.h>

#include "base/buf.h"
#include "script/vm/state.h"

/* 16 hexadecimal digits. */
enum { FUNCTION_HASH_LEN = 16 };
/* Of the function at `idx`. The plan is told where that is, if it asks. */
void function_hash(lua_State *L, int idx, char out[FUNCTION_HASH_LEN + 1]);

/* Appends the canonical code of the Lua function at `idx`, which counts from the bottom; with `strings`, the
 * texts in it instead, each behind its length, a uint32_t. */
void function_code(lua_State *L, int idx, bool strings, struct buf *out);

/* Appends the code of the function with this reference and of all that it reaches. Enters the state; false
 * when that failed, for which the script has the error. */
bool function_closure_code(struct script *script, int ref, struct buf *out);

/* Appends the parts of the function's code to `out` in one order: LuaJIT writes the fields of constant tables
 * in the order of a hash that is seeded again in each state. False when `dump` is none of this LuaJIT's. */
bool function_canonical(struct str dump, struct buf *out);
/* Appends the string constants of the function and those in it, each behind its length. */
bool function_strings(struct str dump, struct buf *out);
