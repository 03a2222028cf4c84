/* What a C function that can be kept busy for long spends. LuaJIT's hooks do not reach into C, so that such a
 * function counts small steps of about 10 ns, and asks about every millisecond whether the call of the script
 * may go on.
 * Owner: the function, on its stack. To be used inside calls into Lua only: steps_take may raise. */
#pragma once
#include <lua.h>
#include <stddef.h>

enum { STEPS_TURN = 100000 };

struct steps {
    lua_State *L;
    ptrdiff_t left; /* until it asks again */
};

void steps_init(struct steps *steps, lua_State *L);
/* Raises when the call is over a limit. */
void steps_ask(struct steps *steps);

static inline void steps_take(struct steps *steps, ptrdiff_t count)
{
    steps->left -= count;
    if (__builtin_expect(steps->left < 0, 0)) steps_ask(steps);
}
