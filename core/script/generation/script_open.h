/* The Lua state of a script.
 * Owner: script.c makes and frees it. On the engine thread, outside of any call into Lua but for
 * state_make_api. */
#pragma once
#include "script/generation/script.h"
#include "script/vm/state.h"

/* Creates a script without a state, the first step of all functions below; freed by script_free; texts are
 * copied except `name`, see script_load. */
struct script *script_new(const struct script_host *host, const struct script_source *source);
/* Makes an empty Lua state. */
bool state_new(struct script *script, struct err *err);
/* Under protection: the raw verbs and what calls need. */
void state_make_api(lua_State *L);
/* Opens the state: JIT off, the sandbox in place, the API loaded. */
bool state_open(struct script *script, struct err *err);
void state_close(struct script *script);
