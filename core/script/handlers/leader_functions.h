/* The pairs of functions given to k8s.on_leader: what leading.c has called at a win, and at a loss.
 * Owner: the script's struct leading has the list. On the engine thread, outside of Lua. */
#pragma once
#include "script/vm/state.h"

/* Starts those that may: a start waits for the end of the stop before it. */
void leader_functions_begin(struct script *script);
/* Cancels starts that wait. */
void leader_functions_cancel(struct script *script);
/* Stops what was started. */
void leader_functions_end(struct script *script);
void leader_functions_clear(struct script *script);

/* --- leading.c */

/* A stop has ended. A generation that drains keeps its lease until all have. */
void leading_settle(struct script *script);
