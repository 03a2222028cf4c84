/* Strings in the code of a script and its modules: they include the names of the fields that it reads, unless
 * it builds them at run time. Owner: stateless. On the engine thread, outside of any call into Lua. */
#pragma once
#include "base/str.h"

struct script;

/* Calls `fn` for each string. */
void script_each_text(struct script *script, void (*fn)(void *ctx, struct str text), void *ctx);
