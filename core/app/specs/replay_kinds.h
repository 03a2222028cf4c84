/* Kinds that scripts use and a recording does not have: in a replay those kinds are empty, which looks like a
 * cluster without such objects. Owner: nothing is kept. After the scripts were loaded. */
#pragma once
#include "app/specs/replay.h"

/* Tells in the log of each kind that informers and `k8s.reads` of the engine's scripts name and that has no
 * stream, with the places. False, and nothing in the log, when that is so of all that they name. */
bool replay_kinds_check(const struct spec_engine *engine, const struct spec_replay *replay,
                        const char *recording, struct err *err);
