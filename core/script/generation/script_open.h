/* Lua state of a script. Owner: script.c creates and frees it. On the engine thread, outside of any call into
 * Lua except state_make_api. */
#pragma once
#include "script/generation/script.h"
#include "script/vm/state.h"

/* Creates a script without a state, the first step of all functions below; freed by script_free; texts are
 * copied except `name`, see script_load. */
struct script *script_new(const struct script_host *host, const struct script_source *source);
/* Creates an empty Lua state. Returns false and sets err if the memory limit is too low. */
bool state_new(struct script *script, struct err *err);
/* Creates the raw verbs and what calls need. Call under protection. */
void state_make_api(lua_State *L);
/* Opens the state: JIT off, the sandbox in place, the API loaded. */
bool state_open(struct script *script, struct err *err);
void state_close(struct script *script);
