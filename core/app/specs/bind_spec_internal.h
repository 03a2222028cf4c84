/* Internals of raw.test, shared by its files. For these files only.
 * Owner: as spec_engine.h says. */
#pragma once
#include <lua.h>

#include "app/specs/spec_engine.h"

/* Returns the engine in the first argument. Raises if it is closed. */
struct spec_engine *spec_engine_arg(lua_State *L);
/* Pushes true, or nil and the error's text, for `return`. */
int spec_push_result(lua_State *L, bool ok, const struct err *err);
/* Adds functions to the table on top of the stack. */
void bind_test_cluster(lua_State *L);
void bind_test_rules(lua_State *L);
void bind_test_reload(lua_State *L);
void bind_test_audit(lua_State *L);
void bind_test_states(lua_State *L);
void bind_test_webhook(lua_State *L);

/* --- Status of a script under test, as a table for its spec. Stateless. `L` is the spec's state, not the
 * script's. */

/* Pushes { synced, handlers, queues, memory }. */
void spec_status_push(lua_State *L, const struct script *script);
