/* Pairs of functions passed to k8s.on_leader, which are called on a win and a loss. Owner: struct leading of
 * the script. On the engine thread, outside of Lua. */
#pragma once
#include "script/vm/state.h"

/* Calls the start functions that may begin; each waits for the end of its stop function. */
void leader_functions_begin(struct script *script);
/* Cancels start functions in flight. */
void leader_functions_cancel(struct script *script);
/* Calls the stop functions of everything that was started. */
void leader_functions_end(struct script *script);
void leader_functions_clear(struct script *script);

/* --- leading.c */

/* Continues after a stop function has ended: a generation that drains keeps its lease until all have. */
void leading_settle(struct script *script);
