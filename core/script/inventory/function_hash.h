/* Identity of functions: a hash of a function's code. Comments, lines and names of locals do not count;
 * calls, constants and names of upvalues do. Equal in every process of this binary. Owner: stateless. Inside
 * a call into Lua; may raise. */
#pragma once
#include <lua.h>

#include "base/buf.h"
#include "script/vm/state.h"

/* Length in hexadecimal digits. */
enum { FUNCTION_HASH_LEN = 16 };
/* Fills in the hash of the function at `idx`, and notes its place in the inventory, if that notes functions.
 */
void function_hash(lua_State *L, int idx, char out[FUNCTION_HASH_LEN + 1]);

/* Appends the canonical code of the Lua function at `idx`, which counts from the bottom; with `strings`, its
 * strings instead, each after its length, a uint32_t. */
void function_code(lua_State *L, int idx, bool strings, struct buf *out);

/* Appends the code of the function with this reference and of all functions that it reaches. Enters the
 * state; returns false on failure, with the error in the script. */
bool function_closure_code(struct script *script, int ref, struct buf *out);

/* Appends the function's code to `out` in canonical order: LuaJIT writes the fields of constant tables in
 * hash order, with another seed in each state. Returns false if `dump` is not of this LuaJIT. */
bool function_canonical(struct str dump, struct buf *out);
/* Appends the string constants of the function and of those in it, each after its length. */
bool function_strings(struct str dump, struct buf *out);
