/* CPU budgets of calls (E-3). cpu_watch.h checks the clock of the call in flight from a signal handler, every
 * few milliseconds. Once a call has exceeded its limit, a hook raises at every instruction, so that no pcall,
 * coroutine or __tostring of the script can go on: only the protected call of the engine ends that. No hook
 * is set before, as it would double the cost of each instruction. Only if the limit is nearer than the next
 * check, or without a watch, a hook counts BUDGET_INSTRUCTIONS and checks itself. The clock of a call starts
 * at its first check, so short calls never read it. No hook stops loops compiled by the JIT, so scripts with
 * budgets run without it. Owner: the script. On the engine thread; budget_tick in a signal handler of that
 * thread. */
#pragma once
#include <lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "script/vm/parts.h"

/* A call that may pause does so after PAUSE_MS: a slice of a turn, less the period of the CPU watch. Those of
 * a brief script do after PIECE_BRIEF_US, for which a hook looks at the clock every BRIEF_INSTRUCTIONS. */
enum { BUDGET_INSTRUCTIONS = 10000, BUDGET_PAUSE_MS = 8, BUDGET_BRIEF_INSTRUCTIONS = 500 };

/* Starts watching calls. Not for scripts that the operator trusts. */
void budget_open(struct script *script);
void budget_close(struct script *script);
/* Begins a call with the limit; pair with budget_leave. `call` stays in place, on the stack or in the
 * script. */
void budget_enter(struct script *script, struct budget_call *call, enum limit limit, const char *what,
                  const char *whose);
/* Ends the call and returns its result: SCRIPT_CPU_LIMIT or SCRIPT_MEMORY_LIMIT, with script->failure set, if
 * it exceeded a limit, else `result`. */
enum script_result budget_leave(struct script *script, struct budget_call *call, enum script_result result);
/* Records the name of the running task if it exceeded a limit. Call before the task is freed. */
void budget_note(struct script *script);
/* Ends the call in flight because it exceeded a limit that is not CPU time. */
void budget_exceed(struct script *script, enum limit limit);
/* Like budget_exceed, with the line at which `L` is. Safe in allocators: reads the line without calling Lua.
 * `L` NULL: not known yet. */
void budget_exceed_at(struct script *script, lua_State *L, enum limit limit);
/* Runs the hook at the next instruction. Safe in allocators and signal handlers. */
void budget_arm(struct script *script);
/* Between the two the engine works: no call in flight is checked, and the CPU time does not count for it. */
int64_t budget_rest(struct script *script);
void budget_resume(struct script *script, int64_t since_ns);
/* Checks the clock. For cpu_watch.c, in a signal handler. */
void budget_tick(struct script *script);

/* --- Budget of long C functions, which LuaJIT's hooks do not reach: such a function counts small steps of
 * about 10 ns, and checks about every millisecond whether the call may go on. Owner: the function, on its
 * stack. Use inside calls into Lua only: steps_take may raise. */

enum { STEPS_TURN = 100000 };

struct steps {
    lua_State *L;
    ptrdiff_t left; /* until the next check */
};

void steps_init(struct steps *steps, lua_State *L);
/* Raises if the call has exceeded a limit. */
void steps_check(struct steps *steps);

static inline void steps_take(struct steps *steps, ptrdiff_t count)
{
    steps->left -= count;
    if (__builtin_expect(steps->left < 0, 0)) steps_check(steps);
}
