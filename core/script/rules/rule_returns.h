/* Checks of the values that functions of a rule return. A check must return nothing: users of other tools
 * would return its verdict, and Lua users nil and an error, which would pass for a check without findings.
 * Owner: nothing is kept. Inside a call into Lua: all may raise, with the line where the function begins, as
 * the line of a return is unknown. */
#pragma once
#include <lua.h>
#include <stdbool.h>

struct rule_run;

/* All that the function returned is on the stack, from 1 on. */
void rule_returned_by_check(lua_State *L, const struct rule_run *run);
/* Returns whether the function skips the object: true or a reason, which is a string, is at 1 then. */
bool rule_returned_by_skip(lua_State *L, const struct rule_run *run);
/* Returns whether there is a fix: a table or a view is at 1 then. */
bool rule_returned_by_fix(lua_State *L, const struct rule_run *run);
