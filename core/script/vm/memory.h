/* The memory of a script: Lua's allocator with a limit. LuaJIT does not collect when an allocation is
 * refused, so the limit alone would kill healthy scripts: from three quarters of it on, the hook of budget.h
 * runs a full collection, and again each time when half of what was then left is used. What is still over the
 * limit after one ends the call. Objects that it alone keeps alive count too (retained.h). Between two
 * instructions a script may go over it by a quarter: more is refused at once. Owner: the script. On the
 * engine thread. */
#pragma once
#include <lua.h>
#include <stdbool.h>
#include <stddef.h>

#include "script/vm/parts.h"

struct script;

/* Lua's allocator; `script` is the struct script. */
void *memory_allocate(void *script, void *block, size_t old_size, size_t new_size);
/* The limits of the script have changed. */
void memory_set_limit(struct script *script);
/* Around each lua_pcall, lua_resume and lua_cpcall: returns what memory_unguard takes. */
bool memory_guard(struct script *script);
void memory_unguard(struct script *script, bool guarded);
/* A full collection, now; inside a call with the state or coroutine that runs. Raises nothing, and its time
 * is not the script's. */
void memory_collect(lua_State *L);
/* By the hook of budget.h. */
void memory_on_hook(lua_State *L);
/* Outside of Lua, before it is entered: collects after a call that ended for want of memory, and sets the
 * pace of Lua's own collector. */
void memory_settle(struct script *script);
/* Outside of Lua, about once a second: collects what calls left that were ended by a limit. Nobody may call
 * the script again. */
void memory_collect_idle(struct script *script);
/* C memory that the script holds, such as a snapshot's: more or less of it by so many bytes. */
void memory_note(struct script *script, ptrdiff_t bytes);
/* As memory_note, before so much is allocated on a script's word: collects where there is no room, and ends
 * the call by its limit when there is none then. */
void memory_take(lua_State *L, size_t bytes);
