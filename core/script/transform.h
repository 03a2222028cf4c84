/* A Lua function as the transform of an informer.
 * Owner: the claim that it is given to; it goes with that. On the engine thread. */
#pragma once
#include "informer/transform.h"
#include "script/state.h"

/* `ref` is the function in the registry; `kind` names the informer in logs. Results go into the factory's
 * own pool; what fails is logged, at most once a second, and counted. */
struct transform script_transform(lua_State *L, int ref, const char *kind);
