/* What the functions of a rule may return. A check returns nothing: who knows other tools would return its
 * verdict, and who knows Lua nil and an error, which would pass for a check that is silent as all is well.
 * Owner: nothing is kept. Inside a call into Lua: all may raise, with the line where the function begins, as
 * nothing tells where it returned. */
#pragma once
#include <lua.h>
#include <stdbool.h>

struct rule_run;

/* All that the function returned is on the stack, from 1 on. */
void rule_returned_by_check(lua_State *L, const struct rule_run *run);
/* Whether it skips the object: true or a reason, which is a string, is at 1 then. */
bool rule_returned_by_skip(lua_State *L, const struct rule_run *run);
/* Whether there is a fix: a table or a view is at 1 then. */
bool rule_returned_by_fix(lua_State *L, const struct rule_run *run);
