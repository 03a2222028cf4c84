/* The budget of long C functions; see steps.h. */
#include "script/steps.h"

#include "script/args.h"

enum { TURNS_MAX = 400 };

void steps_init(struct steps *steps, lua_State *L, const char *what)
{
    *steps = (struct steps){.L = L, .what = what, .left = STEPS_TURN};
}

void steps_ask(struct steps *steps)
{
    steps->left = STEPS_TURN;
    if (++steps->turns > TURNS_MAX)
        script_raise(steps->L, "%s: the limit of %d steps is reached", steps->what, TURNS_MAX * STEPS_TURN);
}
