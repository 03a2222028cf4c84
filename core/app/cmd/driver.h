/* What `run` and `exec` have beside their engine: who signals it (shutdown_watch.h), and of `run` what shows
 * it to the outside, monitor and admin socket with its sessions. Owner: cmd_run.c, on the main thread. */
#pragma once
#include "app/options/options.h"
#include "engine/engine.h"

/* Runs an engine from start to end; gives the exit code. The options' watcher is set here. */
int driver_run(const struct options *options, const struct engine_options *engine);
