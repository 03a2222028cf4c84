/* The parts of `run` and `exec` around their engine: signals (shutdown_watch.h) and, for `run`, the monitor
 * and the admin socket with its sessions. Owner: cmd_run.c, on the main thread. */
#pragma once
#include "app/options/options.h"
#include "engine/engine.h"

/* Runs an engine from start to end and returns the exit code. The options' watcher is set here. */
int driver_run(const struct options *options, const struct engine_options *engine);
