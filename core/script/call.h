/* The one way from C into Lua: a protected call whose every outcome is a value of enum script_result.
 * Owner: the script. On the engine thread, never from inside a call of the same script: what a handler starts
 * that would call handlers waits until it has returned. */
#pragma once
#include <lua.h>

#include "base/buf.h"
#include "script/script.h"

/* Runs under protection on an empty stack; may raise, and may call Lua. */
typedef void script_body(lua_State *L, void *ctx);

struct script_entry {
    script_body *body;
    void *ctx;
};

/* Why the last call failed. */
struct script_failure {
    struct buf text;         /* one line as a rule: "scripts/x.lua:12: ..." */
    struct buf traceback;    /* a line for each frame; empty when there was none */
    char source[LUA_IDSIZE]; /* where it was raised; "" when no script was running */
    int line;
};

enum script_result script_call(struct script *script, script_body *body, void *ctx);
/* Raises when C functions and the Lua functions that they call are nested so deep that the C stack might not
 * suffice. LuaJIT bounds Lua's own stack only; every C function that calls a script's code asks here first.
 */
void call_check_stack(lua_State *L);
void failure_clear(struct script_failure *failure);
const char *script_result_name(enum script_result result);

/* For state.c: call_setup, under protection, makes what calls need; then call_begin puts it at the bottom of
 * the stack. */
void call_setup(lua_State *L);
void call_begin(struct script *script);
