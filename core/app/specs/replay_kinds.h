/* Kinds that scripts use and a recording lacks: a replay has no objects of them, which looks like an empty
 * cluster. Owner: stateless. Call after the scripts were loaded. */
#pragma once
#include "app/specs/replay.h"

/* Logs each kind without a stream that informers and `k8s.reads` of the engine's scripts name, with the
 * places. Returns false and logs nothing if all kinds lack a stream. */
bool replay_kinds_check(const struct spec_engine *engine, const struct spec_replay *replay,
                        const char *recording, struct err *err);
