/* Why a call failed, and where: the texts of struct script_failure (parts.h).
 * Owner: who embeds the struct; failure_clear frees what is in it. On the engine thread. */
#pragma once
#include "script/vm/parts.h"

void failure_forget(struct script_failure *failure);
/* Appends a line for each frame of L from `level` on, and notes the place of the first one of a script,
 * unless there is one. */
void failure_put_frames(lua_State *L, int level, struct script_failure *failure);
/* Forgets, then notes where L is, with a traceback. `L` NULL: nowhere. */
void failure_note_place(lua_State *L, struct script_failure *failure);
void failure_copy(struct script_failure *to, const struct script_failure *from);
void failure_clear(struct script_failure *failure);
