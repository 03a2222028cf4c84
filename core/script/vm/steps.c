/* The budget of long C functions; see steps.h. */
#include "script/vm/steps.h"

#include "script/vm/budget.h"
#include "script/vm/state.h"

void steps_init(struct steps *steps, lua_State *L)
{
    *steps = (struct steps){.L = L, .left = STEPS_TURN};
}

void steps_ask(struct steps *steps)
{
    struct script *script = script_of(steps->L);
    steps->left = STEPS_TURN;
    budget_tick(script);
    budget_poll(steps->L, script);
}
