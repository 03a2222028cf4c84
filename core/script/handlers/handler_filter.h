/* The function `filter` of a handler, asked by the informer for objects that pass the rest of its filter.
 * Owner: nothing is kept. On the engine thread, outside of any call into Lua of its script. */
#pragma once
#include <stdbool.h>

#include "object/pack/pool.h"

/* `ctx` is the struct script_handler. What fails does not pass: it is logged and counted as the handler's
 * errors are, and the handler is not told of objects that nobody vouched for. */
bool handler_filter_passes(void *ctx, struct root *object);
