/* The engine around one script, without a server: factory, reflector, informer and handler on one loop, and a
 * source of lists and watches that is played by hand. Owner: the guard; it lives as long as the process. */
#pragma once
#include <stddef.h>

#include "object/pack/pool.h"

struct guard_script;

/* Loads the script and lists `objects` for it; borrows them. */
struct guard_script *guard_script_new(const char *path, struct root *const *objects, size_t count);
/* Sends these as MODIFIED, borrowed, and returns when the script's handler has received all. */
void guard_script_update(struct guard_script *script, struct root *const *objects, size_t count);
