/* How a script under test is, as a table for its spec.
 * Owner: nothing is kept. `L` is the spec's state, not the script's. */
#pragma once
#include <lua.h>

#include "script/generation/script.h"

/* Pushes { synced, handlers, queues, memory }. */
void test_status_push(lua_State *L, const struct script *script);
