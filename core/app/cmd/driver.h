/* The parts of `run` and `exec` around their engine: signals (shutdown_watch.h) and, for `run`, the monitor
 * and the admin socket with its sessions. Owner: cmd_run.c, on the main thread. */
#pragma once
#include "app/options/options.h"
#include "engine/engine.h"

struct cluster_config;

/* Runs an engine on a cluster from start to end and returns the exit code. The loop, the cluster and the
 * watcher of the engine's options are set here. */
int driver_run(const struct options *options, const struct cluster_config *config,
               const struct engine_options *engine);
