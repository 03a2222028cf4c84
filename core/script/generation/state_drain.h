/* Empties a Lua state in steps, each of about a tenth of a millisecond, before it is closed: lua_close
 * finalizes and frees all that lives at once, some 0.2 us for each view. Owner: the script's. On the engine
 * thread, outside of any call into Lua. */
#pragma once
#include <stdbool.h>

#include "script/vm/state.h"

/* Zero-initialised: not begun. */
struct state_drain {
    enum { DRAIN_NOT_BEGUN, DRAIN_OBJECTS, DRAIN_HEAP, DRAIN_DONE } stage;
    int cycles; /* of the collector, that have ended */
};

/* Takes a step; the first one cancels all tasks, and nothing may enter Lua any more. Returns whether what is
 * left is closed soon. Once begun, it has to be brought to its end before the script is freed. */
bool state_drain_step(struct script *script, struct state_drain *drain);

static inline bool state_drain_is_begun(const struct state_drain *drain)
{
    return drain->stage != DRAIN_NOT_BEGUN;
}
