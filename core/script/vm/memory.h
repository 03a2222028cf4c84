/* Memory of a script: Lua's allocator with a limit. LuaJIT does not collect when an allocation is refused, so
 * the limit alone would kill healthy scripts: from three quarters of it on, the hook of budget.h runs a full
 * collection, and again each time half of the rest is used. A script that exceeds the limit after a
 * collection ends its call. Retained objects count too (retained.h). Between two instructions a script may
 * exceed the limit by a quarter; the allocator refuses more at once. Owner: the script. On the engine
 * thread. */
#pragma once
#include <lua.h>
#include <stdbool.h>
#include <stddef.h>

#include "script/vm/parts.h"

struct script;

/* Has the heap keep small blocks of a size beside each other, before the state is made: the collector goes
 * over all userdata in one step, and where malloc has put them among the blocks of others each costs a miss
 * of the cache, 100,000 of them 10 ms instead of 3. Costs address space. */
void memory_pack(struct script *script);
/* Gives back what is left, once there is no state. */
void memory_unpack(struct script *script);
/* Lua's allocator; `script` is the struct script. */
void *memory_allocate(void *script, void *block, size_t old_size, size_t new_size);
/* Recomputes the bounds after the limits of the script have changed. */
void memory_set_limit(struct script *script);
/* Lets the allocator refuse memory. Call around each lua_pcall, lua_resume and lua_cpcall; pass the result to
 * memory_unguard. */
bool memory_guard(struct script *script);
void memory_unguard(struct script *script, bool guarded);
/* Runs a full collection. Inside a call, `L` is the state or coroutine that runs. Does not raise; its time
 * does not count for the script. */
void memory_collect(lua_State *L);
/* Collects if needed. For the hook of budget.h. */
void memory_on_hook(lua_State *L);
/* Collects after a call that ran out of memory, else as far as pace_settle does. Call outside of Lua, before
 * it is entered. */
void memory_settle(struct script *script);
/* Collects the garbage of calls that a limit ended: the script may never be called again. Call outside of
 * Lua, about once a second. */
void memory_collect_idle(struct script *script);
/* Adds `bytes` of C memory that the script holds, such as a snapshot; negative when it is freed. */
void memory_note(struct script *script, ptrdiff_t bytes);
/* Like memory_note, for what is kept for the generation after this one: it goes, by `let_go` of its feature,
 * before a limit is exceeded, and the collector does not hurry for it. */
void memory_keep(struct script *script, ptrdiff_t bytes);
/* Returns whether so many bytes more are within the limit, if need be without what is kept. */
bool memory_has_room(struct script *script, size_t bytes);
/* Like memory_note, before memory whose size the script chose is allocated: collects if there is no room, and
 * raises if there still is none. */
void memory_take(lua_State *L, size_t bytes);

/* --- pace.c: Lua's collector works as fast as calls allocate, but between the calls. One step of it may go
 * over a whole table, or over all that changed meanwhile, and the call that allocated just then would pay for
 * it out of its CPU limit, and end for it. Only a call that allocates more than PACE_ROOM, or a trusted
 * script that runs on and on, has the collector beside it. */

/* Bytes that a call may allocate before the collector runs within it. */
enum { PACE_ROOM = 128 << 10 };
/* Bytes of a view in Lua, with its head. */
enum { PACE_VIEW = 64 };

/* Begins to watch for the end of the collector's cycles. Under protection, with a new state. */
void pace_open(lua_State *L);
void pace_close(struct script *script);
/* Works off what calls have allocated, and stops the collector until the next time. Call outside of Lua,
 * before it is entered. */
void pace_settle(struct script *script);
/* The collector begins when as much has been allocated as there is now. With a new state, which has little
 * garbage. */
void pace_rest(struct script *script);
/* So much was allocated for what lives on: the collector does not work for it. Else it would begin a cycle
 * that finds nothing, one step of which is a table of a hundred thousand objects, of several milliseconds. */
void pace_spare(struct script *script, size_t bytes);
/* Lets the collector run in the call in flight. Safe in Lua's allocator. */
void pace_run(struct script *script);
/* Ends a cycle soon that finds what is garbage now: objects that only views keep, of which Lua sees little.
 * Scripts do so one after the other, but for one that `is_late`: those on one kind have equal garbage at the
 * same time, and an event would wait for a piece of each. */
void pace_hurry(struct script *script, bool is_late);
/* The garbage of now has been collected. */
void pace_hurry_end(struct script *script);
/* While `held`, calls make no garbage, and the collector waits for their end. */
void pace_hold(struct script *script, bool held);
