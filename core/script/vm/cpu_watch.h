/* Looks at the call in progress from outside: Lua's hooks do not reach into C functions, and ten thousand
 * slow ones may lie between two of them. A timer on the CPU clock of the engine thread sends that thread a
 * signal every CPU_WATCH_MS of its own time, so an idle engine is never woken; the handler looks at the clock
 * of the call and, when it is over its limit, arms the hook for the next instruction, as LuaJIT allows
 * (lua_sethook may be called asynchronously). There is no second thread, and so no race: nothing but the
 * engine thread itself ever reads or writes a script.
 * Owner: the engine, longer than its scripts. One in a process. */
#pragma once
#include <stdbool.h>

#include "base/err.h"

struct script;
struct cpu_watch;

enum { CPU_WATCH_MS = 4 };

/* Watches the calling thread, which is to free it. NULL when the system has no such timer: budget.h
 * then has count hooks all the time. */
struct cpu_watch *cpu_watch_new(struct err *err);
void cpu_watch_free(struct cpu_watch *watch);
/* Around each call that the engine makes. `watch` NULL: nobody looks. */
void cpu_watch_enter(struct cpu_watch *watch, struct script *script);
void cpu_watch_leave(struct cpu_watch *watch);
