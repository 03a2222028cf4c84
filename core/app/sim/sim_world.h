/* Flags of `kubelua sim` that are about the world: --world and how it goes. Owner: the process; before the
 * loop runs. */
#pragma once
#include "base/cli/flags.h"
#include "world/world.h"

/* Ends with a flag without a name. */
extern const struct flag sim_world_flags[];

/* Creates the world that the flags ask for: `*world` is NULL without --world. False with an error for flags
 * that do not fit; `other` names a flag that excludes a world, NULL: none is given. */
bool sim_world_new(const char *other, struct world **world, struct err *err);
