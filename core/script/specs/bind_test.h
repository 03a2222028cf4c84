/* raw.test, which the state of specs has and scripts do not.
 * Owner: the state. Called once, under protection, after the other verbs were bound. */
#pragma once
#include <lua.h>

struct test_engine_ops;

/* `ops` are the process's: they outlive the state. */
void bind_test(lua_State *L, const struct test_engine_ops *ops);
