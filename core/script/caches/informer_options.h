/* The options table of an informer, from lua/k8s/factory.lua, as a spec of a claim.
 * Owner: the texts of the spec borrow from the table, which must stay on the stack; the projection is the
 * caller's, the transform the claim's. Inside a call into Lua. */
#pragma once
#include <lua.h>

#include "informer/shared/shared_factory.h"

/* `idx` of the table. Raises what is wrong with it; may leave more on the stack. Nothing may raise between
 * this and informer_options_clear. */
void informer_options_read(lua_State *L, int idx, struct informer_spec *spec);
void informer_options_clear(struct informer_spec *spec);
/* Appends what the informer is of, as plans name it: "pods in shop with labels app=web". */
void informer_spec_describe(const struct informer_spec *spec, struct buf *out);
