/* The way from C into Lua where nothing may yield: a protected call whose every outcome is a value of enum
 * script_result. What may yield (handlers, timers, main) goes through task.h. Owner: the script. On the
 * engine thread. script_call is never called from inside a call of the same script: what a handler starts
 * that would call handlers waits until it has returned. */
#pragma once
#include <lua.h>

#include "base/buf.h"
#include "script/vm/parts.h"

/* `phase` is why nothing may yield, as messages tell it: "a filter" makes "k8s.sleep may not be called in a
 * filter". It must outlive the call. */
enum script_result script_call(struct script *script, const char *phase, script_body *body, void *ctx);
/* The same with the CPU that the load phase has: work of the same sort, at a reload. */
enum script_result script_call_load(struct script *script, const char *phase, script_body *body, void *ctx);
/* The same with the CPU that a handler has, whatever the phase: of a prompt, which is never started. */
enum script_result script_call_handler(struct script *script, const char *phase, script_body *body,
                                       void *ctx);
/* The same for one of the many short calls that an informer makes, with a CPU limit of their own; `whose` is
 * for messages: a handler's id. */
enum script_result script_call_filter(struct script *script, const char *phase, const char *whose,
                                      script_body *body, void *ctx);
/* The same of a rule, with the CPU that a handler has. */
enum script_result script_call_rule(struct script *script, const char *id, script_body *body, void *ctx);
/* The same from a C function that Lua called with `L`: the function of a script that a verb calls back. The
 * cause is in script->failure; nothing is raised, as what lies between the verb and this call may hold what
 * an error would leave behind: the verb calls call_check_nested before. */
enum script_result script_call_nested(lua_State *L, const char *phase, const char *whose, script_body *body,
                                      void *ctx);
/* Raises when C functions and the Lua functions that they call are nested so deep that the C stack might not
 * suffice. LuaJIT bounds Lua's own stack only; every C function that calls a script's code asks here first.
 */
void call_check_stack(lua_State *L);
/* The same, and makes room on L's stack: before a verb begins what may end in script_call_nested. */
void call_check_nested(lua_State *L);
/* Appends a line for each frame of L. */
void call_traceback(lua_State *L, struct buf *out);
const char *script_result_name(enum script_result result);

/* For script_open.c, under protection: makes what calls need. */
void call_setup(lua_State *L);
/* For task.c: around each stay in Lua. `phase` NULL: may yield. `what` says for whom, to other threads: a
 * literal. call_leave gives the result as limits have it. call_fail takes the error value from the top of L's
 * stack and describes it in script->failure. */
void call_enter(struct script *script, const char *phase, const char *what, enum limit cpu,
                const char *stack_base);
enum script_result call_leave(struct script *script, enum script_result result);
void call_fail(lua_State *L);
/* The error that ended a coroutine of the script's own is about to be raised on in its parent: keeps the
 * coroutine's frames for the traceback. The error value is on top of L's stack. */
void call_keep_frames(lua_State *L, lua_State *dead);
