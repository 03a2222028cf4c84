/* Protected calls from C into Lua where nothing may yield; each outcome is an enum script_result. Code that
 * may yield (handlers, timers, main) uses task.h. Owner: the script. On the engine thread. Do not call
 * script_call inside a call of the same script: handlers that a handler causes to run wait until it has
 * returned. */
#pragma once
#include <lua.h>

#include "base/buf.h"
#include "script/vm/parts.h"

/* Calls `body`. `phase` names in errors what may not yield: "a filter" becomes "k8s.sleep may not be called
 * in a filter". It must outlive the call. */
enum script_result script_call(struct script *script, const char *phase, script_body *body, void *ctx);
/* Like script_call, with the CPU limit of loading: for similar work at a reload. */
enum script_result script_call_load(struct script *script, const char *phase, script_body *body, void *ctx);
/* Like script_call, with the CPU limit of a handler in any phase: for a prompt, which is never started. */
enum script_result script_call_handler(struct script *script, const char *phase, script_body *body,
                                       void *ctx);
/* Like script_call, for one of the many short calls of an informer, which have a CPU limit of their own.
 * `whose` is a handler's id, for messages. */
enum script_result script_call_filter(struct script *script, const char *phase, const char *whose,
                                      script_body *body, void *ctx);
/* Like script_call, for a rule, with the CPU limit of a handler. */
enum script_result script_call_rule(struct script *script, const char *id, script_body *body, void *ctx);
/* Like script_call, from a C function that Lua called with `L`: calls a function that the script passed to a
 * verb. Does not raise, since the C frames in between may hold memory that an error would leak;
 * script->failure describes a failure. The verb calls call_check_nested first. */
enum script_result script_call_nested(lua_State *L, const char *phase, const char *whose, script_body *body,
                                      void *ctx);
/* Notes in `failure`, which has no place, where the called function begins (state.h). */
void call_note_definition(lua_State *L, struct script_failure *failure);
/* Raises if nested C and Lua functions might exhaust the C stack: LuaJIT bounds only Lua's own stack. Call in
 * each C function that calls code of a script. */
void call_check_stack(lua_State *L);
/* Like call_check_stack, and makes room on L's stack. Call before a verb that may end in
 * script_call_nested. */
void call_check_nested(lua_State *L);
/* Appends a line for each frame of L. */
void call_traceback(lua_State *L, struct buf *out);
const char *script_result_name(enum script_result result);

/* Sets up a new state. For script_open.c, under protection. */
void call_setup(lua_State *L);
/* Begin and end each stay in Lua, for task.c. `phase` NULL: may yield. `what` is a literal that other threads
 * read. call_leave returns the result after limits. call_fail pops the error value from L's stack and
 * describes it in script->failure. */
void call_enter(struct script *script, const char *phase, const char *what, enum limit cpu,
                const char *stack_base);
enum script_result call_leave(struct script *script, enum script_result result);
void call_fail(lua_State *L);
/* Returns the field retry_after, in ms, of the error value on top of the stack, which stays there; 0: none.
 * Allocates nothing in Lua. */
int64_t call_retry_after_ms(lua_State *L);
/* Keeps the frames of a coroutine that an error has ended, for the traceback, before its parent raises the
 * error again. The error value is on top of L's stack. */
void call_keep_frames(lua_State *L, lua_State *dead);
