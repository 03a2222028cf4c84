/* Lua of the simulator's own: what is not hot is in lua/sim/, and reads and makes jansson's values in place
 * by the module "sim.json". Owner: who takes a state has it until the call, which puts it back. States are
 * opened when they are needed, one for each call at a time. Any thread. */
#pragma once
#include <stdbool.h>

#include <jansson.h>
#include <lauxlib.h>

/* Returns a state with that function of a module ("sim.tables") on its stack; arguments are pushed on it. */
lua_State *sim_lua_take(const char *module, const char *function);
/* Pushes a value: text, boolean, or an integer that a double holds, as Lua has them; NULL as nil; all others
 * as light userdata, which is borrowed. */
void sim_lua_push(lua_State *L, const json_t *value);
/* The same of a new value, which is taken, and is there until the call is over. */
void sim_lua_push_new(lua_State *L, json_t *value);
/* Pushes a function for Lua to call, which finds `ctx` by sim_lua_context. */
void sim_lua_push_function(lua_State *L, lua_CFunction function, const void *ctx);
void *sim_lua_context(lua_State *L);
/* Calls the function with the arguments, and puts the state back. Returns its result, a new reference: NULL
 * for nil, and after an error, which is a mistake of ours and logged. */
json_t *sim_lua_call(lua_State *L);
/* Likewise, of a function that looks for problems: after an error it is a list with null, so that nothing is
 * taken for good that was not looked at. */
json_t *sim_lua_found(lua_State *L);
/* Likewise; returns whether the result is neither nil nor false. */
bool sim_lua_is(lua_State *L);
/* Returns whether a call has failed on this thread since this was asked last. */
bool sim_lua_take_failure(void);

/* --- lua_json.c */

/* Returns the value at a place of the stack as JSON, a new reference; nil is null. A table is an array. */
json_t *sim_lua_value(lua_State *L, int at);
/* Pushes the module "sim.json". */
void sim_lua_open_json(lua_State *L);
/* Frees what it made. Nothing of a state is outside of Lua's own memory between two calls, so that what a
 * request takes goes back to the system when it is over. */
void sim_lua_forget(lua_State *L);
