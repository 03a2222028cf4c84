/* The texts in the code of a script and of its modules: the names of the fields that it reads are among them,
 * as far as they are not made while it runs. Owner: nothing is kept. On the engine thread, outside of any
 * call into Lua. */
#pragma once
#include "base/str.h"

struct script;

/* Calls `fn` for each text. */
void script_each_text(struct script *script, void (*fn)(void *ctx, struct str text), void *ctx);
