/* The CPU that a call may take. cpu_watch.h looks at the clock of the call in progress from a signal handler,
 * every few milliseconds. When a call is over its limit a hook is armed, which raises at every instruction,
 * so that no pcall, coroutine or __tostring of the script goes on: only the engine's own protected call ends
 * that. No hook is set before: it would double what an instruction costs. Only where the limit is nearer than
 * the next look, the hook counts BUDGET_INSTRUCTIONS and looks itself; without a watch it always does. The
 * clock of a call starts when it is first looked at: a short call costs no reading of it. JIT-compiled loops
 * are never stopped by a hook, so a script with budgets runs without JIT. Owner: the script. On the engine
 * thread; budget_tick in a signal handler of it. */
#pragma once
#include <lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "script/vm/parts.h"

enum { BUDGET_INSTRUCTIONS = 10000 };

/* For script_open.c: from here on calls are watched. Not for scripts that the operator trusts. */
void budget_open(struct script *script);
void budget_close(struct script *script);
/* Around each call; on the stack or in the script. `limit` says how much it may take. */
void budget_enter(struct script *script, struct budget_call *call, enum limit limit, const char *what,
                  const char *whose);
/* Gives the result that the call has: a limit's, if it is over one, whatever it made of the error;
 * script->failure then tells of that. */
enum script_result budget_leave(struct script *script, struct budget_call *call, enum script_result result);
/* The task in progress is about to be forgotten: keeps who it was, if it is over a limit. */
void budget_note(struct script *script);
/* The call in progress has taken so much of some other limit that it must end. */
void budget_exceed(struct script *script, enum limit limit);
/* The same, with the line at which `L` is now, which is read without anything of Lua's: from allocators.
 * NULL: not known yet. */
void budget_exceed_at(struct script *script, lua_State *L, enum limit limit);
/* The hook comes at the next instruction. From allocators and signal handlers too. */
void budget_arm(struct script *script);
/* So much of the CPU that the call took was the engine's. */
void budget_excuse(struct script *script, int64_t ns);
/* Looks at the clock; for cpu_watch.c, in a signal handler. */
void budget_tick(struct script *script);
/* The thread's CPU clock. A system call. */
int64_t budget_clock_ns(void);

/* --- Budget of long C functions. LuaJIT's hooks do not reach into C, so that such a function counts small
 * steps of about 10 ns, and checks about every millisecond whether the call of the script may go on. Owner:
 * the function, on its stack. To be used inside calls into Lua only: steps_take may raise. */

enum { STEPS_TURN = 100000 };

struct steps {
    lua_State *L;
    ptrdiff_t left; /* until it asks again */
};

void steps_init(struct steps *steps, lua_State *L);
/* Raises when the call is over a limit. */
void steps_check(struct steps *steps);

static inline void steps_take(struct steps *steps, ptrdiff_t count)
{
    steps->left -= count;
    if (__builtin_expect(steps->left < 0, 0)) steps_check(steps);
}
